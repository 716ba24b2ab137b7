"""One attribute of two tables, ready to compare any of their records: distinct values are prepared once, and each
distinct value pair among some pairs is scored once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pandas as pd

from riskcore.config import MetricConfig
from riskcore.data.numbers import NumberFormat
from riskcore.data.pairs import Table
from riskcore.data.schema import Attribute, AttributeType
from riskcore.data.values import compact, fold
from riskcore.metrics.abbreviations import AbbreviationScorer
from riskcore.metrics.kinds import KINDS_OF
from riskcore.metrics.numbers import NumberScorer
from riskcore.metrics.sets import CodeScorer, ElementScorer
from riskcore.metrics.strings import Scores, StringScorer
from riskcore.metrics.words import Rarity, WordScorer

DECIMALS = 4  # so that thresholds do not hang on the last bit


class Scorer(Protocol):
    """Prepared with the distinct values of both sides; scores arrays of positions in them."""

    def score(self, left: np.ndarray, right: np.ndarray) -> Scores: ...


@dataclasses.dataclass(frozen=True)
class Statistics:
    """What one attribute's metrics need to know of the data as a whole."""

    rarity: Rarity
    number_format: NumberFormat


class AttributeComparison:
    """The metrics of one attribute for records of two tables."""

    def __init__(
        self,
        attribute: Attribute,
        statistics: Statistics,
        config: MetricConfig,
        left: tuple[Table, np.ndarray],
        right: tuple[Table, np.ndarray],
    ) -> None:
        """`left` and `right` are tables and the rows of them that will be compared."""
        self.kinds = KINDS_OF[attribute.type]
        self._left, left_values = _encode(*left, attribute.name)
        same = left[0] is right[0] and left[1] is right[1]
        self._right, right_values = (self._left, left_values) if same else _encode(*right, attribute.name)
        self._width = len(right_values)
        self._scorers = _scorers(attribute.type, left_values, right_values, statistics, config)

    def fill(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Write the metrics of these records, given by their place among the prepared rows; missing ones stay."""
        one, other = self._left[left], self._right[right]
        known = np.flatnonzero((one >= 0) & (other >= 0))
        keys, inverse = np.unique(one[known].astype(np.int64) * self._width + other[known], return_inverse=True)
        if not len(keys):
            return
        first, second = np.divmod(keys, self._width)
        scores: Scores = {}
        for scorer in self._scorers:
            scores |= scorer.score(first, second)
        table = np.column_stack([scores[kind] for kind in self.kinds])
        out[known] = np.round(table, DECIMALS).astype(np.float32)[inverse]


def _encode(table: Table, rows: np.ndarray, attribute: str) -> tuple[np.ndarray, list[str]]:
    """For each row the number of its value among the distinct folded values (-1 missing), and those values."""
    raw_codes, raw = pd.factorize(table.text(attribute, rows))
    codes, values = pd.factorize(np.array([fold(value) or None for value in raw], dtype=object))
    of_raw = np.append(codes, -1)  # position -1, a missing raw value, stays -1
    return of_raw[raw_codes], list(values)


def _scorers(
    kind: AttributeType, left: list[str], right: list[str], statistics: Statistics, config: MetricConfig
) -> list[Scorer]:
    """The scorers that together yield all metrics of a type."""
    kinds: Sequence[str] = KINDS_OF[kind]
    if kind is AttributeType.NUMBER:
        return [NumberScorer(left, right, statistics.number_format)]
    if kind is AttributeType.CODE:
        return [StringScorer([compact(v) for v in left], [compact(v) for v in right], kinds, config)]
    scorers: list[Scorer] = [
        StringScorer(left, right, kinds, config),
        WordScorer(left, right, statistics.rarity, config),
    ]
    if kind is AttributeType.SET:
        scorers.append(ElementScorer(left, right, config))
    if kind is AttributeType.NAME:
        scorers.append(AbbreviationScorer(left, right))
    if kind in (AttributeType.NAME, AttributeType.TEXT):
        scorers.append(CodeScorer(left, right, config))
    return scorers
