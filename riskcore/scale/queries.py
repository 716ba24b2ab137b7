"""Questions about a folder of scored pairs, answered from its Parquet files without holding them in memory.

A page may lie anywhere among many million pairs. Sorting them all for it would take seconds and hundreds of megabytes,
so pairs are counted by value first: the counts say between which two values the page lies, and only pairs between these
are sorted. Pairs of one value stay in the order in which they came, as in `riskiest.parquet`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from riskcore.columns import LEFT_ID, LEFT_ROW, RECORD_ID, RIGHT_ID, RIGHT_ROW, VALUE
from riskcore.errors import ConfigError
from riskcore.pair_ids import record_ids
from riskcore.scale.folder import ScoredFolder
from riskcore.storage.checksums import checked
from riskcore.storage.parquet import column_names, quoted, searching

SORTS = ("risk", "probability")
EXACT, BOUND, ASKED, UNASKED = "exact", "bound", "asked", "unasked"
ASKING = {  # what the matcher was asked, as a test of a pair
    EXACT: "NOT p.bound",
    BOUND: "p.bound",
    ASKED: "p.asked > 0",
    UNASKED: "p.asked = 0",
}
MAX_PAGE_SIZE = 1_000
BUCKETS = 4_096  # that values are counted in
SORTED_AT_ONCE = 200_000  # pairs that are sorted in memory for a page
_REMEMBERED = 64  # filters whose counts are kept

Place = tuple[int, int]  # of a pair: its part, and its row there


@dataclasses.dataclass(frozen=True)
class ScoredQuery:
    """Which scored pairs, in which order, which page. A filter that is None does not filter."""

    sort: str = "risk"
    descending: bool = True
    label: int | None = None
    risk_min: float | None = None
    risk_max: float | None = None
    probability_min: float | None = None
    probability_max: float | None = None
    asking: str | None = None  # a key of ASKING
    text: str | None = None  # somewhere in either record or in its id; or the id of a pair
    page: int = 1
    page_size: int = 50

    def __post_init__(self) -> None:
        if self.sort not in SORTS:
            raise ConfigError(f"Scored pairs cannot be sorted by {self.sort!r}. Choose one of: {', '.join(SORTS)}.")
        if self.asking is not None and self.asking not in ASKING:
            raise ConfigError(f"{self.asking!r} is no such choice. Choose one of: {', '.join(ASKING)}.")
        if self.page < 1 or not 1 <= self.page_size <= MAX_PAGE_SIZE:
            raise ConfigError(f"Pages start at 1 and hold 1 to {MAX_PAGE_SIZE:,} pairs.")

    @property
    def narrows(self) -> bool:
        """Whether any filter leaves pairs out."""
        return self.filters != ScoredQuery(sort=self.sort, descending=self.descending).filters

    @property
    def filters(self) -> tuple[Any, ...]:
        """What tells which pairs are meant, whatever the order and the page."""
        bounds = (self.risk_min, self.risk_max, self.probability_min, self.probability_max)
        return (self.label, *bounds, self.asking, (self.text or "").strip().lower() or None)


@dataclasses.dataclass(frozen=True, eq=False)
class Buckets:
    """Pairs counted by a value: what each bucket holds, in rising order."""

    counts: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray

    @property
    def total(self) -> int:
        return int(self.counts.sum())


def stamp(folder: ScoredFolder) -> tuple[str, int]:
    """What cached answers are kept under: another set in the same folder has another."""
    return str(folder.path), folder.about_file.stat().st_mtime_ns


def count_pairs(folder: ScoredFolder, query: ScoredQuery) -> int:
    """How many pairs meet the filters."""
    return folder.facts()["pairs"] if not query.narrows else counted(folder, query).total


def counted(folder: ScoredFolder, query: ScoredQuery) -> Buckets:
    """The pairs that meet the filters, by the value they are sorted by; remembered."""
    plain = dataclasses.replace(query, page=1, page_size=1, descending=True)
    return _counted(stamp(folder), plain)


@lru_cache(maxsize=_REMEMBERED)
def _counted(stamped: tuple[str, int], query: ScoredQuery) -> Buckets:
    with searching() as connection:
        return _Search(connection, ScoredFolder(Path(stamped[0])), query).buckets(0.0, 1.0)


def places_of_page(folder: ScoredFolder, query: ScoredQuery, offset: int, count: int) -> list[Place]:
    """Where `count` pairs lie, from this place in the order on."""
    buckets = counted(folder, query)
    with searching() as connection:
        return _Search(connection, folder, query).places(buckets, offset, count)


def place_in_order(folder: ScoredFolder, query: ScoredQuery, place: Place) -> int | None:
    """How many pairs come before the one at `place`; None where the filters leave it out."""
    with searching() as connection:
        return _Search(connection, folder, query).before(place)


def find_pair(folder: ScoredFolder, left_id: str, right_id: str) -> Place | None:
    """Where the pair of these two records lies; None where there is none. In one table, either may come first."""
    with searching() as connection:
        search = _Search(connection, folder, ScoredQuery())
        left, right = _row_of(search, "left", left_id), _row_of(search, "right", right_id)
        found = None if left is None or right is None else search.first_of(left, right)
        if found is None and folder.facts()["self_join"] and left is not None and right is not None:
            found = search.first_of(right, left)
    return found


def candidates_of(folder: ScoredFolder, left: int, right: int, most: int) -> dict[str, list[Place]]:
    """The pairs of the left and of the right record, each the most probable first."""
    self_join = folder.facts()["self_join"]
    with searching() as connection:
        search = _Search(connection, folder, ScoredQuery())
        return {side: search.of_record(side, row, self_join, most) for side, row in (("left", left), ("right", right))}


def filtered(
    connection: duckdb.DuckDBPyConnection, folder: ScoredFolder, query: ScoredQuery, part: int | None = None
) -> tuple[str, list[Any]]:
    """A table `p` of a query with the pairs that meet the filters, those of a part or all, and the values it takes."""
    search = _Search(connection, folder, query)
    pairs = search.pairs if part is None else f"read_parquet({text(str(checked(folder.pairs_file(part))))})"
    return f"{pairs} AS p WHERE {search.where}", search.values


def scan_pairs(folder: ScoredFolder, options: str = "") -> str:
    """All parts as one table of a query."""
    parts = folder.facts()["parts"]
    if not parts:
        names = ", ".join(f"NULL AS {name}" for name in _NO_PAIRS)
        return f"(SELECT {names} LIMIT 0)"
    files = ", ".join(text(str(checked(folder.pairs_file(part)))) for part in range(parts))
    return f"read_parquet([{files}]{options})"


_NO_PAIRS = (LEFT_ROW, RIGHT_ROW, LEFT_ID, RIGHT_ID, "label", "probability", "risk", "asked", "bound",
             "filename", "file_row_number")  # fmt: skip


def text(value: str) -> str:
    """A text in a query."""
    return "'" + value.replace("'", "''") + "'"


class _Search:
    """One query over the pairs of a folder."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: ScoredFolder, query: ScoredQuery) -> None:
        self.connection, self.folder, self.query = connection, folder, query
        self.pairs = scan_pairs(folder)
        self.placed = scan_pairs(folder, ", filename = true, file_row_number = true")
        conditions, self.values = _conditions(connection, folder, query)
        self.where = " AND ".join(conditions) or "true"
        self.value = f"p.{query.sort}"
        self.order = "DESC" if query.descending else "ASC"

    def buckets(self, low: float, high: float) -> Buckets:
        """The pairs between two values, counted."""
        width = max((high - low) / BUCKETS, 1e-300)
        number = f"least({BUCKETS - 1}, greatest(0, floor(({self.value} - {low!r}) / {width!r})))"
        found = self._run(
            f"SELECT count(*), min({self.value}), max({self.value}) FROM {self.pairs} AS p WHERE {self.where} "
            f"AND {self.value} BETWEEN {low!r} AND {high!r} GROUP BY {number} ORDER BY 2"
        )
        columns = list(zip(*found, strict=True)) or [(), (), ()]
        return Buckets(np.array(columns[0], dtype=np.int64), np.array(columns[1]), np.array(columns[2]))

    def places(self, buckets: Buckets, offset: int, count: int) -> list[Place]:
        """`count` places from `offset` on, of the pairs in these buckets."""
        order = np.arange(len(buckets.counts))[:: -1 if self.query.descending else 1]
        ends = np.cumsum(buckets.counts[order])
        found: list[Place] = []
        while count > 0 and len(ends) and offset < ends[-1]:
            at = int(np.searchsorted(ends, offset, side="right"))
            bucket, skipped = order[at], int(ends[at] - buckets.counts[order[at]])
            some = min(count, int(ends[at]) - offset)
            low, high = float(buckets.lowest[bucket]), float(buckets.highest[bucket])
            found += self._within(low, high, int(buckets.counts[bucket]), offset - skipped, some)
            offset, count = offset + some, count - some
        return found

    def _within(self, low: float, high: float, size: int, offset: int, count: int) -> list[Place]:
        """Places among the pairs between two values."""
        if low == high:
            return self._of_one_value(low, offset, count)
        if size > SORTED_AT_ONCE:
            return self.places(self.buckets(low, high), offset, count)
        return self._placed(
            f"SELECT p.filename, p.file_row_number FROM {self.placed} AS p WHERE {self.where} AND {self.value} "
            f"BETWEEN {low!r} AND {high!r} ORDER BY {self.value} {self.order}, 1, 2 LIMIT {count} OFFSET {offset}"
        )

    def _of_one_value(self, value: float, offset: int, count: int) -> list[Place]:
        """Places among the pairs of one value: the counts of the parts say in which of them they are."""
        test = f"{self.where} AND {self.value} = {value!r}"
        named = scan_pairs(self.folder, ", filename = true")
        sizes = self._run(f"SELECT p.filename, count(*) FROM {named} AS p WHERE {test} GROUP BY 1 ORDER BY 1")
        found: list[Place] = []
        for name, size in sizes:
            if offset >= size:
                offset -= size
                continue
            one = f"read_parquet({text(name)}, filename = true, file_row_number = true)"
            some = self._placed(
                f"SELECT p.filename, p.file_row_number FROM {one} AS p WHERE {test} ORDER BY 2 "
                f"LIMIT {count - len(found)} OFFSET {offset}"
            )
            found, offset = found + some, 0
            if len(found) == count:
                break
        return found

    def before(self, place: Place) -> int | None:
        name = str(self.folder.pairs_file(place[0]))
        own = f"p.filename = {text(name)} AND p.file_row_number = {place[1]}"
        one = f"read_parquet({text(name)}, filename = true, file_row_number = true)"
        found = self._run(f"SELECT {self.value} FROM {one} AS p WHERE {self.where} AND {own}")
        if not found:
            return None
        value, nearer = found[0][0], ">" if self.query.descending else "<"
        earlier = f"(p.filename < {text(name)} OR (p.filename = {text(name)} AND p.file_row_number < {place[1]}))"
        return int(
            self._run(
                f"SELECT count(*) FROM {self.placed} AS p WHERE {self.where} AND ({self.value} {nearer} {value!r} "
                f"OR ({self.value} = {value!r} AND {earlier}))"
            )[0][0]
        )

    def first_of(self, left: int, right: int) -> Place | None:
        """The first pair of these two rows."""
        wanted = f"p.{LEFT_ROW} = {left} AND p.{RIGHT_ROW} = {right}"
        found = self._placed(f"SELECT filename, file_row_number FROM {self.placed} AS p WHERE {wanted} ORDER BY 1, 2")
        return found[0] if found else None

    def of_record(self, side: str, row: int, self_join: bool, most: int) -> list[Place]:
        column = {"left": LEFT_ROW, "right": RIGHT_ROW}[side]
        wanted = f"p.{LEFT_ROW} = {row} OR p.{RIGHT_ROW} = {row}" if self_join else f"p.{column} = {row}"
        return self._placed(
            f"SELECT filename, file_row_number FROM {self.placed} AS p WHERE {wanted} "
            f"ORDER BY p.probability DESC, 1, 2 LIMIT {most}"
        )

    def _placed(self, query: str) -> list[Place]:
        return [(_part_of(name), int(row)) for name, row in self._run(query)]

    def _run(self, query: str) -> list[tuple[Any, ...]]:
        values = self.values if self.where in query else []
        return self.connection.execute(query, values).fetchall()


