"""Who may import whom, and what the project must not say."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TORCH_FREE = (
    "data",
    "blocking",
    "metrics",
    "rules",
    "risk",
    "evaluation",
    "runs",
    "audit",
    "sandbox",
    "bench",
    "config",
    "errors",
    "cli",
)
NEEDS_TORCH = (
    "riskcore.risk.fit",
    "riskcore.runs.worker",
    "riskcore.runs.worker.sheets",
    "riskcore.runs.bundle.read",
    "riskcore.runs.bundle.write",
)


def modules() -> list[str]:
    # Alembic runs the scripts of the store's migrations; nothing imports them.
    files = sorted(file for file in (ROOT / "riskcore").rglob("*.py") if "migrations" not in file.parts)
    return [".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files]


def loaded_after(imports: list[str], *names: str) -> str:
    """Which of these modules are loaded once the imports are done, in a fresh interpreter."""
    code = f"import sys, importlib\nfor m in {imports!r}: importlib.import_module(m)\n"
    code += f"print([n for n in {names!r} if n in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_engine_never_imports_streamlit() -> None:
    entries = [name for name in modules() if not name.endswith("__main__")]
    assert loaded_after(entries, "streamlit").strip() == "[]"


def test_what_the_web_process_uses_is_free_of_torch() -> None:
    doors = [
        name for name in modules()
        if name.split(".")[1:2] and name.split(".")[1] in TORCH_FREE and name not in NEEDS_TORCH
    ]  # fmt: skip
    assert "riskcore.data.workload" in doors
    assert loaded_after(doors, "torch").strip() == "[]"


@pytest.mark.parametrize("file", sorted((ROOT / "riskcore").rglob("*.py")), ids=lambda file: file.stem)
def test_modules_say_what_they_own(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{file} has no docstring"


def test_reading_a_run_needs_no_compiler() -> None:
    readers = [
        "riskcore.runs",
        "riskcore.rules.rule_set",
        "riskcore.rules.firing",
        "riskcore.risk",
        "riskcore.evaluation",
    ]
    assert loaded_after(readers, "numba", "torch", "sklearn").strip() == "[]"


def test_no_machine_paths() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    pattern = re.compile(r"(?<![\w.])/(?:work|root|home)/\w")
    for name in listed.splitlines():
        file = ROOT / name
        if file.suffix in {".py", ".md", ".toml", ".txt", ".json"} and file.is_file():
            assert not pattern.search(file.read_text(encoding="utf-8")), name
