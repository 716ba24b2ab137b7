"""The web process imports all of this: nothing heavy may come with it. And the documentation knows every name."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from riskcore import evaluation
from tests.imports import brought_in

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = [name for name in evaluation.__all__ if inspect.isfunction(getattr(evaluation, name))]


def test_importing_it_loads_nothing_heavy():
    assert brought_in(["riskcore.evaluation"], ["torch", "sklearn", "streamlit", "scipy.stats"]) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_documented(name):
    assert f"`{name}" in (ROOT / "docs" / "evaluation.md").read_text("utf-8")
