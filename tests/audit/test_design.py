"""The draw of pairs for labelling: its probabilities are true, and it finds matches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.audit.design import BOUNDS, SHARES, combined_inclusion, draw
from riskcore.errors import ConfigError


def test_the_shares_are_whole_and_every_stratum_has_one():
    assert sum(SHARES) == pytest.approx(1)
    assert len(SHARES) == len(BOUNDS) + 2


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.floats(0.01, 1), st.integers(0, 1000), st.booleans())
def test_any_draw_has_the_size_and_the_probabilities_it_states(count, share, seed, tied):
    rng = np.random.default_rng(seed)
    probability = np.full(count, 0.3) if tied else rng.beta(0.3, 1.5, count)
    size = max(1, int(share * count))
    found = draw(probability, size, seed, rng.normal(size=count))
    assert len(np.unique(found.rows)) == size
    assert found.inclusion.sum() == pytest.approx(size)
    assert (found.inclusion[found.rows] > 0).all()
    assert found.inclusion.max() <= 1
    for stratum in np.unique(found.stratum):
        members = found.stratum == stratum
        assert len(np.unique(found.inclusion[members])) == 1
        assert np.isin(found.rows, np.flatnonzero(members)).sum() == round(found.inclusion[members].sum())


def test_each_pair_is_drawn_as_often_as_stated():
    rng = np.random.default_rng(0)
    probability, evidence = rng.beta(0.3, 1.5, 60), rng.integers(-2, 3, 60).astype(float)
    draws = [draw(probability, 12, seed, evidence) for seed in range(4000)]
    often = np.bincount(np.concatenate([one.rows for one in draws]), minlength=60) / len(draws)
    stated = np.mean([one.inclusion for one in draws], axis=0)  # ties are cut anew in each draw
    assert np.abs(often - stated).max() < 4 * np.sqrt(0.25 / len(draws))


def test_the_estimated_number_of_matches_is_unbiased():
    rng = np.random.default_rng(1)
    probability = rng.beta(0.3, 1.5, 500)
    truth = rng.random(500) < probability
    estimates = []
    for seed in range(2000):
        one = draw(probability, 50, seed)
        estimates.append((truth[one.rows] / one.inclusion[one.rows]).sum())
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - truth.sum()) < 4 * error


def test_more_matches_are_drawn_than_at_random():
    rng = np.random.default_rng(2)
    probability = rng.beta(0.15, 1.3, 5000)  # one pair in ten is a match
    truth = rng.random(5000) < probability
    drawn = [truth[draw(probability, 100, seed).rows].sum() for seed in range(20)]
    assert truth.mean() < 0.12
    assert 30 < np.mean(drawn) < 75  # a random hundred holds eleven


def test_the_same_seed_draws_the_same_pairs_and_rules_spread_within_strata():
    probability, evidence = np.full(1000, 0.2), np.repeat([-1.0, 1.0], 500)
    one, two, other = (draw(probability, 100, seed, evidence) for seed in (5, 5, 6))
    assert one.rows.tolist() == two.rows.tolist() != other.rows.tolist()
    assert abs(evidence[one.rows].sum()) <= 20  # both kinds, within a few pairs per stratum


def test_what_was_drawn_is_not_drawn_again_and_its_probability_grows():
    rng = np.random.default_rng(4)
    probability = rng.beta(0.3, 1.5, 300)
    first = draw(probability, 50, 0)
    taken = np.isin(np.arange(300), first.rows)
    second = draw(probability, 50, 1, taken=taken)
    assert not np.isin(second.rows, first.rows).any()
    both = combined_inclusion(first.inclusion, second.inclusion)
    assert (both >= first.inclusion).all()
    assert both.max() <= 1
    with pytest.raises(ConfigError, match="250 are left"):
        draw(probability, 251, 0, taken=taken)


def test_two_draws_together_estimate_without_bias():
    rng = np.random.default_rng(5)
    probability = rng.beta(0.3, 1.5, 400)
    truth = rng.random(400) < probability
    estimates = []
    for seed in range(2000):
        first = draw(probability, 30, seed)
        taken = np.isin(np.arange(400), first.rows)
        second = draw(probability, 30, seed + 10_000, taken=taken)
        rows = np.concatenate([first.rows, second.rows])
        both = combined_inclusion(first.inclusion, second.inclusion)
        estimates.append((truth[rows] / both[rows]).sum())
    assert abs(np.mean(estimates) / truth.sum() - 1) < 0.03
