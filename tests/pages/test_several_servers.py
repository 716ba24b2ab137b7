"""Several web processes on one folder of data: a search that another one started is seen, and stopped, all the same."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from pages.parts.bring import blocking_job
from riskcore.errors import BusyError
from riskcore.runs.store.liveness import this_host
from riskcore.storage.files import write_json


@pytest.fixture
def search(places):
    """Pretend that some process began a search of a data set."""
    path = str(places / "a set")
    folder = blocking_job._folder(path)
    folder.mkdir(parents=True)
    (folder / "progress.log").write_text("searching 40 %\n")
    (folder / "report.json").touch()

    def begun(pid, host):
        write_json(folder / "job.json", {"pid": pid, "host": host, "started": time.time()})
        return path, folder

    return begun


def test_a_search_that_another_process_started_is_stopped(search):
    command = [sys.executable, "-c", "import time; time.sleep(600)", "riskcore"]
    child = subprocess.Popen(command, start_new_session=True)
    path, folder = search(child.pid, this_host())
    assert blocking_job.state(path).name == "running"
    blocking_job.cancel(path)
    assert child.wait(timeout=10) != 0
    assert not folder.exists()


def test_a_search_on_another_machine_is_seen_and_left_alone(search):
    path, folder = search(999_999_999, "elsewhere")
    found = blocking_job.state(path)
    assert (found.name, found.share) == ("running", 0.4)
    with pytest.raises(BusyError, match="runs on elsewhere"):
        blocking_job.cancel(path)
    assert folder.exists()
    (folder / "report.json").write_text("{}")
    assert blocking_job.state(path).name == "done"


def test_a_search_on_another_machine_that_says_nothing_was_interrupted(search):
    path, folder = search(999_999_999, "elsewhere")
    long_ago = time.time() - blocking_job.SILENT_SECONDS - 1
    os.utime(folder / "progress.log", (long_ago, long_ago))
    assert blocking_job.state(path).name == "failed"
    blocking_job.cancel(path)
    assert not folder.exists()
