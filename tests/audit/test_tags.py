"""Tags in notes: what is one, what is added, and which pairs have it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.audit import VerdictLog, tags_of
from riskcore.audit.tags import MAX_TAG, as_tag, pairs_by_tag, with_tags
from riskcore.runs import RunStore
from tests.runs.conftest import small_config


@pytest.mark.parametrize(
    ("note", "tags"),
    [
        ("", ()),
        ("the #Year is off, ask #bob_2 #year", ("year", "bob_2")),
        ("#größe, #a-b.", ("größe", "a-b")),
        ("C# and x#1 and &#39; and # and #- and ##no", ()),
        ("(#inside) line\n#next", ("inside", "next")),
    ],
)
def test_tags_of(note, tags):
    assert tags_of(note) == tags


def test_a_text_becomes_a_tag():
    assert [as_tag(text) for text in ("Wrong year!", "#Bob", " a  b ", "---", "#", "")] == [
        "wrong-year",
        "bob",
        "a-b",
        *[""] * 3,
    ]
    assert len(as_tag("x" * 500)) == MAX_TAG


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=4))
def test_added_tags_are_found_again(note, texts):
    wanted = {as_tag(text) for text in texts} - {""}
    found = with_tags(note, texts)
    assert wanted <= set(tags_of(found))
    assert found.startswith(note.rstrip()) or not note.strip()
    assert with_tags(found, texts) == found


def test_pairs_by_tag_are_those_of_verdicts_that_stand(tmp_path):
    store = RunStore(tmp_path)
    run, log = store.create(small_config(tmp_path)).id, VerdictLog(store)
    log.add(run, "a", "match", "#year and #price", "ann")
    log.add(run, "a", "match", "#year", "bob")
    log.add(run, "b", "unsure", "#PRICE", "ann")
    log.add(run, "c", "match", "#gone", "ann")
    log.undo(run, "c", "ann")
    log.add(run, "b", "match", "now without, #year", "ann")
    assert pairs_by_tag(log.entries(run)) == {"year": ("a", "b"), "price": ("a",)}
