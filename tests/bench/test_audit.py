"""Simulated audits and their table."""

import numpy as np
import pytest

from riskcore.bench.audit.missed import missed_row
from riskcore.bench.audit.simulate import Population, design_audits, random_audits, warped
from riskcore.bench.audit.table import audit_rows, coverage_shares, finished_runs, needed_row
from riskcore.errors import ConfigError


def labels(errors=0.05):
    generator = np.random.default_rng(0)
    label, risk = np.repeat([0, 1], [500, 100]).astype(np.int8), generator.random(600) * errors
    return Population("made", "risk+", label, risk, np.where(generator.random(600) < risk, 1 - label, label))


def test_random_audits_have_wilsons_interval():
    found = random_audits(labels(), 150, 200, 0)
    value, low, high = found["precision"]
    assert ((low <= value + 1e-9) & (value <= high + 1e-9)).all()
    one = Population("x", "y", np.ones(10**6, dtype=np.int8), np.zeros(10**6), np.arange(10**6) % 2)
    value, low, high = (ends[0] for ends in random_audits(one, 100, 1, 0)["precision"])
    centre = (value * 100 + 1.96**2 / 2) / (100 + 1.96**2)
    reach = 1.96 / (100 + 1.96**2) * np.sqrt(100 * value * (1 - value) + 1.96**2 / 4)
    assert (low, high) == pytest.approx((centre - reach, centre + reach), abs=1e-3)


def test_an_audit_of_nearly_all_pairs_is_nearly_exact():
    one = labels()
    found = design_audits(one, one.risk, (50, 598), 5, seed=0, batch=300)
    assert set(found) == {50, 598}
    true = one.true_measures()
    for name, (value, low, high) in found[598].items():
        assert value == pytest.approx(true[name], abs=0.01)
        assert (high - low < 0.03).all()


def test_warps_keep_or_lose_the_order():
    one = labels()
    assert (np.argsort(warped(one, "risk^3")) == np.argsort(one.risk)).all()
    shuffled = warped(one, "shuffled within label")
    assert (np.sort(shuffled[one.label == 1]) == np.sort(one.risk[one.label == 1])).all()
    assert (shuffled != one.risk).any()


def test_the_table_has_a_line_for_each_measure():
    rows = list(audit_rows("run", labels(), 20, sizes=(60, 10_000), warps=("as it is", "risk^3")))
    assert [(row["risk"], row["measure"]) for row in rows][:4] == [
        ("as it is", "precision"),
        ("as it is", "recall"),
        ("as it is", "f1"),
        ("risk^3", "precision"),
    ]
    assert all(0 <= row["coverage"] <= 1 and row["half_width"] > 0 for row in rows)
    few = needed_row("run", labels(0.01), 20)
    assert few["design"] is not None
    assert few["design"] <= few["random"]


def test_shares_of_coverage_are_counted():
    row = {"rmse": 0.02, "bias": 0.0, "half_width": 0.04}
    same = {"rmse": 0.02, "bias": 0.02, "half_width": 0.04}  # the value is the same in every audit
    parts = ((0.93, row), (0.97, row), (0.971, row), (1.0, same), (0.92, row))
    rows = [{**other, "coverage": coverage} for coverage, other in parts]
    wanted = {"lines": 5, "within": 2, "above": 2, "below": 1, "still": 1, "lowest": 0.92}
    assert coverage_shares(rows) == wanted


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no finished run"):
        finished_runs([tmp_path])


def test_recall_with_what_a_blocker_misses():
    one = labels()
    likeness = np.where(one.truth == 1, 0.7, 0.3) + np.random.default_rng(1).normal(0, 0.15, len(one.truth))
    row = missed_row("run", one, likeness, 40, lost=0.2)
    match, out = one.truth == 1, likeness < np.quantile(likeness[one.truth == 1], 0.2)
    assert (row["outside"], row["missed"]) == (out.sum(), (out & match).sum())
    assert row["recall"] == pytest.approx((match & ~out & (one.label == 1)).sum() / match.sum())
    assert row["coverage"] > row["ignored"]
