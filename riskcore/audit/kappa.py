"""Agreement beyond chance of people who judged the same pairs: Cohen's kappa of two, Fleiss' kappa of several.

Kappa is 1 for perfect agreement and 0 for as much as chance gives people who use the words as often as these do. It is
undefined where all verdicts are the same word: then chance alone agrees perfectly.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

Z = 1.959964  # 95 % of a normal distribution lie within so many standard deviations
TAIL = 0.025


@dataclasses.dataclass(frozen=True)
class Kappa:
    """A kappa with its 95 % interval. All three are None where kappa is undefined."""

    pairs: int  # that it is measured on
    agreement: float  # share of equal verdicts, chance included; NaN without pairs
    kappa: float | None
    low: float | None
    high: float | None


def cohen(first: np.ndarray, second: np.ndarray, words: int) -> Kappa:
    """Cohen's kappa of two people's verdicts on the same pairs, as numbers from 0 to `words` - 1."""
    table = np.zeros((words, words))
    np.add.at(table, (first, second), 1)
    return cohen_of_table(table)


def cohen_of_table(table: np.ndarray) -> Kappa:
    """The same from a table of counts: the first person's words by the second's.

    The standard error is the asymptotic one of Fleiss, Cohen and Everitt (1969).
    """
    count = float(table.sum())
    if not count:
        return Kappa(0, math.nan, None, None, None)
    share = table / count
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    agreed, chance = float(np.trace(share)), float(rows @ columns)
    if chance >= 1 - 1e-12:
        return Kappa(int(count), agreed, None, None, None)
    kappa = (agreed - chance) / (1 - chance)
    on = np.diag(share) @ (1 - (rows + columns) * (1 - kappa)) ** 2
    off = share * (columns[:, None] + rows[None, :]) ** 2
    spread = on + (1 - kappa) ** 2 * (off.sum() - np.trace(off)) - (kappa - chance * (1 - kappa)) ** 2
    error = math.sqrt(max(float(spread), 0.0) / count) / (1 - chance)
    return _with_interval(int(count), agreed, chance, kappa, error)


def fleiss(counts: np.ndarray) -> Kappa:
    """Fleiss' kappa from a row per pair: how many people gave it each word. Rows need two people or more, and may have
    different numbers of them.

    The agreement of a row is the share of its pairs of people that agree; each row counts alike. The standard error
    looks at how much rows differ (Gwet 2014, for pairs drawn from many and people as they are).
    """
    people = counts.sum(axis=1, keepdims=True)
    assert (people >= 2).all()
    pairs = len(counts)
    if not pairs:
        return Kappa(0, math.nan, None, None, None)
    agreement = ((counts * (counts - 1)).sum(axis=1, keepdims=True) / (people * (people - 1)))[:, 0]
    share = counts / people
    overall = share.mean(axis=0)
    agreed, chance = float(agreement.mean()), float(overall @ overall)
    if chance >= 1 - 1e-12:
        return Kappa(pairs, agreed, None, None, None)
    kappa = (agreed - chance) / (1 - chance)
    by_pair = (agreement - chance) / (1 - chance) - 2 * (1 - kappa) * (share @ overall - chance) / (1 - chance)
    error = math.sqrt(float(((by_pair - kappa) ** 2).sum()) / (pairs * max(pairs - 1, 1)))
    return _with_interval(pairs, agreed, chance, kappa, error)


def _with_interval(pairs: int, agreed: float, chance: float, kappa: float, error: float) -> Kappa:
    """Normal limits, and never beyond 1. Where people agree on every pair or on none, there is no spread to tell the
    error by: the other limit is then that of an exact interval of the agreement, which is wide for few pairs. A single
    pair on which some agree tells nothing."""
    farthest = TAIL ** (1 / pairs)
    if agreed >= 1 - 1e-12:
        return Kappa(pairs, 1.0, 1.0, (farthest - chance) / (1 - chance), 1.0)
    if agreed <= 1e-12:
        return Kappa(pairs, 0.0, kappa, max(kappa, -1.0), (1 - farthest - chance) / (1 - chance))
    if pairs == 1:
        return Kappa(1, agreed, kappa, -1.0, 1.0)
    return Kappa(pairs, agreed, kappa, max(kappa - Z * error, -1.0), min(kappa + Z * error, 1.0))
