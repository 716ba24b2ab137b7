"""Jobs of the screen: a process of its own that reports how far it is, ends with answers or with a reason."""

from __future__ import annotations

import errno
import signal
import time
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest

from riskcore.apply import jobs
from riskcore.apply.__main__ import work
from riskcore.apply.jobs import Asked, Job, jobs_of, start_job
from riskcore.errors import StorageError
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import write_bytes
from tests.apply.test_new_records import first_titles, new_frame, run

__all__ = ["run"]


def ended(job: Job, seconds: float = 120) -> Job:
    """The job once it is over; importing the engine takes a while on a busy machine."""
    until = time.monotonic() + seconds
    while job.going_on and time.monotonic() < until:
        time.sleep(0.1)
    assert not job.going_on
    return job


@pytest.fixture
def own(run: RunFolder, tmp_path: Path) -> RunFolder:
    """A run of its own for each test, with the same bundle."""
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    folder.bundle.symlink_to(run.bundle)
    return folder


def content(run: RunFolder, column: str = "name") -> bytes:
    return new_frame(first_titles(run, "left"), column).to_csv(index=False).encode()


def test_a_process_scores_the_file_and_removes_it(own: RunFolder, run: RunFolder) -> None:
    job = start_job(own, content(run), Asked("new shop.csv", "risk", kind="parquet"))
    assert [one.folder for one in jobs_of(own)] == [job.folder]
    assert ended(job).error is None
    about, found = job.about, pd.read_parquet(job.answers)
    assert about is not None
    assert (about["new"], about["method"]) == ("new shop.csv", "risk")
    assert about["counts"]["rows"] == len(found) > 0
    assert job.progress == ("scoring", 1.0)
    assert not job.new_file.exists()
    job.remove()
    assert jobs_of(own) == []


def waiting(own: RunFolder, monkeypatch: pytest.MonkeyPatch, data: bytes, **asked: str) -> Job:
    """A job whose process is this one."""
    monkeypatch.setattr(jobs, "_spawn", lambda job: None)
    return start_job(own, data, Asked("new.csv", **{"method": "risk", **asked}))


def test_bad_input_is_said_with_the_owners_name_of_the_file(
    own: RunFolder, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = waiting(own, monkeypatch, content(run, "colour"))
    assert job.going_on
    assert not work(job)
    assert "'name'" in (job.error or "")
    assert (job.going_on, job.about, job.new_file.exists()) == (False, None, False)


def test_a_job_can_be_stopped(own: RunFolder, run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    job = waiting(own, monkeypatch, content(run))
    job.cancel()
    assert not work(job)
    assert job.error == "This was stopped before it was done."
    assert not job.answers.exists()


def test_a_process_that_is_gone_is_said_to_be(own: RunFolder, run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    job = waiting(own, monkeypatch, content(run))
    (job.folder / "pid").write_text("999999999")
    assert "has ended without an answer" in (job.error or "")


def test_a_process_on_another_machine_lives_while_it_tells_something(
    own: RunFolder, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = waiting(own, monkeypatch, content(run))
    (job.folder / "pid").write_text("999999999 elsewhere")
    assert job.going_on
    monkeypatch.setattr(jobs, "SILENT_SECONDS", -1.0)
    assert "has ended without an answer" in (job.error or "")


def no_space(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_job_that_cannot_start_leaves_nothing(
    own: RunFolder, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs.subprocess, "Popen", no_space)
    with pytest.raises(StorageError):
        start_job(own, content(run), Asked("new.csv", "risk"))
    assert (jobs_of(own), list(own.applied.iterdir())) == ([], [])


def test_a_process_that_cannot_be_recorded_is_ended(
    own: RunFolder, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(path: Path, data: bytes) -> None:
        no_space() if path.name == "pid" else write_bytes(path, data)

    monkeypatch.setattr(jobs, "write_bytes", write)
    monkeypatch.setattr(jobs, "_children", (children := []))
    with pytest.raises(OSError, match="No space left"):
        start_job(own, content(run), Asked("new.csv", "risk"))
    assert [child.poll() for child in children] == [-signal.SIGKILL]
    assert jobs_of(own) == []


def test_a_job_without_a_process_has_failed_after_a_while(
    own: RunFolder, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = waiting(own, monkeypatch, content(run))
    assert job.going_on
    monkeypatch.setattr(jobs, "STARTING", timedelta(0))
    assert not job.going_on
    assert "did not start" in (job.error or "")


def test_the_latest_jobs_are_kept(own: RunFolder, run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for _ in range(jobs.KEPT + 2):
        job = waiting(own, monkeypatch, content(run))
        job.finish({"counts": {}})
        made.append(job.folder)
    assert [one.folder for one in jobs_of(own)] == made[-jobs.KEPT :][::-1]
