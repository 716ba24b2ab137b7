"""Intervals whose coverage is checked by simulated audits before they are given.

The posterior of an audit allows for a risk that is wrong. Where the risk is right, its 95 % interval covers in 99 % of
all audits: it is too wide. So populations are drawn from the posterior, each is audited again by as many verdicts in
every stratum, and each of these audits has a posterior of its own, in which the population's true figure has a place.
How these places are spread says how far the ends have to be from the middle.

That check supposes that populations are as the posterior says. It therefore counts only as far as the verdicts bear out
the risk, and less at the end with many errors: errors that no verdict has met are what a wrong risk hides.

All functions work on many audits at once: a row for each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.special import gammainc, gammaincinv, ndtr, ndtri

from riskcore.audit.estimate.measures import LEVEL
from riskcore.audit.estimate.posterior import Moments, SideModel, side_moments, side_posterior
from riskcore.audit.estimate.strata import MATCHES, NON_MATCHES

DRAWS = 400  # populations that check the interval of one audit
# Evidence (see `Moments`, both sides added) from which on the check counts, and from which on it counts in full: at the
# end with few errors, and at the end with many, where both rise by 1 with each doubling of the verdicts beyond 100, and
# the side's own evidence has to suffice too.
FEW, MANY = (0.0, 1.0), (0.5, 1.5)
MANY_POWER = 0.7  # how much of the check counts at the end with many errors
# Times the spread that the check shows: without it, some sets were covered in too few audits. It is more where many
# errors are still to be found: the risk is then off by more errors than verdicts can tell, most often towards too many.
SAFETY, SAFETY_FEW, SAFETY_MANY = 1.08, 1.38, 1.25
SKEWED, EVEN = 4.0, 40.0  # shapes of the posterior between which it rises: few errors left to find, and many
REFUTED = -2.0  # evidence that refutes the risk
WIDER = 1.25  # times as far is the end with few errors then: a risk that is far too high hides how few there are
OUTSIDE_POWER = 0.4  # how much of the check counts at both ends for pairs outside the candidates
HALF = 0.5  # of an error: numbers of errors are whole, the distribution that stands for them is not
NONE = 1e-9  # stands for no right match, and for no variance
FARTHEST = 1e-6  # chance beyond which a place in a posterior is not told apart

FIGURES = ("false_positives", "false_negatives", "missed", "recall", "f1")
Ends = dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]  # by figure: value, low and high end


@dataclasses.dataclass(frozen=True, eq=False)
class SideAudit:
    """One side of many audits of the same strata; or samples of pairs `outside` the candidates, ring by ring."""

    side: int
    model: SideModel
    pairs: np.ndarray  # (stratum,)
    errors: np.ndarray  # (audit, stratum)
    judged: np.ndarray
    outside: bool = False

    def moments(self) -> Moments:
        return side_moments(self.model, self.pairs, self.errors, self.judged)

    def again(self, count: int, generator: np.random.Generator) -> tuple[SideAudit, np.ndarray]:
        """Populations drawn from the posterior of each audit, audited once more: the audits, `count` rows for each, and
        the errors that each population has."""
        left = np.rint(self.pairs - self.judged).astype(np.int64)
        more = side_posterior(self.model, self.errors, self.judged).draws(left, count, generator)
        found = np.floor(self.errors[:, None] + generator.random(more.shape)).astype(np.int64)  # a plan has fractions
        wrong = np.minimum(found, (self.pairs - left)[:, None]) + more
        judged = np.broadcast_to((self.pairs - left)[:, None], wrong.shape)
        errors = generator.hypergeometric(wrong, self.pairs - wrong, judged)
        shape = (-1, len(self.pairs))
        audits = dataclasses.replace(self, errors=errors.reshape(shape), judged=judged.reshape(shape))
        return audits, wrong.sum(axis=2).ravel()


@dataclasses.dataclass(frozen=True, eq=False)
class Figure:
    """The posterior of a figure that grows with the errors, for many audits: a gamma distribution of what was not
    found."""

    least: np.ndarray  # if nothing is wrong beyond what was found
    mean: np.ndarray
    variance: np.ndarray
    error: np.ndarray  # how much one error adds
    most: np.ndarray  # if everything is wrong that was not looked at
    outside: np.ndarray  # share of the variance that comes from outside the candidates
    evidence: np.ndarray  # that the risk is calibrated, of both sides
    own: np.ndarray  # the same, of the side that the figure is about, or of the less certain one

    def score(self, value: np.ndarray) -> np.ndarray:
        """The place of a value, as a normal score."""
        shape, middle = self._gamma()
        chance = gammainc(shape, (np.maximum(value - self.least, 0) + HALF * self.error) * shape / middle)
        return np.asarray(ndtri(np.clip(chance, FARTHEST, 1 - FARTHEST)))

    def at(self, score: np.ndarray) -> np.ndarray:
        """The value at a place."""
        shape, middle = self._gamma()
        more = gammaincinv(shape, ndtr(score)) * middle / shape - HALF * self.error
        value = np.clip(self.least + more, self.least, self.most)
        return np.where(self.variance > NONE * self.error**2, value, self.mean)

    def many_left(self) -> np.ndarray:
        """0 where the posterior is that of a few errors, 1 where it is that of many and almost even."""
        shape, _ = self._gamma()
        return _between(np.log(shape), np.log(SKEWED), np.log(EVEN))

    def _gamma(self) -> tuple[np.ndarray, np.ndarray]:
        middle = self.mean - self.least + HALF * self.error
        return middle**2 / np.maximum(self.variance, NONE * middle**2), middle


def calibrated(
    matches: float,
    sides: Sequence[SideAudit],
    draws: int,
    generator: np.random.Generator,
    level: float = LEVEL,
    known: tuple[int, int] = (0, 0),
) -> Ends:
    """Value, low and high end of false positives, false negatives, missed matches, precision, recall and F1 for every
    audit. `known` are errors by label that were known before the audit."""
    figures = _figures(matches, sides, known)
    again = [one.again(draws, generator) for one in sides]
    checks = _figures(matches, [one for one, _ in again], known)
    true = _values(matches, *_totals(sides, [wrong for _, wrong in again], known))
    verdicts = sum(one.judged.sum(axis=1) for one in sides if not one.outside)
    found = {}
    for name, figure in figures.items():
        if not figure.variance.any():
            found[name] = (figure.mean,) * 3
            continue
        scores = checks[name].score(true[name]).reshape(-1, draws)
        low, high = _ends(scores, figure, np.asarray(verdicts), level)
        found[name] = (figure.mean, figure.at(low), figure.at(high))
    return _with_measures(matches, found)


def _ends(scores: np.ndarray, figure: Figure, verdicts: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Places of the ends, from the places that the truth has in simulated audits. Where the check does not count, they
    are those of the posterior; where it shows that even these are too near, it counts in full."""
    inside, outside = 1 - figure.outside, OUTSIDE_POWER * figure.outside
    doublings = np.log2(np.maximum(verdicts, 100) / 100)
    enough = np.minimum(_between(figure.evidence - doublings, *MANY), _between(figure.own, *FEW))
    few, many = outside + inside * _between(figure.evidence, *FEW), outside + inside * MANY_POWER * enough
    refuted = inside * _between(figure.evidence, 0.0, REFUTED)
    middle, spread, left = scores.mean(axis=1), scores.std(axis=1), figure.many_left()
    far = []
    for counts, safety in ((few, SAFETY_FEW), (many, SAFETY_MANY)):
        safe = spread * (SAFETY + (safety - SAFETY) * left)
        far.append(np.where(safe > 1, safe, safe**counts))
    reach = float(ndtri((1 + level) / 2))
    return few * middle - reach * far[0] * WIDER**refuted, many * middle + reach * far[1]


