"""Blocking to a file: the same pairs as in memory, and no part done twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from riskcore.blocking import block, block_to_file
from riskcore.blocking import steps as steps_module
from riskcore.blocking.stream import parts_folder
from riskcore.config import BlockConfig
from riskcore.errors import BusyError
from riskcore.storage.lock import FileLock
from tests.blocking.people import names, table

CONFIG = BlockConfig(block_records=10, keys=("x",))
LEFT, RIGHT = table("a", x=names(50, 0)), table("b", x=names(50, 0, typos=True))


class KilledError(Exception):
    pass


def killed_after(count):
    def on_progress(what, share):
        seen.append(what)
        if len(seen) > count:
            raise KilledError

    seen: list[str] = []
    return on_progress


def found_steps(monkeypatch):
    """The steps that are really searched."""
    done = []
    search = steps_module.Nearest.find
    monkeypatch.setattr(
        steps_module.Nearest, "find", lambda self, start, stop: done.append((start, stop)) or search(self, start, stop)
    )
    return done


def test_the_file_holds_what_memory_holds(tmp_path):
    found = block_to_file(LEFT, RIGHT, CONFIG, tmp_path / "pairs.parquet")
    expected = block(LEFT, RIGHT, CONFIG).to_arrow(LEFT, RIGHT)
    assert found.to_arrow(LEFT, RIGHT).equals(expected)
    assert pq.read_table(tmp_path / "pairs.parquet").equals(expected)
    assert expected.column_names == ["ltable_id", "rtable_id", "score", "blocked_by"]
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.parquet"]


def test_what_was_done_before_a_kill_is_not_done_again(tmp_path, monkeypatch):
    out, done = tmp_path / "pairs.parquet", found_steps(monkeypatch)
    with pytest.raises(KilledError):
        block_to_file(LEFT, RIGHT, CONFIG, out, killed_after(5))
    assert not out.exists()
    before = len(done)
    (parts_folder(out) / ".0-left-0000000040.parquet.part").write_bytes(b"half")
    block_to_file(LEFT, RIGHT, CONFIG, out)
    assert 0 < before < 20
    assert len(done) <= 21  # 2 searches of 2 sides in 5 blocks, and the one that was not written yet
    assert pq.read_table(out).equals(block(LEFT, RIGHT, CONFIG).to_arrow(LEFT, RIGHT))


@pytest.mark.parametrize("other", ["data", "settings"])
def test_parts_of_other_data_or_settings_are_not_used(tmp_path, other):
    out = tmp_path / "pairs.parquet"
    with pytest.raises(KilledError):
        block_to_file(LEFT, RIGHT, CONFIG, out, killed_after(8))
    right = table("b", x=names(50, 7)) if other == "data" else RIGHT
    config = BlockConfig(top=1, block_records=10) if other == "settings" else CONFIG
    block_to_file(LEFT, right, config, out)
    assert pq.read_table(out).equals(block(LEFT, right, config).to_arrow(LEFT, right))


def test_block_size_does_not_show_in_the_file(tmp_path):
    files = [tmp_path / f"{size}.parquet" for size in (7, 50)]
    for file, size in zip(files, (7, 50), strict=True):
        block_to_file(LEFT, RIGHT, BlockConfig(block_records=size), file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_empty_tables_give_an_empty_file(tmp_path):
    block_to_file(table("a", x=[]), None, BlockConfig(), tmp_path / "pairs.parquet")
    assert pq.read_table(tmp_path / "pairs.parquet").num_rows == 0


def test_two_processes_do_not_write_the_same_parts(tmp_path):
    out = tmp_path / "pairs.parquet"
    parts_folder(out).mkdir()
    with FileLock(parts_folder(out) / "lock"), pytest.raises(BusyError):
        block_to_file(LEFT, RIGHT, CONFIG, out)


def test_a_process_that_is_killed_is_resumed(tmp_path):
    out = tmp_path / "pairs.parquet"
    code = (
        "import sys, time; from pathlib import Path\n"
        "from tests.blocking.test_stream import LEFT, RIGHT, CONFIG\n"
        "from riskcore.blocking import block_to_file\n"
        f"block_to_file(LEFT, RIGHT, CONFIG, Path({str(out)!r}), lambda *_: time.sleep(0.3))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2], env={**os.environ})
    until = time.monotonic() + 60
    while len(list(parts_folder(out).glob("[0-9]*.parquet"))) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists()
    kept = {file.name: file.stat().st_mtime_ns for file in parts_folder(out).glob("[0-9]*.parquet")}
    assert kept
    block_to_file(LEFT, RIGHT, CONFIG, out)
    assert pq.read_table(out).equals(block(LEFT, RIGHT, CONFIG).to_arrow(LEFT, RIGHT))
