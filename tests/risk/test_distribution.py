"""The truncated normal against scipy, closed forms and drawn samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import truncnorm

from riskcore.risk.distribution import cdf, pdf, quantile

MEANS = np.concatenate([[0, 1e-9, 1e-6, 1e-3], np.linspace(0.01, 0.99, 41), [1 - 1e-3, 1 - 1e-6, 1 - 1e-9, 1]])
SIGMAS = np.geomspace(1e-6, 10, 57)
THETAS = np.array([0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 0.999])

means = st.floats(0, 1)
sigmas = st.floats(1e-6, 10)
probabilities = st.floats(0.001, 0.999)


def scipy_bell(mu, sigma):
    return truncnorm(-mu / sigma, (1 - mu) / sigma, loc=mu, scale=sigma)


@pytest.mark.parametrize("p", [THETAS, 1 - THETAS], ids=["theta", "one minus theta"])
def test_quantile_is_scipys_over_the_whole_range(p):
    mu, sigma, p = np.meshgrid(MEANS, SIGMAS, p, indexing="ij")
    found = quantile(p, mu, sigma)
    assert np.isfinite(found).all()
    assert np.abs(found - scipy_bell(mu, sigma).ppf(p)).max() < 1e-12


def test_density_and_cumulative_probability_are_scipys():
    mu, sigma, x = np.meshgrid(MEANS, SIGMAS, np.linspace(0, 1, 33), indexing="ij")
    density = scipy_bell(mu, sigma).pdf(x)
    assert np.abs(cdf(x, mu, sigma) - scipy_bell(mu, sigma).cdf(x)).max() < 1e-12
    assert (np.abs(pdf(x, mu, sigma) - density) / (1 + density)).max() < 1e-12


def test_quantile_of_samples():
    chance = np.random.default_rng(0)
    for mu, sigma in [(0.0, 0.3), (0.2, 0.1), (0.5, 1.0), (0.9, 0.5), (1.0, 5.0)]:
        drawn = chance.normal(mu, sigma, 4_000_000)
        drawn = drawn[(drawn >= 0) & (drawn <= 1)]
        for p in (0.1, 0.5, 0.9):
            assert abs(np.quantile(drawn, p) - quantile(p, mu, sigma)) < 0.003


@given(means, probabilities)
def test_a_needle_lies_at_its_mean(mu, p):
    assert abs(quantile(p, mu, 0.0) - mu) < 1e-10
    assert abs(quantile(p, mu, 1e-6) - mu) < 5e-6


@given(probabilities, means)
def test_a_flat_bell_is_uniform(p, mu):
    assert abs(quantile(p, mu, 1e6) - p) < 1e-6


@given(sigmas)
def test_the_median_of_a_symmetric_bell_is_its_centre(sigma):
    assert abs(quantile(0.5, 0.5, sigma) - 0.5) < 1e-12


@given(probabilities, means, sigmas)
def test_mirror_image(p, mu, sigma):
    assert abs(quantile(p, mu, sigma) - (1 - quantile(1 - p, 1 - mu, sigma))) < 1e-9


@given(probabilities, means, sigmas)
def test_quantile_inverts_cumulative_probability(p, mu, sigma):
    x = quantile(p, mu, sigma)
    # Where the bell is a needle, one ulp of x is a visible step of probability.
    assert abs(cdf(x, mu, sigma) - p) < 1e-12 + 4e-16 * pdf(x, mu, sigma)


@given(means, means, sigmas, probabilities)
def test_quantile_rises_with_the_mean(low, high, sigma, p):
    low, high = sorted([low, high])
    assert quantile(p, low, sigma) <= quantile(p, high, sigma) + 1e-12


@given(means, sigmas, probabilities, probabilities)
def test_quantile_rises_with_the_probability(mu, sigma, low, high):
    low, high = sorted([low, high])
    assert quantile(low, mu, sigma) <= quantile(high, mu, sigma) + 1e-12


@pytest.mark.parametrize("mu", [-5.0, -0.5, 1.2, 8.0])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 10.0])
def test_a_mean_outside_is_handled_in_logarithms(mu, sigma):
    found = quantile(THETAS, mu, sigma)
    assert np.allclose(found, scipy_bell(mu, sigma).ppf(THETAS), atol=1e-9)
    assert np.allclose(cdf(found, mu, sigma), THETAS, atol=1e-6)


def test_density_is_zero_outside_and_integrates_to_one():
    x = np.linspace(0, 1, 20_001)
    for mu, sigma in [(0.0, 0.05), (0.4, 0.2), (1.0, 3.0)]:
        assert abs(np.trapezoid(pdf(x, mu, sigma), x) - 1) < 1e-6
    assert pdf(-0.1, 0.5, 1.0) == 0
    assert pdf(1.1, 0.5, 1.0) == 0
    assert cdf([-1, 2], 0.5, 1.0).tolist() == [0, 1]
