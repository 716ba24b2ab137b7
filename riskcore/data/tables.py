"""Reading one file, csv or parquet, as text within the caps."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riskcore.config import DataConfig
from riskcore.data.csv_file import read_csv
from riskcore.data.parquet_file import read_parquet
from riskcore.data.problems import ProblemLog
from riskcore.data.text_file import TextFile, file_too_large

FORMATS = (".csv", ".parquet")


def read_text_file(path: Path, log: ProblemLog, config: DataConfig) -> TextFile | None:
    """The file as text with all its faults logged; None if nothing of it can be used."""
    file = path.name
    try:
        if not is_readable(path, log, config):
            return None
        read = read_csv if path.suffix == ".csv" else read_parquet
        found = read(path, file, log, config)
    except OSError as error:
        reason = error.strerror or str(error)
        log.add("unreadable_file", f"The file cannot be read: {reason}.", "Check its permissions.", file)
        return None
    return None if found is None else capped(found, log, config)


def is_readable(path: Path, log: ProblemLog, config: DataConfig) -> bool:
    """Whether it is a regular file within the cap; logged if not."""
    if not path.is_file():
        log.add("unreadable_file", "This is not a regular file.", "Put a csv or parquet file there.", path.name)
        return False
    size = path.stat().st_size
    if size > config.max_file_bytes:
        file_too_large(size, path.name, log, config)
    return size <= config.max_file_bytes


def capped(file: TextFile, log: ProblemLog, config: DataConfig) -> TextFile:
    """The file without cells that are too long: each is logged and taken out."""
    table = file.columns
    for number, name in enumerate(table.column_names):
        lengths = pc.utf8_length(table.column(number))
        if (pc.max(lengths).as_py() or 0) <= config.max_cell_chars:
            continue
        _log_long(lengths, name, file, log, config)
        short = pc.if_else(pc.greater(lengths, config.max_cell_chars), None, table.column(number))
        table = table.set_column(number, name, short)
    return dataclasses.replace(file, columns=table)


def _log_long(lengths: pa.ChunkedArray, name: str, file: TextFile, log: ProblemLog, config: DataConfig) -> None:
    long = np.flatnonzero(pc.greater(pc.fill_null(lengths, 0), config.max_cell_chars).to_numpy())
    counts = lengths.to_numpy()

    def describe(position: int) -> str:
        return f"A cell has {int(counts[long[position]]):,} characters; at most {config.max_cell_chars:,} are read."

    log.add_rows(
        "cell_too_long", file.rows[long], describe, "Close a broken quote, or shorten the cell.", file.name, name
    )
