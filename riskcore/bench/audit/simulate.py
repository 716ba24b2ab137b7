"""Thousands of audits of the same labels at once, by the design and by simple random sampling.

An audit is simulated by its counts: how many errors a random sample of a stratum holds is hypergeometric, so no pair is
touched. Batches follow each other as in a real audit, each allocated by the verdicts before it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import norm

from riskcore.audit.estimate.calibration import calibrated
from riskcore.audit.estimate.measures import LEVEL, MEASURES, measures
from riskcore.audit.estimate.model import AuditModel
from riskcore.audit.estimate.strata import Strata, audit_design

SIZES = (100, 200, 400)
BATCH = 50
DRAWS = 50  # populations that check the interval of each; a single audit takes eight times as many
WARPS = ("as it is", "risk^0.3", "risk^3", "shuffled within label")

Intervals = dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclasses.dataclass(frozen=True, eq=False)
class Population:
    """Labels whose truth is known."""

    name: str
    method: str
    label: np.ndarray
    risk: np.ndarray
    truth: np.ndarray

    def true_measures(self) -> dict[str, float]:
        positive, negative = self.errors()
        found = measures(float((self.label == 1).sum()), np.array(positive), np.array(negative))
        return {name: float(value) for name, value in found.items()}

    def errors(self) -> tuple[int, int]:
        """False positives and false negatives."""
        wrong = self.label != self.truth
        return int((wrong & (self.label == 1)).sum()), int((wrong & (self.label == 0)).sum())


def warped(population: Population, warp: str, seed: int = 0) -> np.ndarray:
    """The risk of a population, made wrong on purpose."""
    if warp == WARPS[0]:
        return population.risk
    if warp in WARPS[1:3]:
        return np.asarray(population.risk ** float(warp.removeprefix("risk^")))
    generator, found = np.random.default_rng(seed), population.risk.copy()
    for side in (0, 1):
        here = np.flatnonzero(population.label == side)
        found[here] = population.risk[generator.permutation(here)]
    return found


def design_audits(
    population: Population,
    risk: np.ndarray,
    sizes: Sequence[int],
    audits: int,
    seed: int,
    batch: int = BATCH,
) -> dict[int, Intervals]:
    """The intervals of many audits by the design after so many verdicts."""
    generator, found = np.random.default_rng(seed), {}
    matches = float((population.label == 1).sum())
    for strata, errors, judged in _batches(population, risk, sizes, audits, generator, batch):
        sides = AuditModel(strata).sides(errors, judged)
        ends = calibrated(matches, sides, DRAWS, generator)
        found[int(judged[0].sum())] = {name: ends[name] for name in MEASURES}
    return found


def audit_counts(
    population: Population, risk: np.ndarray, size: int, audits: int, generator: np.random.Generator, batch: int = BATCH
) -> tuple[Strata, np.ndarray, np.ndarray]:
    """The strata, and errors and verdicts of each in many audits by the design after `size` verdicts."""
    size = min(size, len(population.label))
    return next(_batches(population, risk, [size], audits, generator, batch))


def _batches(
    population: Population,
    risk: np.ndarray,
    sizes: Sequence[int],
    audits: int,
    generator: np.random.Generator,
    batch: int,
) -> Iterator[tuple[Strata, np.ndarray, np.ndarray]]:
    """Errors and verdicts by stratum whenever one of the sizes is reached."""
    strata = audit_design(population.label, risk)
    model = AuditModel(strata)
    wrong = np.bincount(strata.of_pair, weights=population.label != population.truth, minlength=len(strata))
    errors = judged = np.zeros((audits, len(strata)), dtype=np.int64)
    for stop in sorted(size for size in sizes if size <= len(population.label)):
        while (total := int(judged[0].sum())) < stop:
            more = model.next(errors, judged, judged, min(batch, stop - total))
            left = wrong.astype(np.int64) - errors
            errors = errors + generator.hypergeometric(left, strata.pairs - judged - left, more)
            judged = judged + more
        yield strata, errors, judged


def random_audits(population: Population, size: int, audits: int, seed: int) -> Intervals:
    """The intervals of many audits by simple random sampling, each with the best standard interval.

    Precision, recall and F1 = 2J / (1 + J) are those of a share given its denominator (J: true positives among all
    pairs that are labelled or true matches), so Wilson's interval applies to each, with finite population correction.
    """
    label, truth = population.label == 1, population.truth == 1
    cells = [int(one.sum()) for one in (label & truth, label & ~truth, ~label & truth, ~label & ~truth)]
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(cells, size, size=audits).astype(float)
    factor = 1 / (1 - min(size / len(label), 1 - 1e-9))
    jaccard = _wilson(drawn[:, 0], drawn[:, 1] + drawn[:, 2], factor)
    return {
        "precision": _wilson(drawn[:, 0], drawn[:, 1], factor),
        "recall": _wilson(drawn[:, 0], drawn[:, 2], factor),
        "f1": (2 * jaccard[0] / (1 + jaccard[0]), 2 * jaccard[1] / (1 + jaccard[1]), 2 * jaccard[2] / (1 + jaccard[2])),
    }


def _wilson(right: np.ndarray, wrong: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    reach = float(norm.ppf((1 + LEVEL) / 2)) ** 2
    count = np.maximum(right + wrong, 1e-9)
    share, size = np.where(right + wrong > 0, right / count, 0.5), count * factor
    middle = (share + reach / 2 / size) / (1 + reach / size)
    half = np.sqrt(reach * (share * (1 - share) / size + reach / 4 / size**2)) / (1 + reach / size)
    return share, middle - half, middle + half
