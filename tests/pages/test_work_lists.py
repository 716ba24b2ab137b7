"""Work lists on the screens: assigning pairs, judging a list blind or on the cards, deciding conflicts, closing."""

from __future__ import annotations

import pytest

from riskcore.audit import VerdictLog
from riskcore.audit.agreement import is_adjudication
from riskcore.audit.assigned import assign, close_list, lists_of, target_pairs
from riskcore.audit.assignment_sources import choose_pairs
from riskcore.runs import RunFolder, RunStore
from tests.pages.conftest import checked, words
from tests.pages.test_labelling import MODEL_WORDS, labels_of, press

TAB = "Work lists"


@pytest.fixture
def log(runs):
    return VerdictLog(RunStore(runs))


@pytest.fixture
def folder(done):
    return RunFolder(done.folder)


def assigned_to(app, *names, place=0):
    app.multiselect[place].set_value(list(names))
    return checked(app.run())


def test_the_riskiest_pairs_are_assigned(screen, done, folder):
    riskiest = choose_pairs(folder, "riskiest", [], [], 5)
    app = screen("audit", run=done.id, part=TAB)
    assert "A work list gives pairs to someone" in words(app)
    assert next(one for one in app.button if one.label == "Assign 100 pairs").disabled
    app = assigned_to(app, "analyst", "Bob <b>")
    app.number_input[0].set_value(5)
    app = press(checked(app.run()), "Assign 5 pairs")
    (made,) = lists_of(folder)
    assert (made.name, made.to, made.who, made.blind) == ("riskiest 5", ("analyst", "Bob <b>"), "analyst", False)
    assert list(made.pairs) == riskiest
    text = words(app)
    assert "You have **5 pairs** left in “riskiest 5”." in text
    assert "riskiest pairs without a verdict; made by analyst" in text
    assert "You have **5 pairs**" in words(screen("audit", run=done.id))  # whatever tab is open


def test_a_blind_list_shows_both_records_and_nothing_else(screen, done, folder, log):
    pairs = target_pairs(folder)[:3]
    assign(folder, "again", ["analyst"], pairs, blind=True)
    log.add(done.id, pairs[0], "match", note="surely", who="ann")
    app = press(screen("audit", run=done.id, part=TAB), "Work")
    assert app.query_params["list"] == "1"
    text = words(app)
    assert "Left record" in text
    assert not [word for word in (*MODEL_WORDS, "surely", "by ann") if word in text]
    app = press(press(app, "= Match"), "? Unsure")
    assert {pair: one.verdict for pair, one in log.current(done.id, "analyst").items()} == {
        pairs[0]: "match",
        pairs[1]: "unsure",
    }
    app = press(app, "Undo")
    assert list(log.current(done.id, "analyst")) == pairs[:1]
    app = press(press(app, "≠ Non-match"), "≠ Non-match")
    assert "All 3 pairs are judged." in words(app)
    app = press(app, "All work lists")
    assert "list" not in app.query_params
    assert "You have" not in words(app)


def test_a_list_on_the_cards_goes_on_with_its_own_next_pair(screen, done, folder, log):
    pairs = target_pairs(folder)
    listed = [pairs[7], pairs[3], pairs[5]]
    assign(folder, "three", ["analyst"], listed)
    log.add(done.id, pairs[3], "match", who="analyst")
    app = screen("pairs", run=done.id, list="1", pair=pairs[7])
    assert "Work list: **three** · 1 of 3 judged by you" in words(app)
    app = press(app, "≠ Non-match")
    assert app.query_params["pair"] == pairs[5]  # the other one is judged
    queue = screen("pairs", run=done.id, list="1")
    assert "**3 pairs**" in words(queue)
    queue = press(queue, "Show all pairs")
    assert "list" not in queue.query_params
    for odd in ("7", "x", "1 OR 1", ""):
        assert "Work list:" not in words(screen("pairs", run=done.id, list=odd))


def test_a_blind_list_is_not_opened_on_the_cards(screen, done, folder):
    assign(folder, "blind one", ["analyst"], target_pairs(folder)[:2], blind=True)
    text = words(screen("pairs", run=done.id, list="1"))
    assert "is not judged on cards" in text
    assert "**2 pairs**" not in text


def test_the_first_pairs_of_the_queue_are_assigned(screen, done, folder):
    app = assigned_to(screen("pairs", run=done.id, label="= match"), "Bob")
    next(one for one in app.number_input if one.label.startswith("The first pairs")).set_value(4)
    next(one for one in app.text_input if one.label == "Name of the list").set_value("matches")
    app = checked(app.run())
    app = checked(next(one for one in app.button if one.label == "Assign").click().run())
    (made,) = lists_of(folder)
    assert (made.name, made.to, len(made.pairs), made.source) == ("matches", ("Bob",), 4, "first pairs of the queue")


def test_a_list_of_conflicts_decides_them(screen, done, folder, log):
    pair = target_pairs(folder)[6]
    log.add(done.id, pair, "match", who="ann")
    log.add(done.id, pair, "non-match", who="analyst")
    assign(folder, "conflicts", ["analyst"], [pair], decides=True)
    app = press(screen("audit", run=done.id, part=TAB), "Work")
    assert "They disagree. match: ann; non-match: analyst." in words(app).replace("\\", "")
    press(app, "= Match")
    last = log.entries(done.id)[-1]
    assert (last.verdict, is_adjudication(last)) == ("match", True)


def test_a_list_is_closed_and_offered_to_nobody(screen, done, folder):
    assign(folder, "one", ["analyst"], target_pairs(folder)[:2], blind=True)
    app = press(screen("audit", run=done.id, part=TAB), "Close")
    assert not lists_of(folder)[0].open
    assert "All are closed." in words(app)
    assert "Work" not in labels_of(app)
    assert "Work" not in labels_of(screen("audit", run=done.id, part=TAB, list="1"))


def test_hostile_names_are_text(screen, done, folder):
    assign(folder, "<img src=x> **b** $x$", ["analyst"], target_pairs(folder)[:2], source="<script>", who="[a](b)")
    close_list(folder, "1", "**eve**")
    text = words(screen("audit", run=done.id, part=TAB))
    assert "\\*\\*eve\\*\\*" in text
    assert "<img" not in text.replace("\\<img", "")
