"""Which libraries come along when modules are imported, found in one fresh process for all of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_CODE = """
import importlib, sys
modules, libraries = {modules!r}, {libraries!r}
for module in modules:
    importlib.import_module(module)
    for library in [one for one in libraries if one in sys.modules]:
        print(module, "imports", library)
        libraries.remove(library)
"""


def brought_in(modules: Iterable[str], libraries: Iterable[str]) -> list[str]:
    """The first module that imports each of the libraries, as sentences; nothing if none does."""
    code = _CODE.format(modules=list(modules), libraries=list(libraries))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
