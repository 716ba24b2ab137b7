"""Juries and folds: what they learn, and what they must not be swayed by."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from riskcore.training.folds import folds_of
from riskcore.training.stacker import appoint


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
    if size > 60:  # sixty labels are too few to choose by
        assert jury.weights.argmax() == 1
    fresh = (rng.random(4000) < 0.3).astype(np.int8)
    words = said(rng, fresh, [0.1, 4.0, 0.0])
    alone = ((words[:, 1] > 0) == fresh).mean()
    assert ((jury.verdict(words) >= 0.5) == fresh).mean() > alone - 0.02


def test_without_labels_a_jury_hears_all_alike_far_from_the_source() -> None:
    jury = appoint(np.zeros((0, 3)), np.zeros(0, dtype=np.int8))
    assert jury.offset == 0
    np.testing.assert_allclose(jury.weights, 1 / 3)


def test_near_the_source_the_first_witness_is_heard_first() -> None:
    jury = appoint(np.zeros((0, 4)), np.zeros(0, dtype=np.int8), nearness=1.0, first=2)
    assert jury.weights.argmax() == 2
    assert jury.weights[2] > 3 * np.delete(jury.weights, 2).sum()


def test_a_first_witness_that_is_wrong_is_not_believed() -> None:
    rng = np.random.default_rng(3)
    labels = (rng.random(100) < 0.2).astype(np.int8)
    words = said(rng, labels, [4.0, 4.0, 0.0])
    jury = appoint(words, labels, nearness=1.0, first=2)
    assert jury.weights[2] < jury.weights[:2].min()


@pytest.mark.parametrize("nearness", [0.0, 0.4, 1.0])
def test_the_penalised_loss_is_at_its_minimum(nearness: float) -> None:
    rng = np.random.default_rng(2)
    labels = (rng.random(200) < 0.3).astype(np.int8)
    words = said(rng, labels, [1.0, 0.5])
    jury = appoint(words, labels, nearness)
    trust = np.array([0.5 + 0.475 * nearness, 0.5 - 0.475 * nearness])
    losses = np.logaddexp(0, np.where(labels[:, None] == 1, -words, words)).sum(axis=0)
    share = trust * np.exp(-(0.05 + 0.95 * nearness) * (losses - losses.min()))
    start = share / share.sum()

    def loss(theta: np.ndarray) -> float:
        offset, scale, aside = theta[0], theta[1], theta[2:]
        z = offset + words @ (scale * start + aside)
        fit = np.logaddexp(0, np.where(labels == 1, -z, z)).sum()
        pulls = (0.3 + 29.7 * nearness) * offset**2 + (5 + 50 * nearness) * (scale - 1) ** 2
        pulls += 100 * (1 + nearness * 50 / labels.sum()) * (aside**2).sum()
        return float(fit + pulls / 2)

    best = minimize(loss, np.array([0.0, 1.0, 0.0, 0.0]), tol=1e-12).x
    assert jury.offset == pytest.approx(best[0], abs=1e-4)
    np.testing.assert_allclose(jury.weights, best[1] * start + best[2:], atol=1e-4)


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
