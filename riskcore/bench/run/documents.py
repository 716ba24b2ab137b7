"""A cell's result file: one JSON document, replaced whole. It says what each of its results was made with.

Settings and data belong to the document: where they differ, nothing of it can be used. Code and versions belong to
each result in it, so that one method can be worked out again and stand beside the others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from riskcore.bench.plan.cells import CELLS, Cell, Entry
from riskcore.bench.run.stamps import changed_settings, code_stamp, data_stamp, settings_stamp, shared_stamp, versions
from riskcore.errors import RiskcoreError, StorageError
from riskcore.storage.files import read_json, write_json

FORMAT = 1
FACTS = ("counts", "rules", "seconds", "peak_rss_mb")  # of the cell as a whole
_HEAD = ("bench", "workload", "variant", "matcher", "seed", "split", "train_fraction", "validation_size", "settings")
_NEEDED = {*_HEAD, "settings_stamp", "data_stamp", *FACTS, "results"}
_NEEDED_OF_RESULTS = {"method", "ablation", "f1", "unseen", "seconds", "code", "versions", "hardware", "at"}
Document = dict[str, Any]


class DocumentError(RiskcoreError):
    """A file among the cells that is no document of a cell."""


def read_file(file: Path) -> Document:
    """The document in a file; one error, that names the file, for whatever else may be in it."""
    try:
        found = read_json(file)
    except StorageError:
        raise DocumentError(f"{file} is left out: it cannot be read. Delete it, or restore it.") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT or not _is_whole(found):
        raise DocumentError(f"{file} is left out: it is no result of format {FORMAT}. Move it elsewhere.")
    return found


def _is_whole(found: Document) -> bool:
    if not set(found) >= _NEEDED or not isinstance(found["results"], list):
        return False
    return all(isinstance(one, dict) and set(one) >= _NEEDED_OF_RESULTS for one in found["results"])


def read_document(cell: Cell, out: Path) -> Document | None:
    """The cell's document, if there is one for these very settings and data."""
    try:
        found = read_file(cell.file(out))
    except DocumentError:  # not to be read is as good as not there
        return None
    same = found["settings_stamp"] == settings_stamp(cell.config) and found["data_stamp"] == data_stamp(cell.config)
    return found if same else None


def entry_of(result: dict[str, Any]) -> Entry:
    return result["method"], result["ablation"]


def was_resumed(facts: dict[str, Any]) -> bool:
    """Whether work was cut off and gone on with: then seconds before the cut are not in its seconds."""
    return bool(facts.get("resumed", False))


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
    if before is not None:
        facts = {**facts, "seconds": _summed({**before["seconds"], **facts["seconds"]})}
        facts["peak_rss_mb"] = max(before["peak_rss_mb"], facts["peak_rss_mb"])
        facts["resumed"] = was_resumed(before) or was_resumed(facts)
    document = {
        "format": FORMAT,
        **{name: getattr(cell, name) for name in ("bench", "workload", "variant", "matcher", "seed")},
        "split": cell.config.split,
        "train_fraction": cell.config.train_fraction,
        "validation_size": cell.config.validation_size,
        "settings": changed_settings(cell.config),
        "settings_stamp": settings_stamp(cell.config),
        "shared_stamp": shared_stamp(cell.config),
        "data_stamp": data_stamp(cell.config),
        **facts,
        "results": [*kept, *results],
    }
    write_json(cell.file(out), document)
    return document


def borrow(cell: Cell, out: Path, keep: bool = False) -> None:
    """Take over what another benchmark has worked out with the same settings on the same data."""
    for file in sorted((out / CELLS).glob(f"*/{cell.file_prefix}.*.seed{cell.seed}.json")):
        try:
            other = read_file(file)
        except DocumentError:  # `unreadable` names it
            continue
        same = other["settings_stamp"] == settings_stamp(cell.config) and other["data_stamp"] == data_stamp(cell.config)
        wanted = missing(cell, read_document(cell, out), keep)
        results = [one for one in other["results"] if entry_of(one) in wanted and (keep or is_current(one))]
        if same and other["bench"] != cell.bench and results:
            # The time was spent there: it is not counted here once more.
            facts = {**{name: other[name] for name in FACTS}, "seconds": {"total": 0.0}, "resumed": was_resumed(other)}
            write_document(cell, out, facts, results)


def _summed(seconds: dict[str, float]) -> dict[str, float]:
    phases = {name: value for name, value in seconds.items() if name != "total"}
    return {**phases, "total": sum(phases.values())}


def read_all(out: Path) -> list[Document]:
    """Every document under the folder, in the order of their names; what is none is passed over."""
    found = []
    for file in _files(out):
        with contextlib.suppress(DocumentError):
            found.append(read_file(file))
    return found


def unreadable(out: Path) -> list[str]:
    """A notice for each file among the cells that cannot be used."""
    notices = []
    for file in _files(out):
        try:
            read_file(file)
        except DocumentError as error:
            notices.append(str(error))
    return notices


def _files(out: Path) -> list[Path]:
    return sorted((out / CELLS).glob("*/*.json"))
