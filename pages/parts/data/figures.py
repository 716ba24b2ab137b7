"""The figures of data sets, read and checked in a process apart; kept once per content of their files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from riskcore.data.figures import DataFigures
from riskcore.data.problems import Problem, visible
from riskcore.data.tables import FORMATS
from riskcore.sandbox import calls
from riskcore.sandbox.errors import ReadingError


def figures_of(path: str) -> DataFigures:
    """The figures of the set at a path; read again when its files change. One that breaks its reader has an error."""
    try:
        return _figures(path, _signature(Path(path)))
    except ReadingError as error:
        cure = "Delete it, or try again once it was changed."
        problem = Problem("unreadable_file", str(error), cure, visible(Path(path).name))
        return DataFigures(None, (problem,), pd.DataFrame(), {})


@st.cache_data(max_entries=8, show_spinner="Reading and checking every row …", show_time=True)
def _figures(path: str, signature: tuple[tuple[str, int, int], ...]) -> DataFigures:
    return calls.figures(Path(path))


def _signature(path: Path) -> tuple[tuple[str, int, int], ...]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    kept = [file for file in files if file.is_file() and file.suffix in FORMATS]
    return tuple((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in kept)
