"""The risk of labels by all the evidence: its order, its calibration, and what it falls back on."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from riskcore.config import RankConfig, RunConfig
from riskcore.evaluation import measure_calibration
from riskcore.risk import auroc
from riskcore.training.ensemble import Stacked, contradicted
from riskcore.training.label_risk import label_risk
from riskcore.training.newton import ridge_logistic
from riskcore.training.results import CONFIDENCE, STACKED
from riskcore.training.stacker import average_stacker

N = 4000


@dataclasses.dataclass(frozen=True)
class World:
    """Pairs whose stacked evidence is good, labelled by a matcher that is confidently wrong on a tenth of them."""

    ensemble: Any
    stacked: Stacked
    probability: np.ndarray  # the matcher's, of target pairs
    validated: np.ndarray  # and of validation pairs
    truth: np.ndarray


def world(evidence: float = 2.0, fooled: float = 0.1, seed: int = 0, size: int = N) -> World:
    rng = np.random.default_rng(seed)
    labels, truth = ((rng.random(size) < 0.3).astype(np.int8) for _ in range(2))

    def stacked(of: np.ndarray) -> np.ndarray:
        """Calibrated: two normal densities a given distance apart."""
        drawn = rng.normal(np.where(of == 1, evidence / 2, -evidence / 2), 1.0)
        return expit(evidence * drawn + np.log(0.3 / 0.7))

    def matcher(of: np.ndarray) -> np.ndarray:
        said = np.where(rng.random(size) < fooled, 1 - of, of)
        return np.clip(said + np.where(said == 1, -1, 1) * rng.random(size) * 0.3, 0, 1)

    found = Stacked(
        average_stacker(1), None, np.zeros(size), stacked(truth), np.zeros(size), stacked(labels), np.zeros(size)
    )
    validation = SimpleNamespace(labels=labels, weights=np.ones(len(labels)))
    ensemble = SimpleNamespace(
        config=RunConfig(), evidence=SimpleNamespace(validation=validation), labels_used=("source", "validation")
    )
    return World(ensemble, found, matcher(truth), matcher(labels), truth)


def test_stacked_evidence_finds_what_the_matcher_is_sure_of() -> None:
    it = world(evidence=3.0)
    found = label_risk(it.ensemble, it.stacked, it.probability, it.validated)
    wrong = (it.probability >= 0.5) != it.truth
    doubt = np.minimum(it.probability, 1 - it.probability)
    assert found.ranked_by == STACKED
    assert (auroc(found.risk, wrong) or 0) > 0.9 > 0.6 > (auroc(doubt, wrong) or 1)
    assert found.choice is not None
    assert found.choice["errors"] == int(((it.validated >= 0.5) != it.ensemble.evidence.validation.labels).sum())


def test_of_pairs_with_risk_03_three_in_ten_are_wrong() -> None:
    it = world()
    found = label_risk(it.ensemble, it.stacked, it.probability, it.validated)
    wrong = ((it.probability >= 0.5) != it.truth).astype(np.int8)
    ece = measure_calibration(wrong, found.risk).ece
    assert found.calibrated
    assert ece is not None
    assert ece < 0.02
    uncalibrated = measure_calibration(
        wrong, np.where(it.probability >= 0.5, 1 - it.stacked.probability, it.stacked.probability)
    ).ece
    assert uncalibrated is not None
    assert ece < uncalibrated  # what the matcher says is evidence that this stacker lacks
    near = np.abs(found.risk - 0.3) < 0.1
    assert near.sum() > 50
    assert wrong[near].mean() == pytest.approx(found.risk[near].mean(), abs=0.08)


def test_confidence_is_used_where_it_ranks_validation_labels_better() -> None:
    it = world(evidence=0.2)
    rng = np.random.default_rng(1)
    unsure = rng.random(N) < 0.1
    validated = np.where(unsure, 0.5 + 0.1 * (rng.random(N) - 0.5), it.ensemble.evidence.validation.labels)
    found = label_risk(it.ensemble, it.stacked, it.probability, validated)
    assert found.ranked_by == CONFIDENCE
    order = np.argsort(np.abs(it.probability - (it.probability >= 0.5)), kind="stable")
    assert (np.diff(found.risk[order]) >= -1e-12).all()


def test_a_handful_of_errors_chooses_nothing() -> None:
    it = world(evidence=0.2)
    labels = it.ensemble.evidence.validation.labels.astype(float)
    validated = np.where(np.arange(N) < 6, np.abs(labels - 0.51), labels)  # six mistakes, all of them unsure
    few = label_risk(it.ensemble, it.stacked, it.probability, validated)
    assert few.choice is not None
    assert few.choice["confidence"] is not None
    assert few.choice["stacked"] is not None
    assert few.choice["confidence"] > few.choice["stacked"]
    assert (few.choice["errors"], few.ranked_by) == (6, STACKED)
    config = dataclasses.replace(it.ensemble.config, rank=RankConfig(errors_to_choose=6))
    it.ensemble.config = config
    assert label_risk(it.ensemble, it.stacked, it.probability, validated).ranked_by == CONFIDENCE


def test_without_checkable_predictions_the_evidence_counts_as_it_is() -> None:
    it = world()
    found = label_risk(it.ensemble, it.stacked, it.probability)
    expected = np.where(it.probability >= 0.5, 1 - it.stacked.probability, it.stacked.probability)
    assert found.risk == pytest.approx(expected)
    assert (found.choice, found.calibrated) == (None, True)
    unlabelled = dataclasses.replace(it.stacked, out_of_fold=None)
    assert not label_risk(it.ensemble, unlabelled, it.probability).calibrated


def test_disagreement_raises_the_risk() -> None:
    it = world()
    apart = dataclasses.replace(it.stacked, spread=np.full(N, 5.0))
    calm, torn = (label_risk(it.ensemble, some, it.probability).risk for some in (it.stacked, apart))
    assert (torn > calm).all()


def test_newton_finds_the_minimum_that_a_general_optimiser_finds() -> None:
    rng = np.random.default_rng(0)
    inputs = np.column_stack([np.ones(200), rng.normal(0, 2, (200, 2))])
    labels = (rng.random(200) < expit(inputs @ [0.3, 1.0, -0.5])).astype(float)
    centre, penalty, weights = np.array([0.0, 1.0, 0.0]), np.array([1.0, 5.0, 0.1]), rng.random(200)

    def loss(theta: np.ndarray) -> float:
        margin = inputs @ theta
        value = weights * (np.logaddexp(0, margin) - labels * margin)
        return float(value.sum() + 0.5 * (penalty * (theta - centre)) @ (theta - centre))

    found = ridge_logistic(inputs, labels, centre, penalty, weights=weights)
    assert found == pytest.approx(minimize(loss, centre, tol=1e-12).x, abs=1e-4)


def test_a_label_is_contradicted_only_by_all() -> None:
    log_odds = np.array([[-1.0, -2.0], [-1.0, 2.0], [1.0, 2.0], [0.0, 2.0]])
    assert contradicted(log_odds, np.array([1, 1, 0, 0])).tolist() == [0, 2]
