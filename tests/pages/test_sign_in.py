"""Sign-in settings: none, fine ones, and those that cannot be used, with which nothing is served."""

from __future__ import annotations

import sys

import pytest
import streamlit as st
from streamlit import config

from pages.parts.frame.navigation import SCREENS
from tests.pages.conftest import SIGN_IN, words

FINE = f"{SIGN_IN}\n[access]\neveryone = true\n"
REFUSED = "Riskcore shows no screen"


def refused(app) -> str:
    """What a refused screen says: one message, and nothing beside it."""
    assert [error.value for error in app.error] == [f"{REFUSED}, because its sign-in settings cannot be used."]
    assert len(app.main) == 2
    assert len(app.sidebar) == 0
    assert not app.button
    (reason,) = app.code
    assert "start the server again" in reason.value
    return reason.value


@pytest.mark.parametrize("name", SCREENS)
def test_a_secrets_file_that_cannot_be_parsed_closes_every_screen(screen, done, secrets_file, name):
    secrets_file.write_text("[auth\nclient_id = ", encoding="utf-8")
    reason = refused(screen(name, run=done.id))
    assert str(secrets_file) in reason
    assert "line 1" in reason


def test_a_refused_screen_does_not_list_the_others(screen, secrets_file, monkeypatch):
    positions = []
    navigation = st.navigation
    monkeypatch.setattr(st, "navigation", lambda *a, **k: positions.append(k["position"]) or navigation(*a, **k))
    secrets_file.write_text("[auth]", encoding="utf-8")
    refused(screen("overview"))
    secrets_file.unlink()
    st.secrets._reset()
    screen("overview")
    assert positions == ["hidden", "sidebar"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[auth]", "redirect_uri is missing, cookie_secret is missing, client_id is missing"),
        ("auth = 'yes'", "redirect_uri is missing"),
        (FINE.replace('client_id = "riskcore"\n', ""), "cannot be used: client_id is missing."),
        (FINE.replace('"riskcore"', '" "'), "cannot be used: client_id is missing."),
        (FINE.replace('"riskcore"', "7"), "cannot be used: client_id is missing."),
        (FINE.replace("https://login", "login"), "server_metadata_url does not begin with http"),
        (FINE.replace("client_id", "[auth.other]\nclient_id"), "client_id is missing, client_secret is missing"),
    ],
    ids=["empty", "not a section", "no client_id", "blank", "a number", "half an address", "another provider only"],
)
def test_an_auth_section_that_cannot_be_used_is_refused(screen, secrets_file, text, said):
    secrets_file.write_text(text, encoding="utf-8")
    reason = refused(screen("overview"))
    assert said in reason
    assert str(secrets_file) in reason
    assert "another one" not in reason


def test_an_unreadable_file_is_refused(screen, secrets_file):
    secrets_file.mkdir()  # the rights of a file do not stop an administrator who runs the tests
    assert f"{secrets_file} cannot be read: Is a directory" in refused(screen("pairs"))


def test_a_file_that_is_not_text_is_refused(screen, secrets_file):
    secrets_file.write_bytes(b"\xff\xfe[auth]")
    assert str(secrets_file) in refused(screen("pairs"))


def test_a_link_to_nothing_is_refused(screen, secrets_file):
    secrets_file.symlink_to(secrets_file.with_name("unmounted.toml"))
    assert str(secrets_file) in refused(screen("pairs"))


def test_a_file_that_was_asked_for_and_is_missing_is_refused(screen, secrets_file):
    where = config.get_where_defined("secrets.files")
    config._set_option("secrets.files", [str(secrets_file)], "environment variable")
    try:
        assert f"names {secrets_file}, and there is no such file" in refused(screen("pairs"))
    finally:
        config._set_option("secrets.files", [str(secrets_file)], where)


def test_sign_in_without_its_library_is_refused(screen, secrets_file, monkeypatch):
    secrets_file.write_text(FINE, encoding="utf-8")
    monkeypatch.setitem(sys.modules, "authlib.integrations.starlette_client", None)
    assert "needs the package Authlib" in refused(screen("audit"))


@pytest.mark.parametrize("text", [FINE, FINE.replace("client_id", "[auth.default]\nclient_id")])
def test_with_sign_in_a_stranger_sees_only_the_button(screen, done, secrets_file, text):
    secrets_file.write_text(text, encoding="utf-8")
    app = screen("pairs", run=done.id)
    assert [button.label for button in app.button] == ["Sign in"]
    assert "120 pairs" not in words(app)
    assert REFUSED not in words(app)


@pytest.mark.parametrize("text", [None, "", 'other = "secret"'])
def test_without_an_auth_section_the_screens_are_open(screen, done, secrets_file, text):
    if text is not None:
        secrets_file.write_text(text, encoding="utf-8")
    assert "120 pairs" in words(screen("pairs", run=done.id))


def test_without_a_file_streamlit_is_not_asked_again_until_there_is_one(screen, done, secrets_file, monkeypatch):
    """Each question opened the files anew under a lock that all sessions waited for."""
    screen("pairs", run=done.id)
    asked, to_dict = [], type(st.secrets).to_dict
    monkeypatch.setattr(type(st.secrets), "to_dict", lambda secrets: asked.append(1) or to_dict(secrets))
    assert "120 pairs" in words(screen("pairs", run=done.id))
    assert asked == []
    secrets_file.write_text(FINE, encoding="utf-8")  # counts at once, and for good
    assert [button.label for button in screen("pairs", run=done.id).button] == ["Sign in"]
    secrets_file.unlink()
    assert [button.label for button in screen("pairs", run=done.id).button] == ["Sign in"]
    assert asked
