"""Data sets by path or by name."""

from __future__ import annotations

import os
from pathlib import Path

from riskcore.config import DataConfig
from riskcore.data.dataset import DataSet
from riskcore.data.reading import open_data
from riskcore.data.samples import find_sample
from riskcore.errors import ConfigError


def read(path: str | Path, *, config: DataConfig | None = None) -> DataSet:
    """The data set in a folder (`tableA.csv`, ...) or in one file of pairs, checked."""
    return as_data_set(path, config)


def sample(name: str = "bibliography_clean") -> DataSet:
    """A data set that comes with Riskcore: `bibliography_clean`, `bibliography_scraped` or `products`."""
    return open_data(find_sample(name).path)


def as_data_set(data: DataSet | str | Path, config: DataConfig | None = None) -> DataSet:
    """The data set itself, or the one at a path."""
    if isinstance(data, DataSet):
        return data
    if not isinstance(data, str | os.PathLike):
        raise ConfigError(
            f"This is a {type(data).__name__}, not a data set. Give a path, or make one with from_frames."
        )
    return open_data(data, config)
