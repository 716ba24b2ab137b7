"""What reading a file of either format gives: text columns with row numbers, under usable names, within the caps."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from riskcore.config import DataConfig
from riskcore.data.problems import ProblemLog, shown


@dataclasses.dataclass(frozen=True)
class Columns:
    """A file's cells as text columns, and the row in the file of each record."""

    table: pa.Table
    rows: np.ndarray


def file_too_large(size: int, file: str, log: ProblemLog, config: DataConfig) -> None:
    message = f"The file has {size:,} bytes; at most {config.max_file_bytes:,} are read."
    log.add("file_too_large", message, "Split the file, or raise max_file_bytes.", file)


def too_many_columns(count: int, file: str, log: ProblemLog, config: DataConfig) -> None:
    message = f"The header has {count:,} columns; at most {config.max_columns:,} are read."
    log.add_header("too_many_columns", message, "Check the delimiter, or raise max_columns.", file)


def column_names(names: list[str], file: str, log: ProblemLog) -> list[str | None]:
    """Trimmed names, None for a column that cannot be used because it has no name or a repeated one."""
    usable: list[str | None] = []
    for position, name in enumerate(name.strip() for name in names):
        if not name:
            message = f"Column number {position + 1} has no name."
            log.add_header("empty_column_name", message, "Name it or delete it.", file, f"#{position + 1}")
        elif name in usable:
            log.add_header("duplicate_column", f"Two columns are named {shown(name)}.", "Rename one.", file, name)
        usable.append(None if not name or name in usable else name)
    return usable


def too_many_rows(file: str, row: int | None, log: ProblemLog, config: DataConfig) -> None:
    message = f"The file has more than {config.max_rows:,} records."
    log.add("too_many_rows", message, "Split the file, or raise max_rows.", file, row)
