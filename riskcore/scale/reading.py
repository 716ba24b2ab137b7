"""Scored pairs as the screens show them: a page of a queue, one pair with its records, and figures of the whole set.

No model is needed for any of it. The riskiest pairs have their reasons in a small file, which the first pages are read
from at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from riskcore.columns import LEFT, LEFT_ID, LEFT_ROW, PAIR_ID, RIGHT, RIGHT_ID, RIGHT_ROW, VALUE
from riskcore.errors import RiskcoreError
from riskcore.pair_ids import pair_ids, record_ids
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.queries import (
    Place,
    ScoredQuery,
    candidates_of,
    count_pairs,
    filtered,
    find_pair,
    place_in_order,
    places_of_page,
    records_file,
    stamp,
)
from riskcore.storage.parquet import frame, load_columns, row_count, searching, take_rows

PART, PLACE, REASONS = "part", "place", "reasons"  # columns of riskiest.parquet
OTHERS = 5  # candidates of a record that a card lists
BARS = 50  # of a histogram


class ScoredPairNotFoundError(RiskcoreError):
    """The set has no such pair."""


@dataclasses.dataclass(frozen=True, eq=False)
class ScoredPage:
    """One page: scores, reasons where they are stored, and both records; and the size of the whole."""

    rows: pd.DataFrame
    total: int  # pairs that meet the filters
    page: int
    pages: int


@dataclasses.dataclass(frozen=True, eq=False)
class ScoredPair:
    """One pair with both records, and the other pairs of these."""

    place: Place
    scores: dict[str, Any]  # a row of a page
    left: dict[str, str | None]
    right: dict[str, str | None]
    others: pd.DataFrame  # of the left and of the right record; `side` says whose


@dataclasses.dataclass(frozen=True)
class Position:
    """A pair's place in a queue, and its neighbours there."""

    number: int | None  # from 1 on; None where the filters leave the pair out
    total: int
    previous: str | None = None
    next: str | None = None


