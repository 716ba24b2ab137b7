"""Contradictions among decisions, against brute force over all chains of small graphs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.audit.conflicts import Contradiction
from riskcore.audit.contradictions import (
    CHAIN,
    FOLLOWED,
    NAMED,
    PEOPLE_RIGHT,
    SEVERAL,
    contradicting_pairs,
    find_contradictions,
    remains,
    unseen_pairs,
)
from riskcore.audit.resolve import RARE
from riskcore.errors import ConfigError
from tests.audit.made_decisions import made, model, verdict


def chance_of_an_error(right):
    """By all combinations of right and wrong decisions, all of them right being an exception."""
    weights = {
        combination: math.prod(p if fine else 1 - p for p, fine in zip(right, combination, strict=True))
        for combination in itertools.product((True, False), repeat=len(right))
    }
    weights[(True,) * len(right)] *= RARE
    return 1 - weights[(True,) * len(right)] / sum(weights.values())


# ---- chains


def test_a_triangle_of_one_table_says_what_contradicts_what():
    frame = made(model("a", "b", 0.9), model("b", "c", 0.8), model("a", "c", 0.3), model("c", "d", 0.7))
    (found,) = find_contradictions(frame, self_join=True)
    assert isinstance(found, Contradiction)
    assert found.kind == CHAIN
    assert found.pairs == ("a:c", "a:b", "b:c")
    assert found.words == "a:b and b:c are matches, but a:c is a non-match."
    assert found.score == pytest.approx(chance_of_an_error([0.9, 0.8, 0.7]))


def test_a_ring_of_two_tables_contradicts_its_non_match():
    frame = made(model("1", "1", 0.9), model("2", "1", 0.8), model("2", "2", 0.7), verdict("1", "2", "non-match"))
    (found,) = find_contradictions(frame, "free")
    assert found.pairs == ("1:2", "1:1", "2:1", "2:2")
    assert found.words == "1:1, 2:1 and 2:2 are matches, but 1:2 (verdict) is a non-match."
    assert found.score == pytest.approx(chance_of_an_error([0.9, 0.8, 0.7, PEOPLE_RIGHT]))


def test_one_pair_in_both_orders_with_two_decisions_is_a_contradiction():
    (found,) = find_contradictions(made(model("a", "b", 0.9), model("b", "a", 0.2)), self_join=True)
    assert found.words == "a:b is a match, but b:a is a non-match."


@st.composite
def graphs(draw):
    """Decisions on some pairs of six records, of one table or of two."""
    self_join = draw(st.booleans())
    names = "abcdef"
    every = list(itertools.combinations(names, 2)) if self_join else list(itertools.product(names[:4], names[:4]))
    some = draw(st.lists(st.sampled_from(every), unique=True, min_size=1))
    chances = draw(st.lists(st.floats(0.02, 0.98), min_size=len(some), max_size=len(some)))
    return made(*(model(*pair, p) for pair, p in zip(some, chances, strict=True))), self_join


@given(graphs())
def test_chains_are_those_of_a_search_through_all(drawn):
    frame, self_join = drawn
    side = ("", "") if self_join else ("l", "r")
    edges, expected = {}, {}
    for row in frame.itertuples():
        if row.decision == "match":
            one, other = side[0] + row.ltable_id, side[1] + row.rtable_id
            edges[frozenset((one, other))] = row.probability
    records = sorted({record for edge in edges for record in edge})
    for row in frame[frame["decision"] == "non-match"].itertuples():
        ends = side[0] + row.ltable_id, side[1] + row.rtable_id
        inner = [record for record in records if record not in ends]
        best = 0.0
        for between in itertools.chain.from_iterable(itertools.permutations(inner, n) for n in (1, 2)):
            way = (ends[0], *between, ends[1])
            steps = [edges.get(frozenset(step), 0.0) for step in itertools.pairwise(way)]
            best = max(best, math.prod(steps))
        if best > 0:
            expected[row.pair_id] = chance_of_an_error([best, 1 - row.probability])
    found = find_contradictions(frame, "free", self_join=self_join)
    assert {one.pairs[0]: one.score for one in found} == pytest.approx(expected)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


# ---- several matches


def test_several_matches_of_a_record_contradict_a_constraint_and_not_another():
    frame = made(model("1", "1", 0.9), model("1", "2", 0.7), model("2", "2", 0.2), model("3", "3", 0.95))
    (found,) = find_contradictions(frame, "one-to-one")
    assert (found.kind, found.pairs) == (SEVERAL, ("1:1", "1:2"))
    assert found.words == "1:1 and 1:2 are matches of left record 1, which has one match at most here (one-to-one)."
    assert found.score == pytest.approx(chance_of_an_error([0.9, 0.7]))
    assert len(find_contradictions(frame, "many-to-one")) == 1
    assert find_contradictions(frame, "one-to-many") == []


@given(graphs(), st.sampled_from(["one-to-one", "one-to-many", "many-to-one"]))
def test_several_matches_are_those_of_counting(drawn, constraint):
    frame, self_join = drawn
    if self_join:
        with pytest.raises(ConfigError):
            find_contradictions(frame, constraint, self_join=True)
        return
    matches = frame[frame["decision"] == "match"]
    limited = {"one-to-one": ("ltable_id", "rtable_id"), "one-to-many": ("rtable_id",), "many-to-one": ("ltable_id",)}
    expected = [
        set(group["pair_id"]) for name in limited[constraint] for _, group in matches.groupby(name) if len(group) > 1
    ]
    found = [set(one.pairs) for one in find_contradictions(frame, constraint)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


def test_the_constraint_is_the_one_that_the_data_suggest():
    rows = [model(str(n), str(n), 0.97) for n in range(60)]
    frame = made(*rows, model("0", "1", 0.6))
    assert [one.pairs for one in find_contradictions(frame)] == [("0:0", "0:1"), ("1:1", "0:1")]
    free = made(*rows, *(model(str(n), str(n + 1), 0.97) for n in range(59)))
    assert find_contradictions(free) == []  # most have several matches on both sides: nothing is against that


def test_a_sentence_names_a_few_of_many_pairs_and_the_group_has_all():
    (found,) = find_contradictions(made(*(model("1", str(n), 0.9) for n in range(30))), "many-to-one")
    assert len(found.pairs) == 30
    assert f"and {30 - NAMED} more are matches" in found.words


# ---- all


def test_each_pair_has_its_contradictions():
    frame = made(model("1", "1", 0.9), model("1", "2", 0.7), model("2", "2", 0.8), model("5", "6", 0.9))
    found = find_contradictions(frame, "one-to-one")
    by_pair = contradicting_pairs(found)
    right, left = found  # the right record's matches are the less likely
    assert by_pair == {"1:1": [left], "1:2": [right, left], "2:2": [right]}


def test_a_verdict_that_breaks_the_chain_resolves_it():
    frame = made(model("a", "b", 0.9), model("b", "c", 0.8), model("a", "c", 0.3))
    (found,) = find_contradictions(frame, self_join=True)
    assert remains(found, {})
    assert remains(found, {"a:b": "match", "b:c": "unsure", "a:c": "non-match"})
    assert not remains(found, {"a:c": "match"})
    assert not remains(found, {"b:c": "non-match"})
    assert unseen_pairs(found, {"a:b": "match"}) == ["a:c", "b:c"]


def test_several_matches_are_resolved_once_one_is_left():
    frame = made(model("1", "1", 0.9), model("1", "2", 0.7), model("1", "3", 0.6))
    (found,) = find_contradictions(frame, "one-to-one")
    assert remains(found, {"1:3": "non-match"})
    assert not remains(found, {"1:3": "non-match", "1:2": "non-match"})


@given(graphs())
def test_what_no_longer_remains_is_no_longer_found(drawn):
    """Against looking for contradictions again, with the verdicts among the decisions."""
    frame, self_join = drawn
    for one in find_contradictions(frame, "free", self_join=self_join)[:3]:
        for pair, word in itertools.product(one.pairs, ("match", "non-match")):
            again = frame.assign(decision=frame["decision"].where(frame["pair_id"] != pair, word))
            found = find_contradictions(again, "free", self_join=self_join)
            assert remains(one, {pair: word}) or all(set(one.pairs) != set(other.pairs) for other in found)


def test_decisions_without_record_ids_or_without_rows_contradict_nothing():
    frame = made(model("1", "1", 0.9), model("1", "2", 0.9))
    unknown = frame.assign(ltable_id=pd.NA, rtable_id=pd.NA)
    for constraint in ("free", "one-to-one"):
        assert find_contradictions(unknown, constraint) == []
        assert find_contradictions(frame.iloc[:0], constraint) == []


def test_a_huge_component_is_searched_by_the_likeliest_matches_of_each_record():
    # A left record that matches 20,000 right ones, and as many non-matches of another that shares one of them.
    many = 20_000
    probability = np.concatenate([np.linspace(0.6, 0.99, many), np.full(many, 0.1)])
    right = np.tile(np.arange(many).astype(str), 2)
    left = np.repeat(["hub", "other"], many)
    probability[-1] = 0.9  # hub = last = other
    frame = pd.DataFrame({"ltable_id": left, "rtable_id": right, "probability": probability})
    decision = np.where(probability >= 0.5, "match", "non-match")
    frame = frame.assign(pair_id=frame["ltable_id"] + ":" + frame["rtable_id"], decision=decision, decided_by="model")
    found = find_contradictions(frame, "free")
    assert len(found) == many - 1
    assert all(one.pairs[1:] == (f"other:{many - 1}", f"hub:{many - 1}", f"hub:{one.pairs[0][6:]}") for one in found)


@pytest.mark.parametrize(("likelier", "found"), [(FOLLOWED - 1, 1), (FOLLOWED, 0)])
def test_only_the_likeliest_matches_of_a_record_are_followed(likelier, found):
    shared = [model("a", "b", 0.6), model("b", "c", 0.6), model("a", "c", 0.1)]
    others = [model(record, f"{record}{n}", 0.9) for record in "ac" for n in range(likelier)]
    assert len(find_contradictions(made(*shared, *others), self_join=True)) == found
