"""Review queues against all orders, against AUROC, and against correcting labels one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.evaluation import budget_curve, budget_curves, confusion
from riskcore.risk import Ranking, auroc
from tests.evaluation.drawn import labels, pairs_of, shifted, truths

scores = st.sampled_from([0.0, 0.1, 0.5, 0.9])


@given(pairs_of(truth=truths, label=labels, score=scores))
def test_area_is_auroc_seen_from_the_queue(drawn):
    truth, label, score = drawn["truth"], drawn["label"], drawn["score"]
    curve = budget_curve(Ranking("risk", score), truth, label, budgets=(1,), points=1000)
    known = truth >= 0
    wrong = (truth != label)[known]
    if not wrong.any():
        assert (curve.area, curve.best_area) == (None, None)
        assert set(curve.needed.values()) == {None}
        assert curve.errors == (0 if known.any() else None)
        return
    rate = wrong.mean()
    area = auroc(score[known], wrong)
    assert curve.errors == wrong.sum()
    assert curve.area == pytest.approx(rate / 2 + (1 - rate) * (1 if area is None else area))
    assert curve.area <= curve.best_area + 1e-12
    assert curve.found[-1] == pytest.approx(wrong.sum())
    assert (np.diff(curve.found) >= 0).all()


@given(pairs_of(truth=truths, label=labels), st.integers(0, 40))
def test_f1_after_correcting_the_first_pairs(drawn, count):
    truth, label = drawn["truth"], drawn["label"]
    score = -np.arange(len(label), dtype=float)  # the queue is the order of the rows
    known = np.flatnonzero(truth >= 0)[:count]
    corrected = label.copy()
    corrected[known] = truth[known]
    curve = budget_curve(Ranking("queue", score), truth, label, budgets=(count,), points=1000)
    expected = confusion(truth, corrected).f1
    if len(curve.reviewed):
        found = curve.f1[min(count, curve.pairs)]
        assert found == pytest.approx(np.nan if expected is None else expected, nan_ok=True)


def test_ties_are_the_mean_over_their_orders():
    truth, label, score = np.array([1, 1, 0, 1]), np.array([0, 1, 1, 1]), np.ones(4)
    curve = budget_curve(Ranking("flat", score), truth, label, budgets=(0, 2, 4, 5))
    assert curve.at == {0: 0.0, 2: 1.0, 4: 2.0, 5: None}
    assert curve.area == 0.5
    assert curve.needed[0.5] == 2
    assert curve.needed[1.0] == 4


def test_reviews_needed_by_hand():
    truth = np.zeros(10, dtype=int)
    label = np.array([1, 1, 0, 1, 0, 0, 0, 0, 0, 1])
    score = np.arange(10, 0, -1.0)
    queue, shares = Ranking("queue", score), (0.25, 0.5, 0.75, 1)
    assert list(budget_curve(queue, truth, label, shares=shares).needed.values()) == [1, 2, 4, 10]
    assert budget_curve(queue, truth, truth, shares=(0.5,)).needed == {0.5: None}
    assert budget_curve(queue, None, label, shares=(0.5,)).needed == {0.5: None}


def test_better_rankings_find_more_and_raise_f1_sooner():
    truth, label, _ = shifted(3000, seed=3)
    chance = np.random.default_rng(4)
    wrong = truth != label
    good = Ranking("risk", chance.normal(2.0 * wrong, 1), ("source", "validation"))
    poor = Ranking("random", chance.random(3000))
    first, second = budget_curves([good, poor], truth, label, budgets=(100, 500))
    assert first.labels_used == ("source", "validation")
    assert first.area > second.area
    assert second.area == pytest.approx(0.5, abs=0.05)
    assert first.at[500] > 2 * second.at[500]
    assert first.needed[0.8] < second.needed[0.8]
    assert {100, 500} <= set(first.reviewed.tolist())
    assert (first.f1[0], first.f1[-1]) == (confusion(truth, label).f1, 1)
    assert (np.diff(first.f1) >= -1e-12).all()
    place = first.reviewed.tolist().index(500)
    assert first.f1[0] < first.f1[place] < first.f1[-1]
    assert len(first.reviewed) <= 204


def test_absent_labels_give_nothing():
    curve = budget_curve(Ranking("risk", np.array([0.3, 0.1])), None, np.array([1, 0]), budgets=(0, 1))
    assert (curve.pairs, curve.errors, curve.area, curve.at) == (0, None, None, {0: None, 1: None})
    assert len(curve.reviewed) == len(curve.f1) == 0
