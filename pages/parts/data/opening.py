"""Which folders may be opened by path from the screens."""

from __future__ import annotations

from pathlib import Path

from pages.parts.frame.access import is_local
from riskcore.paths import open_folders


def openable_folders() -> tuple[Path, ...]:
    """The folders whose data sets can be opened by path: those that a setting names, and none where people sign in."""
    return open_folders() if is_local() else ()
