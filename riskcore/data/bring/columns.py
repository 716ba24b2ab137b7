"""What a column of a brought file looks like: how full and distinct it is, and whether it is an id or gives the answer
away.

Ids and answers are not compared: an id says nothing about the record, and a cluster number is what is to be found out.
"""

from __future__ import annotations

import dataclasses
import re
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riskcore.data.text_file import TextFile

SAMPLE = 5_000  # rows whose values are compared with those of other columns
EXAMPLES = 3
_WORD = re.compile(r"[a-z]+|[0-9]+")
_ID_WORDS = frozenset(("id", "ids", "uid", "uuid", "guid", "key", "pk", "rowid", "identifier", "recid"))
_COUNT_WORDS = frozenset(("index", "row", "unnamed", "nr", "no", "number", "rownum"))
_NO_IDS = frozenset(("valid", "invalid", "android", "hybrid", "void", "solid"))
_ANSWER_WORDS = frozenset(
    ("gold", "golden", "truth", "groundtruth", "cluster", "clusterid", "entityid", "duplicate", "duplicates", "ismatch")
)
_DOUBTFUL_WORDS = frozenset(("label", "labels", "match", "group", "entity", "master", "canonical"))
_PROBABILITY_WORDS = ("match_probability", "probability", "prob", "match_prob", "score", "match_score", "confidence")


@dataclasses.dataclass(frozen=True, eq=False)
class ColumnFacts:
    """One column: counts over all rows, and a sample of its values."""

    name: str
    rows: int
    filled: int
    distinct: int
    values: np.ndarray  # a spread of the filled cells, trimmed

    @property
    def examples(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.values.tolist()))[:EXAMPLES]

    @property
    def is_key(self) -> bool:
        """Whether every row has a value of its own."""
        return self.rows > 0 and self.filled == self.rows == self.distinct

    @cached_property
    def is_numeric(self) -> bool:
        return len(self.values) > 0 and all(map(_is_number, self.values))

    @cached_property
    def counts_rows(self) -> bool:
        """Whether it numbers the rows: whole numbers one after the other."""
        if not self.is_key or not all(value.isdecimal() and len(value) < 12 for value in self.values):
            return False
        numbers = np.sort(np.array([int(value) for value in self.values]))
        return int(numbers[-1]) - int(numbers[0]) < 1.5 * self.rows and int(numbers[0]) <= 1

    @property
    def is_probability(self) -> bool:
        """Whether it holds numbers from 0 to 1, under a name that says so."""
        return plain_name(self.name) in _PROBABILITY_WORDS and self.within_unit

    @cached_property
    def within_unit(self) -> bool:
        return self.is_numeric and all(0 <= float(value) <= 1 for value in self.values)


def column_facts(file: TextFile) -> tuple[ColumnFacts, ...]:
    return tuple(_facts(name, file.columns.column(name)) for name in file.names)


def _facts(name: str, column: pa.ChunkedArray) -> ColumnFacts:
    text = pc.utf8_trim_whitespace(pc.fill_null(column, ""))
    filled = text.filter(pc.not_equal(text, ""))
    count = len(filled)
    step = max(1, count // SAMPLE)
    spread = filled.take(pa.array(range(0, count, step))) if count else filled
    return ColumnFacts(
        name, len(column), count, int(pc.count_distinct(filled).as_py()), spread.to_pandas().to_numpy(dtype=object)
    )


def plain_name(name: str) -> str:
    """A column's name in lower case, its words joined by underscores: 'Cluster ID' and 'clusterId' are one."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return "_".join(_WORD.findall(spaced.lower()))


def name_words(name: str) -> list[str]:
    return plain_name(name).split("_")


def named_like_id(name: str) -> bool:
    words = name_words(name)
    joined = len(words) == 1 and len(name) > 4 and words[0].endswith("id") and words[0] not in _NO_IDS
    return bool(_ID_WORDS & set(words)) or joined


def answer_reason(column: ColumnFacts) -> str | None:
    """Why the column seems to give away which records belong together; None if it does not."""
    words = set(name_words(column.name))
    if words & _ANSWER_WORDS:
        return "its name says that it holds the answer"
    if words & _DOUBTFUL_WORDS and (words & _ID_WORDS or column.distinct <= 2):
        return "its name and its values look like the answer"
    return None


def id_reason(column: ColumnFacts) -> str | None:
    """Why the column seems to be an id and nothing to compare; None if it does not."""
    if named_like_id(column.name) and column.distinct > 0.5 * column.filled:
        return "it looks like an id"
    if column.counts_rows and (set(name_words(column.name)) & _COUNT_WORDS or not name_words(column.name)[0]):
        return "it numbers the rows"
    return None


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
