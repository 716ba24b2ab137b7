"""Reading csv files tolerantly: every fault of a file is logged with its row, and reading continues after it.

Comma separated, quoted with `"` (doubled inside a cell), UTF-8 with or without a byte order mark, any line
ending, blank lines skipped; another delimiter or encoding is given as a `CsvForm`. Cells come out as the text that is
there; what counts as missing is decided later.
"""

from __future__ import annotations

import codecs
import csv
import dataclasses
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np
import pyarrow as pa

from riskcore.config import DataConfig
from riskcore.data.problems import ProblemLog, shown
from riskcore.data.text_file import (
    Budget,
    TextFile,
    TooMuchContentError,
    column_names,
    too_many_columns,
    too_many_rows,
    too_much_content,
)

_SCAN_BYTES = 1 << 20
_FLUSH_ROWS = 50_000  # rows held as Python lists before they become columns
_FLUSH_CELLS = 2_000_000  # or cells, in a wide file
_LINE_CELLS = 16  # times `max_cell_chars`: a longer line, or record of several, is none
_FIELD_LIMIT = 2**31 - 1  # the csv module's own limit (131,072 by default) would end the reading, not report
_REREAD_CHARS = 50_000_000  # after this much reading twice, quoting cannot be repaired and reading stops
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UNREADABLE = "\ufffd"  # stands for bytes that mean nothing in the file's encoding
_UTF8 = ("utf-8", "utf-8-sig")


@dataclasses.dataclass(frozen=True)
class CsvForm:
    """How the text of a csv file is written."""

    delimiter: str = ","
    encoding: str = "utf-8"

    @property
    def is_utf8(self) -> bool:
        return self.encoding in _UTF8


STANDARD = CsvForm()


def read_csv(path: Path, file: str, log: ProblemLog, config: DataConfig, form: CsvForm = STANDARD) -> TextFile | None:
    """The file's cells, with all its faults logged under the name `file`; None if it cannot be read at all."""
    if form.is_utf8 and _is_utf16(path):
        log.add("broken_encoding", "The file is UTF-16, not UTF-8.", "Save it as UTF-8.", file)
        return None
    suspect = _scan(path) if form.is_utf8 else True
    csv.field_size_limit(max(_FIELD_LIMIT, csv.field_size_limit()))
    encoding = "utf-8-sig" if form.is_utf8 else form.encoding
    errors = "replace" if _is_wide(form) else "surrogateescape"  # which UTF-16 does not know
    with path.open(encoding=encoding, errors=errors, newline="") as lines:
        records = _records(_Lines(lines, _LINE_CELLS * config.max_cell_chars), file, log, form.delimiter)
        try:
            return _table(records, suspect, Budget.of_file(path, config), file, log, config, form)
        except _LineTooLongError as error:
            message = f"The line is longer than {_LINE_CELLS * config.max_cell_chars:,} characters."
            cure = "Check the file's line ends and quotes: this is no line of a table."
            log.add("line_too_long", message, cure, file, error.row)
        except TooMuchContentError as error:
            too_much_content(error.size, file, log, config)
    return None


def _table(
    records: Iterator[tuple[int, list[str], bool]],
    suspect: bool,
    budget: Budget,
    file: str,
    log: ProblemLog,
    config: DataConfig,
    form: CsvForm,
) -> TextFile | None:
    """The header, and the records under it."""
    _, header, _ = next(records, (0, None, False))
    if header is None:
        log.add("empty_file", "The file is empty.", "Give it a header row and records.", file)
        return None
    if len(header) > config.max_columns:
        too_many_columns(len(header), file, log, config)
        return None
    header = [_clean(name, 1, f"#{number}", file, log, form) for number, name in enumerate(header, start=1)]
    return _collect(records, column_names(header, file, log), suspect, budget, file, log, config, form)


def _is_wide(form: CsvForm) -> bool:
    return form.encoding.startswith(("utf-16", "utf-32"))


def _scan(path: Path) -> bool:
    """Whether the file has NUL bytes or bytes that are not UTF-8. A clean file is spared the check of each cell."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as stream:
        while chunk := stream.read(_SCAN_BYTES):
            if b"\0" in chunk or not _decodes(decoder, chunk):
                return True
    return not _decodes(decoder, b"", final=True)


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


def _is_utf16(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(2) in _UTF16


class _LineTooLongError(Exception):
    """A line without an end."""

    def __init__(self, row: int) -> None:
        self.row = row
        super().__init__(row)


class _Lines:
    """The lines of a file; those of the record being read are kept, so that reading can go back to the second. A quote
    that is not closed does not swallow more than the longest line."""

    def __init__(self, lines: TextIO, most_chars: int) -> None:
        self._lines, self._most = lines, most_chars
        self._chars = 0  # of the record being read
        self._again: deque[str] = deque()
        self._record: list[str] = []
        self.number = 0  # of the line handed out last
        self.reread_chars = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._next_line()
        self._record.append(line)
        self.number += 1
        self._chars += len(line)
        if self._chars > self._most:
            raise csv.Error("the record has no end")
        return line

    def _next_line(self) -> str:
        line = self._lines.readline(self._most + 1)
        if not line:
            raise StopIteration
        if len(line) > self._most:
            raise _LineTooLongError(self.number + 1)
        return line

    def start_record(self) -> None:
        self._record.clear()
        self._chars = 0

    def go_back(self) -> str:
        """The record's first line; reading continues with the line after it."""
        first, *rest = self._record
        self._again.extendleft(reversed(rest))
        self.number -= len(rest)
        self.reread_chars += sum(map(len, rest))
        return first


