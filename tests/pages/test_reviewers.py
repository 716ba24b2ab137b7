"""Several reviewers on the screen: agreement, conflicts that someone decides, and a second review that is blind."""

from __future__ import annotations

import pytest

from riskcore.audit import VerdictLog
from riskcore.audit.agreement import adjudication_note, is_adjudication
from riskcore.audit.assignment_sources import second_review
from riskcore.runs import RunStore
from tests.pages.conftest import checked, words


@pytest.fixture
def log(runs):
    return VerdictLog(RunStore(runs))


def press(app, label: str):
    return checked(next(button for button in app.button if button.label == label).click().run())


def test_without_verdicts_the_tab_says_what_it_is_for(screen, done):
    assert "Once two people have judged" in words(screen("audit", run=done.id, part="Reviewers"))


def test_agreement_and_a_conflict_that_is_decided(screen, done, log):
    for place in range(6, 16):
        log.add(done.id, f"a{place}:b{place}", "match" if place % 2 else "non-match", who="ann")
        log.add(done.id, f"a{place}:b{place}", "match" if place % 2 or place == 6 else "non-match", who="bob")
    app = screen("audit", run=done.id, part="Reviewers")
    text = words(app)
    assert "On 9 of 10 pairs that several people judged" in text
    assert "**1 conflict** to decide" in text
    app = press(app, "Decide: ≠ non-match")
    decided = [entry for entry in log.entries(done.id) if is_adjudication(entry)]
    assert [(entry.pair_id, entry.verdict, entry.who) for entry in decided] == [("a6:b6", "non-match", "analyst")]
    assert "**0 conflicts** to decide; 1 decided" in words(app)


def test_the_second_review_is_blind(screen, done, log):
    log.add(done.id, "a7:b7", "match", who="ann")
    app = screen("audit", run=done.id, part="Reviewers")
    assert "**1 pair** judged by others and not by analyst" in words(app)
    app.toggle(key="second review").set_value(True)
    app = checked(app.run())
    text = words(app)
    assert "rc-records" in text
    for told in ("probability", "labelled", "Verdict: ="):
        assert told not in text
    app = press(app, "≠ Non-match")
    assert log.current(done.id, "analyst")["a7:b7"].verdict == "non-match"
    assert "**1 conflict** to decide" in words(app)


def test_a_conflict_tells_nothing_to_who_judges_its_pair_blind(screen, done, log):
    log.add(done.id, "a7:b7", "match", who="ann")
    log.add(done.id, "a7:b7", "non-match", who="bob")
    app = screen("audit", run=done.id, part="Reviewers")
    said = [one.value for one in app.caption if "ann" in one.value and "bob" in one.value]
    assert len(said) == 1
    app.toggle(key="second review").set_value(True)
    app = checked(app.run())
    text = words(app)
    assert "what others have said is not shown" in text
    assert said[0] not in text
    assert "bob" not in text.partition("what others have said")[2]
    assert not [button for button in app.button if button.label.startswith("Decide:")]


def test_an_adjudicator_who_was_unsure_has_decided_nothing(screen, done, log):
    log.add(done.id, "a7:b7", "match", who="ann")
    log.add(done.id, "a7:b7", "non-match", who="bob")
    log.add(done.id, "a7:b7", "unsure", adjudication_note(), who="eve")
    app = screen("audit", run=done.id, part="Reviewers")
    assert "**1 conflict** to decide; 0 decided" in words(app)
    log.add(done.id, "a8:b8", "match", who="ann")
    log.add(done.id, "a8:b8", "non-match", who="bob")
    app = press(app, "Decide: = match")
    decided = [entry.pair_id for entry in log.entries(done.id) if is_adjudication(entry) and entry.who == "analyst"]
    shown = [str(button.key) for button in app.button if button.label == "Decide: = match"]
    assert {decided[0], shown[0].split()[-1]} == {"a7:b7", "a8:b8"}  # no click on one is taken for the other


def test_pairs_come_in_an_order_of_their_own_for_each_reviewer(done, log):
    for place in range(20):
        log.add(done.id, f"a{place}:b{place}", "match", who="ann")
    entries = log.entries(done.id)
    orders = [second_review(entries, [who]) for who in ("bob", "eve")]
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1] != sorted(orders[1])
    assert second_review(entries, ["ann"]) == []
