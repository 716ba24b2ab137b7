"""The page that someone came for before the sign-in: what is kept of an address, and what strangers see meanwhile."""

from __future__ import annotations

import ast
import os
import time

import pytest
import streamlit as st

from pages.parts.frame import access, way_back
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.target import LONGEST, PARAMETERS, Target, parse_target
from pages.parts.frame.text import literal
from riskcore.audit import VerdictLog
from riskcore.runs import RunStore
from riskcore.storage.signed_out import end_sign_in, has_ended
from tests.pages.conftest import PROJECT, SIGN_IN, claims_of, words

EVERYONE = f'{SIGN_IN}\n[access]\neveryone = true\ndefault_role = "owner"\n'
ADA = claims_of("ada@example.org")
IN_THE_ADDRESS = ("st.query_params.get", "st.query_params.pop")


@pytest.mark.parametrize(
    "kept",
    [
        None, 7, ["pairs"], {}, "", "/", "//evil.net", "https://evil.net/pairs?run=1", "pairs.evil.net", "pairs/../x",
        "/pairs?run=1", "PAIRS", "\\\\evil", "javascript:alert(1)", "nowhere?run=1", f"pairs?text={'x' * LONGEST}",
        "pairs?" + "&".join(f"run={n}" for n in range(99)), "pairs\n?run=1",
    ],
    ids=lambda kept: str(kept)[:30],
)  # fmt: skip
def test_only_a_screen_of_ours_is_a_target(kept):
    assert parse_target(kept) is None


@pytest.mark.parametrize("pair", ["a:b", r"a\:3:b\\4", "%3A:%253A", "Größe 7:東京/é+ü", "a&b=c#d:e?f", " : ", "👍:🙂"])
def test_a_target_survives_being_kept(pair):
    whole = Target("pairs", {"run": "1", "pair": pair, "text": ""})
    assert parse_target(whole.text()) == whole


def test_unknown_parameters_are_left_out():
    assert parse_target("pairs?run=1&next=https%3A%2F%2Fevil.net&utm_source=x") == Target("pairs", {"run": "1"})


def _names_in_addresses() -> set[str]:
    """The names of parameters that the screens read or write, where the code has them as texts."""
    found: set[str | None] = set()
    for file in (PROJECT / "pages").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "st.query_params":
                found.add(_text(node.slice))
            elif isinstance(node, ast.Call):
                name, given = ast.unparse(node.func), {one.arg: one.value for one in node.keywords}
                last = name.rpartition(".")[2]
                if name in IN_THE_ADDRESS or last in ("put", "_bound", "requested_number"):
                    found |= {_text(one) for one in node.args[:1]}
                if last == "choose":
                    found |= {_text(one) for one in node.args[3:4]}
                if "key" in given and ("bind" in given or any(one.arg is None for one in node.keywords)):
                    found.add(_text(given["key"]) if "bind" in given else None)
                if isinstance(given.get("query_params"), ast.Dict):
                    found |= {_text(one) for one in given["query_params"].keys}
    return {one for one in found if one}


