"""Reading files that a person brought: csv of any common delimiter and encoding, xlsx, parquet, and zips of them.

How a file was read is a `FileForm`, which can be corrected with `ReadOptions`. Every fault is a `Problem` with file,
row, column and cure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from riskcore.config import DataConfig
from riskcore.data.bring.archive import ZIP, unpack_tables
from riskcore.data.bring.columns import ColumnFacts, column_facts
from riskcore.data.bring.csv_form import DELIMITERS, ENCODINGS, detect_csv
from riskcore.data.bring.workbook import read_workbook, sheet_names
from riskcore.data.csv_file import CsvForm, read_csv
from riskcore.data.parquet_file import read_parquet
from riskcore.data.problems import TEXT_ENDINGS, DataFormatError, Problem, ProblemLog, visible
from riskcore.data.tables import capped, is_readable
from riskcore.data.text_file import TextFile

CSV, XLSX, PARQUET = "csv", "xlsx", "parquet"
ENDINGS = {
    **dict.fromkeys(TEXT_ENDINGS, CSV),
    ".xlsx": XLSX,
    ".xlsm": XLSX,
    ".parquet": PARQUET,
    ".pq": PARQUET,
}
UPLOADS = tuple(ending.removeprefix(".") for ending in (*ENDINGS, ZIP))


@dataclasses.dataclass(frozen=True)
class ReadOptions:
    """What a person says about a file where detection is wrong; None is detected."""

    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None


@dataclasses.dataclass(frozen=True)
class FileForm:
    """How a file was read."""

    kind: str  # csv, xlsx or parquet
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    sheets: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The form for a person, such as 'csv, semicolon, UTF-8'."""
        if self.kind == CSV:
            delimiter = DELIMITERS.get(self.delimiter or "", repr(self.delimiter))
            return f"csv, {delimiter}, {ENCODINGS.get(self.encoding or '', self.encoding)}"
        return f"xlsx, sheet {visible(self.sheet or '')}" if self.kind == XLSX else self.kind


@dataclasses.dataclass(frozen=True, eq=False)
class BroughtFile:
    """One file as it was read; `text` is None if nothing of it can be used."""

    name: str
    path: Path
    form: FileForm
    text: TextFile | None
    problems: tuple[Problem, ...] = ()
    facts: tuple[ColumnFacts, ...] | None = None  # of a summary, whose text is only the beginning
    count: int | None = None  # records of the whole, in a summary

    @property
    def records(self) -> int:
        if self.count is not None:
            return self.count
        return 0 if self.text is None else len(self.text)

    @property
    def stem(self) -> str:
        return Path(self.name).stem

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @cached_property
    def columns(self) -> tuple[ColumnFacts, ...]:
        """What is known of each column."""
        if self.facts is not None:
            return self.facts
        return () if self.text is None else column_facts(self.text)

    def column(self, name: str) -> ColumnFacts:
        return next(column for column in self.columns if column.name == name)


def read_brought(
    paths: Iterable[Path], options: Mapping[str, ReadOptions] | None = None, config: DataConfig | None = None
) -> tuple[BroughtFile, ...]:
    """Every file, with the options given for its name. Archives are unpacked first with `unpacked`."""
    options = options or {}
    return tuple(read_file(path, options.get(path.name), config) for path in paths)


def read_file(path: Path, options: ReadOptions | None = None, config: DataConfig | None = None) -> BroughtFile:
    """One file, whatever its form. What is wrong with it is in its problems."""
    config, options = config or DataConfig(), options or ReadOptions()
    log = ProblemLog(config.examples_per_problem)
    kind = ENDINGS.get(path.suffix.lower())
    form, text = FileForm(kind or path.suffix.removeprefix(".")), None
    if kind is None:
        cure = "Save it as csv, xlsx or parquet."
        log.add("unknown_format", "This is no table that can be read.", cure, visible(path.name))
        return BroughtFile(path.name, path, form, None, tuple(log.problems))
    try:
        if is_readable(path, log, config):
            form, text = _read(path, kind, options, log, config)
    except (OSError, LookupError) as error:  # a disk's fault; an encoding that no one knows
        reason = getattr(error, "strerror", None) or str(error)
        cure = "Check the file and the encoding."
        log.add("unreadable_file", f"The file cannot be read: {visible(reason)}.", cure, path.name)
    text = None if text is None else capped(text, log, config)
    return BroughtFile(path.name, path, form, text, tuple(log.problems))


def _read(
    path: Path, kind: str, options: ReadOptions, log: ProblemLog, config: DataConfig
) -> tuple[FileForm, TextFile | None]:
    if kind == PARQUET:
        return FileForm(kind), read_parquet(path, path.name, log, config)
    if kind == XLSX:
        sheets = sheet_names(path)
        sheet = options.sheet or (sheets[0] if sheets else None)
        return FileForm(kind, sheet=sheet, sheets=sheets), read_workbook(path, path.name, log, config, sheet)
    found: CsvForm = detect_csv(path, options.encoding, options.delimiter)
    form = FileForm(kind, delimiter=found.delimiter, encoding=found.encoding)
    return form, read_csv(path, path.name, log, config, found)


def unpacked(paths: Iterable[Path], into: Path) -> list[Path]:
    """The files as they are, and in place of each archive the tables in it, which are written into the folder."""
    found: list[Path] = []
    for path in paths:
        if path.suffix.lower() != ZIP:
            found.append(path)
            continue
        inside = unpack_tables(path, into, list(ENDINGS))
        if not inside:
            cure = "Put csv, xlsx or parquet files into it."
            problem = Problem("corrupt_archive", "The archive holds no table.", cure, visible(path.name))
            raise DataFormatError([problem])
        found.extend(inside)
    return found
