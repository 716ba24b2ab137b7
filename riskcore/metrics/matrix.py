"""The pair x metric matrix: one column per attribute and kind, NaN where missing.

`MetricSpace.fit` learns what depends on the data as a whole (how rare each word is, how a column's numbers are to
be read) from all tables of a workload, without labels; `transform` then turns pairs into numbers. Values are
compared once per distinct value pair and chunk by chunk. A missing value on either side gives a missing metric,
and so does a value in which the metric finds nothing to compare ("album only" as a price).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Protocol

import numpy as np
import pandas as pd

from riskcore.config import MetricConfig
from riskcore.data.numbers import NumberFormat
from riskcore.data.pairs import Pairs, Table
from riskcore.data.schema import Attribute, AttributeType
from riskcore.data.values import compact, fold
from riskcore.metrics.abbreviations import AbbreviationScorer
from riskcore.metrics.kinds import KINDS_OF, Metric, metrics_of
from riskcore.metrics.numbers import NumberScorer
from riskcore.metrics.sets import CodeScorer, ElementScorer
from riskcore.metrics.strings import Scores, StringScorer
from riskcore.metrics.values import MetricMatrix
from riskcore.metrics.whole_record import RecordSpace, same_records
from riskcore.metrics.words import Rarity, WordScorer

WHOLE_RECORD = "record"  # the words of all attributes that source and target share
FULL_RECORD = "full_record"  # and of those that only the target has
DECIMALS = 4  # so that thresholds do not hang on the last bit
OnProgress = Callable[[int, int], None]


class Scorer(Protocol):
    """Prepared with the distinct values of both sides; scores arrays of positions in them."""

    def score(self, left: np.ndarray, right: np.ndarray) -> Scores: ...


@dataclasses.dataclass(frozen=True)
class Statistics:
    """What one attribute's metrics need to know of the data as a whole."""

    rarity: Rarity
    number_format: NumberFormat


@dataclasses.dataclass(frozen=True)
class SpaceFacts:
    """What a metric space has learned, apart from the tables it was learned from."""

    attributes: tuple[Attribute, ...]
    statistics: tuple[Statistics, ...]
    record_attributes: tuple[str, ...]  # whose words make up the whole record
    rarity: Rarity  # of the words of whole records
    leads: bool
    record_name: str


@dataclasses.dataclass(frozen=True, eq=False)
class MetricSpace:
    """The metrics of a workload's attributes, ready to score pairs."""

    attributes: tuple[Attribute, ...]
    statistics: tuple[Statistics, ...]
    records: RecordSpace
    config: MetricConfig
    record_name: str = WHOLE_RECORD  # what stands for the whole record where an attribute's name would stand

    @classmethod
    def fit(
        cls,
        attributes: Sequence[Attribute],
        tables: Sequence[Table],
        config: MetricConfig | None = None,
        leads: bool = True,
        beside: Sequence[Attribute] = (),
    ) -> MetricSpace:
        """Learn the statistics of each attribute from all its values in these tables. No labels are involved.

        Without `leads` no pair is compared with its competing candidates: see `leads_are_comparable`. Attributes
        `beside` these have metrics in another space; only those of the whole record take their values in.
        """
        config = config or MetricConfig()
        tables = _distinct(tables)
        names = [attribute.name for attribute in (*beside, *attributes)]
        records = RecordSpace(names, tables, config, leads)
        wanted = FULL_RECORD if beside else WHOLE_RECORD
        record_name = next(name for name in (f"{wanted}{'_' * n}" for n in count()) if name not in names)
        statistics = tuple(_statistics(one, tables) for one in attributes)
        return cls(tuple(attributes), statistics, records, config, record_name)

    @classmethod
    def of(cls, facts: SpaceFacts, config: MetricConfig) -> MetricSpace:
        """The space that these facts are of, for pairs of any tables."""
        records = RecordSpace(facts.record_attributes, (), config, facts.leads, facts.rarity)
        return cls(facts.attributes, facts.statistics, records, config, facts.record_name)

    @property
    def facts(self) -> SpaceFacts:
        records = self.records
        return SpaceFacts(
            self.attributes, self.statistics, records.attributes, records.rarity, records.leads, self.record_name
        )

    @property
    def metrics(self) -> tuple[Metric, ...]:
        by_attribute = [metric for attribute in self.attributes for metric in metrics_of(attribute)]
        return (*by_attribute, *(Metric(self.record_name, kind) for kind in self.records.kinds))

    def transform(self, pairs: Pairs, on_progress: OnProgress | None = None) -> MetricMatrix:
        """Score all pairs. `on_progress(done, total)` is called as the pairs of each attribute are done."""
        values = np.full((len(pairs), len(self.metrics)), np.nan, dtype=np.float32)
        total, column = len(pairs) * len(self.attributes), 0
        for index, (attribute, statistics) in enumerate(zip(self.attributes, self.statistics, strict=True)):
            kinds = KINDS_OF[attribute.type]
            for done in _fill(values[:, column : column + len(kinds)], pairs, attribute, statistics, self.config):
                if on_progress:
                    on_progress(index * len(pairs) + done, total)
            column += len(kinds)
        values[:, column:] = np.round(self.records.score(pairs), DECIMALS)
        whole = MetricMatrix(values, self.metrics)
        return whole if self.config.differences else whole.similarities()

    def chunks(self, pairs: Pairs) -> Iterator[MetricMatrix]:
        """The same, `chunk_pairs` rows at a time, for workloads whose matrix would not fit in memory."""
        for start in range(0, len(pairs), self.config.chunk_pairs):
            yield self.transform(pairs.take(slice(start, start + self.config.chunk_pairs)))


