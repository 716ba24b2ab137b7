"""The pairs of an audit as a file for people who judge in a spreadsheet. `riskcore audit import` takes it back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from riskcore.audit.decisions import values_of
from riskcore.audit.estimate.runs import audited_pairs
from riskcore.audit.outside_draws import outside_pairs
from riskcore.audit.work_list import check_work_list, write_rows
from riskcore.columns import LEFT, LEFT_ID, PAIR_ID, RIGHT, RIGHT_ID, ROW, VERDICT
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids


def audit_list(folder: RunFolder, number: int | None = None) -> pd.DataFrame:
    """The pairs of one audit, or of all, in the order to judge them: ids, an empty verdict, and both records.

    It does not say how a pair is labelled nor how risky it is: that would sway the verdict.
    """
    places = audited_pairs(folder, number)[ROW].to_numpy(dtype=np.int64)
    ids = read_pair_ids(folder.pairs_file).to_pandas()
    frame = ids.iloc[places][[PAIR_ID, LEFT_ID, RIGHT_ID]].reset_index(drop=True)
    return _list(frame, values_of(folder, places).reset_index(drop=True))


def outside_list(folder: RunFolder, number: int | None = None) -> pd.DataFrame:
    """The same of pairs that were drawn outside the candidates."""
    drawn = outside_pairs(folder, number)
    return _list(drawn[[PAIR_ID, LEFT_ID, RIGHT_ID]], drawn)


def _list(ids: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    sides = {side: [str(name) for name in values if str(name).startswith(side)] for side in (LEFT, RIGHT)}
    attributes = dict.fromkeys(name.removeprefix(side) for side, names in sides.items() for name in names)
    ordered = [side + name for name in attributes for side in (LEFT, RIGHT) if side + name in sides[side]]
    return pd.concat([ids.assign(**{VERDICT: ""}), values[ordered]], axis=1)


def write_audit_list(folder: RunFolder, path: Path, number: int | None = None, outside: bool = False) -> int:
    """Write them in the form that the file's ending names; returns the number of pairs."""
    check_work_list(path)
    return write_rows(folder, path, (outside_list if outside else audit_list)(folder, number))
