"""Workers let the screens go first."""

import subprocess
import sys
from pathlib import Path

from riskcore.runs.worker.process import NICENESS

PROJECT = Path(__file__).resolve().parents[2]
CODE = """
import os, sys
from pathlib import Path
from riskcore.runs.worker.process import lower_priority
lower_priority(Path(sys.argv[1]))
print(os.nice(0))
"""


def niceness(autogroup, own_session: bool) -> int:
    command = [sys.executable, "-c", CODE, str(autogroup)]
    done = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, check=True, start_new_session=own_session
    )
    return int(done.stdout)


def test_a_worker_in_a_session_of_its_own_gives_way(tmp_path):
    file = tmp_path / "autogroup"
    assert niceness(file, own_session=True) >= NICENESS
    assert file.read_text() == str(NICENESS)


def test_a_terminal_is_left_as_it_is(tmp_path):
    assert niceness(tmp_path / "autogroup", own_session=False) >= NICENESS
    assert not (tmp_path / "autogroup").exists()


def test_a_system_that_does_not_allow_it_is_no_error(tmp_path):
    assert niceness(tmp_path / "there" / "is" / "none", own_session=True) >= NICENESS
