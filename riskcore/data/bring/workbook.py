"""Reading a sheet of an xlsx workbook as text, within the caps."""

from __future__ import annotations

import datetime
import itertools
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from riskcore.config import DataConfig
from riskcore.data.problems import ProblemLog, shown
from riskcore.data.text_file import (
    Budget,
    TextFile,
    TooMuchContentError,
    column_names,
    file_too_large,
    too_many_columns,
    too_many_rows,
    too_much_content,
)

Row = tuple[int, list[str | None]]


def sheet_names(path: Path) -> tuple[str, ...]:
    """The workbook's sheets that hold cells; none if it cannot be read."""
    try:
        book = _open(path)
    except _FAULTS:
        return ()
    try:
        return tuple(sheet.title for sheet in book.worksheets)
    finally:
        book.close()


def read_workbook(
    path: Path, file: str, log: ProblemLog, config: DataConfig, sheet: str | None = None
) -> TextFile | None:
    """The cells of one sheet, the first unless named, with all faults logged under the name `file`."""
    if not _fits(path, file, log, config):
        return None
    try:
        book = _open(path)
    except _FAULTS as error:
        message = f"The file is not readable as a workbook: {shown(str(error))}."
        log.add("corrupt_workbook", message, "Save it again as xlsx, without a password, or as csv.", file)
        return None
    try:
        names = [one.title for one in book.worksheets]
        if sheet is not None and sheet not in names:
            found = ", ".join(shown(name) for name in names[:10])
            log.add("unknown_sheet", f"There is no sheet {shown(sheet)}.", f"Choose one of {found}.", file)
            return None
        chosen = book[sheet] if sheet is not None else book.worksheets[0]
        return _collect(_rows(chosen, Budget.of_file(path, config)), file, log, config)
    except TooMuchContentError as error:
        too_much_content(error.size, file, log, config)
        return None
    except _FAULTS as error:
        message = f"The sheet cannot be read: {shown(str(error))}."
        log.add("corrupt_workbook", message, "Save it again as xlsx, or as csv.", file)
        return None
    finally:
        book.close()


# What openpyxl raises for files that are no workbooks, or damaged ones: its own errors, and those of zip and XML.
_FAULTS = (
    OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, SyntaxError, zipfile.BadZipFile, zlib.error,
    EOFError, NotImplementedError, RuntimeError,
)  # fmt: skip


def _open(path: Path) -> Any:
    import openpyxl  # takes a moment, which only workbooks need

    return openpyxl.load_workbook(path, read_only=True, data_only=True)


def _fits(path: Path, file: str, log: ProblemLog, config: DataConfig) -> bool:
    """Whether the unpacked workbook is within the cap for files: a workbook is a zip archive."""
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(member.file_size for member in packed.infolist())
    except (zipfile.BadZipFile, OSError):
        return True  # opening it says what is wrong
    if size > config.max_file_bytes:
        file_too_large(size, file, log, config)
    return size <= config.max_file_bytes


def _rows(sheet: Any, budget: Budget) -> Iterator[Row]:
    """Number and cells of each row that is not blank. Blank cells count too: one cell far to the right makes many."""
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        texts = [cell_text(cell) for cell in cells]
        budget.take(len(texts), sum(len(text) for text in texts if text is not None))
        if any(text is not None and text.strip() for text in texts):
            yield number, texts


def cell_text(value: Any) -> str | None:
    """A cell as the text that a csv would have; a date without a time is written as a date."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _collect(rows: Iterator[Row], file: str, log: ProblemLog, config: DataConfig) -> TextFile | None:
    first = next(rows, None)
    if first is None:
        log.add("empty_file", "The sheet is empty.", "Give it a header row and records, or choose another.", file)
        return None
    header = _trimmed(first[1])
    if len(header) > config.max_columns:
        too_many_columns(len(header), file, log, config)
        return None
    names = column_names([name or "" for name in header], file, log)
    kept = list(itertools.islice(rows, config.max_rows + 1))
    if len(kept) > config.max_rows:
        too_many_rows(file, kept.pop()[0], log, config)
    columns = {
        name: pa.array([_at(cells, place) for _, cells in kept], pa.large_string())
        for place, name in enumerate(names)
        if name is not None
    }
    return TextFile(file, pa.table(columns), np.array([number for number, _ in kept], dtype=np.int64))


def _trimmed(header: list[str | None]) -> list[str | None]:
    """The header without empty cells at its end, which formatting leaves behind."""
    while header and not (header[-1] or "").strip():
        header = header[:-1]
    return header


def _at(cells: list[str | None], place: int) -> str | None:
    return cells[place] if place < len(cells) else None