def _part_of(name: str) -> int:
    return int(Path(name).stem.removeprefix("part-"))


def _row_of(search: _Search, side: str, identity: str) -> int | None:
    scanned = scan_records(search.folder, side)
    query = f"SELECT file_row_number FROM {scanned} AS r WHERE r.{RECORD_ID} = ? ORDER BY 1 LIMIT 1"
    found = search.connection.execute(query, [identity]).fetchone()
    return None if found is None else int(found[0])


def records_file(folder: ScoredFolder, side: str) -> Path:
    """The records of a side; those of the left one where there is one table."""
    return folder.records_file("left" if folder.facts()["self_join"] else side)


def scan_records(folder: ScoredFolder, side: str) -> str:
    """The records of a side as a table of a query, with their rows."""
    return f"read_parquet({text(str(checked(records_file(folder, side))))}, file_row_number = true)"


def _conditions(
    connection: duckdb.DuckDBPyConnection, folder: ScoredFolder, query: ScoredQuery
) -> tuple[list[str], list[Any]]:
    """Every filter as SQL over the pairs `p`, and the values it takes."""
    plain: Sequence[tuple[str, Any]] = [
        ("p.label = ?", query.label),
        ("p.risk >= ?", query.risk_min),
        ("p.risk <= ?", query.risk_max),
        ("p.probability >= ?", query.probability_min),
        ("p.probability <= ?", query.probability_max),
    ]
    conditions = [(test, value) for test, value in plain if value is not None]
    tests, values = [test for test, _ in conditions], [value for _, value in conditions]
    if query.asking is not None:
        tests.append(ASKING[query.asking])
    wanted = (query.text or "").strip()
    if wanted:
        tests.append(_text_condition(connection, folder, wanted))
    return tests, values


