"""The state of training, in one safetensors file that is only ever replaced as a whole.

It holds named groups of arrays (`last`, `best`) and, as JSON in the header, how far training has come and what
it was made from. A checkpoint of other data, settings or seed is refused rather than continued.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError

from riskcore.data.pairs import LabelledPairs, Pairs
from riskcore.errors import CheckpointError
from riskcore.matchers.base import Arrays
from riskcore.storage.arrays import read_arrays, read_metadata, write_arrays

VERSION = 8  # to be raised whenever what is kept, or what it means to those who read it, changes


@dataclasses.dataclass(frozen=True, eq=False)
class Progress:
    """The content of a checkpoint: groups of arrays, and facts as JSON values."""

    groups: Mapping[str, Arrays]
    facts: dict[str, Any]


class Checkpoint:
    """One checkpoint file. `made_from` identifies the training that may write and continue it."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    def write(self, progress: Progress, made_from: str) -> None:
        """Replace the file whole: a kill leaves the old one or the new one."""
        arrays = {f"{group}/{name}": array for group, some in progress.groups.items() for name, array in some.items()}
        head = {"version": VERSION, "made_from": made_from, "facts": progress.facts, "groups": list(progress.groups)}
        write_arrays(self.path, arrays, {"riskcore": json.dumps(head)})

    def read(self, made_from: str) -> Progress | None:
        """What was written, or None where nothing was."""
        if not self.path.exists():
            return None
        try:
            head, arrays = json.loads(read_metadata(self.path)["riskcore"]), read_arrays(self.path)
        except (SafetensorError, KeyError, ValueError, OSError) as error:
            raise CheckpointError(f"{self.path} cannot be read: {error}. Delete it to start over.") from error
        if head["version"] != VERSION or head["made_from"] != made_from:
            raise CheckpointError(
                f"{self.path} was written with other data, settings or seed, or by another version of Riskcore. "
                "Delete it to start over, or restore what it was made with."
            )
        return Progress({group: _group(arrays, group) for group in head["groups"]}, head["facts"])


def _group(arrays: Arrays, group: str) -> Arrays:
    return {name.removeprefix(f"{group}/"): array for name, array in arrays.items() if name.startswith(f"{group}/")}


def fingerprint(settings: Mapping[str, Any], *several: Pairs | None) -> str:
    """A short hash of settings, and of the ids and labels of pairs."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for pairs in several:
        ids = [] if pairs is None else pairs.ids.tolist()
        digest.update("\x1f".join(map(str, ids)).encode("utf-8", "replace") + b"\x1e")
        if isinstance(pairs, LabelledPairs):
            digest.update(np.ascontiguousarray(pairs.labels, dtype=np.int8).tobytes())
    return digest.hexdigest()[:32]
