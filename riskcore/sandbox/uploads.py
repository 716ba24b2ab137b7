"""An uploaded file on disk for as long as it is read, where only its owner can look."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from riskcore.errors import ConfigError
from riskcore.paths import data_root
from riskcore.storage.files import private_folder, writing

HOME = ".uploads"
KEPT_SECONDS = 3600  # what a killed server left is older than that


@contextlib.contextmanager
def kept(name: str, content: bytes) -> Iterator[Path]:
    """The content as a file of this name, which is gone at the end."""
    plain = Path(name.replace("\\", "/")).name
    if not plain or plain.startswith("."):
        raise ConfigError(f"{name!r} cannot be used: it is hidden. Rename the file.")
    home = data_root() / HOME
    with writing(home):
        private_folder(data_root())
        private_folder(home)
        remove_older(home, KEPT_SECONDS)
        folder = Path(tempfile.mkdtemp(dir=home))
    try:
        write_private(folder / plain, content)
        yield folder / plain
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_private(path: Path, content: bytes) -> None:
    """The content as a new file that only its owner reads."""
    with writing(path), open(path, "xb", opener=_private) as file:
        file.write(content)


def remove_older(home: Path, seconds: float) -> None:
    """Remove the folders in a folder that nobody has used for so long."""
    for folder in home.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > seconds:
                shutil.rmtree(folder, ignore_errors=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
