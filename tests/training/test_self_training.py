"""Self-training: what it believes, that it moves, repeats, resumes, and where there is nothing to be sure of."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from riskcore.config import RunConfig
from riskcore.data import TargetTruth, Workload
from riskcore.matchers import create
from riskcore.registry import METHODS
from riskcore.training.checkpoint import Checkpoint
from riskcore.training.evidence import Evidence
from riskcore.training.experiment import run_experiment
from riskcore.training.gather import gather
from riskcore.training.listeners import Listener
from riskcore.training.self_training import own_labels, train_on_own_labels
from riskcore.training.supervised import train_on_labels
from tests.training.conftest import with_methods


@pytest.fixture(scope="module")
def evidence(shifted: tuple[Workload, TargetTruth], quick: RunConfig) -> Evidence:
    return gather(shifted[0], quick)


def test_only_confident_pairs_are_believed(evidence: Evidence) -> None:
    probability = np.tile([0.95, 0.9, 0.6, 0.4, 0.1, 0.0], len(evidence.target))[: len(evidence.target)]
    labelled = own_labels(evidence.target, probability, 0.9)
    sure = np.flatnonzero((probability >= 0.9) | (probability <= 0.1))
    assert labelled.examples.pairs.ids.tolist() == evidence.target.examples.pairs.ids[sure].tolist()
    np.testing.assert_array_equal(labelled.match, probability[sure] >= 0.5)
    np.testing.assert_array_equal(labelled.non_match, probability[sure] < 0.5)
    assert not len(own_labels(evidence.target, np.full(len(evidence.target), 0.5), 0.9))


def test_it_is_a_method_that_must_be_asked_for(shifted: tuple[Workload, TargetTruth], quick: RunConfig) -> None:
    assert "self-training" in METHODS
    assert "self-training" not in RunConfig().methods
    config = with_methods(quick, "self-training")
    first, second = (run_experiment(shifted[0], config) for _ in range(2))
    assert list(first) == ["tradition", "self-training"]
    np.testing.assert_array_equal(first["self-training"].probability, second["self-training"].probability)
    rows = first["self-training"].record["rows"]
    assert len(rows) == quick.adapt.iterations + 1
    kept = first["self-training"].record["best_iteration"]
    assert rows[kept]["validation_f1"] == max(row["validation_f1"] for row in rows)
    changed = first["self-training"].probability != first["tradition"].probability
    assert changed.any() == (kept > 0)


class StoppedError(Exception):
    """Stands for a kill."""


class StopAt(Listener):
    def on_progress(self, record: dict[str, object]) -> None:
        if record["phase"] == "self-training" and record["done"] == 2:
            raise StoppedError


def test_cut_off_it_goes_on(
    shifted: tuple[Workload, TargetTruth], evidence: Evidence, quick: RunConfig, tmp_path: Path
) -> None:
    def trained() -> tuple:
        matcher = create(quick.matcher, shifted[0].attributes)
        train_on_labels(matcher, evidence.source.examples, evidence.validation.examples, config=quick.tune)
        return matcher, Checkpoint(tmp_path / "c.safetensors")

    whole, _ = trained()
    rows = train_on_own_labels(whole, evidence, quick).rows
    matcher, checkpoint = trained()
    with pytest.raises(StoppedError):
        train_on_own_labels(matcher, evidence, quick, [StopAt()], checkpoint)
    matcher, checkpoint = trained()
    assert train_on_own_labels(matcher, evidence, quick, [], checkpoint).rows == rows
    examples = evidence.target.examples
    np.testing.assert_array_equal(matcher.predict_proba(examples), whole.predict_proba(examples))


def test_nothing_to_be_sure_of_leaves_the_matcher(
    shifted: tuple[Workload, TargetTruth], evidence: Evidence, quick: RunConfig
) -> None:
    config = dataclasses.replace(quick, adapt=dataclasses.replace(quick.adapt, confident=1.0))
    matcher = create(quick.matcher, shifted[0].attributes)
    matcher.begin(evidence.source.examples, 0)
    before = matcher.predict_proba(evidence.target.examples)
    train_on_own_labels(matcher, evidence, config)
    np.testing.assert_array_equal(matcher.predict_proba(evidence.target.examples), before)
