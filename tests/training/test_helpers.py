"""Helper processes: they give what the function gives, end with their work, and say in words how they ended."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from riskcore.errors import CancelledError, StorageError
from riskcore.training import processes
from riskcore.training.helpers import HelperError, Helpers
from riskcore.training.processes import CoreWatch, usable_cores
from riskcore.training.shared_objects import SharedObjects


class UnreadableError(Exception):
    """An error that pickle can write and not read."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(one + other)


def whether_same(one: object, several: list[object]) -> tuple[bool, object]:
    return several[0] is one, one


def fails(kind: str) -> None:
    if kind == "known":
        raise StorageError("The disk is full.")
    raise UnreadableError("two ", "words")


def process() -> int:
    return os.getpid()


def ends() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def helpers() -> Iterator[Helpers]:
    with Helpers(1) as found:
        yield found


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until_gone(pid: int, seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not gone(pid):
        assert time.monotonic() < until, f"process {pid} is still there"
        time.sleep(0.05)


def test_a_task_gives_what_the_function_gives(helpers: Helpers) -> None:
    found = helpers.result(helpers.submit(np.linspace, 0.0, 1.0, 7))
    np.testing.assert_array_equal(found, np.linspace(0.0, 1.0, 7))
    after = helpers.submit(np.sum, helpers.submit(np.arange, 5))  # a task among the arguments stands for its result
    assert helpers.result(after) == 10
    assert helpers.result(helpers.submit(process)) != os.getpid()
    assert helpers.peak_rss_mb > 10


def test_what_is_shared_is_one_object_on_either_side(helpers: Helpers) -> None:
    one = {"large": np.arange(3)}
    helpers.share("one", one)
    same, back = helpers.result(helpers.submit(whether_same, one, [one]))
    assert same
    assert back is one


def test_errors_come_back_as_they_are_or_in_their_words(helpers: Helpers) -> None:
    with pytest.raises(StorageError, match=r"The disk is full\.") as known:
        helpers.result(helpers.submit(fails, "known"))
    assert "In a helper process:" in known.value.__notes__[0]
    with pytest.raises(RuntimeError, match="UnreadableError: two words"):
        helpers.result(helpers.submit(fails, "unknown"))


def test_a_helper_that_dies_is_reported_in_words(helpers: Helpers) -> None:
    """The last test with this helper: nothing is done after it has died."""
    with pytest.raises(HelperError, match=r"does not answer any more \(SIGKILL\)\. Where memory is short"):
        helpers.result(helpers.submit(ends))
    with pytest.raises(HelperError, match="SIGKILL"):
        helpers.result(helpers.submit(process))


def test_a_cancelled_run_does_not_wait_for_a_helper() -> None:
    started = time.monotonic()
    with Helpers(1, lambda: True) as helpers:
        with pytest.raises(CancelledError):
            helpers.result(helpers.submit(time.sleep, 600))
        pid = helpers._all[0]._process.pid
    assert gone(pid)
    assert time.monotonic() - started < 60


def test_shared_objects_go_by_name() -> None:
    one, ours, theirs = [1, 2], SharedObjects(), SharedObjects()
    ours.add("one", one)
    theirs.add("one", other := [1, 2])
    assert theirs.loads(ours.dumps({"it": one}))["it"] is other
    assert "one" in ours
    assert "other" not in ours


def stat(folder: Path, idle: int, busy: int) -> Path:
    file = folder / "stat"
    file.write_text(f"cpu  {busy} 0 0 {idle} 0 0 0 0 0 0\ncpu0 1 1 1 1\n", encoding="ascii")
    return file


def test_free_cores_are_those_that_were_idle_and_the_own_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riskcore.training.processes.usable_cores", lambda: 4)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    own = iter([0.0, 1.0] * 3)
    monkeypatch.setattr("riskcore.training.processes._own_seconds", lambda: next(own))
    clock = iter([0.0, 1.0] * 3)
    monkeypatch.setattr("riskcore.training.processes.time.monotonic", lambda: next(clock))
    for idle, expected in ((300, 4), (100, 2), (0, 1)):  # of 400 ticks in a second
        watch = CoreWatch(stat(tmp_path, 1000, 1000))
        stat(tmp_path, 1000 + idle, 1000 + 400 - idle)
        assert watch.free_cores() == expected


def test_one_core_is_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert usable_cores() >= 1
    monkeypatch.setattr("riskcore.training.processes.usable_cores", lambda: 1)
    assert CoreWatch().free_cores() == 1
    monkeypatch.setattr("riskcore.training.processes.usable_cores", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (3.0, 0.0, 0.0))
    assert CoreWatch(tmp_path / "nothing").free_cores() == 1
    monkeypatch.setattr(os, "getloadavg", lambda: (0.4, 0.0, 0.0))
    assert CoreWatch(tmp_path / "nothing").free_cores() == 2


def test_memory_limits_the_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("MEMORY", "MemTotal: 9 kB\nMemAvailable: 8192000 kB\n"), ("LIMIT", "max"), ("USED", "1")):
        (tmp_path / name).write_text(content)
        monkeypatch.setattr(processes, name, tmp_path / name)
    monkeypatch.setattr(processes, "_rss_mb", lambda: 600.0)
    assert processes.processes_in_memory() == 8  # of 8000 MB this process keeps room for itself
    monkeypatch.setattr(processes, "_rss_mb", lambda: 2500.0)
    assert processes.processes_in_memory() == 1
    monkeypatch.setattr(processes, "_rss_mb", lambda: 600.0)
    (tmp_path / "LIMIT").write_text(str(3000 * 2**20 + 1))
    assert processes.processes_in_memory() == 3
    (tmp_path / "MEMORY").unlink()
    assert processes.processes_in_memory() > 1000  # unknown: cores decide alone
