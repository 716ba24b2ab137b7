"""What is wrong with an input: one value per finding, and a log that collects them all.

`row` is the line of the file as a text editor counts it, the header being row 1; a record that spans several lines has
the row of its first line. In parquet files, which have no lines, it is the record number starting at 1; in frames it is
the position that `iloc` takes, starting at 0. Record text is not trusted: whatever is quoted here is cut short and has
no control characters.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from riskcore.errors import RiskcoreError

ERRORS = {
    "path_missing": "nothing exists at the given path",
    "not_a_data_set": "the path is neither a folder nor a csv or parquet file",
    "missing_file": "the folder lacks a file of the format",
    "ambiguous_file": "the same file exists as csv and as parquet",
    "unreadable_file": "the file cannot be opened or read",
    "file_too_large": "the file is larger than `max_file_bytes`",
    "empty_file": "the file has no header, or a table has no record",
    "broken_encoding": "bytes that are not UTF-8",
    "nul_byte": "a NUL byte inside a cell",
    "ragged_row": "a row with more or fewer fields than the header",
    "broken_quote": "a quoted cell that is never closed, or text after its closing quote",
    "cell_too_long": "a cell longer than `max_cell_chars`",
    "line_too_long": "a line longer than 16 times `max_cell_chars`",
    "too_much_content": "a file that takes more memory than `max_decoded_bytes` beyond its own size",
    "too_many_columns": "more columns than `max_columns`",
    "too_many_rows": "more records than `max_rows`",
    "empty_column_name": "a column without a name",
    "duplicate_column": "two columns with one name",
    "corrupt_workbook": "the file is not an xlsx workbook or is damaged",
    "unknown_sheet": "the workbook has no sheet of that name",
    "corrupt_archive": "the file is not a zip archive, is damaged, or is not safe to unpack",
    "unknown_format": "the file is no table that can be read",
    "corrupt_parquet": "the file is not parquet or is damaged",
    "nested_column": "a parquet column of lists, structs or maps",
    "missing_column": "a column that the format needs is missing",
    "misspelt_column": "a column that differs from one of the format only in case or white space, such as Label",
    "empty_id": "a record or pair without an id",
    "duplicate_id": "an id that an earlier record or pair has",
    "unknown_id": "a pair names a record that its table does not have",
    "bad_label": "a label other than 0 or 1",
    "missing_label": "a training or validation pair without a label",
    "empty_split": "a split without any pair",
    "unknown_split": "a split other than train, valid, test",
    "no_attributes": "a table that has ids and nothing else",
    "no_shared_attribute": "no attribute is in both tables",
    "inconsistent_record": "one record id with different values in a file of pairs",
}
WARNINGS = {
    "formula_cell": "a cell that a spreadsheet would run as a formula (begins with =, +, -, @)",
    "duplicate_pair": "the same pair twice in one split",
    "contradictory_pair": "the same pair, or two pairs with identical content, with opposite labels",
    "unshared_attribute": "an attribute that only one of the two tables has; it is not used",
    "one_class_split": "a split whose labels are all the same",
    "pair_in_two_splits": "the same pair in two splits",
    "content_crosses_splits": "pairs with identical content in two splits",
    "empty_attribute": "an attribute without a single value in a table",
    "text_like_missing": "cells reading NA or None, which are kept as text",
    "self_pair": "a record paired with itself",
    "identity_column": "an attribute whose equality is the label: likely the entity's identity, which gives away all",
    "ignored_column": "a column that the format does not know",
}
KINDS = {**ERRORS, **WARNINGS}

TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt")  # of files that are read line by line
SHOWN_CHARS = 60  # of a value or name quoted in a message: enough to recognise it on one line


@dataclasses.dataclass(frozen=True)
class Problem:
    """One finding. `count` is the number of rows it stands for."""

    kind: str
    message: str
    cure: str
    file: str | None = None
    row: int | None = None
    column: str | None = None
    count: int = 1

    @property
    def severity(self) -> str:
        return "error" if self.kind in ERRORS else "warning"

    @property
    def place(self) -> str:
        """File, row and column, as far as they are known."""
        row = None if self.row is None else f"row {self.row:,}"
        column = None if self.column is None else f"column {shown(self.column)}"
        return ", ".join(part for part in (self.file and visible(self.file), row, column) if part)

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.message} {self.cure}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        return {"severity": self.severity, **dataclasses.asdict(self)}


class ProblemLog:
    """Collects findings; of each kind, file and column it keeps the first few rows and counts the rest."""

    def __init__(self, examples: int = 20) -> None:
        self._examples = examples
        self._kept: dict[tuple[str, str | None, str | None], list[Problem]] = defaultdict(list)
        self._more: dict[tuple[str, str | None, str | None], int] = defaultdict(int)

    def add(
        self,
        kind: str,
        message: str,
        cure: str,
        file: str | None = None,
        row: int | None = None,
        column: str | None = None,
        count: int = 1,
    ) -> None:
        assert kind in KINDS, kind
        kept = self._kept[kind, file, column]
        if len(kept) < self._examples:
            kept.append(Problem(kind, message, cure, file, row, column, count))
        else:
            self._more[kind, file, column] += count

    def add_header(self, kind: str, message: str, cure: str, file: str, column: str | None = None) -> None:
        """A fault of the header, which is row 1 of a text file and no row of a parquet file or a frame."""
        self.add(kind, message, cure, file, 1 if file.lower().endswith(TEXT_ENDINGS) else None, column)

    def add_rows(
        self,
        kind: str,
        rows: Iterable[int],
        describe: Callable[[int], str],
        cure: str,
        file: str | None = None,
        column: str | None = None,
    ) -> None:
        """One finding per row; `describe` is given the position in `rows`, and only for those that are kept."""
        rows = list(rows)
        kept = self._kept[kind, file, column]
        room = max(self._examples - len(kept), 0)
        for position, row in enumerate(rows[:room]):
            self.add(kind, describe(position), cure, file, int(row), column)
        if len(rows) > room:
            self._more[kind, file, column] += len(rows) - room

    @property
    def problems(self) -> list[Problem]:
        """All findings, errors first; each kind, file and column together, in order of first sight."""
        found = [problem for key in list(self._kept) for problem in self._of(key)]
        return sorted(found, key=lambda problem: problem.severity)

    @property
    def has_errors(self) -> bool:
        return any(kind in ERRORS for (kind, _, _), kept in self._kept.items() if kept)

    def _of(self, key: tuple[str, str | None, str | None]) -> list[Problem]:
        kind, file, column = key
        more = self._more.get(key, 0)
        if not more:
            return self._kept[key]
        cure = self._kept[key][0].cure
        rest = Problem(kind, f"… and {more:,} more rows: {KINDS[kind]}.", cure, file, None, column, more)
        return [*self._kept[key], rest]


def visible(text: str) -> str:
    """The text with all that cannot be seen (controls, direction overrides, line breaks, unassigned code points)
    written out as escapes, and spaces of any width as a plain one."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def shown(value: str) -> str:
    """A value quoted for a message: on one line, cut short, with invisible characters written out."""
    cut = value[:SHOWN_CHARS]
    return f"'{visible(cut)}{'…' if len(value) > len(cut) else ''}'"


def _escape(char: str) -> str:
    if unicodedata.category(char) == "Zs":
        return " "
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


class DataFormatError(RiskcoreError):
    """The input cannot be used. Carries every problem found, not only the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))
