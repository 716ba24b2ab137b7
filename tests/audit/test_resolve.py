"""Constraints and clusters, by hand and against brute force on small graphs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from riskcore.audit import constraints
from riskcore.audit.resolve import CONSTRAINTS, entity_id, preview, resolve, suggest_constraint
from riskcore.errors import ConfigError
from tests.audit.made_decisions import clusters, given, made, matches, model, verdict

WORDS = ("match", "non-match")
BY = ("model", "model", "model", "verdict", "label given")


@st.composite
def decided(draw, self_join=False):
    """Up to eight pairs of four left and four right records, or of five records of one table."""
    side = [f"r{n}" for n in range(5)]
    ids = list(itertools.combinations(side, 2)) if self_join else list(itertools.product(side[:4], side[:4]))
    rows = []
    for left, right in draw(st.lists(st.sampled_from(ids), min_size=1, max_size=8, unique=True)):
        by = draw(st.sampled_from(BY))
        probability = draw(st.integers(0, 20)) / 20
        word = draw(st.sampled_from(WORDS)) if by != "model" else WORDS[probability < 0.5]
        rows.append((left, right, word, by, probability))
    return made(*rows)


def worth(p):
    p = min(max(p, 1e-9), 1 - 1e-9)
    return max(math.log(p / (1 - p)), 0) + 1e-6


def allowed(rows, constraint):
    """Whether no record has more matches than it may."""
    left, right = ([row[side] for row in rows] for side in (0, 1))
    limited = {"one-to-one": (left, right), "one-to-many": (right,), "many-to-one": (left,)}[constraint]
    return all(len(set(side)) == len(side) for side in limited)


def best_by_brute_force(frame, constraint):
    """The highest worth of a set of model matches that fits the constraint and people's matches."""
    rows = list(frame[frame["decision"] == "match"].itertuples(index=False))
    people = [(r.ltable_id, r.rtable_id) for r in rows if r.decided_by != "model"]
    free = [(r.ltable_id, r.rtable_id, r.probability) for r in rows if r.decided_by == "model"]
    best = 0.0
    for count in range(len(free) + 1):
        for some in itertools.combinations(free, count):
            apart = all(allowed([one, other], constraint) for one in some for other in people)
            if apart and allowed(some, constraint):
                best = max(best, math.fsum(worth(p) for *_, p in some))
    return best


@settings(max_examples=300, deadline=None)
@drawn(decided(), st.sampled_from(["one-to-one", "one-to-many", "many-to-one"]))
def test_a_constraint_keeps_the_best_matches(frame, constraint):
    stays, rival = constraints.kept_matches(*arrays(frame), constraint)
    before = frame[frame["decision"] == "match"]
    people = (before["decided_by"] != "model").to_numpy()
    assert stays[people].all()
    kept = before["probability"].to_numpy()[stays & ~people]
    assert math.fsum(map(worth, kept)) == pytest.approx(best_by_brute_force(frame, constraint), abs=1e-9)
    for at in np.flatnonzero(~stays):  # each dropped match names one that stays and shares a record
        other = before.iloc[rival[at]]
        assert stays[rival[at]]
        assert (other["ltable_id"] == before["ltable_id"].iloc[at]) | (
            other["rtable_id"] == before["rtable_id"].iloc[at]
        )


def arrays(frame):
    rows = frame[frame["decision"] == "match"]
    numbers = [rows[name].str[1:].astype(int).to_numpy() for name in ("ltable_id", "rtable_id")]
    return *numbers, rows["probability"].to_numpy(), (rows["decided_by"] != "model").to_numpy()


def reached(edges, start):
    """Everything that hangs together with a record, by walking."""
    seen, todo = {start}, [start]
    while todo:
        here = todo.pop()
        for edge in edges:
            if here in edge:
                there = edge[1] if edge[0] == here else edge[0]
                if there not in seen:
                    seen.add(there)
                    todo.append(there)
    return frozenset(seen)


