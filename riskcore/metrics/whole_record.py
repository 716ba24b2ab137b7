"""Metrics of whole records: the words of all attributes together, and a pair's lead over other candidates.

A value in the wrong column, or a model number that one side keeps in its name and the other in its description, is
seen here and nowhere else. A competing candidate is another record of the other table that resembles one of the
pair's two records: where an entity has one counterpart at most, a pair with a closer candidate is rarely a match.
Tables are prepared once. Candidates are searched through the rarer words only, so the cost grows with the number
of records, not with its square.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
from numba import njit

from riskcore.config import MetricConfig
from riskcore.data.pairs import Pairs, Table
from riskcore.data.values import fold, is_numeric_word, words
from riskcore.metrics.kinds import LEAD_KINDS, RECORD_KINDS
from riskcore.metrics.sets import CodeScorer
from riskcore.metrics.strings import Scores
from riskcore.metrics.words import COMPARED, Rarity, compare_words, weighted_rows

_CANDIDATES = 3  # the pair's own two records may be among the closest of a self-join; the third competes
_ONE_POOL = 0.5  # share of records in common from which two tables are drawn from one pool


@dataclasses.dataclass(frozen=True, eq=False)
class Records:
    """A table's distinct records as rows of weighted words."""

    of_row: np.ndarray  # for each row of the table, the number of its text
    starts: np.ndarray
    items: np.ndarray
    weights: np.ndarray
    vocabulary: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def records_of_word(self) -> np.ndarray:
        """How many records have each word."""
        return np.bincount(self.items, minlength=self.vocabulary)

    def postings(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Per word: where its records begin, the records, its weight in each. As large as all records together, and
        needed once: it is not kept."""
        record = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))
        order = np.argsort(self.items, kind="stable")
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.records_of_word)])
        return starts, record[order], self.weights[order]

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.starts, self.items, self.weights


class RecordSpace:
    """Whole-record metrics of a workload's tables."""

    def __init__(
        self,
        attributes: Sequence[str],
        tables: Sequence[Table],
        config: MetricConfig,
        leads: bool = True,
        rarity: Rarity | None = None,
    ) -> None:
        """`rarity` is that of other tables, where it was learned before; the words that it lacks do not count."""
        self.kinds = (*RECORD_KINDS, *(LEAD_KINDS if leads else ()))
        self.attributes, self._config = tuple(attributes), config
        texts = {table: _texts(table, self.attributes) for table in tables}
        self.rarity = rarity or Rarity.learn(text for found in texts.values() for text in found)
        self._number = {word: index for index, word in enumerate(sorted(self.rarity.frequency))}
        self._rare = self.rarity.of(list(self._number))
        self._numeric = np.array([is_numeric_word(word) for word in self._number], dtype=bool)
        self._known = {table: self._prepare(found) for table, found in texts.items()}
        self._closest: dict[tuple[Table, Table], tuple[np.ndarray, np.ndarray]] = {}
        self._twins: dict[tuple[Table, Table], np.ndarray] = {}
        self._codes: dict[tuple[Table, Table], CodeScorer] = {}

    @property
    def leads(self) -> bool:
        return LEAD_KINDS[0] in self.kinds

    def prepare(self, left: Table, right: Table) -> None:
        """All that is done once for two tables."""
        self._codes_of(left, right)
        if self.leads:
            for here, there in ((left, right), (right, left)):
                self._closest_of(here, there)
                self._twins_of(here, there)

    def score(self, pairs: Pairs) -> np.ndarray:
        """Pairs x kinds; NaN where a record has no words."""
        left, right = self._records(pairs.left), self._records(pairs.right)
        one, other = left.of_row[pairs.left_rows], right.of_row[pairs.right_rows]
        keys, inverse = np.unique(one * len(right) + other, return_inverse=True)
        one, other = np.divmod(keys, max(1, len(right)))
        table = compare_words(*left.rows, *right.rows, self._rare, self._numeric, one, other)
        scores: Scores = dict(zip(COMPARED, table.T, strict=True))
        scores |= self._codes_of(pairs.left, pairs.right).score(one, other)
        if self.leads:
            forth = self._lead(pairs.left, pairs.right, one, other)
            leads = np.column_stack([forth, self._lead(pairs.right, pairs.left, other, one)])
            leads[np.isnan(table[:, 0])] = np.nan
            scores |= {"lead": leads.max(axis=1), "mutual_lead": leads.min(axis=1)}
        return np.column_stack([scores[kind] for kind in self.kinds])[inverse]

    def _lead(self, here: Table, there: Table, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """How much closer the other record is to the one than the closest other candidate in the other's table."""
        left, right = self._records(here), self._records(there)
        rare = right.records_of_word <= self._config.candidate_records
        own = _similarity(*left.rows, *right.rows, rare, one, other)
        score, record = self._closest_of(here, there)
        competes = (record[one] >= 0) & (record[one] != other[:, None])
        competes &= record[one] != self._twins_of(here, there)[one][:, None]
        return own - np.where(competes, score[one], 0.0).max(axis=1)

    def _closest_of(self, left: Table, right: Table) -> tuple[np.ndarray, np.ndarray]:
        """For each record of the left table the closest of the right one: similarities, and which (-1: none)."""
        if (left, right) not in self._closest:
            one, other = self._records(left), self._records(right)
            most = self._config.candidate_records
            found = _closest(*one.rows, *other.postings(), len(other), most, _CANDIDATES)
            self._closest[left, right] = found
        return self._closest[left, right]

    def _twins_of(self, left: Table, right: Table) -> np.ndarray:
        """For each record of the left table, itself in the right one where both are drawn from one pool; else -2."""
        if (left, right) not in self._twins:
            self._twins[left, right] = np.full(len(self._records(left)), -2)
            if same_records(left, right):
                one, other = (pd.Index(self._distinct(table)) for table in (left, right))
                place = other.get_indexer(one)
                self._twins[left, right][place >= 0] = place[place >= 0]
        return self._twins[left, right]

    def _codes_of(self, left: Table, right: Table) -> CodeScorer:
        if (left, right) not in self._codes:
            texts = [self._distinct(table) for table in (left, right)]
            self._codes[left, right] = CodeScorer(texts[0], texts[1], self._config)
        return self._codes[left, right]

    def _records(self, table: Table) -> Records:
        if table not in self._known:
            self._known[table] = self._prepare(_texts(table, self.attributes))
        return self._known[table]

    def _prepare(self, found: list[str]) -> Records:
        distinct, of_row = np.unique(np.array(found, dtype=object), return_inverse=True)
        starts, items, weights = weighted_rows(distinct.tolist(), self._known_words, self._number, self._rare)
        return Records(of_row, starts, items, weights, len(self._number))

    def _distinct(self, table: Table) -> list[str]:
        """The texts of a table's records, by number. They are long and needed rarely: they are not kept."""
        texts: list[str] = np.unique(np.array(_texts(table, self.attributes), dtype=object)).tolist()
        return texts

    def _known_words(self, text: str) -> list[str]:
        return [word for word in words(text) if word in self._number][: self._config.max_tokens]


def same_records(left: Table, right: Table) -> bool:
    """Whether two tables are drawn from one pool: a self-join, or a file of pairs whose sides share their records."""
    if left is right:
        return True
    shared = [name for name in left.attributes if name in right.attributes]
    one, other = (
        np.unique(pd.util.hash_pandas_object(table.values[shared], index=False).to_numpy()) for table in (left, right)
    )
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common > 0 and common >= _ONE_POOL * min(len(one), len(other))


def _texts(table: Table, attributes: Sequence[str]) -> list[str]:
    columns = [_folded(table.text(attribute)) for attribute in attributes]
    return [" ".join(value for value in row if value is not None) for row in zip(*columns, strict=True)]


def _folded(column: np.ndarray) -> list[str | None]:
    """Each value folded; those that occur again and again, such as years, once."""
    found: dict[str | None, str | None] = {None: None}
    for value in column:
        if value not in found:
            found[value] = fold(value)
    return [found[value] for value in column]


@njit(cache=True, nogil=True)
def _similarity(  # type: ignore[no-untyped-def]
    left_starts, left_items, left_weights, right_starts, right_items, right_weights, counts, left, right
):
    """TF-IDF similarity of given pairs, through the words that count."""
    result = np.zeros(len(left))
    for pair in range(len(left)):
        i, i_end = left_starts[left[pair]], left_starts[left[pair] + 1]
        j, j_end = right_starts[right[pair]], right_starts[right[pair] + 1]
        while i < i_end and j < j_end:
            if left_items[i] < right_items[j]:
                i += 1
            elif right_items[j] < left_items[i]:
                j += 1
            else:
                if counts[left_items[i]]:
                    result[pair] += left_weights[i] * right_weights[j]
                i += 1
                j += 1
    return result


@njit(cache=True, nogil=True)
def _closest(  # type: ignore[no-untyped-def]
    starts, items, weights, word_starts, word_records, word_weights, records, most, kept
):
    """For each row the `kept` records with the highest TF-IDF similarity through words of at most `most` records."""
    rows = len(starts) - 1
    score, record = np.zeros((rows, kept)), np.full((rows, kept), -1, dtype=np.int32)
    total, met = np.zeros(records), np.zeros(records, dtype=np.int64)
    for row in range(rows):
        count = 0
        for place in range(starts[row], starts[row + 1]):
            begin, end = word_starts[items[place]], word_starts[items[place] + 1]
            if end - begin > most:
                continue
            for at in range(begin, end):
                other = word_records[at]
                if total[other] == 0.0:
                    met[count] = other
                    count += 1
                total[other] += weights[place] * word_weights[at]
        for other in met[:count]:
            found = total[other]
            total[other] = 0.0
            for place in range(kept):
                if found > score[row, place]:
                    score[row, place + 1 :] = score[row, place:-1].copy()
                    record[row, place + 1 :] = record[row, place:-1].copy()
                    score[row, place], record[row, place] = found, other
                    break
    return score, record
