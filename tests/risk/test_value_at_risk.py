"""Value at Risk against its definition and its closed forms; the order of the riskiest pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from riskcore.risk.distribution import quantile
from riskcore.risk.value_at_risk import risk_of, top, values_at_risk

means = st.floats(0, 1)
sigmas = st.floats(1e-6, 10)
thetas = st.floats(0.5, 0.999)


def at(mu, sigma, theta):
    match, non_match = values_at_risk(np.array([mu]), np.array([sigma]), theta)
    return match[0], non_match[0]


@given(means, sigmas, thetas)
def test_is_what_the_quantile_says(mu, sigma, theta):
    match, non_match = at(mu, sigma, theta)
    assert abs(match - (1 - quantile(1 - theta, mu, sigma))) < 1e-9
    assert abs(non_match - quantile(theta, mu, sigma)) < 1e-9


@given(means, thetas)
def test_without_deviation_the_risk_is_the_distance_from_the_mean(mu, theta):
    match, non_match = at(mu, 0.0, theta)
    assert abs(match - (1 - mu)) < 1e-10
    assert abs(non_match - mu) < 1e-10


@given(means, sigmas)
def test_at_one_half_both_are_the_median(mu, sigma):
    match, non_match = at(mu, sigma, 0.5)
    assert abs((1 - match) - non_match) < 1e-9


@given(st.floats(0, 1).filter(lambda mu: abs(mu - 0.5) > 1e-6), st.floats(1e-6, 2), thetas)
def test_match_is_the_lesser_risk_exactly_above_one_half(mu, sigma, theta):
    match, non_match = at(mu, sigma, theta)
    assert (match < non_match) == (mu > 0.5)


@given(means, sigmas, thetas)
def test_stays_finite_and_in_range(mu, sigma, theta):
    for value in at(mu, sigma, theta):
        assert 0 <= value <= 1


@given(means, means, sigmas, thetas)
def test_monotone_in_the_mean(low, high, sigma, theta):
    low, high = sorted([low, high])
    assert at(low, sigma, theta)[1] <= at(high, sigma, theta)[1] + 1e-12
    assert at(low, sigma, theta)[0] >= at(high, sigma, theta)[0] - 1e-12


def test_risk_is_that_of_the_label():
    assert risk_of(np.array([1, 0]), np.array([0.1, 0.2]), np.array([0.8, 0.9])).tolist() == [0.1, 0.9]


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), max_size=40), st.integers(-1, 50))
def test_top_is_the_head_of_a_stable_sort(risks, count):
    risk = np.array(risks, dtype=float)
    expected = np.argsort(-risk, kind="stable")[: max(count, 0)]
    assert top(risk, count).tolist() == expected.tolist()