def _between(value: np.ndarray, start: float, end: float) -> np.ndarray:
    """0 at the start and before, 1 at the end and beyond."""
    return np.clip((value - start) / (end - start), 0, 1)


def _figures(matches: float, sides: Sequence[SideAudit], known: tuple[int, int]) -> dict[str, Figure]:
    """The posterior of every figure."""
    moments = [one.moments() for one in sides]
    found = [one.errors.sum(axis=1) for one in sides]
    left = [(one.pairs - one.judged).sum(axis=1) for one in sides]
    totals = _totals(sides, [a + one.mean for a, one in zip(found, moments, strict=True)], known)
    variances = _totals(sides, [one.variance for one in moments], (0, 0))
    least = _values(matches, *_totals(sides, found, known))
    most = _values(matches, *_totals(sides, [a + b for a, b in zip(found, left, strict=True)], known))
    positive, negative, _ = _totals(sides, [one.evidence for one in moments], (0, 0))
    own = {"false_positives": positive, "false_negatives": negative, "recall": negative}
    slopes, figures = _slopes(matches, *totals), {}
    for name, mean in _values(matches, *totals).items():
        parts = [slope**2 * variance for slope, variance in zip(slopes[name], variances, strict=True)]
        variance = np.asarray(sum(parts))
        figures[name] = Figure(
            least[name],
            mean,
            variance,
            error=np.max(np.broadcast_arrays(mean, *slopes[name])[1:], axis=0),
            most=most[name],
            outside=np.asarray(parts[2] / np.maximum(variance, NONE**2)),
            evidence=positive + negative,
            own=own.get(name, np.minimum(positive, negative)),
        )
    return figures


