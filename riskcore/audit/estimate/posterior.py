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

SHIFTS = np.arange(-7, 4) * 0.8
SLOPES = np.array([0, 0.25, 0.5, 0.75, 1, 1.3, 1.8, 2.6, 4])
DEVIATIONS = np.array([0.3, 0.9, 2.2])
DEVIATION_SHARES = np.array([0.4, 0.4, 0.2])
# Three kinds of risk, with their prior chances: about right, useless (a slope of 0, any shift), or anything. Priors of
# shift and slope are Cauchy's around 0 and 1, jointly: once one of them is far off, the other may be too.
TRUST, USELESS = 0.3, 0.12
CLOSE, FAR = (0.5, 0.25), (3.5, 2.0)  # scales of shift and slope of a risk that is about right, and of any risk
NEAR_SHIFT, NEAR_SLOPE, NEAR_DEVIATION = 0.9, (0.7, 1.3), 0.3  # what is taken for calibrated
# The line is a convenience, not the truth: shift, slope and deviation are learned with this power of the likelihood,
# which rises to 1 as the verdicts bear out that the risk is calibrated. With a power of 1 throughout, intervals missed
# too often where risk was wrong.
TEMPER = 0.25
CENTRE = 0.2  # the shift is how far the error rate is off at this risk
ALMOST = 1e-3  # below a rate of 1, where the power of a risk would exceed it
LEAST_RISK, MOST_RISK = 2e-4, 0.95  # beyond them one verdict more or less would decide the log-odds
NODES = np.linspace(-2.5, 2.5, 9)  # deviations at which the posterior is computed, in their standard deviation
NEVER = 1e-4  # bounds the evidence for and against
CHUNK, ROWS, COUNTS = 250, 400, 200  # audits, audits without draws, and counts at a time: they bound the memory


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
        prior = np.tile(np.log(prior * DEVIATION_SHARES[np.searchsorted(DEVIATIONS, size)]), 2)
        node_prior = -0.5 * NODES**2
        step = np.tile(size * (NODES[1] - NODES[0]), 2)
        about = (abs(shift) <= NEAR_SHIFT) & (slope >= NEAR_SLOPE[0]) & (slope <= NEAR_SLOPE[1])
        about = np.tile(about & (size <= NEAR_DEVIATION), 2)
        return cls(odds, prior - logsumexp(prior), node_prior - logsumexp(node_prior), step, about)


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
        """(audit, draw, stratum): errors among the `left` pairs (audit, stratum) without a verdict, drawn from the
        posterior."""
        found = np.zeros((len(self.which), count, len(self.tables)), dtype=np.int64)
        for start in range(0, len(found), CHUNK):
            rows = slice(start, start + CHUNK)
            self._draw(rows, left[rows], found[rows], generator)
        return found

    def _draw(self, rows: slice, left: np.ndarray, found: np.ndarray, generator: np.random.Generator) -> None:
        grid = np.cumsum(self.grid[rows], axis=1)
        grid /= grid[:, -1:]
        count = found.shape[1]
        starts = (np.arange(count) + generator.random((len(grid), 1))) / count  # evenly spaced from a random start
        points = np.stack([np.searchsorted(one, at) for one, at in zip(grid, starts, strict=True)])
        # In random order: draws of the two sides are put together one by one and must not rise and fall together.
        points = generator.permuted(np.minimum(points, grid.shape[1] - 1), axis=1)
        for stratum, table in enumerate(self.tables):
            if not left[:, stratum].any():
                continue
            reached = np.cumsum(table, axis=2)[self.which[rows, stratum][:, None], points]
            node = (reached[..., :-1] < generator.random(points.shape)[..., None]).sum(-1)
            jitter = (generator.random(points.shape) - 0.5) * self.model.step[points]
            rate = expit(self.model.odds[points, stratum, node] + jitter)
            found[:, :, stratum] = generator.binomial(left[:, stratum][:, None], rate)


