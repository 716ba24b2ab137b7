"""Named arrays in one safetensors file, written whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from riskcore.storage.files import write_bytes


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None) -> None:
    """The arrays as a whole file, with `metadata` in its header."""
    # safetensors writes the memory behind a view as it is, so views are made contiguous first.
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    write_bytes(path, save(contiguous, metadata=dict(metadata) if metadata else None))