def ends(row, self_join):
    return (f"b{row.ltable_id}", f"b{row.rtable_id}") if self_join else (f"l{row.ltable_id}", f"r{row.rtable_id}")


@settings(max_examples=300, deadline=None)
@drawn(st.booleans().flatmap(lambda one: st.tuples(decided(one), st.just(one))))
def test_free_entities_against_brute_force(case):
    frame, self_join = case
    found = resolve(frame, "free", self_join=self_join)
    rows = list(found.pairs.itertuples(index=False))
    was = list(frame.itertuples(index=False))
    edges = [ends(row, self_join) for row in rows if row.decision == "match"]
    nodes = {node for row in was for node in ends(row, self_join)}
    assert clusters(found) == {reached(edges, node) for node in nodes}
    people = [ends(r, self_join) for r in was if r.decided_by != "model" and r.decision == "match"]
    held = [ends(r, self_join) for r in was if r.decided_by != "model" and r.decision == "non-match"]
    for row, before in zip(rows, was, strict=True):
        assert before.decided_by == "model" or row.decision == before.decision  # people are never overruled
    contradicted = [pair for pair in held if pair[1] in reached(people, pair[0])]
    joined = [pair for pair in held if pair[1] in reached(edges, pair[0])]
    assert joined == contradicted
    assert len(found.contradictions) == len(contradicted)
    for row, before in zip(rows, was, strict=True):  # no match was dropped that could have stayed
        if row.decision != before.decision:
            again = [*edges, ends(before, self_join)]
            assert row.decided_by == "constraint"
            assert any(pair[1] in reached(again, pair[0]) for pair in held if pair not in contradicted)


def test_the_weakest_model_match_is_cut():
    rows = [model("a", "x", 0.9), model("b", "x", 0.6), model("b", "y", 0.8), verdict("a", "y", "non-match")]
    found = resolve(made(*rows))
    assert matches(found) == {"a:x", "b:y"}
    assert clusters(found) == {frozenset({"la", "rx"}), frozenset({"lb", "ry"})}
    dropped = found.dropped.iloc[0]
    assert (dropped["pair_id"], dropped["decided_by"]) == ("b:x", "constraint")
    assert "a:y is a non-match (verdict)" in dropped["reasons"]


def test_verdicts_that_contradict_each_other_are_reported():
    rows = [
        verdict("a", "b", "match"),
        verdict("b", "c", "match"),
        verdict("a", "c", "non-match"),
        model("c", "d", 0.9),
    ]
    found = resolve(made(*rows), self_join=True)
    assert matches(found) == {"a:b", "b:c", "c:d"}
    (one,) = found.contradictions
    assert set(one.pairs) == {"a:c", "a:b", "b:c"}
    assert "a:c is a non-match" in one.words


def test_people_who_break_the_constraint_are_reported_and_not_overruled():
    rows = [verdict("a", "x", "match"), given("a", "y", "match"), model("a", "z", 0.99), model("b", "z", 0.6)]
    found = resolve(made(*rows), "one-to-one")
    assert matches(found) == {"a:x", "a:y", "b:z"}
    assert "People gave 2 matches of record left a" in found.contradictions[0].words
    assert found.dropped["reasons"].tolist() == ["one-to-one: a:x is kept instead (verdict)"]


def test_the_likeliest_choice_is_not_the_one_with_most_matches():
    rows = [model("a", "x", 0.99), model("a", "y", 0.55), model("b", "x", 0.55)]
    assert matches(resolve(made(*rows), "one-to-one")) == {"a:x"}
    rows[1:] = [model("a", "y", 0.98), model("b", "x", 0.98)]
    assert matches(resolve(made(*rows), "one-to-one")) == {"a:y", "b:x"}


def test_large_groups_are_chosen_greedily(monkeypatch):
    rows = [model("a", "x", 0.99), model("a", "y", 0.98), model("b", "x", 0.98)]
    monkeypatch.setattr(constraints, "LARGEST_EXACT", 1)
    assert matches(resolve(made(*rows), "one-to-one")) == {"a:x"}


