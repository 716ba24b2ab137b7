"""The import graph: layers as pyproject.toml draws them, and no cycle, lazy and type-only imports included."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent


def imports() -> dict[str, set[str]]:
    """Module to the modules it imports anywhere in its text."""
    files = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for package in ("riskcore", "pages")
        for file in (ROOT / package).rglob("*.py")
    }
    graph: dict[str, set[str]] = {}
    for module, file in files.items():
        graph[module] = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                graph[module] |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                graph[module] |= {name if name in files else node.module for name in full}
        graph[module] = {name for name in graph[module] if name in files and name != module}
    return graph


def test_no_module_imports_itself_by_a_detour() -> None:
    graph = imports()
    assert len(graph) > 150
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


def test_the_layers_hold() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "0 broken" in done.stdout
