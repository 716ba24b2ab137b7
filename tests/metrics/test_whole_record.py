"""Metrics of whole records: leads against brute force, and when they may be compared."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.config import MetricConfig
from riskcore.data.pairs import Pairs, Table
from riskcore.data.schema import Attribute, AttributeType
from riskcore.data.values import fold, words
from riskcore.metrics.matrix import MetricSpace, leads_are_comparable
from riskcore.metrics.whole_record import same_records

ATTRIBUTES = [Attribute("name", AttributeType.NAME), Attribute("note", AttributeType.TEXT)]
VOCABULARY = ["sony", "canon", "dcr", "sr45", "sr46", "black", "silver", "camera", "case"]
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=5)
RECORDS = st.lists(st.tuples(WORDS.map(" ".join), WORDS.map(" ".join)), min_size=1, max_size=8)


def table(name: str, records: list[tuple[str, str]]) -> Table:
    frame = pd.DataFrame([[value or None for value in record] for record in records], columns=["name", "note"])
    return Table(name, np.array([str(row) for row in range(len(records))], dtype=object), frame.astype("str"))


def all_pairs(left: Table, right: Table) -> Pairs:
    one, other = (side.ravel() for side in np.meshgrid(range(len(left)), range(len(right)), indexing="ij"))
    return Pairs(left, right, one, other, np.array([f"{a}:{b}" for a, b in zip(one, other, strict=True)], dtype=object))


def text(table: Table, row: int) -> str:
    return " ".join(fold(value) for value in table.values.iloc[row] if not pd.isna(value))


def brute_force(space: MetricSpace, pairs: Pairs) -> list[tuple[float, float]]:
    """Lead and mutual lead of each pair, by comparing every record with every other."""
    rarity = space.records.rarity

    def weights(record: str) -> dict[str, float]:
        counts = Counter(words(record))
        raw = {
            word: n * (math.log((1 + rarity.documents) / (1 + rarity.frequency[word])) + 1)
            for word, n in counts.items()
        }
        length = math.sqrt(sum(weight**2 for weight in raw.values()))
        return {word: weight / length for word, weight in raw.items()}

    def alike(a: str, b: str) -> float:
        one, other = weights(a), weights(b)
        return sum(one[word] * other[word] for word in one.keys() & other.keys())

    def lead(a: str, b: str, others: set[str]) -> float:
        taken = {b, a} if same_records(pairs.left, pairs.right) else {b}
        return alike(a, b) - max((alike(a, other) for other in others - taken), default=0.0)

    lefts, rights = ({text(side, row) for row in range(len(side))} for side in (pairs.left, pairs.right))
    found = []
    for one, other in zip(pairs.left_rows, pairs.right_rows, strict=True):
        a, b = text(pairs.left, one), text(pairs.right, other)
        both = (lead(a, b, rights), lead(b, a, lefts)) if a and b else (math.nan, math.nan)
        found.append((max(both), min(both)))
    return found


def leads(space: MetricSpace, pairs: Pairs) -> np.ndarray:
    matrix = space.transform(pairs)
    return np.column_stack([matrix.column("record.lead"), matrix.column("record.mutual_lead")])


@given(RECORDS, RECORDS)
def test_leads_equal_brute_force_between_two_tables(left: list[tuple[str, str]], right: list[tuple[str, str]]) -> None:
    pairs = all_pairs(table("tableA", left), table("tableB", [*right, ("canon", "one more")]))
    space = MetricSpace.fit(ATTRIBUTES, [pairs.left, pairs.right])
    np.testing.assert_allclose(leads(space, pairs), brute_force(space, pairs), atol=6e-5)


@given(RECORDS)
def test_leads_equal_brute_force_within_one_table(records: list[tuple[str, str]]) -> None:
    one = table("tableA", records)
    pairs = all_pairs(one, one)
    space = MetricSpace.fit(ATTRIBUTES, [one, one])
    np.testing.assert_allclose(leads(space, pairs), brute_force(space, pairs), atol=6e-5)


def test_a_closer_candidate_takes_the_lead() -> None:
    left = table("tableA", [("sony dcr sr45", "camera"), ("sony case", "black")])
    right = table("tableB", [("sony sr45 dcr", "camera"), ("sony dcr sr46", "camera")])
    pairs = all_pairs(left, right)
    found = leads(MetricSpace.fit(ATTRIBUTES, [left, right]), pairs)
    assert found[0].min() > 0  # the two descriptions of one camera
    assert found[1].min() < 0  # the other model


def test_words_in_many_records_do_not_count_towards_candidates() -> None:
    left = table("tableA", [("sony", f"w{n}") for n in range(5)])
    right = table("tableB", [*(("sony", f"w{n} x{n}") for n in range(5)), ("sony", "")])
    pairs = all_pairs(left, right)
    space = MetricSpace.fit(ATTRIBUTES, [left, right], MetricConfig(candidate_records=4))
    found = leads(space, pairs)[:, 0].reshape(5, 6)
    assert (found.diagonal() > 0.5).all()
    assert found[0, 1] == pytest.approx(-found[0, 0], abs=1e-4)  # "sony" makes them no closer


def test_leads_are_compared_only_where_they_mean_the_same() -> None:
    one, other = table("tableA", [("a", "b"), ("c", "d")]), table("tableB", [("a", "e"), ("c", "f")])
    copy = table("copy", [("a", "b"), ("c", "d")])
    join, self_join = all_pairs(one, other), all_pairs(one, copy)
    assert leads_are_comparable([join, join])
    assert leads_are_comparable([self_join, all_pairs(one, one)])
    assert not leads_are_comparable([join, self_join])
    assert leads_are_comparable([join, self_join.take(slice(0, 0))])
    space = MetricSpace.fit(ATTRIBUTES, [one, other], leads=False)
    assert not any(metric.kind == "lead" for metric in space.transform(join).metrics)


def test_a_record_is_not_its_own_candidate_on_the_other_side_of_a_file_of_pairs() -> None:
    a, b, c = ("sony dcr", "sr45"), ("sony dcr", "sr45 camera"), ("canon case", "black")
    pool = table("pool", [a, b, c])
    one, other = table("left", [a, b]), table("right", [b, c])
    as_pool = Pairs(pool, pool, np.array([0, 1]), np.array([1, 2]), np.array(["a:b", "b:c"], dtype=object))
    as_file = Pairs(one, other, np.array([0, 1]), np.array([0, 1]), np.array(["a:b", "b:c"], dtype=object))
    assert leads_are_comparable([as_pool, as_file])
    assert leads(MetricSpace.fit(ATTRIBUTES, [one, other]), as_file)[0].min() > 0
    assert leads(MetricSpace.fit(ATTRIBUTES, [pool, pool]), as_pool)[0].min() > 0


def test_an_attribute_may_be_called_record() -> None:
    frame = pd.DataFrame({"record": ["kind of blue"]}, dtype="str")
    one = Table("tableA", np.array(["1"], dtype=object), frame)
    space = MetricSpace.fit([Attribute("record", AttributeType.NAME)], [one])
    keys = [metric.key for metric in space.transform(all_pairs(one, one)).metrics]
    assert len(set(keys)) == len(keys)
