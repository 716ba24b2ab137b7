"""The figures of a blocking, against counting by hand and against simulated captures."""

from __future__ import annotations

import numpy as np
import pytest

from riskcore.blocking import block, report
from riskcore.blocking.missed import chapman
from riskcore.config import BlockConfig
from tests.blocking.people import NAMES, names, table

LEFT, RIGHT = table("a", x=["anna lee", "bob", "zz"]), table("b", x=["anna lee", "anna", "bob"])


def test_counts():
    found = report(block(LEFT, RIGHT), LEFT, RIGHT, (np.array([0, 2]), np.array([0, 2])))
    assert (found.pairs, found.possible) == (3, 9)
    assert found.reduction_ratio == pytest.approx(6 / 9)
    assert (found.left.mean, found.left.most, found.left.without) == (1.0, 2, pytest.approx(1 / 3))
    assert sum(found.found_by.values()) == 3
    assert (found.recall.matches, found.recall.found, found.recall.share) == (2, 1, 0.5)
    assert found.estimate is None


def test_within_one_table_known_matches_count_in_either_order_and_once():
    people = table("a", x=[*NAMES, *NAMES])
    known = (np.array([8, 0, 3]), np.array([0, 8, 3]))
    found = report(block(people), people, None, known)
    assert (found.recall.matches, found.recall.found) == (1, 1)
    assert found.possible == 16 * 15 // 2
    assert found.left == found.right


def test_no_known_match_is_not_a_recall_of_zero():
    found = report(block(LEFT, RIGHT), LEFT, RIGHT, (np.array([], dtype=int), np.array([], dtype=int)))
    assert found.recall.share is None


def test_empty_tables():
    left = table("a", x=[])
    found = report(block(left), left)
    assert (found.pairs, found.reduction_ratio, found.estimate.found) == (0, None, None)


def test_one_attribute_gives_no_estimate():
    found = report(block(LEFT, RIGHT), LEFT, RIGHT)
    assert found.estimate.found is None
    assert "two attributes" in found.estimate.reason


def test_too_little_overlap_gives_no_estimate():
    left, right = table("a", x=["anna lee"], y=["paris"]), table("b", x=["anna lee"], y=["paris"])
    found = report(block(left, right), left, right)
    assert found.estimate.found is None
    assert "only 1" in found.estimate.reason


def test_easy_tables_are_estimated_to_be_complete():
    left = table("a", x=names(300, 0), y=names(300, 1))
    right = table("b", x=names(300, 0, typos=True), y=names(300, 1, typos=True))
    estimate = report(block(left, right), left, right).estimate
    assert estimate.found > 0.97
    assert estimate.low <= estimate.found <= estimate.high
    assert estimate.evidence in ((("x",), ("y",)), (("y",), ("x",)))
    alone = table("a", x=[*names(200, 0), *names(200, 0, typos=True)], y=[*names(200, 1), *names(200, 1, typos=True)])
    assert report(block(alone), alone).estimate.found > 0.9


def test_chapman_by_hand():
    estimate = chapman((90, 80, 72))
    assert estimate.found == pytest.approx((90 + 80 - 72) / (91 * 81 / 73 - 1))
    assert chapman((50, 50, 50)).found == 1
    assert 0.9 < chapman((50, 50, 50)).low < 1


@pytest.mark.parametrize(("matches", "shares"), [(100, (0.95, 0.95)), (500, (0.85, 0.7)), (3000, (0.99, 0.3))])
def test_the_interval_covers_what_independent_captures_miss(matches, shares):
    chance, covered = np.random.default_rng(0), 0
    for _ in range(200):
        first, second = (chance.random(matches) < share for share in shares)
        estimate = chapman((int(first.sum()), int(second.sum()), int((first & second).sum())))
        covered += estimate.low <= (first | second).mean() <= estimate.high
    assert covered >= 186  # of 200, at 95 %


def test_settings_reach_the_report():
    left, right = table("a", x=NAMES, y=NAMES), table("b", x=NAMES, y=NAMES)
    config = BlockConfig(attributes=("x",))
    assert "two attributes" in report(block(left, right, config), left, right, None, config).estimate.reason
