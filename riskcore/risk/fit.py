"""Fitting the risk model by learning to rank: mispredicted validation pairs above correctly predicted ones.

The only part of risk analysis that needs torch. The parameters move by Adam and are put back into their
bounds after each step; everything is float64 and follows the seed, so a fit can be repeated to the bit.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch.autograd.function import once_differentiable

from riskcore.config import RiskConfig
from riskcore.risk import scoring
from riskcore.risk.distribution import SMALLEST_SIGMA
from riskcore.risk.model import A_BOUNDS, C_BOUNDS, RiskModel, RiskModelError

SCALE_BOUNDS = (1e-3, 100.0)


@dataclasses.dataclass(frozen=True, eq=False)
class FitResult:
    """A fitted model, what the validation pairs lacked, and one row per step."""

    model: RiskModel
    lacked: tuple[str, ...]
    history: tuple[dict[str, float], ...]

    @property
    def labels_used(self) -> tuple[str, ...]:
        """The rules come from the source; validation labels take part only where the fit made a step."""
        return ("source", "validation") if self.history else ("source",)


def fit_risk_model(
    prior_model: RiskModel,
    fired: sparse.sparray,
    probabilities: np.ndarray,
    labels_true: np.ndarray,
    config: RiskConfig | None = None,
    seed: int = 0,
) -> FitResult:
    """Fit weights and deviations on validation pairs. If there is nothing to learn from, keep priors and say why."""
    config = config or RiskConfig()
    probability = scoring.checked_probabilities(probabilities)
    matrix = scoring.checked_firing(fired, len(probability), len(prior_model.rules)).astype(np.float64)
    label, truth = scoring.checked_labels(None, probability), scoring.checked_labels(labels_true, probability)
    wrong = label != truth
    hopeless = _cannot_fit(truth, wrong)
    if hopeless:
        return FitResult(prior_model, (*hopeless, "the prior parameters are kept"), ())
    with _one_thread():
        model, history = _Fit(prior_model, matrix, probability, label, config).run(wrong, seed)
    return FitResult(model, _thin(matrix, wrong, truth, config), history)


def _cannot_fit(truth: np.ndarray, wrong: np.ndarray) -> tuple[str, ...]:
    """Why there is nothing to rank, if so."""
    if not len(truth):
        return ("there are no validation pairs",)
    reasons = []
    if not wrong.any():
        reasons.append(f"none of the {len(wrong)} validation pairs is mispredicted")
    if wrong.all():
        reasons.append(f"all of the {len(wrong)} validation pairs are mispredicted")
    if truth.min() == truth.max():
        reasons.append(f"all of the {len(truth)} validation pairs are {'matches' if truth[0] else 'non-matches'}")
    return tuple(reasons)


def _thin(matrix: sparse.csr_array, wrong: np.ndarray, truth: np.ndarray, config: RiskConfig) -> tuple[str, ...]:
    """Where a successful fit has little evidence."""
    notes = []
    for count, name in ((wrong.sum(), "mispredicted"), ((~wrong).sum(), "correctly predicted")):
        if count < config.few_mispredicted:
            notes.append(
                f"only {count} of the {len(wrong)} validation pairs are {name}: the fit is based on few examples"
            )
    missed = {"match": truth == 1, "non-match": truth == 0}
    notes += [
        f"no {name} among the validation pairs is mispredicted" for name, of in missed.items() if not wrong[of].any()
    ]
    unfired = int((np.bincount(matrix.indices, minlength=matrix.shape[1]) == 0).sum())
    if unfired:
        notes.append(
            f"{unfired} of {matrix.shape[1]} rules fire on no validation pair: they keep their prior parameters"
        )
    return tuple(notes)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """A step takes milliseconds: beside another busy process, two threads wait for each other ten times as long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class TruncatedNormalQuantile(torch.autograd.Function):
    """Quantile at `theta` of the normal truncated to [0, 1], for means in [0, 1], with its exact gradient.

    With `q = (1 - theta) Phi(alpha) + theta Phi(beta)` and `x = mu + sigma * Phi^-1(q)`, the implicit function
    theorem gives both derivatives as ratios of normal densities, taken in logarithms so that none overflows.
    """

    @staticmethod
    def forward(ctx: Any, mu: torch.Tensor, sigma: torch.Tensor, theta: float) -> torch.Tensor:
        sigma = sigma.clamp_min(SMALLEST_SIGMA)
        alpha, beta = -mu / sigma, (1 - mu) / sigma
        above = (1 - theta) * torch.special.ndtr(-alpha) + theta * torch.special.ndtr(-beta)
        below = (1 - theta) * torch.special.ndtr(alpha) + theta * torch.special.ndtr(beta)
        z = torch.where(above < below, -torch.special.ndtri(above), torch.special.ndtri(below))
        z = torch.minimum(torch.maximum(z, alpha), beta)
        ctx.save_for_backward(alpha, beta, z)
        ctx.theta = theta
        return mu + sigma * z

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        alpha, beta, z = ctx.saved_tensors
        low = (1 - ctx.theta) * torch.exp(0.5 * (z - alpha) * (z + alpha))
        high = ctx.theta * torch.exp(0.5 * (z - beta) * (z + beta))
        return grad * (1 - low - high), grad * (z - low * alpha - high * beta), None


