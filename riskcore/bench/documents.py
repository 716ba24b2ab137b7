"""A cell's result file: one JSON document, replaced whole. It says what each of its results was made with.

Settings and data belong to the document: where they differ, nothing of it can be used. Code and versions belong to
each result in it, so that one method can be worked out again and stand beside the others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from riskcore.bench.cells import Cell, Entry
from riskcore.bench.stamps import changed_settings, code_stamp, data_stamp, settings_stamp, versions
from riskcore.runs.files import read_json, write_json
from riskcore.runs.records import RunStorageError

FORMAT = 1
Document = dict[str, Any]


def read_document(cell: Cell, out: Path) -> Document | None:
    """The cell's document, if there is one for these very settings and data."""
    found = None
    if cell.file(out).exists():
        with contextlib.suppress(RunStorageError):  # not to be read is as good as not there
            found = read_json(cell.file(out))
    stamps = {"format": FORMAT, "settings_stamp": settings_stamp(cell.config), "data_stamp": data_stamp(cell.config)}
    if not isinstance(found, dict) or any(found.get(name) != stamp for name, stamp in stamps.items()):
        return None
    return found


def entry_of(result: dict[str, Any]) -> Entry:
    return result["method"], result["ablation"]


def is_current(result: dict[str, Any]) -> bool:
    """Whether the code and the libraries that are here now gave this result."""
    return bool(result["code"] == code_stamp() and result["versions"] == versions())


def missing(cell: Cell, document: Document | None, keep: bool = False) -> list[Entry]:
    """The results that still have to be worked out; with `keep`, older code's are good enough."""
    results = [] if document is None else document["results"]
    there = {entry_of(result) for result in results if keep or is_current(result)}
    return [entry for entry in cell.entries if entry not in there]


def write_document(cell: Cell, out: Path, facts: dict[str, Any], results: Sequence[dict[str, Any]]) -> Document:
    """Add results to the cell's document, in place of older ones of the same method."""
    before = read_document(cell, out)
    new = {entry_of(result) for result in results}
    kept = [] if before is None else [result for result in before["results"] if entry_of(result) not in new]
    document = {
        "format": FORMAT,
        **{name: getattr(cell, name) for name in ("bench", "workload", "variant", "matcher", "seed")},
        "split": cell.config.split,
        "train_fraction": cell.config.train_fraction,
        "validation_size": cell.config.validation_size,
        "settings": changed_settings(cell.config),
        "settings_stamp": settings_stamp(cell.config),
        "data_stamp": data_stamp(cell.config),
        **facts,
        "results": [*kept, *results],
    }
    write_json(cell.file(out), document)
    return document


def read_all(out: Path) -> list[Document]:
    """Every document under the folder, in the order of their names."""
    return [read_json(file) for file in sorted((out / "cells").glob("*/*.json"))]
