"""Tables as files, chunk by chunk: csv, parquet, and a workbook with a sheet for each table. Whole or not at all."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from riskcore.audit.export import ExportError, safe_frame
from riskcore.data.formulas import safe_start
from riskcore.storage.files import ROWS_PER_GROUP, write_stream

MOST_ROWS = 1_048_575  # of a sheet below its header: what the format allows
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # a workbook cannot hold these characters

Chunks = Iterable[pd.DataFrame]  # tables with the same columns, one below the other; at least one


def write_csv_chunks(path: Path, chunks: Chunks) -> None:
    """The chunks as one csv file in UTF-8, without formulas."""

    def fill(stream: IO[bytes]) -> None:
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="")
        for number, chunk in enumerate(chunks):
            safe_frame(chunk).to_csv(text, index=False, header=number == 0, lineterminator="\n")
        text.flush()
        text.detach()  # the stream is closed by its owner, once it is on disk

    write_stream(path, fill)


def write_parquet_chunks(path: Path, chunks: Chunks, about: Mapping[str, str]) -> None:
    """The chunks as one parquet file, with the facts in its metadata."""

    def fill(stream: IO[bytes]) -> None:
        writer: pq.ParquetWriter | None = None
        schema: pa.Schema | None = None
        for chunk in chunks:
            if schema is None:
                schema = _schema(chunk).with_metadata(dict(about))
                writer = pq.ParquetWriter(stream, schema, compression="zstd")
            table = pa.Table.from_pandas(chunk, schema=schema, preserve_index=False).replace_schema_metadata(about)
            assert writer is not None  # made with the schema
            writer.write_table(table, row_group_size=ROWS_PER_GROUP * 16)
        if writer is not None:
            writer.close()

    write_stream(path, fill)


def write_workbook(path: Path, sheets: Mapping[str, Chunks]) -> None:
    """A sheet for each table. Cells are written one after the other and never held together."""
    from openpyxl import Workbook  # takes a moment to import, and few exports need it

    book = Workbook(write_only=True)
    for name, chunks in sheets.items():
        sheet, rows = book.create_sheet(name), 0
        sheet.freeze_panes = "A2"
        for number, chunk in enumerate(chunks):
            rows += len(chunk)
            if rows > MOST_ROWS:
                raise ExportError(
                    f"{path.name} would have more than {MOST_ROWS:,} rows on the sheet {name}, which is all that a "
                    "workbook holds. Export the matches only, or choose csv or parquet."
                )
            if number == 0:
                sheet.append([_cell(str(column)) for column in chunk.columns])
            for row in chunk.astype(object).where(chunk.notna(), None).itertuples(index=False, name=None):
                sheet.append([_cell(value) for value in row])
    write_stream(path, book.save)


def _cell(value: Any) -> Any:
    """A value as a workbook can hold it."""
    if isinstance(value, str):
        return safe_start(_NOT_IN_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", value))
    return value.item() if hasattr(value, "item") else value


def _schema(chunk: pd.DataFrame) -> pa.Schema:
    """The types of the columns; text where there is no other, as a column may be empty in one chunk and not in the
    next."""
    fields = []
    for name in chunk:
        plain = pd.api.types.is_object_dtype(chunk[name]) or pd.api.types.is_string_dtype(chunk[name])
        fields.append(pa.field(name, pa.large_string() if plain else pa.array(chunk[name], from_pandas=True).type))
    return pa.schema(fields)