class _FiredSums(torch.autograd.Function):
    """Sums of the fired rules' terms: a product with a constant sparse matrix, and with its transpose going back."""

    @staticmethod
    def forward(
        ctx: Any, terms: torch.Tensor, fired: sparse.csr_array, fired_by_rule: sparse.csr_array
    ) -> torch.Tensor:
        ctx.fired_by_rule = fired_by_rule
        return torch.from_numpy(fired @ terms.numpy())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return torch.from_numpy(ctx.fired_by_rule @ grad.contiguous().numpy()), None, None


class _Fit:
    """One fit: the constants of the validation pairs, the moving parameters, the steps."""

    def __init__(
        self, prior: RiskModel, fired: sparse.csr_array, probability: np.ndarray, label: np.ndarray, config: RiskConfig
    ) -> None:
        self.prior, self.config = prior, config
        self.fired, self.fired_by_rule = fired, sparse.csr_array(fired.T)
        self.x, self.label = torch.from_numpy(probability), torch.from_numpy(label.astype(bool))
        self.bucket = torch.from_numpy(prior.bucket(probability))
        self.mean = torch.from_numpy(prior.mean.copy())
        self.floored = self.mean.clamp_min(prior.mean_floor)
        self.pinned = torch.from_numpy(prior.pinned.copy())
        fires = np.bincount(fired.indices, minlength=fired.shape[1]) > 0
        self.weight_free = torch.from_numpy(fires & np.isnan(prior.decided))
        self.weight = _parameter(prior.effective_weight)
        self.rsd = _parameter(prior.rsd)
        self.matcher_rsd = _parameter(prior.matcher_rsd)
        self.a, self.c, self.scale = _parameter(prior.a), _parameter(prior.c), _parameter(config.prior_scale)

    def run(self, wrong: np.ndarray, seed: int) -> tuple[RiskModel, tuple[dict[str, float], ...]]:
        chance = torch.Generator().manual_seed(seed)
        wrong_rows, right_rows = torch.from_numpy(np.flatnonzero(wrong)), torch.from_numpy(np.flatnonzero(~wrong))
        parameters = [self.weight, self.rsd, self.matcher_rsd, self.a, self.c, self.scale]
        adam = torch.optim.Adam(parameters, lr=self.config.rate)
        history = []
        for step in range(self.config.steps):
            adam.zero_grad()
            ranking, penalty = self._ranking_loss(wrong_rows, right_rows, chance), self._penalty()
            (ranking + penalty).backward()
            adam.step()
            self._keep_bounds()
            history.append({"step": step, "ranking_loss": ranking.item(), "penalty": penalty.item()})
        return self._model(), tuple(history)

    def _risk(self) -> torch.Tensor:
        weight, rsd = self._weights(), torch.where(self.pinned, self.prior.rsd_bounds[0], self.rsd)
        terms = torch.stack([weight, weight * self.mean, (weight * rsd * self.floored).square()], dim=1)
        sums = _FiredSums.apply(terms, self.fired, self.fired_by_rule)
        x_weight = 1 + self.a - torch.exp(-(self.x - 0.5).square() / (2 * self.c.square()))
        x_deviation = self.matcher_rsd[self.bucket] * self.x.clamp_min(self.prior.mean_floor)
        total = sums[:, 0] + x_weight
        mu = ((sums[:, 1] + x_weight * self.x) / total).clamp(0, 1)
        sigma = (sums[:, 2] + (x_weight * x_deviation).square()).sqrt() / total
        # 1 - Q(1 - theta) of a pair called a match is Q(theta) of its mirror image.
        return TruncatedNormalQuantile.apply(torch.where(self.label, 1 - mu, mu), sigma, self.prior.confidence)

    def _ranking_loss(self, wrong: torch.Tensor, right: torch.Tensor, chance: torch.Generator) -> torch.Tensor:
        risk, limit = self._risk(), self.config.pairs_per_step
        if len(wrong) * len(right) <= limit:
            gap = risk[wrong][:, None] - risk[right][None, :]
        else:
            i = wrong[torch.randint(len(wrong), (limit,), generator=chance)]
            gap = risk[i] - risk[right[torch.randint(len(right), (limit,), generator=chance)]]
        return torch.nn.functional.softplus(-self.scale * gap).mean()

    def _weights(self) -> torch.Tensor:
        """Rules that a person decided about, and rules that never fire, keep a constant weight."""
        return torch.where(self.weight_free, self.weight, self.weight.detach())

    def _penalty(self) -> torch.Tensor:
        learned = torch.cat([self.weight[self.weight_free], self.a[None], self.c[None], self.scale[None]])
        return self.config.l1 * learned.abs().sum() + self.config.l2 * learned.square().sum()

    @torch.no_grad()
    def _keep_bounds(self) -> None:
        self.weight.clamp_(min=0)
        self.rsd.clamp_(*self.prior.rsd_bounds)
        self.matcher_rsd.clamp_(*self.prior.rsd_bounds)
        self.a.clamp_(*A_BOUNDS)
        self.c.clamp_(*C_BOUNDS)
        self.scale.clamp_(*SCALE_BOUNDS)

    def _model(self) -> RiskModel:
        learned = {name: getattr(self, name).detach().numpy() for name in ("rsd", "matcher_rsd")}
        if not all(np.isfinite(values).all() for values in learned.values()):
            raise RiskModelError(
                "The fit of the risk model diverged: a parameter is not a number. Lower RiskConfig.rate."
            )
        weight = np.where(self.weight_free.numpy(), self.weight.detach().numpy(), self.prior.weight)
        return dataclasses.replace(self.prior, weight=weight, a=self.a.item(), c=self.c.item(), **learned)


def _parameter(start: Any) -> torch.Tensor:
    return torch.tensor(np.array(start, dtype=np.float64), requires_grad=True)
