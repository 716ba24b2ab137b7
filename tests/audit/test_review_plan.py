"""Planning a review: errors expected by ranking, F1 after it, and what was found beside what had been expected."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from typer.testing import CliRunner

from riskcore import cli
from riskcore.audit import VerdictLog
from riskcore.audit.estimate import draw_audit, estimate_run, plan_review
from riskcore.audit.estimate.planner import RANDOM, RISK, errors_among, review_curve
from riskcore.audit.estimate.recalibration import SHIFT, SLOPE, as_stated, lines
from riskcore.audit.estimate.review import FROM_AUDIT, FROM_RISK, curve_sizes, seconds_each
from riskcore.audit.estimate.runs import audited_pairs, labels_and_risk
from riskcore.audit.verdicts import Verdict
from riskcore.errors import ConfigError
from riskcore.runs.formats import read_pair_ids
from tests.audit.example_runs import finished, run, store, unpacked
from tests.audit.test_estimate import population

__all__ = ["finished", "run", "store", "unpacked"]


def flipped(label):
    return "non-match" if label else "match"


def said(label):
    return "match" if label else "non-match"


# ---- the engine


def test_without_verdicts_the_line_is_the_prior():
    found = lines(np.empty(0), np.empty(0), 20_000)
    assert (found.shift.mean(), found.shift.std()) == pytest.approx((0, SHIFT), abs=0.01)
    assert (found.slope.mean(), found.slope.std()) == pytest.approx((1, SLOPE), abs=0.01)


def test_verdicts_bend_the_line():
    generator = np.random.default_rng(0)
    risk = generator.uniform(0.05, 0.95, 4000)
    lower = lines(risk, generator.random(4000) < risk / 2, 2_000)
    assert lower.rates(np.array([0.6])).mean() == pytest.approx(0.3, abs=0.04)
    assert lower.shift.std() < SHIFT / 3


def test_certain_errors_have_no_width():
    found = errors_among(np.ones(30), as_stated(200))
    assert (found.value, found.low, found.high) == pytest.approx((30, 30, 30), abs=0.01)


def test_the_interval_of_a_sum_of_chances_is_that_of_its_distribution():
    risk = np.random.default_rng(3).uniform(0, 1, 40) ** 2
    exact = np.array([1.0])
    for one in risk:  # the Poisson binomial distribution, error by error
        exact = np.convolve(exact, [1 - one, one])
    below = np.cumsum(exact)
    found = errors_among(risk, as_stated(20_000))
    assert found.value == pytest.approx(risk.sum())
    assert abs(found.low - np.searchsorted(below, 0.025)) <= 1
    assert abs(found.high - np.searchsorted(below, 0.975)) <= 1


def test_a_curve_starts_at_nothing_and_ends_with_everything():
    label, risk, _ = population(size=400, matches=80)
    plans = review_curve(label, risk, [0, 50, 400], {"backwards": -risk}, as_stated(500))
    by = {(one.ranking, one.reviewed): one for one in plans}
    assert by[RISK, 0].errors.value == 0
    assert by[RISK, 0].f1 == by["backwards", 0].f1
    assert by[RISK, 50].errors.value > by[RANDOM, 50].errors.value > by["backwards", 50].errors.value
    for ranking in (RISK, "backwards", RANDOM):
        assert by[ranking, 400].errors.value == pytest.approx(risk.sum())
        assert by[ranking, 400].f1.low == 1


def test_an_audit_says_how_many_errors_are_left():
    label, risk, _ = population(size=400, matches=80)
    none = (np.zeros(10, dtype=int), np.zeros(10, dtype=int))
    plans = review_curve(label, risk, [0, 50], {}, as_stated(500), left=none)
    assert all(one.f1.low == 1 for one in plans)


@pytest.mark.parametrize(("power", "judged"), [(1.0, 0), (0.85, 150), (1.2, 150)])
def test_intervals_cover_what_reviews_find(power, judged):
    """Also where the stated risk is off, once verdicts on drawn pairs have told so."""
    held = []
    for seed in range(120):
        label, real, truth = population(seed, size=1500, matches=250)
        risk, wrong = real**power, label != truth
        drawn = np.random.default_rng(seed).choice(1500, judged, replace=False, p=risk**0.5 / (risk**0.5).sum())
        left = np.delete(np.arange(1500), drawn)
        told = lines(risk[drawn], wrong[drawn], 300, seed) if judged else as_stated(300)
        plan = review_curve(label[left], risk[left], [60], {}, told, seed=seed)[0]
        held.append(wrong[left][np.argsort(-risk[left], kind="stable")[:60]].sum() in plan.errors)
    assert np.mean(held) >= 0.92


def test_sizes_of_a_curve():
    assert curve_sizes(30, 10) == sorted({*curve_sizes(30, 10)})
    assert {0, 10, 30} <= set(curve_sizes(30, 10))
    assert max(curve_sizes(5_000, 300)) == 600
    assert curve_sizes(0, 0) == [0]


# ---- a run


def judge(store, folder, rows, word):
    label, _ = labels_and_risk(folder)
    ids = read_pair_ids(folder.pairs_file).column("pair_id").to_pylist()
    for row in rows:
        VerdictLog(store).add(folder.path.name, ids[row], word(label[row]), who="ann")


def test_the_plan_of_a_run_needs_no_truth_and_leaves_judged_pairs_out(store, finished):
    label, risk = labels_and_risk(finished)
    before = plan_review(finished, 40)
    finished.truth_file.unlink()
    assert plan_review(finished, 40) == before
    assert (before.left, before.f1_from, before.found, before.learned_from) == (len(label), FROM_RISK, (), 0)
    assert {"risk", "confidence", "random"} <= {one.ranking for one in before.plans}
    top = np.argsort(-risk, kind="stable")[:60]
    judge(store, finished, top[:20], flipped)
    judge(store, finished, top[20:60], said)
    after = plan_review(finished, 40)
    assert after.left == len(label) - 60
    found = after.found[0]
    assert (found.reviews, found.errors) == (60, 20)
    assert found.expected.value == pytest.approx(risk[top].sum(), rel=0.25)  # the prior is centred on the stated risk
    assert found.sentence.startswith("In 60 reviews 20 errors were found; ")
    by_risk = {one.ranking: one for one in after.at(40)}[RISK]
    assert by_risk.errors.value < before.at(40)[0].errors.value
    with pytest.raises(ConfigError, match="are left without a verdict"):
        plan_review(finished, len(label))


def test_with_an_audit_f1_is_the_audits(store, finished):
    draw_audit(finished, 100)
    rows = audited_pairs(finished)["row"].to_numpy(dtype=int)
    judge(store, finished, rows[:4], flipped)
    judge(store, finished, rows[4:], said)
    found = plan_review(finished, 20)
    assert (found.f1_from, found.learned_from) == (FROM_AUDIT, 100)
    assert found.f1 == estimate_run(finished).f1
    with_verdicts = found.at(0)[0].f1
    assert with_verdicts.value > found.f1.value  # the errors found are corrected
    assert found.at(20)[0].f1.value >= with_verdicts.value


def entry(number, seconds, pair, verdict="match", who="ann", note=""):
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return Verdict("run", pair, verdict, note, who, at, number)


def test_the_time_of_a_verdict_is_the_median_without_breaks_and_imports():
    steady = [entry(n, 7 * n, f"p{n}") for n in range(8)]
    assert seconds_each(steady) == 7
    late = [entry(20 + n, 7 * 7 + 5000 + 7 * n, f"q{n}") for n in range(3)]
    imported = [entry(40 + n, 9000 + 0.01 * n, f"r{n}", who="file") for n in range(50)]
    assert seconds_each([*steady, *late, *imported]) == 7
    assert seconds_each(steady[:4]) is None


def test_the_command(finished):
    asked = ["audit", "plan", finished.path.name, "--runs", str(finished.path.parent), "--n", "30"]
    shown = CliRunner().invoke(cli.app, asked)
    assert shown.exit_code == 0, shown.output
    assert "expected from the risk; there is no audit yet" in shown.output
    document = json.loads(CliRunner().invoke(cli.app, [*asked, "--json"]).stdout)
    assert (document["n"], document["f1_from"], document["minutes"]) == (30, "risk", pytest.approx(3))
    assert {one["ranking"] for one in document["plans"] if one["reviewed"] == 30} >= {"risk", "confidence", "random"}
