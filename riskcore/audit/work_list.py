"""Drawn pairs as a file for people who label in a spreadsheet. `riskcore.audit.exchange` takes the verdicts back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from riskcore.audit.decisions import values_of
from riskcore.audit.draws import DRAW, drawn_pairs, inclusion_of
from riskcore.audit.export import ExportError
from riskcore.audit.result_files import write_csv_chunks, write_parquet_chunks, write_workbook
from riskcore.audit.verdicts import verdicts_in
from riskcore.columns import LEFT, LEFT_ID, PAIR_ID, RIGHT, RIGHT_ID, ROW, VERDICT
from riskcore.data.label_file import INCLUSION
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids

FORMATS = (".csv", ".parquet", ".xlsx")


def check_work_list(path: Path) -> None:
    """Refuse a file that cannot be written."""
    if path.suffix.lower() not in FORMATS:
        raise ExportError(f"{path.name} has no known ending. Use one of {', '.join(FORMATS)}.")
    if not path.absolute().parent.is_dir():
        raise ExportError(f"The folder {path.absolute().parent} does not exist. Create it first.")


def work_list(folder: RunFolder, draw: int | None = None, who: str | None = None) -> pd.DataFrame:
    """The drawn pairs (of one draw, or of all) in their order: ids, this person's verdict so far, and both records,
    each attribute's two values side by side. Verdicts of others are left out: they would come back under one name."""
    drawn = drawn_pairs(folder)
    drawn = drawn if draw is None else drawn[drawn[DRAW] == draw]
    ids = read_pair_ids(folder.pairs_file).to_pandas()
    places = drawn[ROW].to_numpy(dtype=np.int64)
    current = {} if who is None else verdicts_in(folder.path, who)
    frame = ids.iloc[places][[PAIR_ID, LEFT_ID, RIGHT_ID]].reset_index(drop=True)
    frame[VERDICT] = [current[pair].verdict if pair in current else "" for pair in frame[PAIR_ID]]
    values = values_of(folder, places).reset_index(drop=True)
    names = [name.removeprefix(LEFT) for name in values if name.startswith(LEFT)]
    ordered = [side + name for name in names for side in (LEFT, RIGHT) if side + name in values]
    known = inclusion_of(folder)  # of every target pair, in their order
    inclusion = None if known is None else known[INCLUSION].to_numpy()[places]
    return pd.concat([frame, values[ordered]], axis=1).assign(**{INCLUSION: inclusion})


def write_work_list(folder: RunFolder, path: Path, draw: int | None = None, who: str | None = None) -> int:
    """Write the work list in the form that the file's ending names; returns its number of pairs."""
    check_work_list(path)
    frame = work_list(folder, draw, who)
    return write_rows(folder, path, frame)


def write_rows(folder: RunFolder, path: Path, frame: pd.DataFrame) -> int:
    """Write a frame as a work list; returns the number of its rows."""
    ending = path.suffix.lower()
    if ending == ".csv":
        write_csv_chunks(path, [frame])
    elif ending == ".parquet":
        write_parquet_chunks(path, [frame], {"run": folder.path.name})
    else:
        write_workbook(path, {"work list": [frame]})
    return len(frame)
