"""Writing and reading files of other tools: which format is which module, and which one a file has.

A file is checked as a whole: one error lists every bad row, and nothing of such a file is returned.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from riskcore.audit.agreement import current_by_person
from riskcore.audit.exchange import argilla, label_studio, plain, splink, zingg
from riskcore.audit.exchange.pairs import SAID, ExchangedPair, Given, Reading, ReadVerdict, pairs_of_run
from riskcore.audit.exchange.tables import read_header, read_table, rows_of
from riskcore.audit.export import ExportError
from riskcore.audit.verdicts import Verdict
from riskcore.config import DataConfig
from riskcore.data.bring.files import CSV as TEXT
from riskcore.data.bring.files import ENDINGS
from riskcore.data.label_file import read_labels_text
from riskcore.data.problems import DataFormatError, Problem, ProblemLog, visible
from riskcore.errors import ConfigError
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import write_bytes

SPLINK, LABEL_STUDIO, ARGILLA, ZINGG, CSV = "splink", "label-studio", "argilla", "zingg", "csv"
FORMATS = (SPLINK, LABEL_STUDIO, ARGILLA, ZINGG, CSV)
LINES = ".jsonl"  # the ending of a file with a JSON value per line
_TABLES = {SPLINK: splink, ZINGG: zingg, CSV: plain}  # in this order they are recognised
_JSON = {LABEL_STUDIO: label_studio, ARGILLA: argilla}
_TO_THE_LETTER = {*SAID[2:], splink.SCORE, zingg.CLUSTER, plain.ANNOTATION}


def export_tasks(
    folder: RunFolder,
    pairs: Sequence[str],
    format: str,  # noqa: A002 - the word of the command line
    path: Path | str,
    *,
    probabilities: bool = True,
) -> int:
    """Write these pairs of a run, for people to judge elsewhere; returns how many.

    With `probabilities`, the formats that have a place for it tell what the model says of each pair: people see it.
    """
    file = _writable(path, format)
    found = pairs_of_run(folder, list(dict.fromkeys(pairs)), {}, probabilities)
    write_bytes(file, encoded(found, format, file.suffix.lower() == LINES))
    return len(found)


def export_verdicts(
    folder: RunFolder,
    entries: Iterable[Verdict],
    format: str,  # noqa: A002 - the word of the command line
    path: Path | str,
) -> int:
    """Write the current verdicts of everyone in these entries of a run's log, with both records; returns how many."""
    file = _writable(path, format)
    said = {
        pair: [Given(one.verdict, one.note, one.who, one.at) for one in people.values()]
        for pair, people in current_by_person(entries).items()
    }
    found = pairs_of_run(folder, list(said), said, probabilities=False)
    write_bytes(file, encoded(found, format, file.suffix.lower() == LINES))
    return sum(len(one.verdicts) for one in found)


def read_verdicts(
    path: Path | str,
    format: str | None = None,  # noqa: A002 - the word of the command line
) -> list[ReadVerdict]:
    """The verdicts in a file; without a format, its content tells. Pairs without a verdict are left out."""
    path = Path(path)
    if not path.is_file():
        raise DataFormatError(
            [Problem("path_missing", "There is no such file.", "Check the path.", visible(str(path)))]
        )
    if path.stat().st_size > DataConfig().max_file_bytes:
        message = f"The file has more than {DataConfig().max_file_bytes:,} bytes."
        raise DataFormatError([Problem("file_too_large", message, "Split it.", visible(path.name))])
    content = path.read_bytes()
    return _from_program(path, format) if _is_from_program(path, content) else decoded(content, path.name, format)


def encoded(pairs: Sequence[ExchangedPair], form: str, lines: bool = False) -> bytes:
    """The content of a file."""
    _check(form)
    if form == ARGILLA:
        return argilla.write(pairs, lines)
    writers: dict[str, Callable[[Sequence[ExchangedPair]], bytes]] = {
        SPLINK: splink.write,
        ZINGG: zingg.write,
        CSV: plain.write,
        LABEL_STUDIO: label_studio.write,
    }
    return writers[form](pairs)


def decoded(content: bytes, name: str, form: str | None = None) -> list[ReadVerdict]:
    """The verdicts in the content of a file; raises one error with everything that is wrong with it."""
    if form is not None:
        _check(form)
    reading = Reading(visible(name), ProblemLog(DataConfig().examples_per_problem))
    found: list[ReadVerdict] = []
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"Byte {error.start + 1:,} is not UTF-8."
        reading.add("broken_encoding", message, "Save the file as UTF-8.")
    else:
        is_json = _looks_like_json(text) if form is None else form in _JSON
        found = (_from_json if is_json else _from_table)(text, form, reading)
    reading.raise_problems()
    return found


