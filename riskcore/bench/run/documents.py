"""A cell's result file: one JSON document, replaced as a whole. It says what each of its results was made with.

Settings and data belong to the document: if they differ, none of it can be used. Code and versions belong to each
result, so that one method can be run again while the others stay.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from riskcore.bench.plan.cells import CELLS, Cell, Entry
from riskcore.bench.run.schema import Document, Facts, GroupFields, Result
from riskcore.bench.run.stamps import changed_settings, data_stamp, result_stamp, settings_stamp, shared_stamp
from riskcore.errors import RiskcoreError, StorageError
from riskcore.provenance import versions_now
from riskcore.storage.files import read_json, write_json

FORMAT = 1
_OPTIONAL = {"shared_stamp", "resumed"}
_NEEDED = set(Document.__annotations__) - _OPTIONAL
_NEEDED_OF_RESULTS = {"method", "ablation", "f1", "unseen", "seconds", "code", "versions", "hardware", "at"}


class DocumentError(RiskcoreError):
    """A file in the folder of cells that is not a cell's document."""


def read_file(file: Path) -> Document:
    """The document in a file; a `DocumentError` that names the file if it holds anything else."""
    try:
        found = read_json(file)
    except StorageError:
        raise DocumentError(f"{file} is left out: it cannot be read. Delete it, or restore it.") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT or not _is_complete(found):
        raise DocumentError(f"{file} is left out: it is not a result of format {FORMAT}. Move it elsewhere.")
    return cast(Document, found)


def _is_complete(found: dict[str, Any]) -> bool:
    if not set(found) >= _NEEDED or not isinstance(found["results"], list):
        return False
    return all(isinstance(one, dict) and set(one) >= _NEEDED_OF_RESULTS for one in found["results"])


def read_document(cell: Cell, out: Path) -> Document | None:
    """The cell's document, if there is one with the same settings and data."""
    try:
        found = read_file(cell.file(out))
    except DocumentError:  # an unreadable document is replaced
        return None
    return found if _is_of(found, cell) else None


def _is_of(document: Document, cell: Cell) -> bool:
    """Whether the document was made with the cell's settings and data."""
    stamps = settings_stamp(cell.config), data_stamp(cell.config)
    return (document["settings_stamp"], document["data_stamp"]) == stamps


def entry_of(result: Result) -> Entry:
    return result["method"], result["ablation"]


def was_resumed(facts: Facts | Document) -> bool:
    """Whether the cell was interrupted and resumed: then its seconds lack those before the interruption."""
    return bool(facts.get("resumed", False))


def is_current(result: Result) -> bool:
    """Whether the result was made with the code and libraries that are installed now."""
    return result["code"] == result_stamp(result["ablation"]) and result["versions"] == versions_now(result["versions"])


def missing(cell: Cell, document: Document | None, keep: bool = False) -> list[Entry]:
    """The results that still have to be made; with `keep`, those of older code are accepted."""
    results = [] if document is None else document["results"]
    there = {entry_of(result) for result in results if keep or is_current(result)}
    return [entry for entry in cell.entries if entry not in there]


def write_document(cell: Cell, out: Path, facts: Facts, results: Sequence[Result]) -> Document:
    """Add results to the cell's document, replacing older ones of the same method."""
    before = read_document(cell, out)
    new = {entry_of(result) for result in results}
    kept = [] if before is None else [result for result in before["results"] if entry_of(result) not in new]
    if before is not None:
        facts = facts.copy()
        facts["seconds"] = _with_total({**before["seconds"], **facts["seconds"]})
        facts["peak_rss_mb"] = max(before["peak_rss_mb"], facts["peak_rss_mb"])
        facts["resumed"] = was_resumed(before) or was_resumed(facts)
    document: Document = {
        "format": FORMAT,
        **_group_fields(cell),
        "seed": cell.seed,
        "settings": changed_settings(cell.config),
        "settings_stamp": settings_stamp(cell.config),
        "shared_stamp": shared_stamp(cell.config),
        "data_stamp": data_stamp(cell.config),
        **facts,
        "results": [*kept, *results],
    }
    write_json(cell.file(out), document)
    return document


def _group_fields(cell: Cell) -> GroupFields:
    return {
        "bench": cell.bench,
        "workload": cell.workload,
        "variant": cell.variant,
        "matcher": cell.matcher,
        "split": cell.config.split,
        "train_fraction": cell.config.train_fraction,
        "validation_size": cell.config.validation_size,
    }


def borrow(cell: Cell, out: Path, keep: bool = False) -> None:
    """Copy results that another benchmark has made with the same settings on the same data."""
    for file in sorted((out / CELLS).glob(f"*/{cell.file_prefix}.*.seed{cell.seed}.json")):
        try:
            other = read_file(file)
        except DocumentError:  # `unreadable` names it
            continue
        wanted = missing(cell, read_document(cell, out), keep)
        results = [one for one in other["results"] if entry_of(one) in wanted and (keep or is_current(one))]
        if _is_of(other, cell) and other["bench"] != cell.bench and results:
            facts: Facts = {
                "counts": other["counts"],
                "rules": other["rules"],
                "seconds": {"total": 0.0},  # already counted in the other benchmark
                "peak_rss_mb": other["peak_rss_mb"],
                "resumed": was_resumed(other),
            }
            write_document(cell, out, facts, results)


def _with_total(seconds: dict[str, float]) -> dict[str, float]:
    phases = {name: value for name, value in seconds.items() if name != "total"}
    return {**phases, "total": sum(phases.values())}


def read_all(out: Path) -> list[Document]:
    """Every document in the folder, by file name; other files are skipped."""
    found = []
    for file in _files(out):
        with contextlib.suppress(DocumentError):
            found.append(read_file(file))
    return found


def unreadable(out: Path) -> list[str]:
    """A notice for each file in the folder of cells that cannot be used."""
    notices = []
    for file in _files(out):
        try:
            read_file(file)
        except DocumentError as error:
            notices.append(str(error))
    return notices


def _files(out: Path) -> list[Path]:
    return sorted((out / CELLS).glob("*/*.json"))
