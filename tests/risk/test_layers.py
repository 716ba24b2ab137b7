"""What the web process may rely on, and that the documentation knows every setting."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from riskcore.config import RiskConfig
from riskcore.errors import ConfigError
from tests.imports import brought_in

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path.stem for path in (ROOT / "riskcore" / "risk").glob("*.py"))
FITTING = {"fit", "__init__"}


def test_scoring_and_explaining_need_no_torch():
    modules = ["riskcore.risk", *(f"riskcore.risk.{name}" for name in MODULES if name not in FITTING)]
    assert len(modules) > 5
    assert brought_in(modules, ["torch", "streamlit", "sklearn", "numba", "scipy.stats"]) == []


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
