"""What counts as a match in a run's data, in the words of the project's owner: shown to those who label.

It is a small file in the run's folder. A new run on the same data begins with the newest one.
"""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

from riskcore.errors import ConfigError
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.run_record import RunRecord
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.files import read_json, write_json

MAX_CHARS = 10_000  # a longer text is a pasted file


@dataclasses.dataclass(frozen=True)
class Guideline:
    """The text, and who wrote it when."""

    text: str = ""
    who: str = ""
    at: str = ""  # ISO 8601, UTC


def read_guideline(folder: RunFolder) -> Guideline:
    """The run's guideline; an empty one if nobody wrote any."""
    if not folder.guideline_file.exists():
        return Guideline()
    stored = read_json(folder.guideline_file)
    return Guideline(**{field.name: str(stored.get(field.name) or "") for field in dataclasses.fields(Guideline)})


def write_guideline(folder: RunFolder, text: str, who: str = "") -> Guideline:
    """Replace the run's guideline."""
    if len(text) > MAX_CHARS:
        raise ConfigError(f"The guideline has {len(text):,} characters. Shorten it to {MAX_CHARS:,}.")
    found = Guideline(text.strip(), who, datetime.now(UTC).isoformat(timespec="seconds"))
    write_json(folder.guideline_file, dataclasses.asdict(found))
    return found


def inherit_guideline(store: RunStore, record: RunRecord, made_from: RunFolder | None = None) -> None:
    """Give a new run the guideline of the run it is made from or, if there is none, of the newest run on its data."""
    data = record.config.target or record.config.source
    alike = [
        RunFolder(one.folder)
        for one in store.list()
        if one.id != record.id and (one.config.target or one.config.source) == data
    ]
    for folder in (*(() if made_from is None else (made_from,)), *alike):
        if read_guideline(folder).text:
            write_json(RunFolder(record.folder).guideline_file, dataclasses.asdict(read_guideline(folder)))
            return
