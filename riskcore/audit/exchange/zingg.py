"""Training samples of Zingg 0.4 as csv: two rows per pair with the same `z_cluster`, and `z_isMatch`: 1 match, 0
non-match, 2 unsure, -1 not labelled yet. `z_source` tells the table of a record. The schema of `trainingSamples` in
Zingg's configuration names the columns.

Verdicts of several people are clusters of their own. Texts are written as they are: Zingg learns from them. Do not open
the file in a spreadsheet.
"""

from __future__ import annotations

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
from riskcore.audit.exchange.tables import TableRow, read_table, write_table
from riskcore.columns import PAIR_ID
from riskcore.data.problems import shown

CLUSTER, IS_MATCH, SOURCE, ID = "z_cluster", "z_isMatch", "z_source", "id"
LEFT, RIGHT = "left", "right"
NUMBERS = {MATCH: "1", NON_MATCH: "0", UNSURE: "2"}
NOT_LABELLED = "-1"
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


def read(text: str, reading: Reading) -> list[ReadVerdict]:
    clusters: dict[str, list[TableRow]] = {}
    for row in read_table(text, reading):
        clusters.setdefault(row.get(CLUSTER), []).append(row)
    return [one for name, rows in clusters.items() if (one := _verdict(name, rows, reading)) is not None]


def _verdict(name: str, rows: list[TableRow], reading: Reading) -> ReadVerdict | None:
    line = rows[-1].line
    said_here = {row.get(IS_MATCH).strip() for row in rows}
    if len(rows) != 2 or len(said_here) != 1:
        message = f"The cluster {shown(name)} has {len(rows):,} rows with {len(said_here):,} different labels."
        reading.add("bad_label", message, "Give it two rows with one label.", line, CLUSTER)
        return None
    number = said_here.pop()
    if number not in _MEANT:
        cure = "Write 1 for a match, 0 for a non-match, 2 for unsure, -1 for not labelled."
        reading.add("bad_label", f"The label is {shown(number)}.", cure, line, IS_MATCH)
        return None
    at = reading.time(rows[0].get("at"), line, "at")
    left, right = rows if rows[0].get(SOURCE) != RIGHT or rows[1].get(SOURCE) != LEFT else rows[::-1]
    ids = (left.get(PAIR_ID), left.get(ID), right.get(ID))
    if not _MEANT[number] or not reading.has_ids(*ids, line):
        return None
    records = (_record(left), _record(right))
    return ReadVerdict(*ids, _MEANT[number], left.get("note"), left.get("who"), at, *records, line)


def _column(name: str) -> str:
    return escaped(name, name in OWN or name.startswith("z_"))


def _record(row: TableRow) -> Mapping[str, str]:
    own = {name: value for name, value in row.fields.items() if name not in OWN and not name.startswith("z_")}
    return known_values({name.removeprefix(ESCAPE): value for name, value in own.items()})
