"""Juries and folds: what they learn, and what they must not be swayed by."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.tuning.adaptive import best_iteration
from riskcore.tuning.folds import folds_of
from riskcore.tuning.jury import appoint


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0, 1]), max_size=60), st.integers(2, 6), st.integers(0, 5))
def test_folds_part_the_rows_evenly(labels: list[int], count: int, seed: int) -> None:
    y = np.array(labels, dtype=np.int8)
    folds = folds_of(y, count, seed)
    assert sorted(np.concatenate([np.zeros(0, dtype=int), *folds]).tolist()) == list(range(len(y)))
    if len(y) >= count:
        assert max(map(len, folds)) - min(map(len, folds)) <= 1
        matches = [int(y[fold].sum()) for fold in folds]
        assert max(matches) - min(matches) <= 1


def said(rng: np.random.Generator, labels: np.ndarray, strengths: list[float]) -> np.ndarray:
    truth = np.where(labels == 1, 1.0, -1.0)
    return np.column_stack([strength * truth + rng.normal(0, 2, len(labels)) for strength in strengths])


@pytest.mark.parametrize("size", [60, 2000])
def test_the_best_witness_is_heard_most_and_weak_ones_do_little_harm(size: int) -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(size) < 0.3).astype(np.int8)
    jury = appoint(said(rng, labels, [0.1, 4.0, 0.0]), labels)
    assert jury.weights.argmax() == 1
    fresh = (rng.random(4000) < 0.3).astype(np.int8)
    words = said(rng, fresh, [0.1, 4.0, 0.0])
    alone = ((words[:, 1] > 0) == fresh).mean()
    assert ((jury.verdict(words) >= 0.5) == fresh).mean() > alone - 0.02


def test_without_labels_a_jury_hears_all_alike() -> None:
    jury = appoint(np.zeros((0, 3)), np.zeros(0, dtype=np.int8))
    assert jury.offset == 0
    assert len(set(jury.weights.tolist())) == 1


def test_the_penalised_loss_is_at_its_minimum() -> None:
    rng = np.random.default_rng(2)
    labels = (rng.random(200) < 0.3).astype(np.int8)
    words = said(rng, labels, [1.0, 0.5])
    jury = appoint(words, labels)

    def loss(offset: float, weights: np.ndarray) -> float:
        z = offset + words @ weights
        fit = np.logaddexp(0, np.where(labels == 1, -z, z)).sum()
        return float(fit + 15 * offset**2 + 1.5 * ((weights - 0.75) ** 2).sum())

    best = loss(jury.offset, jury.weights)
    for nudge in rng.normal(0, 0.01, (20, 3)):
        assert loss(jury.offset + nudge[0], jury.weights + nudge[1:]) > best


def test_witnesses_with_independent_errors_beat_the_best_alone() -> None:
    rng = np.random.default_rng(1)
    labels = (rng.random(3000) < 0.4).astype(np.int8)
    jury = appoint(said(rng, labels, [1.5, 1.5, 1.5]), labels)
    fresh = (rng.random(4000) < 0.4).astype(np.int8)
    words = said(rng, fresh, [1.5, 1.5, 1.5])
    best_alone = max(((words[:, k] > 0) == fresh).mean() for k in range(3))
    assert ((jury.verdict(words) >= 0.5) == fresh).mean() > best_alone + 0.05


def test_verdicts_stay_finite_when_witnesses_are_certain() -> None:
    labels = np.array([0, 1] * 10, dtype=np.int8)
    words = np.where(labels == 1, 6.9, -6.9)[:, None]
    verdicts = appoint(words, labels).verdict(words)
    assert np.isfinite(verdicts).all()
    assert ((verdicts >= 0.5) == labels).all()


def test_the_earliest_best_iteration_is_kept() -> None:
    rows = [{"iteration": n, "validation_f1": f1} for n, f1 in enumerate([0.5, 0.7, 0.7, 0.6])]
    assert best_iteration(rows) == 1


def test_without_validation_a_collapse_is_stopped() -> None:
    def rows(*rates: float) -> list[dict]:
        return [{"iteration": n, "validation_f1": None, "match_rate": rate} for n, rate in enumerate(rates)]

    assert best_iteration(rows(0.2, 0.22, 0.25, 0.3)) == 3
    assert best_iteration(rows(0.2, 0.15, 0.09, 0.2)) == 1
    assert best_iteration(rows(0.0, 0.1)) == 0
