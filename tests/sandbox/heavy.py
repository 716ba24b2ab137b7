"""Files that are small, and within the caps of the readers, but take much memory or time to check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def write_heavy(path: Path, rows: int = 60_000) -> None:
    """Two thousand characters in every cell, which are in the file once."""
    codes = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array(["x y" * 667]))
    pq.write_table(pa.table({"left_name": codes, "right_name": codes}), path, compression="zstd")
