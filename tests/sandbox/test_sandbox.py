"""Reading apart: what a file may take there, what is said when it takes more, and that nothing else notices."""

from __future__ import annotations

import dataclasses
import os
import resource
import signal
import stat
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from riskcore.data import find_sample, inspect_data
from riskcore.data.bring.roles import Role
from riskcore.data.bring.scores import ScoreColumns
from riskcore.data.problems import DataFormatError
from riskcore.errors import ConfigError
from riskcore.sandbox import calls, quarantine
from riskcore.sandbox.errors import ReadingError
from riskcore.sandbox.limits import Limits, read_limits
from riskcore.sandbox.process import SANDBOX
from riskcore.sandbox.wire import decoded, encoded
from tests.data.test_content_caps import repeated
from tests.sandbox.heavy import write_heavy

SMALL = Limits(memory_bytes=300_000_000)


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("RISKCORE_DATA", str(folder))
    return folder


@pytest.fixture
def heavy(tmp_path) -> Path:
    path = tmp_path / "heavy.parquet"
    write_heavy(path)
    assert path.stat().st_size < 50_000
    return path


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def reader() -> int:
    """The process that forks the others."""
    assert SANDBOX._process is not None
    return SANDBOX._process.pid


def test_a_sample_has_the_same_figures_as_when_it_is_read_here():
    path = find_sample("products").path
    found, (data, problems) = calls.figures(path), inspect_data(path)
    assert found.profile is not None
    assert found.profile.fingerprint == data.fingerprint
    assert list(found.problems) == problems
    assert found.previews["left records"]["id"].tolist() == list(data.left.ids[:50])


