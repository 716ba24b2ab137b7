"""The scores of another matcher, whatever its file looks like: two ids and a probability, or records with a cluster.

Known are Splink's predictions (`unique_id_l`, `unique_id_r`, `match_probability`), the clusters of dedupe
(`Cluster ID`, `confidence_score`) and of Zingg (`z_cluster`, `z_minScore`, `z_maxScore`), and any table with ids and a
probability. Columns that are not detected can be named. A cluster file has scores of records, not of pairs: a pair of
one cluster gets the smaller of its two records' scores (of Zingg's ranges, the middle of what both allow), and all
other pairs are what the matcher told apart, with probability 0.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from riskcore.data.bring.columns import ColumnFacts, plain_name
from riskcore.data.bring.files import BroughtFile, ReadOptions, read_file
from riskcore.data.bring.roles import CLUSTER_NAMES, id_column
from riskcore.data.bring.sides import sides_of
from riskcore.data.problems import DataFormatError, shown
from riskcore.data.text_file import TextFile
from riskcore.errors import MatcherError
from riskcore.pair_ids import pair_ids

PROBABILITY_NAMES = ("match_probability", "probability", "prob", "match_prob", "score", "match_score", "confidence")
RECORD_SCORES = ("confidence_score", "link_score", "confidence", "score", "z_max_score", "z_maxscore", "z_score")
_LOW, _HIGH = ("z_min_score", "z_minscore"), ("z_max_score", "z_maxscore")
_PAIR_NAMES = ("pair_id", "id")
MAX_CLUSTER_PAIRS = 20_000_000
SHOWN = 5  # examples named in an error; the rest are counted


@dataclasses.dataclass(frozen=True)
class ScoreColumns:
    """Which columns of a file of scores mean what. Either `pair`, or `left` and `right`, or `record` and `cluster`."""

    probability: str | None = None
    left: str | None = None
    right: str | None = None
    pair: str | None = None  # of ids such as ltable_id:rtable_id
    record: str | None = None
    cluster: str | None = None
    low: str | None = None  # Zingg's smallest score of a record; `probability` is then its largest
    missing: float | None = None  # the probability of target pairs that the file does not have; None refuses them

    @property
    def is_clusters(self) -> bool:
        return self.cluster is not None

    @property
    def named(self) -> dict[str, str]:
        """The columns by what they mean, without those that are not there."""
        fields = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return {name: value for name, value in fields if isinstance(value, str)}

    @property
    def text(self) -> str:
        """The form in which settings and the command line give them."""
        missing = [] if self.missing is None else [f"missing={self.missing:g}"]
        return ",".join([*(f"{name}={value}" for name, value in self.named.items()), *missing])

    @property
    def words(self) -> str:
        return ", ".join(f"{name} is {shown(value)}" for name, value in self.named.items())


def parse_columns(text: str | None) -> ScoreColumns:
    """Columns from a text such as 'left=id_a,right=id_b,probability=p,missing=0'."""
    known = [field.name for field in dataclasses.fields(ScoreColumns)]
    found: dict[str, str] = {}
    for entry in (part for part in (text or "").split(",") if part.strip()):
        name, equals, value = (part.strip() for part in entry.partition("="))
        if name not in known or not equals or not value:
            raise MatcherError(f"{entry!r} is not NAME=COLUMN in the columns of scores. Names: {', '.join(known)}.")
        found[name] = value
    missing = found.pop("missing", None)
    try:
        number = None if missing is None else float(missing)
    except ValueError:
        number = -1.0
    if number is not None and not 0 <= number <= 1:
        raise MatcherError(f"missing={missing} is not a probability from 0 to 1.")
    return ScoreColumns(missing=number, **found)


def detect_columns(file: BroughtFile, given: ScoreColumns | None = None) -> ScoreColumns:
    """What the columns mean, by their names and values; what is given wins. Raises if something needed is not found."""
    given = given or ScoreColumns()
    for name in given.named.values():
        _column(file, name)
    found = _detected(file, given)
    found = dataclasses.replace(found, **given.named)  # type: ignore[arg-type]
    if found.missing is None:
        found = dataclasses.replace(found, missing=given.missing)
    _require(file, found)
    return found


def _detected(file: BroughtFile, given: ScoreColumns) -> ScoreColumns:
    plain = {plain_name(column.name): column for column in file.columns}
    cluster = next((plain[name].name for name in CLUSTER_NAMES if name in plain), None)
    sides = sides_of(file.columns).ids
    if given.cluster or (cluster is not None and sides is None and not (given.left or given.pair)):
        return _clusters(file, plain, given, cluster)
    probability = _first(plain, PROBABILITY_NAMES)
    left, right = sides or (None, None)
    if given.pair or (left is None and not given.left):
        return ScoreColumns(probability, pair=_first_name(plain, _PAIR_NAMES))
    return ScoreColumns(probability, left, right)


def _clusters(
    file: BroughtFile, plain: dict[str, ColumnFacts], given: ScoreColumns, cluster: str | None
) -> ScoreColumns:
    kept = [column for column in file.columns if column.name not in (cluster, given.cluster)]
    record = id_column(dataclasses.replace(file, text=_only(file, kept)))
    return ScoreColumns(
        _first(plain, _HIGH) or _first(plain, RECORD_SCORES),
        record=record,
        cluster=cluster,
        low=_first(plain, _LOW),
        missing=0.0,
    )


def _only(file: BroughtFile, columns: Sequence[ColumnFacts]) -> TextFile:
    assert file.text is not None
    names = [column.name for column in columns]
    return dataclasses.replace(file.text, columns=file.text.columns.select(names))


def _first(plain: dict[str, ColumnFacts], names: Sequence[str]) -> str | None:
    """The first of these columns that holds probabilities, or whose name leaves no doubt."""
    found = (plain[name] for name in names if name in plain)
    return next((one.name for one in found if one.within_unit or "probability" in one.name.lower()), None)


def _first_name(plain: dict[str, ColumnFacts], names: Sequence[str]) -> str | None:
    return next((plain[name].name for name in names if name in plain), None)


def _column(file: BroughtFile, name: str) -> ColumnFacts:
    for column in file.columns:
        if column.name == name:
            return column
    there = ", ".join(column.name for column in file.columns[:15])
    raise MatcherError(f"{file.name} has no column {shown(name)}. It has: {there}.")


def _require(file: BroughtFile, found: ScoreColumns) -> None:
    there = ", ".join(column.name for column in file.columns[:15])
    cure = f"Name the columns, such as left=id_a,right=id_b,probability=p. The file has: {there}."
    if found.is_clusters:
        if found.record is None:
            raise MatcherError(f"{file.name} has clusters but no column of record ids (record=). {cure}")
    elif found.pair is None and (found.left is None or found.right is None):
        raise MatcherError(f"{file.name} has no two columns of ids. {cure}")
    if found.probability is None:
        raise MatcherError(f"{file.name} has no column probability, with numbers from 0 to 1. {cure}")


@dataclasses.dataclass(frozen=True, eq=False)
class Scores:
    """Scored pairs, in the order of the file. `ids` are pair ids; `left` and `right` are known unless the file has pair
    ids alone. `columns` are all columns of the file, a row for each pair."""

    name: str
    meaning: ScoreColumns
    ids: np.ndarray
    probability: np.ndarray
    left: np.ndarray | None
    right: np.ndarray | None
    columns: pd.DataFrame

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def series(self) -> pd.Series:
        """Probability by pair id."""
        return pd.Series(self.probability, index=pd.Index(self.ids, dtype=object))


def read_scores(path: Path, columns: str | None = None, options: ReadOptions | None = None) -> Scores:
    """The scores in a file. One error lists all that is wrong with it."""
    if not path.is_file():
        raise MatcherError(f"The scores file {path} does not exist.")
    file = read_file(path, options)
    if file.errors or file.text is None:
        raise DataFormatError(file.errors)
    return scores_of(file, detect_columns(file, parse_columns(columns)))


def scores_of(file: BroughtFile, meaning: ScoreColumns) -> Scores:
    """The scores of a file that was read, by what its columns mean."""
    assert file.text is not None
    frame = file.text.columns.to_pandas().astype(object).where(lambda cells: cells.notna(), None)
    if meaning.is_clusters:
        return _of_clusters(file, meaning, frame)
    probability = _numbers(file, str(meaning.probability))
    if meaning.pair is not None:
        left = right = None
        ids = file.text.ids(meaning.pair)
    else:
        left, right = file.text.ids(str(meaning.left)), file.text.ids(str(meaning.right))
        ids = pair_ids(left, right)
    faults = [
        *_fault(file, "an empty id", (ids == "") | _empty(left) | _empty(right)),
        *_fault(file, "a pair that occurs before", pd.Series(ids).duplicated().to_numpy()),
        *_fault(file, "a probability that is not a number from 0 to 1", ~((probability >= 0) & (probability <= 1))),
    ]
    if faults:
        raise MatcherError("\n".join(faults))
    return Scores(file.name, meaning, ids, probability, left, right, frame)


def _empty(ids: np.ndarray | None) -> np.ndarray | bool:
    return False if ids is None else ids == ""


def _numbers(file: BroughtFile, column: str) -> np.ndarray:
    assert file.text is not None
    return pd.to_numeric(pd.Series(file.text.ids(column)), errors="coerce").to_numpy(np.float64, copy=True)


def _fault(file: BroughtFile, what: str, where: np.ndarray) -> list[str]:
    assert file.text is not None
    rows = file.text.rows[np.flatnonzero(where)]
    if not len(rows):
        return []
    named = ", ".join(f"{row:,}" for row in rows[:SHOWN])
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    return [f"{file.name}: {what} in row {named}{more}."]


def _of_clusters(file: BroughtFile, meaning: ScoreColumns, frame: pd.DataFrame) -> Scores:
    """Every pair of records of one cluster, with the columns of both records."""
    assert file.text is not None
    records, clusters = file.text.ids(str(meaning.record)), file.text.ids(str(meaning.cluster))
    high = _numbers(file, str(meaning.probability))
    low = high if meaning.low is None else _numbers(file, meaning.low)
    members = pd.Series(np.arange(len(clusters))).groupby(clusters).indices
    groups = [rows for name, rows in members.items() if name != "" and len(rows) > 1]
    if sum(len(rows) * (len(rows) - 1) // 2 for rows in groups) > MAX_CLUSTER_PAIRS:
        raise MatcherError(
            f"The clusters of {file.name} have more than {MAX_CLUSTER_PAIRS:,} pairs. Give scored pairs."
        )
    pairs = np.array([pair for rows in groups for pair in itertools.combinations(rows, 2)], dtype=np.int64)
    one, other = pairs.reshape(-1, 2).T
    faults = _fault(file, "a record that occurs before", pd.Series(records).duplicated().to_numpy())
    bad = ~((high >= 0) & (high <= 1) & (low >= 0) & (low <= 1)) & np.isin(np.arange(len(high)), pairs)
    faults += _fault(file, "a score that is not a number from 0 to 1", bad)
    if faults:
        raise MatcherError("\n".join(faults))
    if meaning.low is None:
        probability = np.minimum(high[one], high[other])
    else:
        probability = (np.maximum(low[one], low[other]) + np.minimum(high[one], high[other])) / 2
    sides = [frame.take(rows).reset_index(drop=True).add_suffix(end) for rows, end in ((one, "_l"), (other, "_r"))]
    left, right = records[one], records[other]
    return Scores(file.name, meaning, pair_ids(left, right), probability, left, right, pd.concat(sides, axis=1))
