"""Named arrays in one safetensors file, written whole and read only if it is still what was written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save

from riskcore.storage.checksums import checked
from riskcore.storage.files import write_bytes


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None) -> None:
    """The arrays as a whole file, with `metadata` in its header."""
    # safetensors writes the memory behind a view as it is, so views are made contiguous first.
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    write_bytes(path, save(contiguous, metadata=dict(metadata) if metadata else None))


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a file."""
    return load_file(checked(path))


def read_metadata(path: Path) -> dict[str, str]:
    """What the header of a file says beside its arrays."""
    with safe_open(checked(path), framework="np") as file:
        return file.metadata() or {}
