"""The queue and the pair card: hostile text stays text, the address is the state, verdicts move on."""

from __future__ import annotations

import dataclasses
import json

import pytest

from pages.parts.runs.run_picker import run_words
from riskcore.audit import VerdictLog
from riskcore.errors import StorageError
from riskcore.runs import PairQuery, RunFolder, RunState, RunStore, query_pairs
from riskcore.runs.saved_filters import save_filter, saved_filters
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


def test_the_blind_order_shows_records_alone(screen, done, runs):
    log = VerdictLog(RunStore(runs))
    order = first_pairs(done, 3, sort="random", page_size=3)
    log.add(done.id, order[0], "match", who="ann")
    app = screen("pairs", run=done.id, sort="random", risk="0.9")
    assert "no part of an estimate" in words(app)
    (listed,) = [json.loads(one.proto.json) for one in app.get("bidi_component") if "queue" in one.proto.component_name]
    assert [row["id"] for row in listed["rows"][:3]] == order
    told = [
        {key: row[key] for key in ("risk", "share", "label", "flip", "likely", "reason", "verdict")}
        for row in listed["rows"]
    ]
    assert told == [{"risk": "", "share": 0.0, "label": "", "flip": "", "likely": "", "reason": "", "verdict": ""}] * 50
    app = press(app, "Open the first pair")
    text = words(app)
    for word in ("probability 0.", "labelled", "The evidence says", "Risk of the label", "Verdict: =", "Together"):
        assert word not in text
    assert "rc-records" in text
    app = press(app, "≠ Non-match")
    assert (app.query_params["pair"], app.query_params["sort"]) == (order[1], "random")
    assert log.current(done.id, "analyst")[order[0]].verdict == "non-match"


def test_the_order_by_expected_gain_says_what_it_is(screen, done):
    app = screen("pairs", run=done.id, sort="gain")
    assert "Expected gain: risk times" in words(app)
    (first,) = first_pairs(done, 1, sort="gain")
    assert press(app, "Open the first pair").query_params["pair"] == first


def test_tags_are_chosen_kept_in_the_note_and_filter_the_queue(screen, done, runs):
    first, _, third = first_pairs(done)
    log = VerdictLog(RunStore(runs))
    log.add(done.id, third, "match", "see #Price", "ann")
    app = screen("pairs", run=done.id, pair=first)
    tags = next(one for one in app.multiselect if one.label == "Tags")
    assert tags.options == ["#price"]
    app.text_input(key=f"note {done.id} {first}").set_value("another colour")
    app = checked(tags.set_value(["price"]).run())
    press(app, "≠ Non-match")
    assert log.current(done.id)[first].note == "another colour #price"
    app = screen("pairs", run=done.id, tag="price")
    assert "**2 pairs**" in words(app)
    app = press(app, "Open the first pair")
    assert app.query_params["pair"] == first
    assert press(app, "Next").query_params["pair"] == third
    assert "**120 pairs**" in words(screen("pairs", run=done.id, tag="nobody's"))


def test_filters_are_saved_applied_and_removed(screen, done):
    address = {"label": "= match", "rule": "5", "sort": "gain", "risk": ["0.2", "1.0"], "page": "2"}
    app = screen("pairs", run=done.id, **address)
    app.text_input(key="name of saved filters").set_value("# odd *matches*")
    app = press(checked(app.run()), "Save")
    (saved,) = saved_filters(RunFolder(done.folder))
    assert saved.values == {"label": "= match", "rule": "5", "sort": "gain", "risk": [0.2, 1.0]}
    assert saved.who == "analyst"
    total = next(text.value for text in app.markdown if "pairs**" in str(text.value)).split(" ·")[0]

    app = screen("pairs", run=done.id, flip="never flipped", kind="year differs", own="no verdict")
    app = checked(app.button(key="saved filter # odd *matches*").click().run())
    assert total in words(app)
    assert app.selectbox(key="flip").value == "(any)"
    assert {name: app.query_params[name] for name in ("label", "rule", "sort")} == {
        "label": "= match",
        "rule": "5",
        "sort": "gain",
    }
    assert not {"kind", "own", "flip", "page"} & set(app.query_params)
    app = checked(app.button(key="remove filter # odd *matches*").click().run())
    assert saved_filters(RunFolder(done.folder)) == []


@pytest.mark.parametrize(
    "values",
    [{"label": "<b>", "attribute": "gone", "risk": [3, "x"]}, {"risk": [0.9, 0.1], "rule": "999", "sort": "nonsense"}],
)
def test_saved_filters_that_are_none_today_are_left_out(screen, done, values):
    save_filter(RunFolder(done.folder), "old", values)
    app = screen("pairs", run=done.id, label="= match")
    app = checked(app.button(key="saved filter old").click().run())
    assert "**120 pairs**" in words(app)


def test_a_key_pressed_too_early_judges_nothing(screen, done, runs):
    """The browser sent the address of the pair just judged, and its button, once more."""
    first, second, _ = first_pairs(done)
    app = screen("pairs", run=done.id, pair=first)
    app = press(app, "= Match")
    app.query_params["pair"] = first
    app = checked(app.run())
    assert app.query_params["pair"] == second
    app.session_state["pair of the verdict bar"] = None  # pressed while the next pair was being drawn
    app = press(app, "= Match")
    assert [(entry.pair_id, entry.verdict) for entry in VerdictLog(RunStore(runs)).entries(done.id)] == [
        (first, "match")
    ]
    assert "The next pair is opening" in app.toast[0].value
    app = press(press(app, "Previous"), "Previous")
    assert app.query_params["pair"] == first  # on purpose
