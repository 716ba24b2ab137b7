"""What verdicts say about other pairs: against brute force, and where they say nothing."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from riskcore.risk import auroc
from riskcore.risk.verdict_refit import _alike, _features, _fit, refit_risk


def made(pairs=400, seed=0):
    """Pairs whose run is calibrated, except where the first metric is high: there it takes matches for non-matches."""
    rng = np.random.default_rng(seed)
    metrics = rng.normal(size=(pairs, 4)).astype(np.float32)
    metrics[rng.random((pairs, 4)) < 0.05] = np.nan
    margin = 2 * np.nan_to_num(metrics[:, 1]) + rng.normal(size=pairs)
    odd = np.nan_to_num(metrics[:, 0]) > 1
    truth = (rng.random(pairs) < expit(margin + 4 * odd)).astype(np.int8)
    label = (margin > 0).astype(np.int8)
    return expit(-np.abs(margin)), label, metrics, truth


def test_the_fit_is_the_mode_that_a_general_optimiser_finds():
    rng = np.random.default_rng(1)
    features, truth, offset = rng.normal(size=(25, 3)), rng.integers(0, 2, 25).astype(float), rng.normal(size=25)
    covariance = 2 * _alike(features, features) + 1e-9 * np.eye(25)
    root = np.linalg.cholesky(covariance)

    def loss(z):
        margin = offset + root @ z
        return np.logaddexp(0, np.where(truth == 1, -margin, margin)).sum() + 0.5 * z @ z

    brute = root @ minimize(loss, np.zeros(25), method="BFGS", options={"gtol": 1e-8}).x
    assert covariance @ _fit(covariance, truth, offset).pulls == pytest.approx(brute, abs=1e-4)


def test_without_its_own_verdict_a_pair_has_about_what_a_fit_without_it_says():
    rng = np.random.default_rng(2)
    features, truth = rng.normal(size=(40, 2)), rng.integers(0, 2, 40).astype(float)
    covariance, offset = _alike(features, features), np.zeros(40)
    fit = _fit(covariance, truth, offset)
    left_out = []
    for row in range(40):
        rest = np.delete(np.arange(40), row)
        other = _fit(covariance[np.ix_(rest, rest)], truth[rest], offset[rest])
        left_out.append(covariance[row, rest] @ other.pulls)
    assert fit.without_own == pytest.approx(np.array(left_out), abs=0.03)


def test_without_verdicts_the_ranking_is_the_runs():
    risk, label, metrics, _ = made()
    found = refit_risk(risk, label, metrics, np.array([], dtype=np.int64), np.array([], dtype=np.int8))
    assert found.variance == 0
    assert (found.risk == risk).all()


def test_verdicts_that_bear_the_run_out_leave_the_ranking_alone():
    moved = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        risk, label, metrics, _ = made(2000, seed)
        truth = np.where(rng.random(2000) < risk, 1 - label, label)  # the run is calibrated
        rows = np.argsort(-risk, kind="stable")[:150]
        found = refit_risk(risk, label, metrics, rows, truth[rows])
        moved += found.variance > 0
        assert found.variance > 0 or (found.risk == risk).all()
    assert moved <= 2  # one in twenty, by chance


def test_verdicts_on_the_riskiest_find_errors_of_the_same_kind_elsewhere():
    risk, label, metrics, truth = made(3000)
    order = np.argsort(-risk, kind="stable")
    rows, rest = order[:200], order[200:]
    again, wrong = refit_risk(risk, label, metrics, rows, truth[rows]).risk, truth != label
    assert auroc(again[rest], wrong[rest]) > auroc(risk[rest], wrong[rest]) + 0.05
    first, before = (rest[np.argsort(-some[rest], kind="stable")[:100]] for some in (again, risk))
    assert wrong[first].sum() > 1.2 * wrong[before].sum()
    assert again[first].sum() == pytest.approx(wrong[first].sum(), rel=0.35)  # judged by risk, and not biased by it


def test_the_scale_of_metrics_and_metrics_that_do_not_vary_do_not_matter():
    risk, label, metrics, truth = made()
    rows = np.arange(60)
    other = np.column_stack([1000 * metrics + 7, np.full(len(metrics), 3.0), np.full(len(metrics), np.nan)])
    one, two = (refit_risk(risk, label, some, rows, truth[rows]).risk for some in (metrics, other))
    assert one == pytest.approx(two, abs=1e-4)
    assert _features(np.full((3, 2), np.nan)).shape == (3, 1)


def test_more_verdicts_than_are_fitted_are_sampled_by_the_seed(monkeypatch):
    monkeypatch.setattr("riskcore.risk.verdict_refit.MOST_VERDICTS", 50)
    risk, label, metrics, truth = made()
    rows = np.arange(200)
    one, same, other = (refit_risk(risk, label, metrics, rows, truth[rows], seed) for seed in (0, 0, 1))
    assert one.verdicts == 50
    assert (one.risk == same.risk).all()
    assert (one.risk != other.risk).any()
