"""The theory against a double loop straight from the paper's formulas."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from riskcore.evaluation import EvaluationError, deviation_term, flip_table, theory_of

DELTA = 0.05


def lost(n: int, m: int) -> float:
    return math.sqrt((m + 1) / 2 * math.log(1 / (1 - (1 - DELTA ** (1 / n)) ** 0.5)))


def plain_false_negatives(truth, label, mu, sigma, m):
    """Row, dC, number ranked after, count and best bound of each false negative."""
    wrong, peers = np.flatnonzero((truth == 1) & (label == 0)), np.flatnonzero((truth == 1) & (label == 1))
    if not len(wrong) or not len(peers):
        return [(int(j), None, 0, 0, math.nan) for j in wrong]
    delta_c = np.mean([mu[i] - 2 * sigma[i] for i in peers]) - np.mean([mu[j] - 2 * sigma[j] for j in wrong])
    rows = []
    for j in wrong:
        gaps = [(mu[j] + 2 * sigma[j]) - (1 - (mu[i] - 2 * sigma[i])) for i in peers]
        after = [gap for gap in gaps if gap > 0]
        count = sum(gap > delta_c for gap in after)
        bound = math.nan
        for gap in after:  # epsilon just below this pair's margin
            n = sum(other >= gap for other in after)
            bound = np.nanmax([bound, 0.5 + (gap - delta_c) / 2 - lost(n, m)])
        rows.append((int(j), delta_c, len(after), count, bound))
    return rows


def plain_false_positives(truth, label, mu, sigma, m):
    """The same for false positives, from their own formulas and not by mirroring."""
    wrong, peers = np.flatnonzero((truth == 0) & (label == 1)), np.flatnonzero((truth == 0) & (label == 0))
    if not len(wrong) or not len(peers):
        return [(int(j), None, 0, 0, math.nan) for j in wrong]
    delta_c = np.mean([mu[j] + 2 * sigma[j] for j in wrong]) - np.mean([mu[i] + 2 * sigma[i] for i in peers])
    rows = []
    for j in wrong:
        gaps = [(1 - (mu[j] - 2 * sigma[j])) - (mu[i] + 2 * sigma[i]) for i in peers]
        after = [gap for gap in gaps if gap > 0]
        count = sum(gap > delta_c for gap in after)
        bound = math.nan
        for gap in after:
            n = sum(other >= gap for other in after)
            bound = np.nanmin([bound, 0.5 - (gap - delta_c) / 2 + lost(n, m)])
        rows.append((int(j), delta_c, len(after), count, bound))
    return rows


def workload(pairs: int, seed: int, decimals: int = 12):
    chance = np.random.default_rng(seed)
    truth = chance.choice([-1, 0, 1], pairs, p=[0.1, 0.45, 0.45])
    label = chance.integers(0, 2, pairs)
    mu = np.clip(chance.normal(0.3 + 0.4 * (truth == 1), 0.2), 0, 1)
    sigma = chance.uniform(0, 0.25, pairs)
    return truth, label, np.round(mu, decimals), np.round(sigma, decimals)


@given(st.integers(0, 10**6), st.integers(0, 40), st.sampled_from([0, 3, 100]), st.sampled_from([1, 12]))
def test_against_a_double_loop(seed, pairs, m, decimals):
    truth, label, mu, sigma = workload(pairs, seed, decimals)
    found = theory_of(truth, label, mu, sigma, rules=m)
    if not (truth >= 0).any():
        assert (found.false_negatives, found.outside, flip_table(found)) == (None, None, None)
        return
    plain = {
        "false_negatives": plain_false_negatives(truth, label, mu, sigma, m),
        "false_positives": plain_false_positives(truth, label, mu, sigma, m),
    }
    for name, rows in plain.items():
        side = getattr(found, name)
        assert side.rows.tolist() == [row[0] for row in rows]
        if rows and rows[0][1] is not None:
            assert side.delta_c == pytest.approx(rows[0][1])
            assume(_no_near_ties(truth, label, mu, sigma, side))
        assert side.ranked_after.tolist() == [row[2] for row in rows]
        assert side.count.tolist() == [row[3] for row in rows]
        assert side.bound == pytest.approx([row[4] for row in rows], nan_ok=True)
        informative = side.bound > 0 if name == "false_negatives" else side.bound < 1
        assert side.vacuous.tolist() == (~informative).tolist()


def _no_near_ties(truth, label, mu, sigma, side) -> bool:
    """Margins that differ from 0 or dC by rounding alone have no right answer."""
    positive = side.kind == "false negatives"
    mean = mu if positive else 1 - mu
    peers = (truth == int(positive)) & (label == int(positive))
    gaps = (mean + 2 * sigma)[side.rows][:, None] + (mean - 2 * sigma)[peers] - 1
    return bool(np.all(np.abs(gaps) > 1e-9) and np.all(np.abs(gaps - side.delta_c) > 1e-9))


@given(st.integers(0, 10**6))
def test_swapping_classes_mirrors_everything(seed):
    truth, label, mu, sigma = workload(60, seed)
    here = theory_of(truth, label, mu, sigma, rules=0)
    there = theory_of(np.where(truth < 0, -1, 1 - truth), 1 - label, 1 - mu, sigma, rules=0)
    assert here.false_negatives.count.tolist() == there.false_positives.count.tolist()
    assert here.false_negatives.bound == pytest.approx(1 - there.false_positives.bound, nan_ok=True)
    assert (here.true_positives, here.true_negatives) == (there.true_negatives, there.true_positives)


@pytest.mark.parametrize(("n", "m"), [(1, 0), (1, 50), (10, 3), (5000, 200)])
def test_deviation_term_is_the_formula(n, m):
    assert deviation_term(np.array([n]), m, DELTA)[0] == pytest.approx(lost(n, m))


def test_deviation_term_falls_with_the_fourth_root():
    n = np.array([0, 10**6, 10**12])
    term = deviation_term(n, rules=99)
    assert term[0] == np.inf
    assert term[1:] == pytest.approx(math.sqrt(50) * (math.log(20) / n[1:]) ** 0.25, rel=0.05)
    assert (np.diff(deviation_term(np.arange(1, 2000), 5)) < 0).all()
    # With epsilon 0 the bound says something from about 12 (m + 1)^2 supporters on.
    assert deviation_term(np.array([12 * 101**2]), rules=100)[0] == pytest.approx(0.5, abs=0.01)


def test_hundreds_of_rules_leave_the_bound_vacuous_and_say_so():
    chance = np.random.default_rng(0)
    truth, label = np.ones(2000, dtype=int), np.r_[np.zeros(200, dtype=int), np.ones(1800, dtype=int)]
    mu, sigma = chance.uniform(0.6, 0.9, 2000), np.full(2000, 0.02)
    many = theory_of(truth, label, mu, sigma, rules=300).false_negatives
    assert many.vacuous.all()
    assert many.kept is None
    assert many.of(0).text == "The bound is vacuous for this pair."
    none = theory_of(truth, label, mu, sigma, rules=0).false_negatives
    assert not none.vacuous.any()
    assert none.kept == 1
    told = none.of(0)
    assert told.text == f"With the theory's confidence, mu is at least {told.bound:.3f}."
    assert told.bound == pytest.approx(0.5 + told.epsilon / 2 - lost(told.supporters, 0))


def test_the_papers_table():
    """One false negative with little support, three with much; two of those are flipped."""
    truth = np.r_[np.ones(154, dtype=int), np.zeros(50, dtype=int), -1]
    label = np.r_[np.zeros(4, dtype=int), np.ones(150, dtype=int), np.zeros(50, dtype=int), 0]
    mu = np.r_[0.05, 0.7, 0.7, 0.7, np.full(150, 0.9), np.full(50, 0.1), 0.5]
    after = label.copy()
    after[[1, 2, 10, 160, 204]] = 1 - after[[1, 2, 10, 160, 204]]
    found = theory_of(truth, label, mu, np.full(205, 0.01), rules=20, after=after)
    table = flip_table(found)
    few, many = table.rows
    assert (few.text, many.text, table.total.text) == ("< 100", ">= 100", "all")
    assert (few.false_negatives.pairs, few.false_negatives.flipped) == (1, 0)
    assert (many.false_negatives.pairs, many.false_negatives.flipped) == (3, 2)
    assert many.false_negatives.share == pytest.approx(2 / 3)
    assert (table.total.false_negatives.pairs, table.total.false_positives.pairs) == (4, 0)
    assert table.total.false_positives.share is None
    assert (table.true_positives.pairs, table.true_positives.flipped) == (150, 1)
    assert (table.true_negatives.pairs, table.true_negatives.flipped) == (50, 1)
    assert [row.text for row in flip_table(found, (10, 100)).rows] == ["< 10", "10 to 99", ">= 100"]
    assert found.of(1).flipped
    assert found.of(1).count == 150
    assert found.of(10) is None


@given(st.integers(0, 10**6), st.lists(st.integers(1, 30), unique=True, max_size=4).map(sorted))
def test_rows_add_up_to_the_total(seed, edges):
    truth, label, mu, sigma = workload(80, seed)
    after = np.random.default_rng(seed + 1).integers(0, 2, 80)
    table = flip_table(theory_of(truth, label, mu, sigma, 10, after), edges)
    for kind in ("false_negatives", "false_positives"):
        cells = [getattr(row, kind) for row in table.rows]
        total = getattr(table.total, kind)
        assert (sum(c.pairs for c in cells), sum(c.flipped for c in cells)) == (total.pairs, total.flipped)


def test_without_later_labels_flips_are_unknown():
    found = theory_of(np.array([1, 1]), np.array([0, 1]), np.array([0.4, 0.8]), np.array([0.1, 0.3]), rules=1)
    assert flip_table(found).total.false_negatives.flipped is None
    assert found.true_positives_flipped is None
    assert found.of(0).flipped is None
    assert found.outside == 0.5  # 0.8 + 0.6 is no probability


def test_bad_input_is_refused():
    one = np.array([1])
    with pytest.raises(EvaluationError, match="0 < delta < 1"):
        theory_of(one, one, np.array([0.5]), np.array([0.1]), 1, delta=1.0)
    with pytest.raises(EvaluationError, match="finite"):
        theory_of(one, one, np.array([np.nan]), np.array([0.1]), 1)
    with pytest.raises(EvaluationError, match="2 deviations for 1 pairs"):
        theory_of(one, one, np.array([0.5]), np.array([0.1, 0.2]), 1)
    with pytest.raises(EvaluationError, match="must rise"):
        flip_table(theory_of(one, one, np.array([0.5]), np.array([0.1]), 1), edges=(10, 5))


def test_twenty_thousand_pairs_in_less_than_a_second():
    truth, label, mu, sigma = workload(20_000, 0)
    start = time.perf_counter()
    flip_table(theory_of(truth, label, mu, sigma, rules=500, after=1 - label))
    assert time.perf_counter() - start < 1
