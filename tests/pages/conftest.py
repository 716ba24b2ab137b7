"""Runs and data folders of their own for every test of a screen."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.pages.synthetic_run import write_run

PROJECT = Path(__file__).resolve().parents[2]
SECONDS = 30  # the first screen of a process imports everything


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Nothing that a test does touches the project's own runs and data."""
    monkeypatch.setenv("RISKCORE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("RISKCORE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(PROJECT)
    st.cache_data.clear()
    st.cache_resource.clear()
    return tmp_path


@pytest.fixture
def runs(places) -> Path:
    return places / "runs"


@pytest.fixture
def done(runs):
    """A finished run with hostile record text and known truth."""
    return write_run(runs, 120, 3, hostile=True)


@pytest.fixture
def screen():
    """Open a screen: `screen("pairs", run=..., pair=...)`."""

    def opened(name: str, **address: str) -> AppTest:
        app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=SECONDS)
        for key, value in address.items():
            app.query_params[key] = value
        if name == "overview":
            return checked(app.run())
        app.switch_page(f"pages/{name}.py")
        return checked(app.run())

    return opened


def checked(app: AppTest) -> AppTest:
    assert not app.exception, app.exception
    return app


def words(app: AppTest) -> str:
    """All text on the screen, for looking whether something is said."""
    kinds = ("title", "markdown", "caption", "info", "warning", "error", "success", "header", "subheader", "code")
    parts = [str(element.value) for kind in kinds for element in getattr(app, kind)]
    parts += [str(element.label) for kind in ("button", "metric", "expander") for element in getattr(app, kind)]
    parts += [str(element.value) for element in app.metric]
    parts += [str(getattr(element, "body", getattr(element.proto, "body", ""))) for element in app.get("html")]
    return "\n".join(parts)
