"""The web process reads runs and verdicts without what only training needs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["riskcore.runs", "riskcore.runs.worker.execute", "riskcore.audit", "riskcore.cli"]


@pytest.mark.parametrize("module", MODULES)
def test_no_torch(module):
    heavy = {"torch", "streamlit", "sklearn", "numba"}
    code = f"import sys, {module}; found = {heavy} & set(sys.modules); sys.exit(str(found) if found else 0)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_door_opens():
    from riskcore import audit, runs

    for door in (runs, audit):
        assert not [name for name in door.__all__ if not hasattr(door, name)]
