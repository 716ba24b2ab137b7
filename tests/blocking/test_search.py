"""TF-IDF search against brute force, and what must not change the result."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.blocking import block
from riskcore.blocking.texts import folded
from riskcore.config import BlockConfig
from riskcore.data.pairs import Table
from riskcore.data.values import fold, words
from tests.blocking.people import NAMES, names, table

TEXTS = st.lists(st.text(alphabet="abc éÄß-_\n\0 1", max_size=12), min_size=1, max_size=8)


def terms(text: str, blocker: str, size: int = 3) -> set[str]:
    found = words(fold(text))
    if blocker == "words":
        return set(found)
    padded = f" {' '.join(found)} "
    return {padded[start : start + size] for start in range(len(padded) - size + 1)}


def cosines(left: list[str], right: list[str], blocker: str) -> np.ndarray:
    """Every pair's cosine, computed term by term."""
    rows = [terms(text, blocker) for text in (*left, *right)]
    counts = Counter(term for row in rows for term in row)
    weight = {term: math.log((1 + len(rows)) / (1 + count)) + 1 for term, count in counts.items()}
    length = [math.sqrt(sum(weight[term] ** 2 for term in row)) or 1.0 for row in rows]
    found = np.zeros((len(left), len(right)))
    for a in range(len(left)):
        for b in range(len(right)):
            other = len(left) + b
            found[a, b] = sum(weight[term] ** 2 for term in rows[a] & rows[other]) / (length[a] * length[other])
    return found


@pytest.mark.parametrize("blocker", ["words", "ngrams"])
@settings(max_examples=40, deadline=None)
@given(left=TEXTS, right=TEXTS, top=st.integers(1, 4))
def test_the_best_by_brute_force_are_found(blocker: str, left: list[str], right: list[str], top: int) -> None:
    config = BlockConfig(blockers=(blocker,), top=top, direction="left", threads=1)
    found = block(table("a", x=left), table("b", x=right), config)
    truth = cosines(left, right, blocker)
    assert found.score == pytest.approx(truth[found.left_rows, found.right_rows], abs=1e-5)
    for row in range(len(left)):
        best = np.sort(truth[row][truth[row] > 0])[::-1][:top]
        assert found.score[found.left_rows == row] == pytest.approx(best, abs=1e-5)  # ties may fall either way


@given(texts=TEXTS)
def test_a_chunk_is_folded_like_its_values(texts: list[str]) -> None:
    assert folded(texts) == [" ".join(words(fold(text))) for text in texts]


def test_both_directions_are_the_union_of_each() -> None:
    left, right = table("a", x=names(60, 0)), table("b", x=names(90, 1))
    sides = [pairs(block(left, right, BlockConfig(top=2, direction=side))) for side in ("left", "right", "both")]
    assert sides[0] | sides[1] == sides[2]
    assert sides[0] != sides[1]


@pytest.mark.parametrize("changed", [{"block_records": 7}, {"threads": 1}, {"threads": 3, "block_records": 1}])
def test_block_size_and_threads_change_nothing(changed: dict[str, int]) -> None:
    left, right = table("a", x=names(100, 0)), table("b", x=names(100, 0, typos=True))
    one = block(left, right, BlockConfig())
    other = block(left, right, BlockConfig(**changed))
    for field in ("left_rows", "right_rows", "score", "found_by"):
        assert np.array_equal(getattr(one, field), getattr(other, field)), field


def test_within_one_table_each_pair_is_found_once_and_none_with_itself() -> None:
    people = table("a", x=[*NAMES, *NAMES, "anna lee"])
    found = block(people, None, BlockConfig(top=2))
    assert (found.left_rows < found.right_rows).all()
    assert len(pairs(found)) == len(found)
    assert {(1, 9), (0, 8), (8, 16)} <= pairs(found) | {(0, 16)}
    assert pairs(block(people, people, BlockConfig(top=2))) == pairs(found)


def test_a_record_has_no_more_than_its_share() -> None:
    left, right = table("a", x=["one two three"]), table("b", x=[f"one two {number}" for number in range(50)])
    assert len(block(left, right, BlockConfig())) == 20
    assert len(block(left, right, BlockConfig(max_per_record=3))) == 3


def test_a_small_budget_reads_the_rarest_words_first() -> None:
    right = table("b", x=[*["common rare"], *["common"] * 50])
    left = table("a", x=["common rare"])
    config = BlockConfig(blockers=("words",), direction="left", max_reads=1, reads_per_record=1, top=3)
    assert pairs(block(left, right, config)) == {(0, 0)}
    whole = block(left, right, dataclasses.replace(config, reads_per_record=100))
    assert len(whole) == 3
    assert whole.score[0] == pytest.approx(1)


def test_records_without_words_and_missing_values_find_nothing() -> None:
    left = table("a", x=["!!!", None, "anna lee"], y=[None, None, "paris"])
    right = table("b", x=[None, "anna", "..."], y=[None, "paris", "-"])
    assert pairs(block(left, right)) == {(2, 1)}


@pytest.mark.parametrize(("left", "right"), [([], ["a b"]), (["a b"], []), ([], [])])
def test_empty_tables_have_no_pairs(left: list[str], right: list[str]) -> None:
    assert len(block(table("a", x=left), table("b", x=right), BlockConfig(keys=("x",)))) == 0
    assert len(block(table("a", x=left))) == 0


def test_only_the_named_attributes_are_searched() -> None:
    left, right = table("a", x=["anna"], y=["paris"]), table("b", x=["bob"], y=["paris"])
    assert len(block(left, right)) == 1
    assert len(block(left, right, BlockConfig(attributes=("x",)))) == 0


def test_progress_rises_to_one() -> None:
    seen: list[tuple[str, float]] = []
    config = BlockConfig(block_records=10, keys=("x",))
    block(table("a", x=names(40, 0)), table("b", x=names(40, 1)), config, lambda *step: seen.append(step))
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert {what for what, _ in seen} == {"ngrams", "words", "key:x"}


def pairs(found) -> set[tuple[int, int]]:
    return set(zip(found.left_rows.tolist(), found.right_rows.tolist(), strict=True))


def test_candidates_become_pairs_for_the_rest_of_the_package() -> None:
    left, right = table("a", x=NAMES), table("b", x=NAMES)
    found = block(left, right, BlockConfig(top=1))
    made = found.pairs(left, right)
    assert isinstance(made.left, Table)
    assert made.ids[0] == "a0:b0"
    assert set(found.blocked_by) <= {"ngrams", "words", "ngrams+words"}
