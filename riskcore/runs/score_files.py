"""Reading score files, whichever version wrote them. Here it is decided what `flipped` means to every reader.

A pair is flipped if its label is another than in iteration 0. Version 0.1 stored that as `changed`, and used the name
`flipped` for another label than in the iteration before; that is `from_label <> label` in files of every version.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from riskcore.columns import SCORE_COLUMNS
from riskcore.errors import StorageError
from riskcore.storage.parquet import scan, take_rows

FLIPPED = "flipped"
_NAMES_0_1 = {FLIPPED: "changed", "var_non_match": "var_unmatch"}  # by today's name
_SIGN_OF_0_1 = _NAMES_0_1[FLIPPED]  # no later version has such a column


def scan_scores(file: Path) -> str:
    """The scores as a table in a query."""
    if not _of_0_1(file):
        return scan(file)
    stored = ", ".join({FLIPPED, *_NAMES_0_1.values()})
    renamed = ", ".join(f"{old} AS {new}" for new, old in _NAMES_0_1.items())
    return f"(SELECT * EXCLUDE ({stored}), {renamed} FROM {scan(file)})"


def take_scores(file: Path, rows: Sequence[int] | np.ndarray, columns: Sequence[str] = SCORE_COLUMNS) -> pa.Table:
    """These columns of some rows, in the order asked."""
    if not _of_0_1(file):
        return take_rows(file, rows, columns)
    stored = [_NAMES_0_1.get(name, name) for name in columns]
    return take_rows(file, rows, stored).select(stored).rename_columns(list(columns))


def _of_0_1(file: Path) -> bool:
    try:
        return _SIGN_OF_0_1 in pq.read_schema(file).names
    except (OSError, pa.ArrowInvalid) as error:
        raise StorageError(f"{file} cannot be read: {error}.") from error