def side_posterior(model: SideModel, errors: np.ndarray, judged: np.ndarray) -> SidePosterior:
    """The posterior of a side after `errors` among the `judged` pairs of each stratum; both (audit, stratum).

    Counts need not be whole: a plan may add those it expects.
    """
    likelihood = np.zeros((len(errors), len(model.prior)))
    tables, which = [], np.empty(errors.shape, dtype=np.int64)
    for stratum in range(errors.shape[1]):
        unique, which[:, stratum] = _unique(errors[:, stratum], judged[:, stratum])
        logs, table = _table(model, stratum, unique)
        likelihood += logs[which[:, stratum]]
        tables.append(table)
    return SidePosterior(model, _weights(model.prior, likelihood, model.calibrated)[0], tuple(tables), which)


@dataclasses.dataclass(frozen=True, eq=False)
class Moments:
    """What the posterior says of the errors of a side that were not found, for many audits."""

    mean: np.ndarray
    variance: np.ndarray
    evidence: np.ndarray  # how much the verdicts have raised the log-odds that the risk is calibrated


def side_moments(model: SideModel, pairs: np.ndarray, errors: np.ndarray, judged: np.ndarray) -> Moments:
    """Mean and variance of the errors among pairs without a verdict: what `side_posterior` and its draws would give,
    for many more audits."""
    tables, which = [], np.empty(errors.shape, dtype=np.int64)
    for stratum in range(errors.shape[1]):
        unique, which[:, stratum] = _unique(errors[:, stratum], judged[:, stratum])
        parts = [
            _moment_table(model, stratum, unique[start : start + COUNTS], int(pairs[stratum]))
            for start in range(0, len(unique), COUNTS)
        ]
        tables.append(tuple(np.concatenate(one) for one in zip(*parts, strict=True)))
    found = np.empty((3, len(errors)))
    for start in range(0, len(errors), ROWS):
        rows = slice(start, start + ROWS)
        likelihood, mean, variance = sums = np.zeros((3, len(which[rows]), len(model.prior)), dtype=np.float32)
        for stratum, table in enumerate(tables):
            for total, part in zip(sums, table, strict=True):
                total += part[which[rows, stratum]]
        weights, found[2, rows] = _weights(model.prior.astype(np.float32), likelihood, model.calibrated)
        found[0, rows] = (weights * mean).sum(axis=1)
        found[1, rows] = (weights * (variance + (mean - found[0, rows, None]) ** 2)).sum(axis=1)
    before = float(np.exp(model.prior[model.calibrated]).sum())
    after = np.clip(found[2], NEVER, 1 - NEVER)
    return Moments(found[0], found[1], logit(after) - logit(before))


def _unique(errors: np.ndarray, judged: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different counts of a stratum, and which of them each audit has."""
    counts, which = np.unique(errors.astype(np.float64) + 1j * judged, return_inverse=True)
    return np.stack([counts.real, counts.imag], axis=1), which


def _table(model: SideModel, stratum: int, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By counts (errors, judged) and grid point: the log-likelihood, and the weights of the nodes."""
    odds = model.odds[:, stratum]
    right = -np.logaddexp(0, odds)  # log of 1 - rate; log of the rate is odds more
    terms = counts[:, :1, None] * odds + counts[:, 1:, None] * right + model.node_prior
    top = terms.max(axis=2, keepdims=True)
    table = np.exp(terms - top)
    sums = table.sum(axis=2)
    return np.log(sums) + top[..., 0], table / sums[..., None]


def _moment_table(model: SideModel, stratum: int, counts: np.ndarray, pairs: int) -> tuple[np.ndarray, ...]:
    """By counts and grid point: the log-likelihood, and mean and variance of the errors that were not found."""
    logs, table = _table(model, stratum, counts)
    rate, left = expit(model.odds[:, stratum]), pairs - counts[:, 1:]
    first, second = (np.einsum("ugk,gk->ug", table, power) for power in (rate, rate**2))
    variance = left * (first - second) + left**2 * np.maximum(second - first**2, 0)
    return logs.astype(np.float32), (left * first).astype(np.float32), variance.astype(np.float32)


def _weights(prior: np.ndarray, likelihood: np.ndarray, calibrated: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights of the grid points, and the chance that the risk is calibrated by the full likelihood."""
    borne_out = _normal(prior + likelihood)[:, calibrated].sum(axis=1)
    power = TEMPER + (1 - TEMPER) * borne_out[:, None]
    return _normal(prior + power * likelihood), borne_out


def _normal(logs: np.ndarray) -> np.ndarray:
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))
