"""Exact keys."""

from __future__ import annotations

import numpy as np
import pytest

from riskcore.blocking import block
from riskcore.config import BlockConfig
from riskcore.errors import ConfigError
from tests.blocking.people import table

KEYS = BlockConfig(blockers=(), keys=("code",))


def pairs(left, right, config=KEYS):
    found = block(left, right, config)
    return set(zip(found.left_rows.tolist(), found.right_rows.tolist(), strict=True))


def test_equal_folded_values_make_a_pair():
    left, right = table("a", code=["É-1 ", "x", None]), table("b", code=["e-1", None, "y"])
    assert pairs(left, right) == {(0, 0)}


def test_a_value_of_too_many_records_is_skipped():
    left, right = table("a", code=["red", "k1"]), table("b", code=["red"] * 21 + ["k1"])
    assert pairs(left, right) == {(1, 21)}


def test_within_one_table_each_pair_comes_once():
    assert pairs(table("a", code=["k", "j", "k", "k"]), None) == {(0, 2), (0, 3), (2, 3)}


def test_key_pairs_are_never_cut_off_and_say_who_found_them():
    left = table("a", code=["k"], name=["anna lee"])
    right = table("b", code=[*[None] * 30, "k"], name=[*["anna lee"] * 30, "zoe"])
    found = block(left, right, BlockConfig(keys=("code",), attributes=("name",)))
    assert len(found) == 21
    assert found.blocked_by[-1] == "key:code"
    assert np.isnan(found.score[-1])


def test_an_unknown_attribute_is_named():
    with pytest.raises(ConfigError, match=r"'cod'.*code"):
        block(table("a", code=["k"]), None, BlockConfig(keys=("cod",)))


@pytest.mark.parametrize("wrong", [{"blockers": ("magic",)}, {"direction": "up"}, {"blockers": ()}, {"ngram": 9}])
def test_settings_that_cannot_be(wrong):
    with pytest.raises(ConfigError):
        BlockConfig(**wrong)
