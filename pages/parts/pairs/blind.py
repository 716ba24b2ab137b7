"""The queue in blind random order: pairs one after the other, without anything that a model or another person says.

Only what tells nothing of the label can filter it, and the list and the card show records and your own verdicts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pandas as pd
import streamlit as st

from pages.parts.frame.palette import VERDICTS
from pages.parts.pairs.masks import show_judged_records
from pages.parts.pairs.queue_list import QueueRow, record_text
from pages.parts.runs.run_files import types_of
from pages.parts.runs.run_picker import View
from riskcore.columns import RANDOM
from riskcore.runs import PairDetail, PairQuery

CAPTION = (
    "Random order, the same for everyone in this run. Neither label, probability, risk, reasons nor the verdicts of "
    "others are shown. Your verdicts are recorded like any other, but they are no part of an estimate: for one, judge "
    "the pairs that are drawn on Label & audit, Estimate."
)


def asks_blind() -> bool:
    """Whether the address asks for the blind order."""
    return st.query_params.get("sort") == RANDOM


def is_blind(query: PairQuery) -> bool:
    return query.sort == RANDOM


def show_blind_records(view: View, detail: PairDetail) -> None:
    """Both records and nothing else."""
    types = {name: str(kind) for name, kind in types_of(view.folder).items()}
    show_judged_records(view.run.id, detail.pair_id, detail.left, detail.right, types)


def blind_rows(
    rows: pd.DataFrame, attributes: Sequence[str], opened: str | None = None, hidden: Collection[str] = ()
) -> list[QueueRow]:
    """A page of the queue as records, each with your own verdict if you gave one."""
    return [
        QueueRow(
            id=str(row["pair_id"]),
            verdict=f"judged {VERDICTS[row['verdict']].text}" if row.get("verdict") in VERDICTS else "",
            left=record_text(row, "left_", attributes, hidden),
            right=record_text(row, "right_", attributes, hidden),
            open=row["pair_id"] == opened,
        )
        for row in rows.to_dict("records")
    ]
