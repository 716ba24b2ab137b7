"""The queue as a table, and a pair's position in it: its neighbours and the pages they are on."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.frame.glossary import WORDS
from pages.parts.frame.palette import FLIPPED, VERDICTS, of_label
from pages.parts.frame.text import short
from pages.parts.runs.run_files import page_of
from riskcore.audit import Verdict
from riskcore.audit.export import csv_text
from riskcore.audit.log_cache import Judged
from riskcore.columns import LEFT, RIGHT
from riskcore.runs import PairQuery, RunFolder, query_pairs
from riskcore.runs.readers.pair_detail import row_of
from riskcore.runs.readers.queries import place_of

CELL_CHARS = 160  # of a value in the table; the card shows all of it
DOWNLOAD_PAIRS = 10_000


@dataclasses.dataclass(frozen=True)
class QueuePosition:
    """A pair's position in the queue. Pages are given only where they differ from the current one."""

    previous: str | None = None
    next: str | None = None
    previous_page: int | None = None
    next_page: int | None = None
    number: int | None = None
    total: int = 0
    row: int | None = None  # in the data; None where the filters leave the pair out
    page: int = 1  # that the pair is on

    @property
    def words(self) -> str:
        if self.number is None:
            return f"The filters leave this pair out of the queue ({self.total:,} pairs)."
        return f"**{self.number:,}** of {self.total:,} in this queue"


def position_of(folder: RunFolder, query: PairQuery, page: int, pair: str, judged: Judged) -> QueuePosition:
    """The pair's neighbours, on its page or the next one. For a pair that the filters leave out, next is the first."""
    here = page_of(folder, dataclasses.replace(query, page=page), judged)
    ids = list(here.rows["pair_id"])
    if pair not in ids:
        place = place_of(folder, query, row_of(folder, pair), judged.verdicts)
        its_page = None if place is None else (place - 1) // query.page_size + 1
        if its_page is not None and its_page != here.page:
            return position_of(folder, query, its_page, pair, judged)
        return QueuePosition(next=ids[0] if ids else None, total=here.total, page=here.page)
    at = ids.index(pair)
    before, before_page, after, after_page = None, None, None, None
    if at > 0:
        before = ids[at - 1]
    elif here.page > 1:
        before, before_page = _edge(folder, query, here.page - 1, judged, -1), here.page - 1
    if at + 1 < len(ids):
        after = ids[at + 1]
    elif here.page < here.pages:
        after, after_page = _edge(folder, query, here.page + 1, judged, 0), here.page + 1
    number = (here.page - 1) * query.page_size + at + 1
    row = int(here.rows["row"].iloc[at])
    return QueuePosition(before, after, before_page, after_page, number, here.total, row, here.page)


def _edge(folder: RunFolder, query: PairQuery, page: int, judged: Judged, at: int) -> str | None:
    ids = list(page_of(folder, dataclasses.replace(query, page=page), judged).rows["pair_id"])
    return ids[at] if ids else None


def queue_table(rows: pd.DataFrame, attributes: list[str], proposed: bool = False) -> pd.DataFrame:
    """The rows of the queue as they are shown: scores as signs and words, then the values of both records. `proposed`:
    flips are proposals."""
    table = pd.DataFrame(
        {
            "risk": rows["risk"],
            "label": [of_label(int(label)).text for label in rows["label"]],
            "probability": rows["probability"],
            "flip": [_flip(bool(now), int(n), proposed) for now, n in zip(rows["flipped"], rows["flips"], strict=True)],
            "verdict": [VERDICTS[v].text if v in VERDICTS else "" for v in rows["verdict"]],
        }
    )
    for name in attributes:
        for side in ("left", "right"):
            values = rows[f"{side}_{name}"]
            table[f"{side} {name}"] = [None if pd.isna(v) else short(str(v), CELL_CHARS) for v in values]
    return table.assign(pair=list(rows["pair_id"]))


def score_columns(attributes: Sequence[str] = ()) -> dict[str, Any]:
    """The columns of every table of pairs: scores, and the values of these attributes."""
    value = st.column_config.TextColumn(width=210)
    return {
        "risk": st.column_config.ProgressColumn(
            min_value=0, max_value=1, format="%.2f", width="small", color="red", help=WORDS["risk"]
        ),
        "probability": st.column_config.NumberColumn(format="%.2f", width="small", help=WORDS["probability"]),
        "label": st.column_config.TextColumn(width=88, help=WORDS["match"]),
        "flip": st.column_config.TextColumn(width=112, help=WORDS["flipped"]),
        "verdict": st.column_config.TextColumn(width=88, help=WORDS["verdict"]),
        **{f"{side} {name}": value for name in attributes for side in ("left", "right")},
    }


def _flip(flipped: bool, flips: int, proposed: bool) -> str:
    if flipped:
        return f"{FLIPPED.sign} proposed" if proposed else FLIPPED.text
    return "↺ flipped back" if flips else ""


def queue_csv(
    folder: RunFolder, query: PairQuery, verdicts: Mapping[str, Verdict], hidden: Collection[str] = ()
) -> bytes:
    """The first pairs of the queue as CSV, without hidden attributes; formulas of a spreadsheet are escaped."""
    rows = query_pairs(folder, dataclasses.replace(query, page=1, page_size=DOWNLOAD_PAIRS), verdicts).rows
    left_out = [side + name for name in hidden for side in (LEFT, RIGHT)]
    return csv_text(rows.drop(columns=left_out)).encode("utf-8")
