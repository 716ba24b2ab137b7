"""What a correction is worth, against F1 of labels that are really corrected."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from riskcore.evaluation.gain import f1_gains

COUNT = st.integers(1, 30)


@given(right=COUNT, false_positives=COUNT, false_negatives=COUNT)
def test_against_corrected_labels(right, false_positives, false_negatives):
    truth = np.repeat([1, 0, 1, 0], [right, false_positives, false_negatives, 3])
    label = np.repeat([1, 1, 0, 0], [right, false_positives, false_negatives, 3])
    found = f1_gains(right + false_positives, false_positives, false_negatives)
    now = f1_score(truth, label)
    for of_label, gain in enumerate(found):
        corrected = label.copy()
        place = np.flatnonzero((label != truth) & (label == of_label))[0]
        corrected[place] = truth[place]
        assert gain == pytest.approx(f1_score(truth, corrected) - now, abs=1e-12)


def test_the_order_is_that_of_the_exact_expectation():
    """Over all 2^10 ways in which ten labels can be wrong, each with the probability that its risk states."""
    label = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    risk = np.array([0.05, 0.4, 0.7, 0.3, 0.1, 0.65, 0.2, 0.02, 0.35, 0.1])
    exact = np.zeros(len(label))
    for wrong in map(np.array, itertools.product([0, 1], repeat=len(label))):
        chance, truth = np.prod(np.where(wrong, risk, 1 - risk)), np.where(wrong, 1 - label, label)
        now = f1_score(truth, label, zero_division=1.0)
        for place in np.flatnonzero(wrong):
            corrected = label.copy()
            corrected[place] = truth[place]
            exact[place] += chance * (f1_score(truth, corrected, zero_division=1.0) - now)
    gains = f1_gains(label.sum(), risk[label == 1].sum(), risk[label == 0].sum())
    found = risk * np.take(gains, label)
    np.testing.assert_allclose(found, exact, rtol=0.15)
    assert np.argsort(-found)[:4].tolist() == np.argsort(-exact)[:4].tolist() == [5, 2, 8, 1]
    assert np.argsort(-risk)[:4].tolist() == [2, 5, 1, 8]  # a wrong non-match costs more than a wrong match


def test_less_than_one_expected_error_is_one_where_it_is_corrected():
    missed, wrong = f1_gains(10, 0.0, 0.0)
    assert missed == pytest.approx(1 - 2 * 10 / 21)
    assert wrong == pytest.approx(1 - 2 * 9 / 19)
    assert f1_gains(0, 0.0, 0.0)[0] == 1.0