def _records(
    lines: _Lines, file: str, log: ProblemLog, delimiter: str = STANDARD.delimiter
) -> Iterator[tuple[int, list[str], bool]]:
    """Row number and fields of each record that is not blank, and whether its quotes were broken.

    A quote that is not closed swallows the lines after it. Such a record is read again as its first line
    alone, and reading continues with the second: one bad quote affects one row, not the rest of the file.
    """
    reader = csv.reader(lines, strict=True, delimiter=delimiter)
    while True:
        lines.start_record()
        row = lines.number + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error:
            cure = 'Close the quote, and double each " that belongs to the text.'
            if lines.reread_chars > _REREAD_CHARS:
                log.add(
                    "broken_quote", "Quotes are broken in too many places; reading stopped here.", cure, file, row, "*"
                )
                return
            log.add("broken_quote", "A quoted cell is not closed properly.", cure, file, row)
            yield row, next(csv.reader([lines.go_back()], delimiter=delimiter)), True
            reader = csv.reader(lines, strict=True, delimiter=delimiter)
            continue
        if len(fields) > 1 or (fields and fields[0].strip()):
            yield row, fields, False


def _collect(
    records: Iterator[tuple[int, list[str], bool]],
    names: list[str | None],
    suspect: bool,
    budget: Budget,
    file: str,
    log: ProblemLog,
    config: DataConfig,
    form: CsvForm,
) -> TextFile:
    """All records as columns. Ragged rows are padded or cut, so that their ids are still known to other files."""
    numbers: list[int] = []
    chunks: list[pa.Table] = []
    held: list[list[str]] = []
    flush = min(_FLUSH_ROWS, max(_FLUSH_CELLS // max(len(names), 1), 1))
    for row, fields, broken in records:
        if len(numbers) == config.max_rows:
            too_many_rows(file, row, log, config)
            break
        if len(fields) != len(names):
            fields = _squared(fields, row, len(names), file, log, known=broken)
        if suspect:
            fields = [_clean(field, row, name, file, log, form) for name, field in zip(names, fields, strict=True)]
        numbers.append(row)
        held.append(fields)
        if len(held) == flush:
            chunks.append(_columns(held, names, budget))
            held = []
    chunks.append(_columns(held, names, budget))
    return TextFile(file, pa.concat_tables(chunks), np.array(numbers, dtype=np.int64))


def _squared(fields: list[str], row: int, width: int, file: str, log: ProblemLog, known: bool) -> list[str]:
    """The fields padded or cut to the header's width; logged unless a broken quote already explains it."""
    message = f"The row has {len(fields):,} fields, the header {width:,}."
    cure = "Quote cells that hold the delimiter." if len(fields) > width else "Add the missing delimiters."
    if not known:
        log.add("ragged_row", message, cure, file, row)
    return (fields + [""] * (width - len(fields)))[:width]


def _clean(cell: str, row: int, column: str | None, file: str, log: ProblemLog, form: CsvForm) -> str:
    """The cell with broken bytes and NULs replaced, both logged."""
    if "\0" in cell:
        log.add("nul_byte", "A cell holds a NUL byte.", "Remove it.", file, row, column)
    elif _is_wide(form) and _UNREADABLE in cell:
        log.add(
            "broken_encoding", f"A cell is not valid {form.encoding}: {shown(cell)}.", _cure(form), file, row, column
        )
    if not cell.isascii() and any("\udc80" <= char <= "\udcff" for char in cell):
        broken = cell.encode(form.encoding, "surrogateescape")
        named = "UTF-8" if form.is_utf8 else form.encoding
        message = f"A cell holds bytes that are not {named}: {shown(broken.decode(form.encoding, 'backslashreplace'))}."
        log.add("broken_encoding", message, _cure(form), file, row, column)
        cell = broken.decode(form.encoding, "replace")
    return cell.replace("\0", _UNREADABLE)  # last: not every encoding has the sign


def _cure(form: CsvForm) -> str:
    return "Save the file as UTF-8." if form.is_utf8 else "Choose another encoding, or save the file as UTF-8."


def _columns(rows: list[list[str]], names: list[str | None], budget: Budget) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    arrays = {name: pa.array(cells, pa.large_string()) for name, cells in zip(names, columns, strict=True) if name}
    table = pa.table(arrays) if arrays else pa.table({})
    budget.take(0, table.nbytes)
    return table
