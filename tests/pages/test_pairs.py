"""The queue and the pair card: hostile text stays text, the address is the state, verdicts move on."""

from __future__ import annotations

import dataclasses

import pytest

from pages.parts.runs.run_picker import run_words
from riskcore.audit import VerdictLog
from riskcore.errors import StorageError
from riskcore.runs import PairQuery, RunFolder, RunState, RunStore, query_pairs
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import HOSTILE


def first_pairs(record, count: int = 3, **filters) -> list[str]:
    return list(query_pairs(RunFolder(record.folder), PairQuery(**filters)).rows["pair_id"][:count])


def press(app, label: str):
    button = next(button for button in app.button if button.label == label)
    return checked(button.click().run())


def test_the_card_explains_the_top_pair(screen, done):
    app = screen("pairs", run=done.id, pair=first_pairs(done)[0])
    text = words(app)
    assert "The evidence says" in text
    assert "**1** of 120 in this queue" in text
    assert "Before comparing" in text
    assert "Together" in text
    assert "Of 100 labels with this risk" not in text  # older runs ranked otherwise
    assert "fits on resampled labels" in text


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_hostile_record_text_is_shown_as_text(screen, done, place):
    app = screen("pairs", run=done.id, pair=f"a{place}:b{place}")
    card = "".join(str(element.proto.body) for element in app.get("html"))
    for forbidden in ("<script>", "<img", "onerror=window", "\u202e"):
        assert forbidden not in card.replace("&lt;img", "")
    assert "javascript:alert(1)" not in "".join(str(m.value) for m in app.markdown)
    if place == 0:
        assert "&lt;" in card
        assert "script" in card
    if place in (0, 4):
        assert "more characters" in card
        app.toggle(key=f"whole a{place}:b{place}").set_value(True)
        whole = "".join(str(element.proto.body) for element in checked(app.run()).get("html"))
        assert "x" * 100_000 in whole


def test_next_and_previous_walk_the_queue(screen, done):
    first, second, third = first_pairs(done)
    app = screen("pairs", run=done.id, pair=first)
    app = press(app, "Next")
    assert app.query_params["pair"] == second
    app = press(press(app, "Next"), "Previous")
    assert app.query_params["pair"] == second
    assert app.query_params["pair"] != third
    assert "pair" not in press(app, "Queue").query_params


def test_next_crosses_the_edge_of_a_page(screen, done):
    ids = first_pairs(done, 60, page_size=60)
    app = press(screen("pairs", run=done.id, pair=ids[49]), "Next")
    assert app.query_params["pair"] == ids[50]
    assert app.query_params["page"] == "2"
    assert "**51** of 120" in words(app)
    app = press(app, "Previous")
    assert app.query_params["pair"] == ids[49]


def test_a_verdict_is_kept_and_leads_to_the_next_pair(screen, done, runs):
    first, second, _ = first_pairs(done)
    app = screen("pairs", run=done.id, pair=first)
    app = press(app, "≠ Non-match")
    assert app.query_params["pair"] == second
    (entry,) = VerdictLog(RunStore(runs)).entries(done.id)
    assert (entry.pair_id, entry.verdict) == (first, "non-match")
    assert entry.who
    app = press(press(app, "Previous"), "Undo")
    assert [e.verdict for e in VerdictLog(RunStore(runs)).entries(done.id)] == ["non-match", "withdrawn"]
    assert VerdictLog(RunStore(runs)).current(done.id) == {}


def test_the_keys_are_the_first_letters(screen, done):
    """N was unsure and U non-match, left over from "unmatch"."""
    app = screen("pairs", run=done.id, pair=first_pairs(done)[0])
    keys = {button.label: button.proto.shortcut for button in app.button if button.proto.shortcut}
    wanted = {"= Match": "M", "≠ Non-match": "N", "? Unsure": "U", "Undo": "Z"}
    assert {label: keys[label].upper() for label in wanted} == wanted


def test_undo_takes_back_the_last_verdict_after_the_advance(screen, done, runs):
    """It belonged to the card once: after the automatic advance it was about a pair without a verdict."""
    first, second, third = first_pairs(done)
    app = press(press(screen("pairs", run=done.id, pair=first), "= Match"), "≠ Non-match")
    assert app.query_params["pair"] == third
    app = press(app, "Undo")
    assert app.query_params["pair"] == second
    assert set(VerdictLog(RunStore(runs)).current(done.id)) == {first}
    app = press(app, "Undo")
    assert app.query_params["pair"] == first
    assert VerdictLog(RunStore(runs)).current(done.id) == {}
    assert next(button for button in app.button if button.label == "Undo").disabled


def test_undo_returns_across_the_edge_of_a_page(screen, done):
    ids = first_pairs(done, 60, page_size=60)
    app = press(screen("pairs", run=done.id, pair=ids[49]), "? Unsure")
    assert (app.query_params["pair"], app.query_params["page"]) == (ids[50], "2")
    app = press(app, "Undo")
    assert app.query_params["pair"] == ids[49]
    assert "**50** of 120" in words(app)


