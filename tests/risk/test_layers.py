"""What the web process may rely on, and that the documentation knows every setting."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from riskcore.config import RiskConfig
from riskcore.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path.stem for path in (ROOT / "riskcore" / "risk").glob("*.py"))
FITTING = {"fit"}


@pytest.mark.parametrize("module", [name for name in MODULES if name not in FITTING])
def test_scoring_and_explaining_need_no_torch(module):
    name = "riskcore.risk" if module == "__init__" else f"riskcore.risk.{module}"
    heavy = {"torch", "streamlit", "sklearn", "numba", "scipy.stats"}
    code = f"import sys, {name}; found = {heavy} & set(sys.modules); sys.exit(str(found) if found else 0)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_fitting_is_one_import_away():
    from riskcore import risk
    from riskcore.risk.fit import fit_risk_model

    assert risk.fit_risk_model is fit_risk_model
    assert not [name for name in risk.__all__ if not hasattr(risk, name)]
    with pytest.raises(AttributeError, match="nonsense"):
        _ = risk.nonsense


@pytest.mark.parametrize("field", dataclasses.fields(RiskConfig), ids=lambda field: field.name)
def test_every_setting_is_documented_with_its_default(field):
    rows = [
        line for line in (ROOT / "docs" / "risk.md").read_text("utf-8").splitlines() if f"| `{field.name}` " in line
    ]
    assert len(rows) == 1
    assert f"| {field.default} |" in rows[0]


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(ConfigError, match="prior_rsd"):
        RiskConfig(lowest_rsd=0.6)
