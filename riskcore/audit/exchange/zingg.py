"""Training samples of Zingg 0.4 as csv: two rows per pair with the same `z_cluster`, and `z_isMatch`: 1 match, 0
non-match, 2 unsure, -1 not labelled yet. `z_source` tells the table of a record. The schema of `trainingSamples` in
Zingg's configuration names the columns.

As in Zingg, the label of a cluster is that of every two of its records. Verdicts of several people are clusters of
their own. Texts are written as they are: Zingg learns from them. Do not open the file in a spreadsheet.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from riskcore.audit.exchange.pairs import (
    ESCAPE,
    MATCH,
    NON_MATCH,
    SAID,
    UNSURE,
    ExchangedPair,
    Reading,
    ReadVerdict,
    escaped,
    known_values,
)
from riskcore.audit.exchange.plain import said
from riskcore.audit.exchange.tables import TableRow, write_table
from riskcore.audit.verdicts import MAX_BROUGHT
from riskcore.columns import PAIR_ID
from riskcore.data.problems import shown

CLUSTER, IS_MATCH, SOURCE, ID = "z_cluster", "z_isMatch", "z_source", "id"
LEFT, RIGHT = "left", "right"
NUMBERS = {MATCH: "1", NON_MATCH: "0", UNSURE: "2"}
NOT_LABELLED = "-1"
MOST_ROWS = 100  # of a cluster: every two of them are a pair
MOST_PAIRS = MAX_BROUGHT  # of a file; a few large clusters would otherwise fill the memory
OWN = (CLUSTER, IS_MATCH, SOURCE, ID, *SAID)
_MEANT = {
    **{number: word for word, number in NUMBERS.items()},
    **{f"{number}.0": word for word, number in NUMBERS.items()},
    **dict.fromkeys((NOT_LABELLED, f"{NOT_LABELLED}.0", ""), ""),
}


def recognised(columns: Sequence[str]) -> bool:
    return IS_MATCH in columns and CLUSTER in columns


def write(pairs: Sequence[ExchangedPair]) -> bytes:
    names = dict.fromkeys(name for pair in pairs for record in (pair.left, pair.right) for name in record)
    rows: list[dict[str, str]] = []
    for pair in pairs:
        for one in pair.verdicts or (None,):
            number = NOT_LABELLED if one is None else NUMBERS[one.verdict]
            cluster = {CLUSTER: str(len(rows) // 2 + 1), IS_MATCH: number, PAIR_ID: pair.pair_id, **said(one)}
            sides = ((LEFT, pair.left_id, pair.left), (RIGHT, pair.right_id, pair.right))
            for side, record_id, record in sides:
                values = {_column(name): value for name, value in record.items()}
                rows.append({**cluster, SOURCE: side, ID: record_id, **values})
    return write_table((*OWN, *map(_column, names)), rows)


def read(rows: Sequence[TableRow], reading: Reading) -> list[ReadVerdict]:
    clusters: dict[str, list[TableRow]] = {}
    for row in rows:
        clusters.setdefault(row.get(CLUSTER), []).append(row)
    pairs = sum(len(found) * (len(found) - 1) // 2 for found in clusters.values())
    if pairs > MOST_PAIRS:
        reading.add("too_many_rows", f"The clusters have {pairs:,} pairs.", f"Split the file: {MOST_PAIRS:,} each.")
        return []
    return [one for name, found in clusters.items() for one in _verdicts(name, found, reading)]


def _verdicts(name: str, rows: list[TableRow], reading: Reading) -> list[ReadVerdict]:
    line = rows[-1].line
    said_here = {row.get(IS_MATCH).strip() for row in rows}
    if not 2 <= len(rows) <= MOST_ROWS or len(said_here) != 1:
        message = f"The cluster {shown(name)} has {len(rows):,} rows with {len(said_here):,} different labels."
        reading.add("bad_label", message, f"Give it 2 to {MOST_ROWS} rows with one label.", line, CLUSTER)
        return []
    number = said_here.pop()
    if number not in _MEANT:
        cure = "Write 1 for a match, 0 for a non-match, 2 for unsure, -1 for not labelled."
        reading.add("bad_label", f"The label is {shown(number)}.", cure, line, IS_MATCH)
        return []
    if not _MEANT[number]:
        return []
    found = [_verdict(_MEANT[number], one, other, reading) for one, other in itertools.combinations(rows, 2)]
    return [one for one in found if one is not None]


def _verdict(word: str, one: TableRow, other: TableRow, reading: Reading) -> ReadVerdict | None:
    left, right = (other, one) if (one.get(SOURCE), other.get(SOURCE)) == (RIGHT, LEFT) else (one, other)
    at = reading.time(one.get("at"), other.line, "at")
    pair = one.get(PAIR_ID) if one.get(PAIR_ID) == other.get(PAIR_ID) else ""
    ids = (pair, left.get(ID), right.get(ID))
    if not reading.has_ids(*ids, other.line):
        return None
    records = (_record(left), _record(right))
    return ReadVerdict(*ids, word, one.get("note"), one.get("who"), at, *records, other.line)


def _column(name: str) -> str:
    return escaped(name, name in OWN or name.startswith("z_"))


def _record(row: TableRow) -> Mapping[str, str]:
    own = {name: value for name, value in row.fields.items() if name not in OWN and not name.startswith("z_")}
    return known_values({name.removeprefix(ESCAPE): value for name, value in own.items()})