def test_undo_is_of_this_session_and_this_person(screen, done, runs):
    """Another window under the same name, and another person, judged later."""
    first, second, third = first_pairs(done)
    log = VerdictLog(RunStore(runs))
    app = press(screen("pairs", run=done.id, pair=first), "= Match")
    me = log.current(done.id)[first].who
    log.add(done.id, second, "match", who=me)
    log.add(done.id, third, "match", who="somebody else")
    app = press(app, "Undo")
    assert app.query_params["pair"] == first
    app = press(app, "Undo")  # nothing of this session is left: the newest of this person
    assert app.query_params["pair"] == second
    assert set(log.current(done.id)) == {third}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StorageError("The store is locked. Try again."), "The store is locked. Try again."),
        (OSError(28, "No space left on device"), "That failed with an unexpected OSError"),
    ],
)
def test_a_verdict_that_is_not_saved_stays_on_its_pair(screen, done, runs, monkeypatch, error, said):
    """At the edge of a page the screen turned the page all the same."""

    def broken(*_, **__):
        raise error

    last = first_pairs(done, 60, page_size=60)[49]
    app = screen("pairs", run=done.id, pair=last)
    monkeypatch.setattr(VerdictLog, "add", broken)
    app = press(app, "= Match")
    assert said in words(app)
    assert "**50** of 120" in words(app)
    assert app.query_params["pair"] == last
    assert not any("saved" in toast.value for toast in app.toast)
    monkeypatch.undo()
    assert VerdictLog(RunStore(runs)).entries(done.id) == []


def test_judging_only_what_is_left_never_skips_a_pair(screen, done, runs):
    first, second, third = first_pairs(done)
    app = screen("pairs", run=done.id, pair=first, verdict="no verdict")
    app = press(press(app, "= Match"), "? Unsure")
    assert app.query_params["pair"] == third
    assert set(VerdictLog(RunStore(runs)).current(done.id)) == {first, second}


def test_filters_come_from_the_address(screen, done):
    wanted = query_pairs(RunFolder(done.folder), PairQuery(label=1, rule=5)).total
    text = words(screen("pairs", run=done.id, label="= match", rule="5"))
    assert f"**{wanted:,} pairs**" in text


@pytest.mark.parametrize(
    "address",
    [
        {"page": "-1"},
        {"page": "999999"},
        {"page": "two"},
        {"label": "<b>"},
        {"rule": "99"},
        {"risk": "x"},
        {"sort": "; DROP"},
    ],
)
def test_a_nonsense_address_shows_the_queue(screen, done, address):
    text = words(screen("pairs", run=done.id, **address))
    assert "**120 pairs**" in text
    assert "Something unexpected" not in text


def test_an_unknown_pair_is_named(screen, done):
    text = words(screen("pairs", run=done.id, pair="nobody:knows"))
    assert "has no target pair 'nobody:knows'" in text


def test_words_of_a_run_never_change_by_themselves(done):
    """A list that said "3 min ago" and then "4 min ago" took the change for a choice, and the open pair was lost."""
    later = dataclasses.replace(done, state=RunState.RUNNING, seconds=99.0, ended=None)
    assert run_words(later) == run_words(done)


def test_verdicts_are_signed_with_the_name_given(screen, done, runs):
    first, *_ = first_pairs(done)
    app = screen("pairs", run=done.id, pair=first)
    app = checked(app.text_input(key="reviewer").set_value("ann").run())
    press(app, "= Match")
    assert VerdictLog(RunStore(runs)).current(done.id)[first].who == "ann"


def test_changing_a_filter_leaves_the_card_and_the_page(screen, done):
    app = screen("pairs", run=done.id, page="2")
    app = checked(app.selectbox(key="label").set_value("= match").run())
    assert "page" not in app.query_params
    assert "page 1 of" in words(app)


def test_what_is_one_click_further_is_drawn_once_it_is_open(screen, done):
    """Drawn at once, it cost a third of the time of every step from pair to pair."""
    first, *_ = first_pairs(done)
    app = screen("pairs", run=done.id, pair=first)
    assert not app.dataframe
    app.session_state["rules that fired"] = True
    app.session_state["all numbers"] = True
    app.session_state["lower the risk"] = True
    app = checked(app.run())
    assert "value at risk without it" in app.dataframe[0].value.columns
    assert "would lower the value at risk from" in words(app)
    assert "Rules and matcher alone put the match probability between" in words(app)
    assert "rc-rule" in words(app)


def test_an_error_inside_the_card_is_a_sentence(screen, done, monkeypatch):
    """The card runs again without its page, so the page's boundary would not hold it."""
    from pages.parts.pairs import pair_card

    def broken(*_):
        raise ValueError("never seen")

    monkeypatch.setattr(pair_card, "history_chart", broken)
    text = words(screen("pairs", run=done.id, pair=first_pairs(done)[0]))
    assert "Something unexpected" in text
    assert "The evidence says" in text


def test_an_address_is_left_as_it_came(screen, done):
    """Every change of it is one more step for the browser's back button."""
    app = screen("pairs", run=done.id, method="risk", iteration="2")
    assert dict(app.query_params) == {"run": done.id, "method": "risk", "iteration": "2"}


def test_a_pair_of_another_page_has_its_place(screen, done):
    """A link to a pair says nothing of its page."""
    ids = first_pairs(done, 120, page_size=120)
    app = screen("pairs", run=done.id, pair=ids[70])
    assert "**71** of 120 in this queue" in words(app)
    app = press(app, "Next")
    assert app.query_params["pair"] == ids[71]
