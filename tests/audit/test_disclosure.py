"""What was masked and revealed, in notes: written, read again whatever the names, and counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.audit import VerdictLog, tags_of
from riskcore.audit.disclosure import Disclosure, disclosure_of, summarize_disclosure, with_disclosure
from riskcore.runs import RunStore
from tests.runs.conftest import small_config

NAMES = st.lists(st.text(min_size=1, max_size=12).filter(str.strip), min_size=1, max_size=4, unique=True)


def test_as_it_stands_in_a_note():
    note = with_disclosure("another size #size", ["price", "year"], ["year"])
    assert note == "another size #size [masked: price, year; revealed: year]"
    assert disclosure_of(note) == Disclosure(("price", "year"), ("year",))
    assert with_disclosure("", ["price"], []) == "[masked: price; revealed: none]"
    assert with_disclosure("as it is ", [], ["price"]) == "as it is "
    assert tags_of(with_disclosure("", ["#a", "none"], ["none"])) == ()


@pytest.mark.parametrize("note", ["", "[masked: a]", "[masked: a; revealed: a] and more", "[masked: ; revealed: ]"])
def test_other_notes_say_nothing(note):
    assert disclosure_of(note) is None


@given(st.text(max_size=40), NAMES, st.randoms(use_true_random=False))
def test_any_names_come_back(note, names, chance):
    names = [name.strip() for name in names if name.strip()]
    revealed = [name for name in names if chance.random() < 0.5]
    found = disclosure_of(with_disclosure(note, names, revealed))
    assert found is not None
    assert found.masked == tuple(names)
    assert found.revealed == tuple(name for name in names if name in revealed)


def test_counted_over_verdicts_that_stand(tmp_path):
    store = RunStore(tmp_path)
    run, log = store.create(small_config(tmp_path)).id, VerdictLog(store)
    assert summarize_disclosure(log.entries(run)) == []
    log.add(run, "a", "match", "[masked: x, y; revealed: none]", "ann")
    log.add(run, "b", "match", "[masked: x, y; revealed: x]", "ann")
    log.add(run, "a", "match", "[masked: x, y; revealed: x, y]", "bob")
    log.add(run, "c", "match", "nothing masked", "bob")
    log.add(run, "d", "match", "[masked: x, y; revealed: x, y]", "bob")
    log.undo(run, "d", "bob")
    found = {one.who: (one.verdicts, one.needed, one.disclosed) for one in summarize_disclosure(log.entries(run))}
    assert found == {None: (3, 2, 0.5), "ann": (2, 1, 0.25), "bob": (1, 1, 1.0)}