def _text_condition(connection: duckdb.DuckDBPyConnection, folder: ScoredFolder, wanted: str) -> str:
    """Pairs of records that contain the text; or the pair that has it as its id."""
    ids = record_ids(wanted)
    if ids is not None:
        search = _Search(connection, folder, ScoredQuery())
        left, right = _row_of(search, "left", ids[0]), _row_of(search, "right", ids[1])
        if left is not None and right is not None:
            return f"(p.{LEFT_ROW} = {left} AND p.{RIGHT_ROW} = {right})"
    for side in ("left", "right"):
        rows = _rows_with(stamp(folder), side, wanted.lower())
        connection.register(f"{side}_hits", pa.table({"row": pa.array(rows, pa.int32())}))
    return (
        f"(p.{LEFT_ROW} IN (SELECT h.row FROM left_hits AS h) OR p.{RIGHT_ROW} IN (SELECT h.row FROM right_hits AS h))"
    )


@lru_cache(maxsize=8)
def _rows_with(stamped: tuple[str, int], side: str, wanted: str) -> np.ndarray:
    """The rows of a side's records that contain the text in their id or in a value."""
    folder = ScoredFolder(Path(stamped[0]))
    names = [name for name in column_names(records_file(folder, side)) if name == RECORD_ID or name.startswith(VALUE)]
    test = " OR ".join(f"contains(lower(r.{quoted(name)}), ?)" for name in names)
    with searching() as connection:
        query = f"SELECT file_row_number AS row FROM {scan_records(folder, side)} AS r WHERE {test}"
        found = connection.execute(query, [wanted] * len(names)).fetchnumpy()
    rows: np.ndarray = found["row"].astype(np.int32)
    return rows
