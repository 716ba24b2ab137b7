"""What is put aside is heard later: in order, once, to the bit, and also by a process that comes after a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riskcore.config import RunConfig
from riskcore.data import TargetTruth, Workload
from riskcore.errors import CheckpointError
from riskcore.matchers.base import Arrays, Matcher
from riskcore.training.experiment import run_experiment
from riskcore.training.listeners import Listener
from riskcore.training.results import IterationScores
from riskcore.training.told import Teller, ToldFiles
from tests.training.conftest import with_methods


class Heard(Listener):
    """Everything that a teller can put aside, as text and arrays."""

    def __init__(self) -> None:
        self.all: list[tuple[str, Any]] = []
        self.arrays: list[np.ndarray] = []

    def on_phase_start(self, record: Any) -> None:
        self.all.append(("start", record))

    def on_progress(self, record: Any) -> None:
        self.all.append(("progress", record))

    def on_phase_end(self, record: Any) -> None:
        self.all.append(("end", record))

    def on_adapted(self, matcher: Matcher) -> None:
        self.all.append(("adapted", sorted(matcher.snapshot())))
        self.arrays += [values for _, values in sorted(matcher.snapshot().items())]

    def on_iteration_end(self, scores: IterationScores) -> None:
        risk = None if scores.risk is None else (scores.risk.ranked_by, scores.risk.choice, scores.risk.labels_used)
        known = [scores.method, scores.iteration, scores.record, scores.fallback, scores.model.to_json(), risk]
        self.all.append(("iteration", json.dumps(known, sort_keys=True)))
        self.arrays += [scores.queue, scores.scores.mu, scores.scores.label, *scores.learned.values()]


class Stored(Matcher):
    """Stands for the matcher that has learned what was put aside."""

    def __init__(self, learned: Arrays) -> None:
        self.learned = learned

    def snapshot(self, moments: bool = False) -> Arrays:
        return self.learned

    begin = fine_tune = predict_proba = restore = None  # type: ignore[assignment]


def test_what_is_put_aside_is_heard_to_the_bit(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, tmp_path: Path
) -> None:
    direct, later, files = Heard(), Heard(), ToldFiles(tmp_path / "told", "this run")
    run_experiment(shifted[0], with_methods(quick, "risk", "risk+"), [direct, Teller(files)])
    files.retell([later], Stored)
    assert [kind for kind, _ in direct.all].count("iteration") == 7
    assert later.all == direct.all
    for one, other in zip(direct.arrays, later.arrays, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_files_are_numbered_across_processes_and_heard_once(tmp_path: Path) -> None:
    teller, heard = Teller(ToldFiles(tmp_path / "told", "this run")), Heard()
    hearing = ToldFiles(tmp_path / "told", "this run")
    teller.on_progress({"phase": "risk", "done": 1, "total": 3})
    hearing.retell([heard], Stored)
    hearing.retell([heard], Stored)
    Teller(ToldFiles(tmp_path / "told", "this run")).on_progress({"phase": "risk", "done": 2, "total": 3})
    hearing.retell([heard], Stored)
    assert [record["done"] for _, record in heard.all] == [1, 2]
    assert sorted(file.stem for file in (tmp_path / "told").glob("*")) == ["000000", "000001"]
    with pytest.raises(CheckpointError, match="other data, settings or seed"):
        ToldFiles(tmp_path / "told", "another run").retell([heard], Stored)
    hearing.forget()
    assert not (tmp_path / "told").exists()


def test_of_a_pass_only_the_last_word_is_kept_and_told_once(tmp_path: Path) -> None:
    class Pairs(Listener):
        def __init__(self) -> None:
            self.done: list[int] = []

        def on_pairs(self, record: Any) -> None:
            self.done.append(record["done"])

    teller, hearing, heard = Teller(ToldFiles(tmp_path, "this run")), ToldFiles(tmp_path, "this run"), Pairs()
    hearing.retell_pass([heard])
    for done in (10, 20, 30):
        teller.on_pairs({**PASS, "done": done})
    hearing.retell_pass([heard])
    hearing.retell_pass([heard])
    teller.on_pairs({**PASS, "done": 40})
    hearing.retell_pass([heard])
    assert heard.done == [30, 40]
    assert [file.name for file in tmp_path.iterdir()] == [".pass.json"]
    hearing.retell([heard], Stored)
    hearing.forget_pass()
    assert list(tmp_path.iterdir()) == []


PASS: Any = {
    "task": "risk", "unit": "iteration", "number": 1, "of": 3, "done": 0, "total": 50,
    "seconds": 1.0, "per_second": 9.0,
}  # fmt: skip
