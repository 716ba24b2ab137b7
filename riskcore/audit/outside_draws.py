"""Pairs that were drawn outside a run's candidates, to see what blocking missed: their files, ids and records.

`audits/outside-01.parquet` is a draw, with both records of each pair. `riskcore.audit.estimate.outside` makes them.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from riskcore.columns import LEFT, LEFT_ID, PAIR_ID, RIGHT, RIGHT_ID
from riskcore.runs.folder import RunFolder
from riskcore.storage.parquet import load_columns

AUDITS = "audits"
LEFT_ROW, RIGHT_ROW, RING, ORDER = "lrow", "rrow", "ring", "order"
FAR = -2  # the ring of a pair beyond the wider search


def outside_draws(folder: RunFolder) -> list[Path]:
    """The files of the draws, in order."""
    return sorted((folder.path / AUDITS).glob("outside-*.parquet"), key=lambda file: int(file.stem.rpartition("-")[2]))


def outside_pairs(folder: RunFolder, number: int | None = None) -> pd.DataFrame:
    """The drawn pairs of one draw, or of all, in the order in which to judge them: ids, ring, and both records."""
    files = [file for place, file in enumerate(outside_draws(folder), start=1) if number in (None, place)]
    parts = [load_columns(file).to_pandas() for file in files]
    empty = pd.DataFrame(columns=[PAIR_ID, LEFT_ID, RIGHT_ID, LEFT_ROW, RIGHT_ROW, RING, ORDER])
    return pd.concat(parts, ignore_index=True) if parts else empty


def outside_ids(folder: RunFolder) -> pd.DataFrame:
    """The ids of the drawn pairs and of their records: verdicts on these pairs are recorded, though they are no
    candidates of the run."""
    return outside_pairs(folder)[[PAIR_ID, LEFT_ID, RIGHT_ID]]


def outside_records(folder: RunFolder) -> dict[str, tuple[dict[str, str | None], dict[str, str | None]]]:
    """Both records of every drawn pair, by its id, in the order in which to judge them."""
    frame = outside_pairs(folder)
    found = {}
    for row in frame.to_dict("records"):
        sides = [
            {
                name.removeprefix(side): None if pd.isna(value) else str(value)
                for name, value in row.items()
                if str(name).startswith(side)
            }
            for side in (LEFT, RIGHT)
        ]
        found[str(row[PAIR_ID])] = (sides[0], sides[1])
    return found
