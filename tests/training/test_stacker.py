"""The stacker and its folds: what is learned, and what must not sway it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from riskcore.config import StackConfig
from riskcore.training.folds import folds_of
from riskcore.training.stacker import _prior_weights, fit_stacker


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


def noisy_log_odds(rng: np.random.Generator, labels: np.ndarray, strengths: list[float]) -> np.ndarray:
    truth = np.where(labels == 1, 1.0, -1.0)
    return np.column_stack([strength * truth + rng.normal(0, 2, len(labels)) for strength in strengths])


@pytest.mark.parametrize("size", [60, 2000])
def test_the_best_base_learner_weighs_most_and_weak_ones_do_little_harm(size: int) -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(size) < 0.3).astype(np.int8)
    stacker = fit_stacker(noisy_log_odds(rng, labels, [0.1, 4.0, 0.0]), labels)
    if size > 60:  # sixty labels are too few to choose by
        assert stacker.weights.argmax() == 1
    fresh = (rng.random(4000) < 0.3).astype(np.int8)
    log_odds = noisy_log_odds(rng, fresh, [0.1, 4.0, 0.0])
    alone = ((log_odds[:, 1] > 0) == fresh).mean()
    assert ((stacker.predict_proba(log_odds) >= 0.5) == fresh).mean() > alone - 0.02


def test_without_labels_all_base_learners_weigh_the_same_on_a_dissimilar_target() -> None:
    stacker = fit_stacker(np.zeros((0, 3)), np.zeros(0, dtype=np.int8))
    assert stacker.offset == 0
    np.testing.assert_allclose(stacker.weights, 1 / 3)


def test_near_the_source_the_source_learner_has_most_of_the_weight() -> None:
    stacker = fit_stacker(np.zeros((0, 4)), np.zeros(0, dtype=np.int8), similarity=1.0, source_learner=2)
    assert stacker.weights.argmax() == 2
    assert stacker.weights[2] > 3 * np.delete(stacker.weights, 2).sum()


def test_a_source_learner_that_is_wrong_loses_its_weight() -> None:
    rng = np.random.default_rng(3)
    labels = (rng.random(100) < 0.2).astype(np.int8)
    log_odds = noisy_log_odds(rng, labels, [4.0, 4.0, 0.0])
    stacker = fit_stacker(log_odds, labels, similarity=1.0, source_learner=2)
    assert stacker.weights[2] < stacker.weights[:2].min()


@pytest.mark.parametrize("similarity", [0.0, 0.4, 1.0])
def test_the_penalised_loss_is_at_its_minimum(similarity: float) -> None:
    rng = np.random.default_rng(2)
    labels = (rng.random(200) < 0.3).astype(np.int8)
    log_odds = noisy_log_odds(rng, labels, [1.0, 0.5])
    stacker = fit_stacker(log_odds, labels, similarity)
    share = np.array([0.5 + 0.475 * similarity, 0.5 - 0.475 * similarity])
    losses = np.logaddexp(0, np.where(labels[:, None] == 1, -log_odds, log_odds)).sum(axis=0)
    weights = share * np.exp(-(0.05 + 0.95 * similarity) * (losses - losses.min()))
    prior = weights / weights.sum()

    def loss(theta: np.ndarray) -> float:
        offset, scale, aside = theta[0], theta[1], theta[2:]
        z = offset + log_odds @ (scale * prior + aside)
        fit = np.logaddexp(0, np.where(labels == 1, -z, z)).sum()
        penalty = (0.3 + 29.7 * similarity) * offset**2 + (5 + 50 * similarity) * (scale - 1) ** 2
        penalty += 100 * (1 + similarity * 50 / labels.sum()) * (aside**2).sum()
        return float(fit + penalty / 2)

    best = minimize(loss, np.array([0.0, 1.0, 0.0, 0.0]), tol=1e-12).x
    assert stacker.offset == pytest.approx(best[0], abs=1e-4)
    np.testing.assert_allclose(stacker.weights, best[1] * prior + best[2:], atol=1e-4)


def test_the_stacker_of_two_pairs_by_hand() -> None:
    """One base learner, similarity 0, a match at log-odds 1 and a non-match at -1.

    Its prior weight is 1, and by symmetry the offset stays 0. Scale and weight then solve
    2 p = 5 (scale - 1) = 100 weight with p = 1 / (1 + exp(scale + weight)).
    """
    stacker = fit_stacker(np.array([[1.0], [-1.0]]), np.array([1, 0]))
    total = float(stacker.weights[0])  # scale · 1 + weight
    p = 1 / (1 + np.exp(total))
    assert stacker.offset == pytest.approx(0.0, abs=1e-12)
    assert total == pytest.approx(1 + 2 * p / 5 + 2 * p / 100, abs=1e-9)
    np.testing.assert_allclose(stacker.predict_proba(np.array([[1.0], [-1.0]])), [1 - p, p], atol=1e-12)
    held = fit_stacker(np.array([[1.0], [-1.0]]), np.array([1, 0]), config=StackConfig(scale_penalty_far=1e12))
    assert held.weights[0] == pytest.approx(1 + 2 / (1 + np.exp(held.weights[0])) / 100, abs=1e-9)


def test_prior_weights_by_hand() -> None:
    """Losses of log 2 and 0 (nearly): at similarity 1 the first keeps 0.975 · 1/2 against 0.025 of the second."""
    log_odds, labels = np.array([[0.0, 40.0]]), np.array([1])
    weights = _prior_weights(log_odds, labels, 1.0, 0, StackConfig())
    np.testing.assert_allclose(weights, np.array([0.4875, 0.025]) / 0.5125)
    ignored = _prior_weights(log_odds, labels, 1.0, 0, StackConfig(source_share=0.5, loss_weight_near=0.0))
    np.testing.assert_allclose(ignored, [0.75, 0.25])


def test_base_learners_with_independent_errors_beat_the_best_alone() -> None:
    rng = np.random.default_rng(1)
    labels = (rng.random(3000) < 0.4).astype(np.int8)
    stacker = fit_stacker(noisy_log_odds(rng, labels, [1.5, 1.5, 1.5]), labels)
    fresh = (rng.random(4000) < 0.4).astype(np.int8)
    log_odds = noisy_log_odds(rng, fresh, [1.5, 1.5, 1.5])
    best_alone = max(((log_odds[:, k] > 0) == fresh).mean() for k in range(3))
    assert ((stacker.predict_proba(log_odds) >= 0.5) == fresh).mean() > best_alone + 0.05


def test_probabilities_stay_finite_when_base_learners_are_certain() -> None:
    labels = np.array([0, 1] * 10, dtype=np.int8)
    log_odds = np.where(labels == 1, 6.9, -6.9)[:, None]
    probability = fit_stacker(log_odds, labels).predict_proba(log_odds)
    assert np.isfinite(probability).all()
    assert ((probability >= 0.5) == labels).all()
