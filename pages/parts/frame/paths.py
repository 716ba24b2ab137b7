"""Which folders a screen may open."""

from __future__ import annotations

from pathlib import Path

from riskcore.paths import data_root

_LOCAL = ("localhost", "127.0.0.1", "::1")


def may_open(path: Path, address: str | None) -> bool:
    """On a server that only this machine reaches, any folder may be opened; else only what lies in the data folder."""
    return address in _LOCAL or path.resolve().is_relative_to(data_root().resolve())
