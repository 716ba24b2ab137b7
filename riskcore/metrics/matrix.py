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

import numpy as np

from riskcore.config import MetricConfig
from riskcore.data.numbers import NumberFormat
from riskcore.data.pairs import Pairs, Table
from riskcore.data.schema import Attribute
from riskcore.data.values import fold
from riskcore.metrics.comparison import DECIMALS, AttributeComparison, Statistics
from riskcore.metrics.kinds import KINDS_OF, Metric, metrics_of
from riskcore.metrics.values import MetricMatrix
from riskcore.metrics.whole_record import RecordSpace, same_records
from riskcore.metrics.words import Rarity

WHOLE_RECORD = "record"  # the words of all attributes that source and target share
FULL_RECORD = "full_record"  # and of those that only the target has
OnProgress = Callable[[int, int], None]


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
        (left, left_rows), (right, right_rows) = (
            np.unique(rows, return_inverse=True) for rows in (pairs.left_rows, pairs.right_rows)
        )
        values = np.full((len(pairs), len(self.metrics)), np.nan, dtype=np.float32)
        total, step = len(pairs) * len(self.attributes), self.config.chunk_pairs
        for index, columns in enumerate(self._columns()):
            comparison = self._comparison(index, (pairs.left, left), (pairs.right, right))
            for start in range(0, len(pairs), step):
                rows = slice(start, min(start + step, len(pairs)))
                comparison.fill(values[rows, columns], left_rows[rows], right_rows[rows])
                if on_progress:
                    on_progress(index * len(pairs) + rows.stop, total)
        return self._whole(values, pairs)

    def prepared(self, left: Table, right: Table) -> PreparedMetrics:
        """The metrics of any pairs of these two tables, whose records are prepared once."""
        sides = [(table, np.arange(len(table))) for table in (left, right)]
        if left is right:
            sides[1] = sides[0]
        self.records.prepare(left, right)
        return PreparedMetrics(self, [self._comparison(index, *sides) for index in range(len(self.attributes))])

    def _comparison(
        self, index: int, left: tuple[Table, np.ndarray], right: tuple[Table, np.ndarray]
    ) -> AttributeComparison:
        return AttributeComparison(self.attributes[index], self.statistics[index], self.config, left, right)

    def _columns(self) -> Iterator[slice]:
        """Where the metrics of each attribute are."""
        start = 0
        for attribute in self.attributes:
            stop = start + len(KINDS_OF[attribute.type])
            yield slice(start, stop)
            start = stop

    def _whole(self, values: np.ndarray, pairs: Pairs) -> MetricMatrix:
        """The matrix whose attributes are filled in, with the metrics of whole records."""
        values[:, values.shape[1] - len(self.records.kinds) :] = np.round(self.records.score(pairs), DECIMALS)
        whole = MetricMatrix(values, self.metrics)
        return whole if self.config.differences else whole.similarities()

    def chunks(self, pairs: Pairs) -> Iterator[MetricMatrix]:
        """The same, `chunk_pairs` rows at a time, for workloads whose matrix would not fit in memory."""
        for start in range(0, len(pairs), self.config.chunk_pairs):
            yield self.transform(pairs.take(slice(start, start + self.config.chunk_pairs)))


class PreparedMetrics:
    """The metrics of two tables whose records are prepared: what is asked for again and again, some pairs at a time."""

    def __init__(self, space: MetricSpace, comparisons: Sequence[AttributeComparison]) -> None:
        self._space, self._comparisons = space, comparisons

    def transform(self, pairs: Pairs) -> MetricMatrix:
        """The same numbers as `MetricSpace.transform` gives."""
        values = np.full((len(pairs), len(self._space.metrics)), np.nan, dtype=np.float32)
        for comparison, columns in zip(self._comparisons, self._space._columns(), strict=True):
            comparison.fill(values[:, columns], pairs.left_rows, pairs.right_rows)
        return self._space._whole(values, pairs)


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
