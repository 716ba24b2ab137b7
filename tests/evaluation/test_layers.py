"""The web process imports all of this: nothing heavy may come with it. And the documentation knows every name."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from riskcore import evaluation

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = [name for name in evaluation.__all__ if inspect.isfunction(getattr(evaluation, name))]


def test_importing_it_loads_nothing_heavy():
    heavy = {"torch", "sklearn", "streamlit", "scipy.stats"}
    code = f"import sys, riskcore.evaluation; found = {heavy} & set(sys.modules); sys.exit(str(found) if found else 0)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_documented(name):
    assert f"`{name}" in (ROOT / "docs" / "evaluation.md").read_text("utf-8")