def read_page(folder: ScoredFolder, query: ScoredQuery) -> ScoredPage:
    """One page of the pairs that meet the filters, in their order."""
    total = count_pairs(folder, query)
    pages = max(1, -(-total // query.page_size))
    page = min(query.page, pages)
    return ScoredPage(_rows(folder, query, (page - 1) * query.page_size, query.page_size), total, page, pages)


def read_pair(folder: ScoredFolder, pair: str) -> ScoredPair:
    """The pair of this id, with the other candidates of both of its records."""
    place = _place_of(folder, pair)
    table = _with_records(folder, _taken(folder, [place]))
    row = table.iloc[0].to_dict()
    left, right = ({name: _text(row[side + name]) for name in folder.facts()["attributes"]} for side in (LEFT, RIGHT))
    return ScoredPair(place, row, left, right, _others(folder, place, row))


def position_of(folder: ScoredFolder, query: ScoredQuery, pair: str) -> Position:
    """Where the pair is in the queue. Next of a pair that the filters leave out is the first."""
    total, place = count_pairs(folder, query), _place_of(folder, pair)
    before = place_in_order(folder, query, place)
    if before is None:
        return Position(None, total, None, next(iter(_ids(folder, places_of_page(folder, query, 0, 1))), None))
    first = max(0, before - 1)
    ids = _ids(folder, places_of_page(folder, query, first, before - first + 2))
    previous = ids[0] if before else None
    return Position(before + 1, total, previous, ids[before - first + 1] if before + 1 < total else None)


def histogram(folder: ScoredFolder, query: ScoredQuery, value: str) -> pd.DataFrame:
    """How many pairs that meet the filters lie in each fiftieth from 0 to 1, matches and non-matches apart."""
    return _histogram(stamp(folder), query.filters, dataclasses.replace(query, sort=value, page=1)).copy()


@lru_cache(maxsize=64)
def _histogram(stamped: tuple[str, int], filters: tuple[Any, ...], query: ScoredQuery) -> pd.DataFrame:
    with searching() as connection:
        table, values = filtered(connection, ScoredFolder(Path(stamped[0])), query)
        bar = f"least({BARS - 1}, floor(p.{query.sort} * {BARS}))::INTEGER"
        found = frame(connection, f"SELECT p.label, {bar} AS bar, count(*) AS pairs FROM {table} GROUP BY 1, 2", values)
    counts = np.zeros((2, BARS), dtype=np.int64)
    counts[found["label"], found["bar"]] = found["pairs"]
    bars = np.arange(BARS) / BARS
    return pd.concat(
        [pd.DataFrame({"from": bars, "pairs": counts[label], "label": label}) for label in (1, 0)], ignore_index=True
    )


def count_kinds(folder: ScoredFolder, query: ScoredQuery) -> dict[str, float]:
    """Figures of the pairs that meet the filters: pairs, matches, those with a bound, those whose matcher was not
    asked, and how many labels are expected to be wrong: the sum of the risks, where a bound counts as a risk."""
    return dict(_kinds(stamp(folder), query.filters, dataclasses.replace(query, page=1)))


@lru_cache(maxsize=64)
def _kinds(stamped: tuple[str, int], filters: tuple[Any, ...], query: ScoredQuery) -> dict[str, float]:
    with searching() as connection:
        table, values = filtered(connection, ScoredFolder(Path(stamped[0])), query)
        found = frame(
            connection,
            "SELECT count(*) AS pairs, count(*) FILTER (p.label = 1) AS matches, count(*) FILTER (p.bound) AS bound, "
            f"count(*) FILTER (p.asked = 0) AS unasked, coalesce(sum(p.risk), 0) AS expected_wrong FROM {table}",
            values,
        )
    return {name: float(found[name][0]) for name in found}


def _rows(folder: ScoredFolder, query: ScoredQuery, offset: int, count: int) -> pd.DataFrame:
    whole = not query.narrows and query.sort == "risk" and query.descending
    if whole and offset + count <= _stored_reasons(folder):
        table = take_rows(folder.riskiest_file, np.arange(offset, offset + count)).to_pandas()
    else:
        table = _taken(folder, places_of_page(folder, query, offset, count))
    return _with_records(folder, table)


def _ids(folder: ScoredFolder, places: Sequence[Place]) -> list[str]:
    return [str(one) for one in _taken(folder, places)[PAIR_ID]]


def _taken(folder: ScoredFolder, places: Sequence[Place]) -> pd.DataFrame:
    """The stored columns of pairs in the order of their places, with their reasons where these are known."""
    order = pd.DataFrame(list(places), columns=[PART, PLACE])
    tables = []
    for part, some in order.groupby(PART, sort=False):
        found = take_rows(folder.pairs_file(int(str(part))), some[PLACE].to_numpy()).to_pandas()
        tables.append(found.assign(**{PART: part, PLACE: some[PLACE].to_numpy()}).set_index(some.index))
    if not tables:
        empty = take_rows(folder.riskiest_file, []).to_pandas() if folder.riskiest_file.exists() else pd.DataFrame()
        return empty.assign(**{PAIR_ID: []})
    table = pd.concat(tables).sort_index()
    stored = _stored_places(stamp(folder))
    rows = [stored.get(one) for one in zip(table[PART], table[PLACE], strict=True)]
    known = [row for row in rows if row is not None]
    words = iter(take_rows(folder.riskiest_file, known, [REASONS]).column(0).to_pylist() if known else [])
    table[REASONS] = [None if row is None else next(words) for row in rows]
    return table.assign(**{PAIR_ID: pair_ids(table[LEFT_ID], table[RIGHT_ID])})


def _with_records(folder: ScoredFolder, table: pd.DataFrame) -> pd.DataFrame:
    """The rows with the values of both records beside them."""
    columns: dict[str, Any] = {}
    for side, prefix, rows in (("left", LEFT, LEFT_ROW), ("right", RIGHT, RIGHT_ROW)):
        wanted = table[rows].to_numpy() if len(table) else np.zeros(0, dtype=np.int64)
        records = _records(folder, side, wanted)
        for name in folder.facts()["attributes"]:
            at = records.schema.get_field_index(VALUE + name)
            columns[prefix + name] = records.column(at).to_pylist() if at >= 0 else [None] * len(table)
    ids: Any = pair_ids(table[LEFT_ID], table[RIGHT_ID]) if len(table) else []
    return table.assign(**{PAIR_ID: ids}).reset_index(drop=True).assign(**columns)


def _records(folder: ScoredFolder, side: str, rows: np.ndarray) -> pa.Table:
    """These records, each read once however often it is asked for."""
    distinct, inverse = np.unique(rows, return_inverse=True)
    return take_rows(records_file(folder, side), distinct).take(pa.array(inverse))


def _others(folder: ScoredFolder, place: Place, row: dict[str, Any]) -> pd.DataFrame:
    found = candidates_of(folder, int(row[LEFT_ROW]), int(row[RIGHT_ROW]), OTHERS + 1)
    tables = []
    for side, places in found.items():
        some = [one for one in places if one != place][:OTHERS]
        if some:
            tables.append(_with_records(folder, _taken(folder, some)).assign(side=side))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["side", PAIR_ID])


def _place_of(folder: ScoredFolder, pair: str) -> Place:
    ids = record_ids(pair)
    place = None if ids is None else _found(stamp(folder), *ids)
    if place is None:
        raise ScoredPairNotFoundError(
            f"These scored pairs have no pair {pair[:200]!r}. Check the address, or search for one of its records."
        )
    return place


@lru_cache(maxsize=1_024)
def _found(stamped: tuple[str, int], left: str, right: str) -> Place | None:
    return find_pair(ScoredFolder(Path(stamped[0])), left, right)


def _stored_reasons(folder: ScoredFolder) -> int:
    """How many of the riskiest pairs have their reasons stored."""
    return row_count(folder.riskiest_file) if folder.riskiest_file.exists() else 0


@lru_cache(maxsize=4)
def _stored_places(stamped: tuple[str, int]) -> dict[Place, int]:
    """Where among the riskiest a pair is, by its place."""
    file = ScoredFolder(Path(stamped[0])).riskiest_file
    if not file.exists():
        return {}
    table = load_columns(file, columns=[PART, PLACE])
    places = zip(table.column(PART).to_pylist(), table.column(PLACE).to_pylist(), strict=True)
    return {place: number for number, place in enumerate(places)}


def _text(value: Any) -> str | None:
    return None if value is None or value != value else str(value)