def leads_are_comparable(parts: Sequence[Pairs]) -> bool:
    """Whether a lead over competing candidates means the same in all parts. Within one table an entity may have many
    records that compete with each other; between two tables it has few. Rules about leads do not carry over."""
    return len({same_records(pairs.left, pairs.right) for pairs in parts if len(pairs)}) <= 1


def _statistics(attribute: Attribute, tables: Sequence[Table]) -> Statistics:
    values = [fold(value) for table in tables for value in table.text(attribute.name) if value is not None]
    return Statistics(Rarity.learn(values), NumberFormat.infer(values))


def _distinct(tables: Sequence[Table]) -> list[Table]:
    """A table given twice (a self-join's two sides) counts once."""
    return list({id(table): table for table in tables}.values())


def _fill(
    out: np.ndarray, pairs: Pairs, attribute: Attribute, statistics: Statistics, config: MetricConfig
) -> Iterator[int]:
    """Write one attribute's metrics into `out`, yielding the number of pairs done so far."""
    left_codes, left_values = _encode(pairs.left, pairs.left_rows, attribute.name)
    right_codes, right_values = _encode(pairs.right, pairs.right_rows, attribute.name)
    scorers = _scorers(attribute.type, left_values, right_values, statistics, config)
    for start in range(0, len(pairs), config.chunk_pairs):
        rows = slice(start, min(start + config.chunk_pairs, len(pairs)))
        _fill_rows(out[rows], left_codes[rows], right_codes[rows], len(right_values), scorers, KINDS_OF[attribute.type])
        yield rows.stop


def _encode(table: Table, rows: np.ndarray, attribute: str) -> tuple[np.ndarray, list[str]]:
    """For each pair the number of its value among the distinct folded values (-1 missing), and those values."""
    used, place = np.unique(rows, return_inverse=True)
    raw_codes, raw = pd.factorize(table.text(attribute, used))
    codes, values = pd.factorize(np.array([fold(value) or None for value in raw], dtype=object))
    of_raw = np.append(codes, -1)  # position -1, a missing raw value, stays -1
    return of_raw[raw_codes][place], list(values)


def _scorers(
    kind: AttributeType, left: list[str], right: list[str], statistics: Statistics, config: MetricConfig
) -> list[Scorer]:
    """The scorers that together yield all metrics of a type."""
    kinds = KINDS_OF[kind]
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


def _fill_rows(
    out: np.ndarray, left: np.ndarray, right: np.ndarray, width: int, scorers: Sequence[Scorer], kinds: Sequence[str]
) -> None:
    """Score each distinct value pair of these rows once and copy the result to all rows that have it."""
    known = np.flatnonzero((left >= 0) & (right >= 0))
    keys, inverse = np.unique(left[known].astype(np.int64) * width + right[known], return_inverse=True)
    if not len(keys):
        return
    one, other = np.divmod(keys, width)
    scores: Scores = {}
    for scorer in scorers:
        scores |= scorer.score(one, other)
    table = np.column_stack([scores[kind] for kind in kinds])
    out[known] = np.round(table, DECIMALS).astype(np.float32)[inverse]
