"""Ids of pairs: no two pairs of records share one, and plain ids stay plain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.pair_ids import pair_id, pair_ids, record_ids

AWKWARD = st.text(alphabet="ab:\\ 1", max_size=5)


def test_plain_ids_are_joined_by_a_colon():
    assert pair_id("12", "345") == "12:345"
    assert pair_id("c\\x", "b") == "c\\x:b"


def test_ids_with_colons_do_not_meet():
    assert pair_id("a", "b:c") == r"a:b\:c"
    assert pair_id("a:b", "c") == r"a\:b:c"


@given(AWKWARD, AWKWARD, AWKWARD, AWKWARD)
def test_two_pairs_of_records_never_share_an_id(a, b, c, d):
    assert (pair_id(a, b) == pair_id(c, d)) == ((a, b) == (c, d))


@given(AWKWARD, AWKWARD)
def test_an_id_gives_its_records_back(left, right):
    assert record_ids(pair_id(left, right)) == (left, right)


@given(st.lists(st.tuples(AWKWARD, AWKWARD), max_size=8))
def test_many_at_once_are_the_same(pairs):
    left, right = (np.array([one[side] for one in pairs], dtype=object) for side in (0, 1))
    assert pair_ids(left, right).tolist() == [pair_id(*one) for one in pairs]


def test_a_missing_record_gives_a_missing_id():
    assert pair_ids(np.array(["a", None, "b"], dtype=object), np.array(["x", "y", np.nan], dtype=object)).tolist() == [
        "a:x",
        None,
        None,
    ]


@pytest.mark.parametrize("text", ["", "pair 7", "a:b:c", "a\\b:c:d"])
def test_other_texts_are_no_such_ids(text):
    assert record_ids(text) is None
