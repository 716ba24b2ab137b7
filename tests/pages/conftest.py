"""Runs and data folders of their own for every test of a screen."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config
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
    """Open a screen: `screen("pairs", run=..., pair=...)`; `user` are the claims of who is signed in."""

    def opened(name: str, user: dict[str, object] | None = None, **address: str) -> AppTest:
        app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=SECONDS)
        app.user = user if user is not None else app.user
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


SIGN_IN = """
[auth]
redirect_uri = "http://localhost:8501/oauth2callback"
cookie_secret = "a long secret that nobody guesses"
client_id = "riskcore"
client_secret = "another one"
server_metadata_url = "https://login.example.org/.well-known/openid-configuration"
"""


@pytest.fixture
def secrets_file(tmp_path):
    """The only place where Streamlit looks for secrets; read anew in every test."""
    path = tmp_path / "secrets.toml"
    before = config.get_option("secrets.files")
    where = config.get_where_defined("secrets.files")
    config._set_option("secrets.files", [str(path)], where)
    st.secrets._reset()
    yield path
    st.secrets._reset()
    config._set_option("secrets.files", before, where)


def claims_of(address: str, **others: object) -> dict[str, object]:
    """What a sign-in service says of a person."""
    return {
        "is_logged_in": True,
        "iss": "https://login.example.org",
        "sub": f"number of {address}",
        "iat": time.time(),
        "email": address,
        "email_verified": True,
        "name": "Somebody Else",
        **others,
    }
