"""csv files that come back as they were written: every field is quoted, so line breaks and empty texts survive."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from riskcore.audit.exchange.pairs import Reading
from riskcore.columns import VERDICT
from riskcore.config import DataConfig
from riskcore.data.formulas import guarded, unguarded
from riskcore.data.labels import LABEL
from riskcore.data.text_file import TextFile

DELIMITERS = (",", ";", "\t")
ANSWERS = (VERDICT, LABEL)  # columns that people fill in
MOST_CHARS = 50_000_000  # of a field; a longer one is a file whose quotes are broken


@dataclasses.dataclass(frozen=True)
class TableRow:
    """A record of a csv file: its line (the last, if it has several) and its fields by column."""

    line: int
    fields: Mapping[str, str]

    def get(self, column: str) -> str:
        return self.fields.get(column, "")


def write_table(columns: Sequence[str], rows: Iterable[Mapping[str, str]], guard: bool = False) -> bytes:
    """The rows as csv in UTF-8. With `guard`, texts that a spreadsheet would run have an apostrophe in front."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
    keep = guarded if guard else str
    writer.writerow([keep(name) for name in columns])
    writer.writerows([[keep(row.get(name, "")) for name in columns] for row in rows])
    return stream.getvalue().encode("utf-8", "backslashreplace")


def read_header(text: str) -> list[str]:
    """The names of the columns."""
    with _long_fields():
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)), [])


def read_table(text: str, reading: Reading, guard: bool = False) -> list[TableRow]:
    """The records of a csv file; what cannot be read is logged."""
    keep = unguarded if guard else str
    found: list[TableRow] = []
    with _long_fields():
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
        try:
            names = [keep(name) for name in next(rows, [])]
            for fields in rows:
                if not fields:
                    continue  # an empty line
                if len(fields) != len(names):
                    message = f"The row has {len(fields):,} fields; the header has {len(names):,}."
                    reading.add("ragged_row", message, "Quote fields with a delimiter or a line break.", rows.line_num)
                    continue
                found.append(TableRow(rows.line_num, dict(zip(names, map(keep, fields), strict=True))))
        except csv.Error as error:
            cure = "Check the quotes in this row."
            reading.add("broken_quote", f"The row cannot be read: {error}.", cure, rows.line_num)
    return found


def rows_of(file: TextFile) -> list[TableRow]:
    """The records of a table that a spreadsheet or another program has saved, in any of its forms."""
    columns = {name: file.columns.column(name).fill_null("").to_pylist() for name in file.names}
    for name in (one for one in ANSWERS if one in columns):
        columns[name] = file.text(name, DataConfig()).tolist()  # words for missing values are no verdicts
    return [
        TableRow(int(line), {name: unguarded(texts[at]) for name, texts in columns.items()})
        for at, line in enumerate(file.rows)
    ]


def _delimiter(text: str) -> str:
    first = text.split("\n", 1)[0]
    return max(DELIMITERS, key=first.count)


@contextlib.contextmanager
def _long_fields() -> Iterator[None]:
    """The standard limit is 131,072 characters, and a record may have more."""
    before = csv.field_size_limit(MOST_CHARS)
    try:
        yield
    finally:
        csv.field_size_limit(before)
