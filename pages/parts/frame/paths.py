"""Where things are kept: runs, and data sets that were uploaded. Both are settable, for teams and for tests."""

from __future__ import annotations

import os
from pathlib import Path

_LOCAL = ("localhost", "127.0.0.1", "::1")


def runs_root() -> Path:
    return Path(os.environ.get("RISKCORE_RUNS", "runs")).absolute()


def data_root() -> Path:
    return Path(os.environ.get("RISKCORE_DATA", "data")).absolute()


def may_open(path: Path, address: str | None) -> bool:
    """On a server that only this machine reaches, any folder may be opened; else only what lies in the data folder."""
    return address in _LOCAL or path.resolve().is_relative_to(data_root().resolve())
