"""Where a project's parts are, and paths of one place as those of another.

The store names data sets, labels and matchers by their full paths. A backup that is restored elsewhere has them
elsewhere, so paths below the folders of runs, of data and of the program are given their new beginning.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riskcore.config import RunConfig
from riskcore.data.origin import is_from_frames
from riskcore.paths import app_folder

# Folders beside the runs: what runs are made from, and sign-ins that have ended, whose cookies must stay worthless.
BESIDE_RUNS = ("labels", "starts", "signed-out")


@dataclasses.dataclass(frozen=True)
class Places:
    """The folder of runs, that of data, and the one the samples came in."""

    runs: str
    data: str
    app: str

    @classmethod
    def of(cls, runs: Path, data: Path) -> Places:
        return cls(str(runs.absolute()), str(data.absolute()), str(app_folder()))


def moved(value: Any, old: Places, new: Places) -> Any:
    """A JSON value whose texts, and names of fields, have the new beginning where they are paths below an old place."""
    if isinstance(value, str):
        return _moved_path(value, old, new)
    if isinstance(value, Mapping):
        return {_moved_path(key, old, new): moved(one, old, new) for key, one in value.items()}
    if isinstance(value, list):
        return [moved(one, old, new) for one in value]
    return value


def paths_of(config: RunConfig) -> Iterator[Path]:
    """Every file or folder that a run is made from."""
    matcher = config.matcher
    for path in (config.source, config.target, config.labels, config.start, matcher.folder, matcher.scores):
        if path and not is_from_frames(path):
            yield Path(path)


def _moved_path(text: str, old: Places, new: Places) -> str:
    pairs = sorted(zip(dataclasses.astuple(old), dataclasses.astuple(new), strict=True), key=lambda one: -len(one[0]))
    for before, after in pairs:
        if text == before or text.startswith(before.rstrip("/") + "/"):
            return after.rstrip("/") + text[len(before.rstrip("/")) :]
    return text
