"""Both sides of an audit together: what is believed of the strata, and to which of them the next verdicts go. Works on
many audits at once, so that simulations take seconds."""

from __future__ import annotations

import dataclasses

import numpy as np

from riskcore.audit.estimate.calibration import SideAudit
from riskcore.audit.estimate.measures import f1_slopes
from riskcore.audit.estimate.posterior import SideModel, SidePosterior, side_posterior
from riskcore.audit.estimate.strata import LEAST, MATCHES, SIDES, Strata, allocate

BLEND = 0.35  # share of the verdicts that go to strata in proportion to their pairs, whatever is believed of them
NEIGHBOUR = 0.4  # share of the spread of the next riskier stratum that each has at least: see `_wary`


@dataclasses.dataclass(frozen=True, eq=False)
class AuditPosterior:
    """The posterior of many audits of the same strata."""

    strata: Strata
    sides: dict[int, SidePosterior]
    errors: np.ndarray  # (audit, stratum), found
    judged: np.ndarray

    def rates(self) -> np.ndarray:
        """Expected error rates by audit and stratum."""
        return self._by_stratum({side: one.rates() for side, one in self.sides.items()})

    def spreads(self) -> np.ndarray:
        """What Neyman's allocation for F1 is in proportion to: the spread of a pair's error times what it costs."""
        totals = self.errors + self.rates() * (self.strata.pairs - self.judged)
        positive = (self.strata.side == MATCHES).astype(float)
        matches = float(self.strata.pairs @ positive)
        slopes = f1_slopes(matches, totals @ positive, totals @ (1 - positive))
        spread = self._by_stratum({side: one.spreads() for side, one in self.sides.items()})
        return spread * np.where(positive, slopes[0][:, None], slopes[1][:, None])

    def _by_stratum(self, of_side: dict[int, np.ndarray]) -> np.ndarray:
        found = np.zeros(self.errors.shape)
        for side, values in of_side.items():
            found[:, self.strata.side == side] = values
        return found


class AuditModel:
    """The curves of both sides of these strata."""

    def __init__(self, strata: Strata) -> None:
        self.strata = strata
        self._models = {
            side: SideModel.of(strata.risk[strata.side == side]) for side in SIDES if (strata.side == side).any()
        }

    def posterior(self, errors: np.ndarray, judged: np.ndarray) -> AuditPosterior:
        """After `errors` among `judged` pairs of each stratum; a row for each audit."""
        errors, judged = np.atleast_2d(errors), np.atleast_2d(judged)
        sides = {
            side: side_posterior(model, errors[:, here], judged[:, here])
            for side, model in self._models.items()
            if len(here := np.flatnonzero(self.strata.side == side))
        }
        return AuditPosterior(self.strata, sides, errors, judged)

    def sides(self, errors: np.ndarray, judged: np.ndarray) -> tuple[SideAudit, ...]:
        """The audits side by side, for their intervals."""
        errors, judged = np.atleast_2d(errors), np.atleast_2d(judged)
        at = {side: self.strata.side == side for side in self._models}
        return tuple(
            SideAudit(side, model, self.strata.pairs[at[side]], errors[:, at[side]], judged[:, at[side]])
            for side, model in self._models.items()
        )

    def next(self, errors: np.ndarray, judged: np.ndarray, drawn: np.ndarray, extra: int) -> np.ndarray:
        """How many of the next `extra` pairs each stratum gives: by the risk at first, then by the posterior."""
        errors, judged, drawn = (np.atleast_2d(one) for one in (errors, judged, drawn))
        spread = np.tile(self.strata.prior_spread, (len(errors), 1))
        some = judged.sum(1) > 0
        if some.any():
            spread[some] = self.posterior(errors[some], judged[some]).spreads()
        spread = self._wary(spread)
        mean = (spread * self.strata.pairs).sum(1, keepdims=True) / self.strata.pairs.sum()
        spread = (1 - BLEND) * spread + BLEND * mean
        return allocate(self.strata.pairs, spread, drawn, extra, LEAST)

    def _wary(self, spread: np.ndarray) -> np.ndarray:
        """The spreads, none of them far below that of the next riskier stratum.

        A risk that is far too low says of strata beside those with many errors that they have none. Without verdicts
        there, nothing would contradict it.
        """
        riskier = np.append(spread[:, 1:], np.zeros((len(spread), 1)), axis=1)
        same = np.append(self.strata.side[1:] == self.strata.side[:-1], False)
        return np.maximum(spread, NEIGHBOUR * riskier * same)
