"""The attributes that are masked for everyone who opens a run, until they choose otherwise: a small file in its folder,
beside the guideline."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from riskcore.runs.folder import RunFolder
from riskcore.storage.files import read_json, write_json


def read_masks(folder: RunFolder) -> tuple[str, ...]:
    """The run's masked attributes, those that it has; none unless somebody set them."""
    if not folder.masks_file.exists():
        return ()
    stored = read_json(folder.masks_file, "Remove the file; then nothing is masked.")
    wanted = set(stored.get("attributes") or ())
    return tuple(name for name in folder.attributes() if name in wanted)


def write_masks(folder: RunFolder, attributes: Iterable[str], who: str = "") -> None:
    """Set them."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    write_json(folder.masks_file, {"attributes": list(attributes), "who": who, "at": at})
