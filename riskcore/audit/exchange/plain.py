"""Plain csv: a row per verdict, or per pair without one, with both values of every attribute side by side. The columns
are those of a work list, and `note`, `who` and `at`. A file of labels (`label`) and the csv that Label Studio exports
(`annotator`, `created_at`) are read too.
"""

from __future__ import annotations

from collections.abc import Sequence

from riskcore.audit.exchange.pairs import SAID, ExchangedPair, Given, Reading, ReadVerdict, known_values, time_text
from riskcore.audit.exchange.tables import TableRow, write_table
from riskcore.columns import LEFT, LEFT_ID, PAIR_ID, RIGHT, RIGHT_ID
from riskcore.data.labels import LABEL

VERDICT, ANNOTATION = "verdict", "annotation_id"


def recognised(columns: Sequence[str]) -> bool:
    return (VERDICT in columns or LABEL in columns) and (PAIR_ID in columns or {LEFT_ID, RIGHT_ID} <= set(columns))


def write(pairs: Sequence[ExchangedPair]) -> bytes:
    names = dict.fromkeys(name for pair in pairs for record in (pair.left, pair.right) for name in record)
    values = [side + name for name in names for side in (LEFT, RIGHT)]
    rows = []
    for pair in pairs:
        ids = {PAIR_ID: pair.pair_id, LEFT_ID: pair.left_id, RIGHT_ID: pair.right_id}
        records = {LEFT + name: value for name, value in pair.left.items()}
        records |= {RIGHT + name: value for name, value in pair.right.items()}
        rows += [{**ids, **said(one), **records} for one in pair.verdicts or (None,)]
    return write_table((PAIR_ID, LEFT_ID, RIGHT_ID, *SAID[1:], *values), rows, guard=True)


def said(given: Given | None) -> dict[str, str]:
    """A verdict as columns."""
    if given is None:
        return {}
    return {VERDICT: given.verdict, "note": given.note, "who": given.who, "at": time_text(given.at)}


def read(rows: Sequence[TableRow], reading: Reading) -> list[ReadVerdict]:
    found = []
    for row in rows:
        column = VERDICT if VERDICT in row.fields else LABEL
        verdict = reading.verdict(row.get(column), row.line, column)
        ids = (row.get(PAIR_ID), row.get(LEFT_ID), row.get(RIGHT_ID))
        annotated = ANNOTATION in row.fields
        who = row.get("who") or (row.get("annotator") if annotated else "")
        at = reading.time(row.get("at") or (row.get("created_at") if annotated else ""), row.line, "at")
        if verdict and reading.has_ids(*ids, row.line):
            left, right = (
                {name.removeprefix(side): value for name, value in row.fields.items() if name.startswith(side)}
                for side in (LEFT, RIGHT)
            )
            records = (known_values(left), known_values(right))
            found.append(ReadVerdict(*ids, verdict, row.get("note"), who, at, *records, row.line))
    return found
