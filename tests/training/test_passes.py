"""Passes that are interrupted: cancelled or killed after any batch and resumed, they end in the same bits."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riskcore.config import MatcherConfig, RunConfig, TuneConfig
from riskcore.data import TargetTruth, Workload
from riskcore.errors import CancelledError
from riskcore.matchers import Matcher, TuningSet, create
from riskcore.matchers.base import PassFollower
from riskcore.matchers.toy import ToyMatcher
from riskcore.training import fine_tuned_fits, passes
from riskcore.training.checkpoint import Checkpoint
from riskcore.training.experiment import run_experiment
from riskcore.training.listeners import Listener
from riskcore.training.passes import Passes, takes_follower
from riskcore.training.supervised import train_on_labels
from tests.matchers.people import ATTRIBUTES, examples

METHODS = ("risk", "risk+", "supervised", "self-training")
KILLED = (5, 40, 75)  # steps of training until the first interruption


class Killed(BaseException):
    """Stands for a kill: nothing is tidied up."""


class StopAfter:
    """Cancels after so many batches, or raises an error."""

    def __init__(self, batches: int, error: type[BaseException] | None = None) -> None:
        self.left, self.error = batches, error

    def __call__(self) -> bool:
        self.left -= 1
        if self.left < 0 and self.error is not None:
            raise self.error
        return self.left < 0


class Heard(Listener):
    def __init__(self) -> None:
        self.pairs: list[Any] = []

    def on_pairs(self, record: Any) -> None:
        self.pairs.append(record)


def sif() -> Matcher:
    return create(MatcherConfig(kind="sif", width=16, head=16), ATTRIBUTES)


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def slow(quick: RunConfig) -> RunConfig:
    """A matcher with dropout, whose passes have several batches."""
    return dataclasses.replace(
        quick,
        matcher=MatcherConfig(kind="sif", width=8, head=8, dropout=0.3),
        tune=TuneConfig(epochs=2, batch_size=32),
        adapt=dataclasses.replace(quick.adapt, iterations=2, stacking_folds=2),
        methods=METHODS,
    )


@pytest.fixture(scope="module")
def undisturbed(shifted: tuple[Workload, TargetTruth], slow: RunConfig) -> dict[str, Any]:
    return run_experiment(shifted[0], slow)


@pytest.mark.parametrize("batches", KILLED)
@pytest.mark.parametrize("how", ["cancelled", "killed"])
def test_every_method_goes_on_in_the_middle_of_a_pass(
    how: str,
    batches: int,
    shifted: tuple[Workload, TargetTruth],
    slow: RunConfig,
    undisturbed: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if how == "killed":
        monkeypatch.setattr(passes, "KEEP_SECONDS", 0.0)
        monkeypatch.setattr(passes, "KEEP_SHARE", 1e9)
        monkeypatch.setattr(fine_tuned_fits, "KEEP_SECONDS", 0.0)

    interruptions = 0
    while True:
        stop = StopAfter(61 if interruptions else batches, Killed if how == "killed" else None)
        try:
            found = run_experiment(shifted[0], slow, checkpoints=tmp_path, should_stop=stop)
            break
        except (CancelledError, Killed):
            interruptions += 1
    assert interruptions > 1
    for name, result in undisturbed.items():
        np.testing.assert_array_equal(found[name].probability, result.probability)
        assert same(dict(found[name].learned), dict(result.learned))
    assert not [file.name for file in tmp_path.iterdir() if file.stem.endswith(("-pass", "-fits"))]


def test_a_matcher_that_takes_no_follower_is_trained_as_before(tmp_path: Path) -> None:
    matcher = create(MatcherConfig(kind="toy"), ATTRIBUTES)
    assert not takes_follower(matcher)
    checkpoint = Checkpoint(tmp_path / "c.safetensors")
    with pytest.raises(CancelledError):
        train_on_labels(matcher, examples(60), None, TuneConfig(1), checkpoint=checkpoint, should_stop=StopAfter(1))
    assert list(tmp_path.iterdir()) == []


def test_the_state_of_a_pass_is_that_of_this_pass_of_this_training(tmp_path: Path) -> None:
    matcher, labelled = sif(), TuningSet.from_labels(examples(20))
    matcher.begin(examples(20), seed=0)
    checkpoint = Checkpoint(tmp_path / "c.safetensors")

    def of(made_from: str, stop: Any = lambda: False, task: str = "risk") -> Passes:
        return Passes(task, "iteration", 3, made_from, (), checkpoint, stop)

    with pytest.raises(CancelledError):
        of("these", StopAfter(2)).make(matcher, labelled, 2, rate=0.01, seed=0, batch_size=16)
    assert of("these").interrupted == 2
    assert of("these").follower(2).reached()["pass.batches"] == 2
    assert not of("these").follower(1).reached()
    assert not of("others").follower(2).reached()
    assert not of("these", task="risk+").follower(2).reached()
    assert of("others").interrupted == 0
    (tmp_path / "c-pass.safetensors").write_bytes(b"torn")
    assert not of("these").follower(2).reached()
    of("these").forget()
    assert list(tmp_path.iterdir()) == []


def test_listeners_hear_of_passes_that_last(monkeypatch: pytest.MonkeyPatch) -> None:
    train = examples(20)
    heard, config = Heard(), TuneConfig(epochs=2, batch_size=16)
    train_on_labels(sif(), train, None, config, listeners=[heard])
    assert heard.pairs == []
    monkeypatch.setattr(passes, "TELL_SECONDS", 0.0)
    train_on_labels(sif(), train, None, config, listeners=[heard])
    assert [(one["task"], one["unit"], one["number"], one["of"], one["total"]) for one in heard.pairs] == [
        ("tradition", "epoch", epoch, 2, 60) for epoch in (1, 2) for _ in range(3)
    ]  # not of the first batch, which waited for the records to be made ready
    done = [one["done"] for one in heard.pairs]
    assert sorted(done[:3]) == done[:3]
    assert done[2] == done[5] == 60
    assert all(one["per_second"] > 0 and one["seconds"] >= 0 for one in heard.pairs)


def test_a_pass_is_kept_now_and_then_and_for_a_small_share_of_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, kept = [0.0], []
    monkeypatch.setattr(passes.time, "monotonic", lambda: now[0])

    def state() -> dict[str, np.ndarray]:
        kept.append(now[0])
        now[0] += 3.0  # the state is large
        return {"weights": np.zeros(1)}

    follower = Passes("risk", "iteration", 1, "", (), Checkpoint(tmp_path / "c.safetensors")).follower(1)
    for done in range(1, 601):
        now[0] += 1.0
        follower.advance(done, 600, state)
    assert kept == [60.0, 213.0, 366.0, 519.0]


def test_a_follower_that_is_no_follower() -> None:
    nobody = PassFollower()
    assert nobody.reached() == {}
    nobody.advance(1, 2, dict)
    nobody.stop(1, dict)
    assert not takes_follower(ToyMatcher(MatcherConfig(kind="toy"), ATTRIBUTES))
