"""The labels table of Splink (`linker.table_management.register_labels_table`): `unique_id_l`, `source_dataset_l`,
`unique_id_r`, `source_dataset_r`, `clerical_match_score`. Record values have the endings `_l` and `_r`, as in Splink's
own tables of pairs; Splink does not need them.

A score is 1 for a match, 0 for a non-match and 0.5 for unsure. Splink compares it with a threshold, 0.5 by default, so
rows with 0.5 are to be removed before it evaluates by them, and so are rows without a score, which it takes as
non-matches. Texts are written as they are: ids must stay the same. Do not open the file in a spreadsheet.
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
from riskcore.audit.exchange.plain import VERDICT, said
from riskcore.audit.exchange.tables import TableRow, write_table
from riskcore.columns import PAIR_ID

SCORE = "clerical_match_score"
ID, SOURCE = "unique_id", "source_dataset"
LEFT_END, RIGHT_END = "_l", "_r"
KEYS = (ID + LEFT_END, SOURCE + LEFT_END, ID + RIGHT_END, SOURCE + RIGHT_END)
TABLES, ONE_TABLE = ("left_table", "right_table"), ("records", "records")  # `left` is a word of SQL
SCORES = {MATCH: "1.0", NON_MATCH: "0.0", UNSURE: "0.5"}


def recognised(columns: Sequence[str]) -> bool:
    return SCORE in columns


def write(pairs: Sequence[ExchangedPair]) -> bytes:
    names = dict.fromkeys(name for pair in pairs for record in (pair.left, pair.right) for name in record)
    values = [_column(name) + end for name in names for end in (LEFT_END, RIGHT_END)]
    rows = []
    for pair in pairs:
        sources = ONE_TABLE if pair.self_join else TABLES
        ids = dict(zip(KEYS, (pair.left_id, sources[0], pair.right_id, sources[1]), strict=True))
        records = {_column(name) + LEFT_END: value for name, value in pair.left.items()}
        records |= {_column(name) + RIGHT_END: value for name, value in pair.right.items()}
        for one in pair.verdicts or (None,):
            score = {} if one is None else {SCORE: SCORES[one.verdict]}
            rows.append({**ids, **score, PAIR_ID: pair.pair_id, **said(one), **records})
    return write_table((*KEYS, SCORE, *SAID, *values), rows)


def read(rows: Sequence[TableRow], reading: Reading) -> list[ReadVerdict]:
    found = []
    for row in rows:
        verdict = reading.score(row.get(SCORE), row.line, SCORE)
        stated = reading.verdict(row.get(VERDICT), row.line, VERDICT)
        if stated and stated != verdict:
            cure = "The score counts for Splink: make both say the same."
            reading.add("bad_label", f"The verdict is {stated}, and the score says otherwise.", cure, row.line, VERDICT)
        ends = (LEFT_END, RIGHT_END)
        if (row.get(KEYS[3]), row.get(KEYS[1])) == TABLES:  # Splink puts the lower id to the left
            ends = (RIGHT_END, LEFT_END)
        ids = (row.get(PAIR_ID), row.get(ID + ends[0]), row.get(ID + ends[1]))
        at = reading.time(row.get("at"), row.line, "at")
        if verdict and reading.has_ids(*ids, row.line):
            records = (_record(row, ends[0]), _record(row, ends[1]))
            found.append(ReadVerdict(*ids, verdict, row.get("note"), row.get("who"), at, *records, row.line))
    return found


def _column(name: str) -> str:
    return escaped(name, name in (ID, SOURCE))


def _record(row: TableRow, end: str) -> Mapping[str, str]:
    fields = {name.removesuffix(end): value for name, value in row.fields.items() if name.endswith(end)}
    own = {name: value for name, value in fields.items() if name not in (ID, SOURCE)}
    return known_values({name.removeprefix(ESCAPE): value for name, value in own.items()})
