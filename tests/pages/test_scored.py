"""The screen of scored sets: its queue, filters, one pair, exports, and who may do what."""

from __future__ import annotations

import json

import pytest
import streamlit as st

from pages.parts.frame import actions
from pages.parts.scored.explain import _explain
from pages.parts.scored.export import _write
from pages.parts.scored.overview import spread_chart
from pages.parts.scored.queue import risk_text
from pages.parts.scored.set_picker import _open_path
from riskcore.access import AccessError
from riskcore.pair_ids import pair_id
from riskcore.scale.explanations import running_process
from riskcore.scale.export_jobs import exports_of
from riskcore.scale.known import register_scored
from riskcore.scale.queries import ScoredQuery
from riskcore.scale.reading import histogram
from tests.pages.conftest import checked, words
from tests.scale.made_up import HOSTILE, all_pairs, write_scored


@pytest.fixture
def scored(runs):
    return write_scored(runs / "scored" / "customers")


def test_without_a_set_the_screen_says_how_to_have_one(screen, runs):
    text = words(screen("scored"))
    assert "There are no scored sets yet" in text
    assert "riskcore score RUN PAIRS --out" in text


def test_the_queue(screen, scored):
    app = screen("scored")
    facts, text = scored.facts(), words(app)
    assert f"**{facts['pairs']:,} pairs** · page 1 of 14" in text
    assert f"{facts['matches']:,}" in text
    assert "Labels used: source, validation" in text


def test_filters_narrow_and_stay_in_the_address(screen, scored):
    pairs = all_pairs(scored, 3)
    app = screen("scored", label="match", asking="unasked")
    wanted = ((pairs["label"] == 1) & (pairs["asked"] == 0)).sum()
    assert f"**{wanted:,} of 700 pairs**" in words(app)
    app.text_input(key="find").set_value("müller").run()
    checked(app)
    assert app.query_params["label"] == "match"
    button = next(one for one in app.button if one.label == "Show all pairs")
    checked(button.click().run())
    assert "**700 pairs**" in words(app)


@pytest.mark.parametrize("address", [{"page": "99999"}, {"page": "x"}, {"label": "<b>"}, {"order": "; --"}])
def test_an_address_of_nonsense(screen, scored, address):
    assert "700 pairs" in words(screen("scored", **address))


def test_a_set_that_is_not_there(screen, scored):
    text = words(screen("scored", scored="../../etc"))
    assert "There is no scored set" in text
    assert "700 pairs" in text


def test_a_pair(screen, scored):
    row = all_pairs(scored, 3).query("bound").iloc[0]
    app = screen("scored", scored="customers", pair=pair_id(row["ltable_id"], row["rtable_id"]))
    text = words(app)
    assert "in this queue" in text
    assert "at most" in text
    assert "largest risk that the label can have" in text
    assert "Of the left record" in text
    assert any(one.label == "Explain" for one in app.button)


def test_a_pair_that_was_asked_about_is_exact(screen, scored):
    row = all_pairs(scored, 3).query("not bound").iloc[0]
    text = words(screen("scored", pair=pair_id(row["ltable_id"], row["rtable_id"])))
    assert "Exact: the matcher was asked about this pair." in text


def test_a_pair_that_is_not_there(screen, scored):
    text = words(screen("scored", pair="l1:nothing"))
    assert "have no pair" in text


def test_record_text_is_no_markup(screen, scored):
    row = all_pairs(scored, 3).query("left_row == 5").iloc[0]
    text = words(screen("scored", pair=pair_id(row["ltable_id"], row["rtable_id"])))
    assert HOSTILE not in text
    assert "<script" not in text
    assert "&lt;" in text


def test_charts_count_every_pair(screen, scored):
    for value in ("risk", "probability"):
        chart = spread_chart(histogram(scored, ScoredQuery(), value), value)
        assert chart.to_dict(validate=True)


def test_sets_elsewhere_are_opened_only_where_a_setting_allows_it(screen, runs, tmp_path, monkeypatch):
    write_scored(tmp_path / "allowed" / "one", 60, 1)
    write_scored(tmp_path / "other" / "two", 60, 1)
    assert not screen("scored").text_input
    monkeypatch.setenv("RISKCORE_OPEN_PATHS", str(tmp_path / "allowed"))
    for folder, opened in (("other/two", False), ("allowed/one", True)):
        app = screen("scored")
        app.text_input[0].set_value(str(tmp_path / folder))
        app.button[0].click().run()
        text = words(app)
        assert ("60 pairs" in text) is opened
        assert ("cannot be opened" in text) is not opened


def test_a_registered_set_is_shown(screen, runs, tmp_path):
    register_scored(runs, write_scored(tmp_path / "far" / "away", 60, 1).path)
    assert "60 pairs" in words(screen("scored", scored="away"))


def test_a_run_leads_to_its_sets(screen, done, scored):
    about = {**scored.facts(), "run": done.id}
    scored.about_file.write_text(json.dumps(about))
    for name in ("fine_tuning", "results"):
        app = screen(name, run=done.id)
        links = [one.proto.label for one in app.get("page_link")]
        assert any("customers · 700 pairs" in label for label in links), name
    assert "Scored" in [one.proto.label for one in screen("overview").get("page_link")]


@pytest.mark.parametrize(
    ("risk", "bound", "text"), [(0.0141, True, "≤ 0.02"), (0.0141, False, "0.01"), (0.3, True, "≤ 0.30")]
)
def test_a_bound_is_rounded_up(risk, bound, text):
    assert risk_text(risk, bound) == text


def test_who_lacks_the_role_starts_nothing(scored, monkeypatch):
    def refuse(role):
        raise AccessError(f"needs {role.word}")

    monkeypatch.setattr(actions, "require", refuse)
    for act in (lambda: _write(scored, "csv", False, ScoredQuery()), lambda: _explain(scored, 0, 0)):
        act()  # an action keeps its error for the page
        assert isinstance(st.session_state.pop("callback_error", None), AccessError)
    with pytest.raises(AccessError):
        _open_path(str(scored.path))
    assert exports_of(scored) == []
    assert running_process(scored) is None
