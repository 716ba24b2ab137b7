"""What the verdicts say about the errors that were not looked at: a posterior for the error rate of every stratum.

On each side the error rates follow the risk through a line in log-odds: shift + slope * log-odds of the risk + an own
deviation of each stratum; or in logarithms, which fits a risk that is a power of the right one. Shift, slope and the
size of the deviations are learned from the verdicts. A shift of 0 and a slope of 1 mean that the risk is calibrated; a
slope of 0 means that it says nothing. The prior allows for both, and for anything between and beyond. Strata in which
no error was found are therefore neither free of errors nor unknown: what is likely of them follows from the strata in
which errors were found.

All functions work on many audits at once: a row for each.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.special import expit, logit, logsumexp

SHIFTS = np.arange(-6.0, 2.81, 0.4)
SLOPES = np.array([0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.05, 1.2, 1.4, 1.7, 2.1, 2.6, 3.2, 4.0])
DEVIATIONS = np.array([0.3, 0.9, 2.2])
DEVIATION_SHARES = np.array([0.4, 0.4, 0.2])
# Three kinds of risk, with their prior chances: about right, useless (a slope of 0, any shift), or anything. Priors of
# shift and slope are Cauchy's around 0 and 1, jointly: once one of them is far off, the other may be too.
TRUST, USELESS = 0.15, 0.12
CLOSE, FAR = (0.5, 0.25), (3.5, 2.0)  # scales of shift and slope of a risk that is about right, and of any risk
NEAR_SHIFT, NEAR_SLOPE = 0.65, (0.7, 1.3)  # what is taken for calibrated
# The line is a convenience, not the truth: shift, slope and deviation are learned with this power of the likelihood,
# which rises to 1 as the verdicts bear out that the risk is calibrated. With a power of 1 throughout, intervals missed
# too often where risk was wrong; with this one throughout, they were twice as wide as they had to be.
TEMPER = 0.25
CENTRE = 0.2  # the shift is how far the error rate is off at this risk
ALMOST = 1e-3  # below a rate of 1, where the power of a risk would exceed it
LEAST_RISK, MOST_RISK = 2e-4, 0.95  # beyond them one verdict more or less would decide the log-odds
NODES = np.linspace(-2.7, 2.7, 13)  # deviations at which the posterior is computed, in their standard deviation
CHUNK = 250  # audits at a time: bounds the memory


@dataclasses.dataclass(frozen=True, eq=False)
class SideModel:
    """The curve of one side, over its strata, on a grid of shift, slope and deviation."""

    odds: np.ndarray  # (grid, stratum, node): log-odds of the error rate
    prior: np.ndarray  # (grid,), log
    node_prior: np.ndarray  # (node,), log
    step: np.ndarray  # (grid,): distance between two nodes in log-odds
    calibrated: np.ndarray  # (grid,), bool: points at which the risk is about right

    @classmethod
    def of(cls, risk: np.ndarray) -> SideModel:
        risk = np.clip(risk, LEAST_RISK, MOST_RISK)
        axes = np.meshgrid(SHIFTS, SLOPES, DEVIATIONS, indexing="ij")
        shift, slope, size = (one.ravel() for one in axes)
        move = shift[:, None, None] + size[:, None, None] * NODES
        by_odds = logit(CENTRE) + slope[:, None, None] * (logit(risk) - logit(CENTRE))[:, None] + move
        by_power = np.log(CENTRE) + slope[:, None, None] * (np.log(risk) - np.log(CENTRE))[:, None] + move
        odds = np.concatenate([by_odds, logit(np.exp(np.minimum(by_power, -ALMOST)))])
        gaps = np.gradient(SLOPES)[np.searchsorted(SLOPES, slope)]  # a grid of unequal steps
        far = (shift / FAR[0]) ** 2 + ((slope - 1) / FAR[1]) ** 2
        close = (shift / CLOSE[0]) ** 2 + ((slope - 1) / CLOSE[1]) ** 2
        broad, narrow, useless = gaps * (1 + far) ** -1.5, gaps * (1 + close) ** -1.5, (slope == 0).astype(float)
        parts = zip((1 - USELESS - TRUST, TRUST, USELESS), (broad, narrow, useless), strict=True)
        prior = sum(share * part / part.sum() for share, part in parts)
        prior = np.log(prior * DEVIATION_SHARES[np.searchsorted(DEVIATIONS, size)])
        node_prior = -0.5 * NODES**2
        step = np.tile(size * (NODES[1] - NODES[0]), 2)
        about = np.tile((abs(shift) <= NEAR_SHIFT) & (slope >= NEAR_SLOPE[0]) & (slope <= NEAR_SLOPE[1]), 2)
        return cls(odds, np.tile(prior - logsumexp(prior), 2), node_prior - logsumexp(node_prior), step, about)


@dataclasses.dataclass(frozen=True, eq=False)
class SidePosterior:
    """The posterior of one side for many audits. Audits with the same counts in a stratum share its tables."""

    model: SideModel
    grid: np.ndarray  # (audit, grid), weights
    tables: tuple[np.ndarray, ...]  # by stratum: (counts, grid, node), weights of the nodes
    which: np.ndarray  # (audit, stratum): the row of the table

    def expected(self, value: np.ndarray) -> np.ndarray:
        """The posterior mean, by audit and stratum, of a value given at every grid point, stratum and node."""
        found = np.empty(self.which.shape)
        for stratum, table in enumerate(self.tables):
            at_grid = np.einsum("ugk,gk->ug", table, value[:, stratum])
            found[:, stratum] = np.einsum("rg,rg->r", self.grid, at_grid[self.which[:, stratum]])
        return found

    def rates(self) -> np.ndarray:
        """Expected error rates."""
        return self.expected(expit(self.model.odds))

    def spreads(self) -> np.ndarray:
        """Expected standard deviations of one pair's error: what Neyman's allocation is in proportion to."""
        rate = expit(self.model.odds)
        return self.expected(np.sqrt(rate * (1 - rate)))

    def draws(self, left: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
        """(audit, draw): errors among the `left` pairs (audit, stratum) without a verdict, drawn from the posterior."""
        found = np.zeros((len(self.which), count), dtype=np.int64)
        for start in range(0, len(found), CHUNK):
            rows = slice(start, start + CHUNK)
            found[rows] = self._draws(rows, left[rows], count, generator)
        return found

    def _draws(self, rows: slice, left: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
        grid = np.cumsum(self.grid[rows], axis=1)
        grid /= grid[:, -1:]
        starts = (np.arange(count) + generator.random((len(grid), 1))) / count  # evenly spaced from a random start
        points = np.stack([np.searchsorted(one, at) for one, at in zip(grid, starts, strict=True)])
        # In random order: draws of the two sides are put together one by one and must not rise and fall together.
        points = generator.permuted(np.minimum(points, grid.shape[1] - 1), axis=1)
        found = np.zeros(points.shape, dtype=np.int64)
        for stratum, table in enumerate(self.tables):
            if not left[:, stratum].any():
                continue
            reached = np.cumsum(table, axis=2)[self.which[rows, stratum][:, None], points]
            node = (reached[..., :-1] < generator.random(points.shape)[..., None]).sum(-1)
            jitter = (generator.random(points.shape) - 0.5) * self.model.step[points]
            rate = expit(self.model.odds[points, stratum, node] + jitter)
            found += generator.binomial(left[:, stratum][:, None], rate)
        return found


def side_posterior(model: SideModel, errors: np.ndarray, judged: np.ndarray) -> SidePosterior:
    """The posterior of a side after `errors` among the `judged` pairs of each stratum; both (audit, stratum).

    Counts need not be whole: a plan may add those it expects.
    """
    strata = model.odds.shape[1]
    likelihood = np.zeros((len(errors), len(model.prior)))
    tables, which = [], np.empty(errors.shape, dtype=np.int64)
    for stratum in range(strata):
        counts = np.stack([errors[:, stratum], judged[:, stratum]], axis=1).astype(np.float64)
        unique, which[:, stratum] = np.unique(counts, axis=0, return_inverse=True)
        odds = model.odds[:, stratum]
        right = -np.logaddexp(0, odds)  # log of 1 - rate; log of the rate is odds more
        terms = unique[:, :1, None] * odds + unique[:, 1:, None] * right + model.node_prior
        top = terms.max(axis=2, keepdims=True)
        table = np.exp(terms - top)
        sums = table.sum(axis=2)
        likelihood += (np.log(sums) + top[..., 0])[which[:, stratum]]
        tables.append(table / sums[..., None])
    borne_out = _weights(model.prior + likelihood)[:, model.calibrated].sum(axis=1, keepdims=True)
    power = TEMPER + (1 - TEMPER) * borne_out
    return SidePosterior(model, _weights(model.prior + power * likelihood), tuple(tables), which)


def _weights(logs: np.ndarray) -> np.ndarray:
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))
