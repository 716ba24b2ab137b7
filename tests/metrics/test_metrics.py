"""Metrics against their plain statement, and the properties every metric must have."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.scalar_metrics import pair_metrics
from riskcore.config import MetricConfig
from riskcore.data.pairs import Pairs, Table
from riskcore.data.schema import Attribute, AttributeType
from riskcore.metrics.kinds import KINDS, KINDS_OF, LEAD_KINDS, RECORD_KINDS
from riskcore.metrics.matrix import MetricSpace
from riskcore.metrics.values import MetricMatrix

TEXTS = st.one_of(
    st.none(),
    st.text(max_size=30),
    st.sampled_from(
        [
            "very large data bases", "vldb", "proc. vldb", "J. Smith", "john smith, mary wu and k. lee", "smith, j.",
            "1999", "'75", "$ 12.50", "3:01", "sony dcr-sr45 camcorder", "sony dcrsr45", "ps-lx350h 10/100", "--",
            "Σίσυφος ΣΊΣΥΦΟΣ", "数据库 系统", "the", "a", "🙂 emoji", "x" * 300, "int conf man data",
            "international conference on management of data", "m.j. kearns and r.e. schapire.",
        ]
    ),
)  # fmt: skip
TYPES = st.sampled_from(list(AttributeType))


def table(name: str, column: list[str | None]) -> Table:
    ids = np.array([str(row) for row in range(len(column))], dtype=object)
    return Table(name, ids, pd.DataFrame({"x": pd.Series(column, dtype="str")}))


def pairs_of(left: list[str | None], right: list[str | None]) -> Pairs:
    rows = np.arange(len(left))
    return Pairs(table("tableA", left), table("tableB", right), rows, rows, rows.astype(str).astype(object))


def space_and_matrix(
    kind: AttributeType, left: list[str | None], right: list[str | None], config: MetricConfig | None = None
) -> tuple[MetricSpace, MetricMatrix]:
    pairs = pairs_of(left, right)
    space = MetricSpace.fit([Attribute("x", kind)], [pairs.left, pairs.right], config)
    return space, space.transform(pairs)


def value(kind: AttributeType, metric: str, left: str, right: str) -> float:
    return float(space_and_matrix(kind, [left], [right])[1].column(f"x.{metric}")[0])


@settings(max_examples=150, deadline=None)
@given(TYPES, st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12))
def test_equals_the_plain_statement(kind: AttributeType, rows: list[tuple[str | None, str | None]]) -> None:
    left, right = [list(side) for side in zip(*rows, strict=True)]
    space, matrix = space_and_matrix(kind, left, right)
    plain = [pair_metrics(space, {"x": one}, {"x": other}) for one, other in rows]
    without_leads = matrix.values[:, : -len(LEAD_KINDS)]
    np.testing.assert_allclose(without_leads, np.array(plain, dtype=np.float64), atol=6e-5, rtol=1e-6)


@settings(max_examples=100, deadline=None)
@given(TYPES, st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8))
def test_bounds_and_symmetry(kind: AttributeType, rows: list[tuple[str | None, str | None]]) -> None:
    left, right = [list(side) for side in zip(*rows, strict=True)]
    _, forth = space_and_matrix(kind, left, right)
    _, back = space_and_matrix(kind, right, left)
    np.testing.assert_array_equal(forth.values, back.values)
    for index, metric in enumerate(forth.metrics):
        column = forth.values[:, index]
        assert not (column < KINDS[metric.kind].low).any(), metric.label
        if KINDS[metric.kind].bounded:
            assert not (column > 1).any(), metric.label


@settings(max_examples=100, deadline=None)
@given(TYPES, st.lists(TEXTS, min_size=1, max_size=8))
def test_a_value_is_identical_to_itself(kind: AttributeType, values: list[str | None]) -> None:
    _, matrix = space_and_matrix(kind, values, values)
    for index, metric in enumerate(matrix.metrics):
        if metric.kind in ("shared_word", *LEAD_KINDS):
            continue  # how rare the words are, and which other records there are: not a question of likeness alone
        column = matrix.values[:, index]
        expected = 0.0 if KINDS[metric.kind].difference else 1.0
        assert (np.isnan(column) | (column == expected)).all(), metric.label


@pytest.mark.parametrize("kind", list(AttributeType))
def test_missing_on_either_side_is_missing(kind: AttributeType) -> None:
    _, matrix = space_and_matrix(kind, ["1999 ab12", None, None], [None, "1999 ab12", None])
    assert np.isnan(matrix.values).all()


@pytest.mark.parametrize("kind", list(AttributeType))
def test_no_pairs(kind: AttributeType) -> None:
    _, matrix = space_and_matrix(kind, [], [])
    assert matrix.values.shape == (0, len(KINDS_OF[kind]) + len(RECORD_KINDS) + len(LEAD_KINDS))


def test_chunking_changes_nothing() -> None:
    left = [f"title {n} of paper {n % 3}, and {n % 5}" for n in range(50)]
    right = [f"titel {n} of paper {n % 4}" for n in range(50)]
    for kind in AttributeType:
        _, whole = space_and_matrix(kind, left, right)
        space, chunked = space_and_matrix(kind, left, right, MetricConfig(chunk_pairs=7))
        np.testing.assert_array_equal(whole.values, chunked.values)
        streamed = np.vstack([chunk.values for chunk in space.chunks(pairs_of(left, right))])
        np.testing.assert_array_equal(whole.values, streamed)


def test_repeated_records_are_scored_like_single_ones() -> None:
    left, right = table("tableA", ["vldb", "sigmod"]), table("tableB", ["very large data bases", "sigmod record"])
    rows = np.array([0, 1, 0, 1, 1, 0]), np.array([0, 0, 1, 1, 0, 0])
    many = Pairs(left, right, *rows, np.arange(6).astype(str).astype(object))
    space = MetricSpace.fit([Attribute("x", AttributeType.NAME)], [left, right])
    matrix = space.transform(many)
    for pair in range(6):
        np.testing.assert_array_equal(matrix.values[pair], space.transform(many.take(slice(pair, pair + 1))).values[0])


@pytest.mark.parametrize(
    ("kind", "metric", "left", "right", "expected"),
    [
        ("name", "not_abbreviation", "very large data bases", "VLDB", 0),
        ("name", "not_abbreviation", "sigmod record", "VLDB", 1),
        ("name", "abbreviated", "int. conf. man. data", "International Conference on Management of Data", 1),
        ("name", "unexplained", "vldb journal", "proceedings of very large data bases", 1),
        ("name", "not_prefix", "data mining", "data mining revisited", 0),
        ("name", "not_suffix", "data mining", "data mining revisited", 1),
        ("name", "numeric_words", "quicksort part 2", "quicksort part 3", 2),
        ("name", "code_similarity", "sony dcr-sr45", "camcorder dcrsr45 by sony", 1),
        ("name", "unmatched_codes", "sony dcr-sr45", "sony dcr-hc65", 1),
        ("set", "unmatched", "j. smith, m. wu", "John Smith; Mary Wu", 0),
        ("set", "unmatched", "j. smith, m. wu", "John Smith; Kim Wu", 2),
        ("set", "cardinality", "j. smith, m. wu, k. lee", "John Smith", 2),
        ("set", "unmatched_shorter", "j. smith, m. wu, k. lee", "John Smith", 0),
        ("number", "gap", "1995,", "(1998).", 3),
        ("number", "differs", "3:01", "181", 0),
        ("number", "closeness", "$ 100", "50", 0.5),
        ("code", "differs", "PS-LX 350h", "pslx350H", 0),
        ("text", "rare_word", "same words here", "same words here", 0),
    ],
)
def test_known_values(kind: str, metric: str, left: str, right: str, expected: float) -> None:
    assert value(AttributeType(kind), metric, left, right) == pytest.approx(expected, abs=1e-4)


def test_long_values_are_bounded_in_time_and_finite() -> None:
    long = " ".join(f"word{n}" for n in range(5_000))
    for kind in AttributeType:
        _, matrix = space_and_matrix(kind, [long, "x" * 100_000], [long + " more", long])
        assert not np.isinf(matrix.values).any()


def test_huge_numbers_stay_finite() -> None:
    assert value(AttributeType.NUMBER, "gap", "9" * 39, "1") == np.float32(1e9)


def test_labels_are_readable() -> None:
    _, matrix = space_and_matrix(AttributeType.SET, ["a"], ["b"])
    assert "x: elements without a counterpart" in [metric.label for metric in matrix.metrics]


def test_progress_reaches_the_total() -> None:
    pairs = pairs_of(["a"] * 10, ["b"] * 10)
    space = MetricSpace.fit([Attribute("x", AttributeType.NAME)], [pairs.left], MetricConfig(chunk_pairs=4))
    seen: list[tuple[int, int]] = []
    space.transform(pairs, lambda done, total: seen.append((done, total)))
    assert seen == [(4, 10), (8, 10), (10, 10)]
