"""Reading parquet files as text, by one rule for each type, so that csv and parquet give the same records.

Strings stay as they are; integers and decimals are written in full, floats in the shortest form that reads
back the same (`1999.0`), booleans as 1 and 0, dates and times in ISO form; null is missing. Columns of lists,
structs or maps are refused, as are bytes that are not UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from riskcore.config import DataConfig
from riskcore.data.parquet_content import read_columns
from riskcore.data.problems import ProblemLog, shown
from riskcore.data.text_file import (
    TextFile,
    TooMuchContentError,
    column_names,
    file_too_large,
    too_many_columns,
    too_many_rows,
    too_much_content,
)


def read_parquet(path: Path, file: str, log: ProblemLog, config: DataConfig) -> TextFile | None:
    """The file's cells as text, with all its faults logged under the name `file`; None if it cannot be read."""
    try:
        with pq.ParquetFile(path) as source:
            if not _fits(source, file, log, config):
                return None
            schema, rows = source.schema_arrow, source.metadata.num_rows
        cells = read_columns(path, path.stat().st_size + config.max_decoded_bytes)
    except MemoryError:  # one of pyarrow's errors too, and not about the content
        raise
    except TooMuchContentError as error:
        too_much_content(error.size, file, log, config)
        return None
    except (pa.ArrowException, ValueError, OSError) as error:
        if getattr(error, "errno", None) is not None:  # the disk's fault, not the content's
            raise
        reason = str(error).split("\n")[0]
        log.add("corrupt_parquet", f"The file is not readable as parquet: {shown(reason)}.", "Write it again.", file)
        return None
    names = column_names(list(schema.names), file, log)
    texts = {name: text_column(cells[number], name, file, log) for number, name in enumerate(names) if name}
    columns = {name: text for name, text in texts.items() if text is not None}
    return TextFile(file, pa.table(columns), np.arange(1, rows + 1, dtype=np.int64))


def _fits(source: pq.ParquetFile, file: str, log: ProblemLog, config: DataConfig) -> bool:
    width, length = len(source.schema_arrow.names), source.metadata.num_rows
    if width > config.max_columns:
        too_many_columns(width, file, log, config)
    if length > config.max_rows:
        too_many_rows(file, None, log, config)
    groups = (source.metadata.row_group(number) for number in range(source.metadata.num_row_groups))
    size = sum(group.total_byte_size for group in groups)
    if size > config.max_file_bytes:
        file_too_large(size, file, log, config)
    return width <= config.max_columns and length <= config.max_rows and size <= config.max_file_bytes


def text_column(
    column: pa.ChunkedArray, name: str, file: str, log: ProblemLog, first_row: int = 1
) -> pa.ChunkedArray | None:
    """The column as text; None, and logged, if its type has no rule or its values do not fit their type."""
    if pa.types.is_nested(column.type):
        message = f"The column holds {shown(str(column.type))}, not single values."
        log.add("nested_column", message, "Write it as text.", file, None, name)
        return None
    try:
        return _text(column, name, file, log, first_row)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError, OverflowError):
        message = f"The column cannot be written as text from {shown(str(column.type))}."
        log.add("corrupt_parquet", message, "Write it as text.", file, None, name)
        return None


def _text(column: pa.ChunkedArray, name: str, file: str, log: ProblemLog, first_row: int) -> pa.ChunkedArray:
    """The column as text, by the rule of its type."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_bytes(column.type):
        return _decoded(column, name, file, log, first_row)
    if pa.types.is_floating(column.type):
        # numpy's own types: a float32 is written with the digits of a float32
        known = ~column.is_null().to_numpy()
        return _strings(
            str(value) if is_known else None for value, is_known in zip(column.to_numpy(), known, strict=True)
        )
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8()).cast(pa.large_string())
    if pa.types.is_temporal(column.type):
        return _strings(_iso(moment) for moment in column.to_pylist())
    return column.cast(pa.large_string())


def _strings(texts: Iterable[str | None]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(list(texts), pa.large_string())])


def _iso(moment: Any) -> str | None:
    if moment is None:
        return None
    return str(moment.isoformat()) if hasattr(moment, "isoformat") else str(moment)


def _is_bytes(kind: pa.DataType) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    views = (pa.types.is_string_view, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in (*tests, *views))


def _decoded(column: pa.ChunkedArray, name: str, file: str, log: ProblemLog, first_row: int) -> pa.ChunkedArray:
    """Strings and bytes as valid text; neither parquet nor its reader promises UTF-8."""
    raw = column.cast(pa.large_binary())
    text = raw.cast(pa.large_string(), safe=False)
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        text = _repaired(raw, name, file, log, first_row)
    nul = pc.match_substring(text, "\0").to_numpy()
    rows = np.flatnonzero(nul == True) + first_row  # noqa: E712  (null, where missing, is neither)
    log.add_rows("nul_byte", rows, lambda _: "A cell holds a NUL byte.", "Remove it.", file, name)
    return text


def _repaired(raw: pa.ChunkedArray, name: str, file: str, log: ProblemLog, first_row: int) -> pa.ChunkedArray:
    texts: list[str | None] = []
    for row, cell in enumerate(raw.to_pylist(), start=first_row):
        text = None if cell is None else cell.decode("utf-8", "replace")
        if cell is not None and text is not None and text.encode() != cell:
            message = f"A cell holds bytes that are not UTF-8: {shown(cell.decode('utf-8', 'backslashreplace'))}."
            log.add("broken_encoding", message, "Write the column as UTF-8 text.", file, row, name)
        texts.append(text)
    return _strings(texts)
