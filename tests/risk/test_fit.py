"""The fit: gradients, what it learns, that it repeats, and what it says when there is little to learn from."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from scipy import sparse

from riskcore.config import RiskConfig
from riskcore.risk import auroc, fit_risk_model
from riskcore.risk.distribution import quantile
from riskcore.risk.fit import TruncatedNormalQuantile, _Fit
from tests.risk.synthetic import learnable, random_model, random_pairs

QUICK = RiskConfig(steps=40)


def grid(sigmas):
    mu, sigma = np.meshgrid(np.array([0.0, 1e-4, 0.03, 0.2, 0.5, 0.77, 0.98, 1.0]), sigmas)
    return torch.tensor(mu.ravel(), requires_grad=True), torch.tensor(sigma.ravel(), requires_grad=True)


@pytest.mark.parametrize("theta", [0.5, 0.75, 0.9, 0.975, 0.999])
def test_gradient_of_the_quantile(theta):
    mu, sigma = grid(np.geomspace(0.01, 10, 13))
    # Tiny steps, and none across the ends of [0, 1], where the mean stops.
    inner = mu.detach().clamp(1e-3, 1 - 1e-3).requires_grad_()
    assert torch.autograd.gradcheck(lambda m, s: TruncatedNormalQuantile.apply(m, s, theta), (inner, sigma), eps=1e-7)
    value = TruncatedNormalQuantile.apply(mu, sigma, theta)
    assert np.abs(value.detach().numpy() - quantile(theta, mu.detach().numpy(), sigma.detach().numpy())).max() < 1e-12


@pytest.mark.parametrize("theta", [0.5, 0.9, 0.999])
def test_gradients_stay_finite_down_to_a_needle_and_at_the_ends(theta):
    mu, sigma = grid(np.concatenate([[0.0], np.geomspace(1e-12, 0.01, 25)]))
    TruncatedNormalQuantile.apply(mu, sigma, theta).sum().backward()
    assert torch.isfinite(mu.grad).all()
    assert torch.isfinite(sigma.grad).all()
    assert ((mu.grad > -1e-9) & (mu.grad < 1 + 1e-9)).all()


def test_torch_and_numpy_give_the_same_risk():
    model, (x, fired) = random_model(30), random_pairs(200, 30)
    model = model.with_rules(muted=["rule 0"], pinned=["rule 1"], weights={"rule 2": 0.5})
    label = (x >= 0.5).astype(np.int8)
    fit = _Fit(model, fired.astype(np.float64), x, label, RiskConfig())
    assert np.abs(fit._risk().detach().numpy() - model.score(x, fired).risk).max() < 1e-12


def test_gradient_of_the_loss_in_every_parameter():
    model, fired, x, truth = learnable(60, 8)
    label = (x >= 0.5).astype(np.int8)
    wrong = torch.from_numpy(np.flatnonzero(label != truth))
    right = torch.from_numpy(np.flatnonzero(label == truth))
    fit = _Fit(model, sparse.csr_array(fired, dtype=np.float64), x, label, RiskConfig())
    for name in ("weight", "rsd", "matcher_rsd", "a", "c", "scale"):
        start = getattr(fit, name)

        def loss(values, name=name):
            setattr(fit, name, values)
            return fit._ranking_loss(wrong, right, torch.Generator()) + fit._penalty()

        assert torch.autograd.gradcheck(loss, (start,), eps=1e-6, atol=1e-7)
        setattr(fit, name, start)


def test_learns_which_rules_to_hear():
    model, fired, x, truth = learnable(2500, 20)
    seen, unseen = slice(0, 1500), slice(1500, 2500)
    fitted = fit_risk_model(model, fired[seen], x[seen], truth[seen]).model
    wrong = ((x >= 0.5) != truth)[unseen]
    before = auroc(model.score(x[unseen], fired[unseen]).risk, wrong)
    after = auroc(fitted.score(x[unseen], fired[unseen]).risk, wrong)
    assert after > before + 0.02
    assert fitted.weight[::2].mean() > 3 * fitted.weight[1::2].mean()  # the even rules tell the truth


def test_same_seed_same_model_and_bounds_hold():
    model, fired, x, truth = learnable(800, 30)
    config = RiskConfig(steps=30, pairs_per_step=500)  # fewer than there are, so chance takes part
    one, two = (fit_risk_model(model, fired, x, truth, config, seed=3) for _ in range(2))
    assert one.model.to_json() == two.model.to_json()
    assert one.history == two.history
    assert fit_risk_model(model, fired, x, truth, config, seed=4).model.to_json() != one.model.to_json()
    hasty = fit_risk_model(model, fired, x, truth, RiskConfig(steps=60, rate=0.5)).model
    assert hasty.weight.min() >= 0
    assert hasty.rsd.min() >= 0.1
    assert hasty.rsd.max() <= 0.9


def test_the_loss_falls_and_each_step_is_recorded():
    model, fired, x, truth = learnable(400, 20)
    history = fit_risk_model(model, fired, x, truth, QUICK).history
    assert [row["step"] for row in history] == list(range(40))
    assert history[-1]["ranking_loss"] < history[0]["ranking_loss"]


def test_means_are_never_learned_and_the_prior_is_left_alone():
    model, fired, x, truth = learnable(300, 20)
    before = model.to_json()
    fitted = fit_risk_model(model, fired, x, truth, QUICK).model
    assert np.array_equal(fitted.mean, model.mean)
    assert model.to_json() == before


def test_what_a_person_decided_survives_a_fit():
    model, fired, x, truth = learnable(300, 10)
    decided = model.with_rules(muted=["rule 0"], pinned=["rule 2"], weights={"rule 4": 0.9})
    fitted = fit_risk_model(decided, fired, x, truth, QUICK).model
    assert fitted.states == decided.states
    assert np.array_equal(fitted.effective_weight[[0, 2, 4]], decided.effective_weight[[0, 2, 4]])
    assert np.array_equal(fitted.weight[[0, 2, 4]], model.weight[[0, 2, 4]])
    assert not np.array_equal(fitted.weight[[6, 8]], model.weight[[6, 8]])


def fit_on(rows, model, fired, x, truth):
    return fit_risk_model(model, fired[rows], x[rows], truth[rows], QUICK)


def test_without_what_it_needs_the_priors_are_kept_and_it_says_why():
    model, fired, x, truth = learnable(600, 15)
    right = (x >= 0.5) == truth
    cases = {
        "no validation pairs": np.arange(0),
        "none of the 50 validation pairs is mispredicted": np.flatnonzero(right)[:50],
        "all of the 50 validation pairs are mispredicted": np.flatnonzero(~right)[:50],
        "all of the 50 validation pairs are matches": np.flatnonzero(truth == 1)[:50],
        "all of the 50 validation pairs are non-matches": np.flatnonzero(truth == 0)[:50],
    }
    for reason, rows in cases.items():
        result = fit_on(rows, model, fired, x, truth)
        assert any(reason in said for said in result.lacked)
        assert "the prior parameters are kept" in result.lacked
        assert result.model is model
        assert result.history == ()


def test_with_100_pairs_it_fits_and_with_few_errors_it_says_so():
    model, fired, x, truth = learnable(2000, 15)
    wrong = (x >= 0.5) != truth
    result = fit_on(np.arange(100), model, fired, x, truth)
    assert len(result.history) == 40
    few = np.concatenate([np.flatnonzero(wrong & (truth == 1))[:3], np.flatnonzero(~wrong)[:97]])
    result = fit_on(few, model, fired, x, truth)
    assert len(result.history) == 40
    assert "only 3 of the 100 validation pairs are mispredicted: the fit is based on few examples" in result.lacked
    assert "no non-match among the validation pairs is mispredicted" in result.lacked


def test_a_rule_that_never_fires_keeps_its_prior():
    model, fired, x, truth = learnable(300, 10)
    dense = fired.toarray()
    dense[:, 7] = False
    result = fit_risk_model(model, sparse.csr_array(dense), x, truth, QUICK)
    assert result.model.weight[7] == model.weight[7]
    assert result.model.rsd[7] == model.rsd[7]
    assert any(said.startswith("1 of 10 rules fire on no validation pair") for said in result.lacked)


def test_without_rules_or_steps_there_is_still_a_model():
    model, fired, x, truth = learnable(300, 10)
    assert fit_risk_model(model, fired, x, truth, RiskConfig(steps=0)).model.to_json() == model.to_json()
    bare = random_model(0)
    assert len(fit_risk_model(bare, sparse.csr_array((300, 0)), x, truth, QUICK).history) == 40


def test_the_number_of_torch_threads_is_left_as_it_was():
    model, fired, x, truth = learnable(100, 5)
    before = torch.get_num_threads()
    fit_risk_model(model, fired, x, truth, dataclasses.replace(QUICK, steps=1))
    assert torch.get_num_threads() == before