def test_memory_beyond_the_limit_is_one_sentence_and_not_taken_here(heavy):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ReadingError) as told:
        SANDBOX.run("figures", heavy, limits=SMALL)
    assert str(told.value).startswith("heavy.parquet needs more than 0.3 GB of memory to read.")
    assert told.value.file == heavy
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_small_files_that_stand_for_gigabytes_are_answered_with_a_problem(tmp_path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, chars, compression in (("55k", 50_000, "none"), ("740", 2_000, "zstd")):
        path = tmp_path / f"{name}.parquet"
        repeated(path, "x" * chars, 4_000_000, compression)
        assert [problem.kind for problem in calls.figures(path).problems] == ["too_much_content"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_time_beyond_the_limit_is_one_sentence_while_others_are_served(heavy):
    told: list[BaseException] = []

    def read() -> None:
        try:
            SANDBOX.run("figures", heavy, limits=Limits(seconds=1.5))
        except ReadingError as error:
            told.append(error)

    calls.figures(find_sample("products").path)  # the first one waits for the imports
    slow = threading.Thread(target=read)
    slow.start()
    assert calls.figures(find_sample("products").path).profile is not None
    assert slow.is_alive()
    slow.join()
    assert str(told[0]).startswith("Reading heavy.parquet took longer than 1.5 s.")


def test_a_killed_reader_is_one_sentence_and_the_next_file_is_read(heavy):
    SANDBOX.close()
    told: list[BaseException] = []

    def read() -> None:
        try:
            SANDBOX.run("figures", heavy)
        except ReadingError as error:
            told.append(error)

    slow = threading.Thread(target=read)
    slow.start()
    deadline = time.monotonic() + 30
    while (SANDBOX._process is None or not children(reader())) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.5)  # until it reads the file, which takes seconds
    os.kill(children(reader())[0], signal.SIGKILL)
    slow.join()
    assert "heavy.parquet stopped its reader (SIGKILL)" in str(told[0])
    os.kill(reader(), signal.SIGKILL)
    assert calls.figures(find_sample("products").path).profile is not None


def test_no_child_is_left_when_the_door_closes():
    calls.figures(find_sample("products").path)
    pid = reader()
    SANDBOX.close()
    assert not Path(f"/proc/{pid}").exists()


def test_an_answer_has_its_limit_too():
    path = find_sample("products").path
    with pytest.raises(ReadingError, match="has more than 1,000 bytes to show"):
        SANDBOX.run("figures", path, limits=Limits(answer_bytes=1_000))


def test_errors_of_a_task_are_raised_as_they_are(tmp_path):
    path = tmp_path / "bad.zip"
    path.write_bytes(b"no archive")
    with pytest.raises(DataFormatError) as told:
        calls.unpack([path], tmp_path)
    assert [problem.kind for problem in told.value.problems] == ["corrupt_archive"]


def test_only_listed_tasks_and_values_cross(tmp_path):
    with pytest.raises(ReadingError, match="unexpected KeyError"):
        SANDBOX.run("os.system", "true")
    with pytest.raises(TypeError, match="no value that goes between processes"):
        encoded(threading.Event())


def test_values_come_back_as_they_went():
    frame = pd.DataFrame([["a", 1.5], [None, float("nan")]], columns=["x", "x"])
    value = {"record": (1, [Role.LEFT, Path("a")]), "$": {"tuple": datetime(2026, 1, 2, tzinfo=UTC)}, "bad": "\udc80"}
    assert decoded(encoded(value)) == value
    back = decoded(encoded(frame))
    assert list(back) == ["x", "x"]
    assert back.iloc[0].tolist() == ["a", 1.5]
    assert back.isna().to_numpy()[1].all()
    assert decoded(encoded(np.array(["a", "b"], dtype=object))).tolist() == ["a", "b"]
    assert decoded(encoded(ScoreColumns("p", missing=0.0))) == ScoreColumns("p", missing=0.0)


def test_an_upload_that_breaks_its_reader_is_moved_aside_and_a_set_is_remembered(data, heavy, monkeypatch):
    monkeypatch.setenv("RISKCORE_READ_GB", "0.3")
    upload = data / ".brought" / "one" / "heavy.parquet"
    upload.parent.mkdir(parents=True)
    upload.write_bytes(heavy.read_bytes())
    with pytest.raises(ReadingError, match=r"0\.3 GB"):
        calls.look([upload], {})
    assert not upload.exists()
    [found] = quarantine.set_aside()
    assert (found.name, found.size) == ("heavy.parquet", heavy.stat().st_size)
    assert "0.3 GB" in found.reason
    assert stat.S_IMODE((data / ".quarantine").stat().st_mode) == 0o700
    quarantine.discard("../one")
    quarantine.discard(found.key)
    assert not list((data / ".quarantine").iterdir())

    with pytest.raises(ReadingError, match=r"0\.3 GB"):
        calls.figures(heavy)
    assert heavy.exists()
    monkeypatch.setenv("RISKCORE_READ_GB", "2")
    monkeypatch.setattr(SANDBOX, "run", None)  # it is not even asked
    with pytest.raises(ReadingError, match=r"0\.3 GB"):
        calls.figures(heavy)
    quarantine.try_again(heavy)
    assert quarantine.reason_of(heavy) is None


def test_the_quarantine_is_bounded(data, monkeypatch):
    monkeypatch.setattr(quarantine, "KEPT", 2)
    for number in range(4):
        path = data / ".uploads" / "x" / f"{number}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("id\n")
        quarantine.take(path, "for a reason")
    assert [one.name for one in quarantine.set_aside()] == ["3.csv", "2.csv"]


@pytest.mark.parametrize("text", ["much", "-1", "nan", "0"])
def test_limits_come_from_the_environment(monkeypatch, text):
    assert read_limits() == dataclasses.replace(Limits())
    monkeypatch.setenv("RISKCORE_READ_SECONDS", "5")
    assert read_limits().seconds == 5.0
    monkeypatch.setenv("RISKCORE_READ_GB", text)
    with pytest.raises(ConfigError, match="RISKCORE_READ_GB"):
        read_limits()