def test_equal_ids_of_two_tables_are_two_records():
    frame = made(model("1", "1", 0.1), model("1", "2", 0.9))
    assert clusters(resolve(frame)) == {frozenset({"l1", "r2"}), frozenset({"r1"})}
    assert clusters(resolve(frame, self_join=True)) == {frozenset({"b1", "b2"})}


def test_entity_ids_are_stable():
    rows = [model("a", "x", 0.9), model("b", "x", 0.8), model("c", "y", 0.7), model("d", "z", 0.2)]
    one, other = (resolve(made(*some)).entities for some in (rows, rows[::-1]))
    pd.testing.assert_frame_equal(one, other)
    assert one["entity_id"].tolist()[:3] == 3 * [entity_id("left", "a")]
    assert one["records"].tolist() == [3, 3, 3, 2, 2, 1, 1]
    merged = resolve(made(*rows, model("c", "x", 0.9))).entities
    assert set(merged["entity_id"]) == set(one["entity_id"]) - {entity_id("left", "c")}  # the smaller record's stays
    assert entity_id("left", "a") == "e4c46a8ef774f4ff0"  # never to change: other systems store it


def test_every_record_is_in_an_entity():
    records = pd.DataFrame(
        {"side": ["left", "left", "right"], "record_id": ["a", "alone", "x"], "value_name": ["A", "B", "X"]}
    )
    found = resolve(made(model("a", "x", 0.9)), records=records).entities
    assert found["record_id"].tolist() == ["a", "x", "alone"]
    assert found["value_name"].tolist() == ["A", "X", "B"]


def test_the_constraint_is_suggested_by_the_data():
    one = [model(f"a{n}", f"b{n}", 0.95) for n in range(30)]
    assert suggest_constraint(made(*one))[0] == "one-to-one"
    left = [model(f"a{n}", f"c{n}", 0.95) for n in range(10)]
    found, why = suggest_constraint(made(*one, *left))
    assert found == "one-to-many"
    assert "33.3% of the left records and 0.0% of the right ones have several" in why
    assert suggest_constraint(made(*one, *[model(f"c{n}", f"b{n}", 0.95) for n in range(10)]))[0] == "many-to-one"
    doubtful = [model(f"a{n}", f"c{n}", 0.6) for n in range(10)]
    assert suggest_constraint(made(*one, *doubtful))[0] == "one-to-one"
    people = [given(f"p{n % 20}", f"q{n}", "match") for n in range(40)]
    found, why = suggest_constraint(made(*one, *people))  # people's matches are asked first
    assert (found, why.split(",")[0]) == ("one-to-many", "By 40 matches that people gave")
    assert suggest_constraint(made(*one), self_join=True)[0] == "free"
    assert suggest_constraint(made(model("a", "b", 0.2)))[0] == "free"


def test_a_preview_changes_nothing():
    frame = made(model("a", "x", 0.9), model("a", "y", 0.8), model("b", "z", 0.7))
    before = frame.copy()
    found = preview(frame, "one-to-one")
    pd.testing.assert_frame_equal(frame, before)
    assert (found.matches, found.dropped, found.entities, found.several, found.largest) == (3, 1, 3, 2, 2)
    assert found.examples == ("a:y: one-to-one: a:x is kept instead (0.90)",)
    assert preview(frame, "auto").constraint in CONSTRAINTS


def test_what_cannot_be_asked():
    frame = made(model("a", "x", 0.9))
    with pytest.raises(ConfigError, match="auto, free, one-to-one, one-to-many, many-to-one"):
        resolve(frame, "some")
    with pytest.raises(ConfigError, match="Use free"):
        resolve(frame, "one-to-one", self_join=True)
    with pytest.raises(ConfigError, match=r"version 0\.1"):
        resolve(frame.assign(ltable_id=None))


def test_no_pairs():
    assert resolve(made(model("a", "x", 0.2)).iloc[:0], "one-to-one").entities.empty