def _is_from_program(path: Path, content: bytes) -> bool:
    """Whether a file is read like any table that people bring, in whatever form their program has saved it: workbooks,
    Parquet, csv in another encoding, and work lists. What has columns of an exchange is read to the letter."""
    kind = ENDINGS.get(path.suffix.lower())
    if kind != TEXT:
        return kind is not None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return True
    return not _looks_like_json(text) and not set(read_header(text)) & _TO_THE_LETTER


def _from_program(path: Path, form: str | None) -> list[ReadVerdict]:
    reading = Reading(visible(path.name), ProblemLog(DataConfig().examples_per_problem))
    file = read_labels_text(path)
    form = _table_format(file.names, form, reading)
    found = [] if form is None else _TABLES[form].read(rows_of(file), reading)
    reading.raise_problems()
    return found


def _looks_like_json(text: str) -> bool:
    return text.lstrip()[:1] in ("[", "{")


def _from_table(text: str, form: str | None, reading: Reading) -> list[ReadVerdict]:
    form = _table_format(read_header(text), form, reading)
    if form is None:
        return []
    return _TABLES[str(form)].read(read_table(text, reading, guard=form == CSV), reading)


def _table_format(columns: Sequence[str], form: str | None, reading: Reading) -> str | None:
    """Which format a table of these columns has; None, logged, where it is not the given one or none at all."""
    kinds = [name for name, module in _TABLES.items() if module.recognised(columns)]
    if form is None and kinds:
        return kinds[0]
    if form in kinds:
        return form
    wanted = f"has not the columns of {form}" if form else "is in none of the known formats"
    cure = (
        "It needs clerical_match_score (Splink), z_cluster and z_isMatch (Zingg), or verdict with pair_id or with "
        "ltable_id and rtable_id (csv)."
    )
    reading.add("unknown_format", f"The table {wanted}.", cure)
    return None


def _from_json(text: str, form: str | None, reading: Reading) -> list[ReadVerdict]:
    items = _items(text, reading)
    if items is None or not items:
        return []
    kinds = [name for name, module in _JSON.items() if module.recognised(items[0])] if form is None else [form]
    if not kinds:
        cure = "Tasks of Label Studio have data, and records of Argilla have fields."
        reading.add("unknown_format", "The JSON is in none of the known formats.", cure)
        return []
    module = _JSON[kinds[0]]
    odd = [row for row, item in enumerate(items, start=1) if not module.recognised(item)]
    for row in odd:
        cure = "Tasks of Label Studio have data, and records of Argilla have fields."
        reading.add("unknown_format", f"This is not {kinds[0]}.", cure, row)
    if odd:
        return []
    found = []
    for row, item in enumerate(items, start=1):
        try:
            found += module.read(item, row, reading)
        except (AttributeError, KeyError, TypeError):  # a value of another type than the format has
            cure = "Export the file again from its tool."
            reading.add("unknown_format", f"A value is of another type than {kinds[0]} writes.", cure, row)
    return found


def _items(text: str, reading: Reading) -> list[Mapping[str, Any]] | None:
    """The objects of a JSON list, or of a file with one per line."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as first:
        value = []
        for number, line in enumerate(text.split("\n"), start=1):
            try:
                value += [json.loads(line)] if line.strip() else []
            except (ValueError, RecursionError):
                cure = "Write a JSON list, or one object per line."
                reading.add("unknown_format", f"The file is not JSON: {first}.", cure, number)
                return None
    items = value if isinstance(value, list) else [value]
    odd = [row for row, item in enumerate(items, start=1) if not isinstance(item, dict)]
    for row in odd:
        reading.add("unknown_format", "This is not a JSON object.", "Write a list of objects.", row)
    return None if odd else items


def _writable(path: Path | str, form: str) -> Path:
    _check(form)
    path = Path(path)
    if not path.absolute().parent.is_dir():
        raise ExportError(f"The folder {path.absolute().parent} does not exist. Create it first.")
    return path


def _check(form: str) -> None:
    if form not in FORMATS:
        raise ConfigError(f"{form!r} is not a format. Possible: {', '.join(FORMATS)}.")