def _totals(
    sides: Sequence[SideAudit], values: Sequence[np.ndarray], known: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of the sides as those of labelled matches, of labelled non-matches and of pairs outside."""
    audits = len(values[0]) if values else 1
    found = [np.full(audits, float(one)) for one in (known[MATCHES], known[NON_MATCHES], 0)]
    for side, value in zip(sides, values, strict=True):
        place = 2 if side.outside else 0 if side.side == MATCHES else 1
        found[place] = found[place] + value
    return found[0], found[1], found[2]


def _values(
    matches: float, false_positives: np.ndarray, false_negatives: np.ndarray, missed: np.ndarray
) -> dict[str, np.ndarray]:
    """Every figure, from the errors. Those behind recall and F1 are ratios of errors to right matches."""
    right, lost = np.maximum(matches - false_positives, NONE), false_negatives + missed
    values = (false_positives, false_negatives, missed, lost / right, (false_positives + lost) / right)
    return dict(zip(FIGURES, values, strict=True))


def _slopes(
    matches: float, false_positives: np.ndarray, false_negatives: np.ndarray, missed: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """How much one false positive, one false negative and one missed match add to every figure."""
    right = np.maximum(matches - false_positives, NONE)
    values, one, none = _values(matches, false_positives, false_negatives, missed), np.ones(1), np.zeros(1)
    return {
        "false_positives": (one, none, none),
        "false_negatives": (none, one, none),
        "missed": (none, none, one),
        "recall": (values["recall"] / right, 1 / right, 1 / right),
        "f1": ((1 + values["f1"]) / right, 1 / right, 1 / right),
    }


def _with_measures(matches: float, found: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Ends:
    """Numbers of errors as they are; precision, recall and F1 from their figures, whose ends change places."""
    positives, ratio, both = found["false_positives"], found["recall"], found["f1"]
    ends = {name: found[name] for name in ("false_positives", "false_negatives", "missed")}
    ends["precision"] = _turned(positives, lambda wrong: 1 - wrong / matches if matches else np.ones_like(wrong))
    ends["recall"] = _turned(ratio, lambda errors: 1 / (1 + errors))
    ends["f1"] = _turned(both, lambda errors: 2 / (2 + errors))
    return ends


def _turned(
    ends: tuple[np.ndarray, np.ndarray, np.ndarray], measure: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    value, low, high = ends
    return measure(value), measure(high), measure(low)