def _text(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def test_every_parameter_of_a_screen_is_known():
    found = _names_in_addresses()
    assert {"run", "pair", "rule", "draw", "says", "flips of"} <= found
    assert found - PARAMETERS == set(), "Add these names to pages/parts/frame/target.py"


@pytest.fixture
def signing_in(secrets_file):
    secrets_file.write_text(EVERYONE, encoding="utf-8")


@pytest.mark.parametrize("name", SCREENS)
def test_a_stranger_learns_nothing_about_a_run(screen, done, signing_in, monkeypatch, name):
    def read(*_: object, **__: object) -> None:
        raise AssertionError("something was read for a stranger")

    monkeypatch.setattr(RunStore, "__init__", read)
    there = screen(name, run=done.id, pair="a1:b1")
    nowhere = screen(name, run="none", pair="no:such")
    assert [button.label for button in there.button] == ["Sign in"]
    assert words(there) == words(nowhere)
    assert literal(SCREENS[name].title) in words(there)
    assert done.id not in words(there)


def commands(monkeypatch) -> list[dict[str, str]]:
    """What the browser is told to do with the target."""
    told: list[dict[str, str]] = []
    monkeypatch.setattr(way_back, "_component", lambda: lambda data, **_: told.append(data))
    return told


def test_signing_in_first_keeps_the_target_and_then_leaves(screen, signing_in, monkeypatch):
    told = commands(monkeypatch)
    app = screen("pairs", run="r", pair="a:b")
    assert told == []
    app.button[0].click().run()
    assert told == [
        {"command": "leave", "minutes": 60, "target": "pairs?run=r&pair=a%3Ab", "by": "sign in", "times": 1}
    ]


def test_while_the_browser_goes_it_is_told_nothing_else(screen, signing_in, monkeypatch):
    told = commands(monkeypatch)
    app = screen("overview")
    app.button[0].click().run()
    way_back_of = app.session_state
    way_back_of[way_back._GONE] = "sign in"
    way_back_of[way_back._LEAVING] = None
    app.run()
    assert [one["command"] for one in told] == ["ask", "leave", "leave"]
    assert told[1] == told[2]
    app.button[0].click().run()  # it did not go after all
    assert told[3] == {**told[2], "times": 2}


def test_who_is_let_in_is_asked_for_a_target_only_where_sign_ins_land(screen, signing_in, monkeypatch):
    told = commands(monkeypatch)
    screen("overview", user=ADA)
    assert {one["command"] for one in told} == {"ask"}
    told.clear()
    screen("rules", user=ADA)
    assert {one["command"] for one in told} == {"drop"}


def test_what_the_browser_has_kept_is_gone_to_once(monkeypatch):
    state: dict[str, object] = {way_back._MODE: "ask", way_back._KEY: {"kept": {"target": "rules?run=1", "by": "x"}}}
    monkeypatch.setattr(st, "session_state", state)
    way_back._take()
    assert state[way_back._GOING] == Target("rules", {"run": "1"})
    assert way_back.came_back_by() == ""
    state[way_back._KEY] = {"kept": {"target": "pairs?run=2", "by": "sign in"}}
    way_back._take()  # late, or forged: nobody has asked
    assert state[way_back._GOING] == Target("rules", {"run": "1"})


def test_a_sign_in_ends_for_all_copies_of_its_cookie(screen, done, runs, signing_in):
    assert "120 pairs" in words(screen("pairs", user=ADA, run=done.id))
    end_sign_in(access.signed_out_folder(), ADA, 12)
    app = screen("pairs", user=ADA, run=done.id)
    assert "120 pairs" not in words(app)
    assert "You have signed out" in words(app)
    assert [one.label for one in app.button] == ["Sign in again", "Sign out"]
    other = {**ADA, "nonce": "of the next sign-in"}
    assert "120 pairs" in words(screen("pairs", user=other, run=done.id))


def test_a_tab_that_is_open_ends_too(screen, done, runs, signing_in):
    app = screen("pairs", user=ADA, run=done.id)
    next(one for one in app.button if one.label == "Open the first pair").click().run()
    end_sign_in(access.signed_out_folder(), ADA, 12)
    next(one for one in app.button if one.label == "= Match").click().run()
    assert VerdictLog(RunStore(runs)).size(done.id) == 0
    assert "You have signed out" in words(app)


def test_sign_outs_are_forgotten_once_the_sign_in_would_be_over(tmp_path):
    end_sign_in(tmp_path / "out", {"sub": "1"}, 12)
    (old,) = (tmp_path / "out").iterdir()
    os.utime(old, (time.time() - 13 * 3600,) * 2)
    end_sign_in(tmp_path / "out", {"sub": "2"}, 12)
    assert not has_ended(tmp_path / "out", {"sub": "1"})
    assert has_ended(tmp_path / "out", {"sub": "2"})
    assert len(list((tmp_path / "out").iterdir())) == 1
