"""The time left: known from what cells took, and from how far those at work are."""

from __future__ import annotations

import dataclasses

import pytest

from riskcore.bench.plan.cells import Cell
from riskcore.bench.run.pool import CellEvent
from riskcore.bench.run.time_left import TimeLeft
from riskcore.config import MatcherConfig, RunConfig


def cells(count: int, workload: str = "DA2DS") -> list[Cell]:
    return [Cell("shift", workload, "", RunConfig(source="a", seed=seed)) for seed in range(count)]


def test_nothing_is_known_at_first() -> None:
    time_left = TimeLeft(cells(2), 1)
    assert time_left.seconds is None
    assert time_left.text == ""


def test_a_cell_at_work_is_something_to_go_by() -> None:
    some = cells(3)
    time_left = TimeLeft(some, 1)
    time_left.update(CellEvent(some[0], "started"))
    time_left.update(CellEvent(some[0], "step", "risk", share=0.5, seconds=100))
    assert time_left.seconds == pytest.approx(100 + 2 * 200)
    assert time_left.text == "about 8 min left"


def test_cells_that_are_done_tell_what_the_others_take() -> None:
    some = cells(4)
    time_left = TimeLeft(some, 2)
    for cell in some[:2]:
        time_left.update(CellEvent(cell, "started"))
    time_left.update(CellEvent(some[0], "done", seconds=60))
    time_left.update(CellEvent(some[1], "failed", seconds=1, error="no"))
    assert time_left.finished == 2
    assert time_left.seconds == pytest.approx(2 * 60 / 2)
    assert time_left.text == "about 60 s left"


def test_more_jobs_than_cells_do_not_hurry_the_last() -> None:
    some = cells(3)
    time_left = TimeLeft(some, 16)
    for cell in some:
        time_left.update(CellEvent(cell, "started"))
    time_left.update(CellEvent(some[0], "step", "risk", share=0.5, seconds=1000))
    time_left.update(CellEvent(some[1], "done", seconds=1100))
    time_left.update(CellEvent(some[2], "done", seconds=900))
    assert time_left.seconds == pytest.approx(500)
    uneven = TimeLeft(some[:2], 2)
    for cell, share in zip(some, (0.1, 0.9), strict=False):
        uneven.update(CellEvent(cell, "started"))
        uneven.update(CellEvent(cell, "step", "risk", share=share, seconds=1000 * share))
    assert uneven.seconds == pytest.approx(900)  # the longest of them, not half of all


def test_slow_matchers_are_judged_by_their_like() -> None:
    slow = Cell("same-source", "AB", "2:2:6", RunConfig(source="a", matcher=MatcherConfig(kind="ditto")))
    more = [dataclasses.replace(slow, config=dataclasses.replace(slow.config, seed=seed)) for seed in range(1, 5)]
    known = {cell.cost_group: [200.0] for cell in (*cells(1), *cells(1, "DS2DA"), *cells(1, "CORA2DA"))}
    time_left = TimeLeft([slow, *more], 1, known)
    assert time_left.seconds == pytest.approx(5 * 200)
    time_left.update(CellEvent(slow, "started"))
    time_left.update(CellEvent(slow, "step", "tradition", share=0.5, seconds=5000))
    assert time_left.seconds == pytest.approx(5000 + 4 * 10_000)


def test_earlier_results_count() -> None:
    slow, fast = cells(2, "DS2DA"), cells(1)
    known = {slow[0].cost_group: [36_000.0], fast[0].cost_group: [10.0]}
    time_left = TimeLeft([*slow, *fast], 2, known)
    assert time_left.seconds == pytest.approx((2 * 36_000 + 10) / 2)
    assert time_left.text == "about 10.0 h left"


def test_cells_that_were_cut_off_tell_nothing() -> None:
    some = cells(3)
    time_left = TimeLeft(some, 1)
    time_left.update(CellEvent(some[0], "started"))
    time_left.update(CellEvent(some[0], "step", "risk", share=0.9, seconds=1, resumed=True))
    assert time_left.seconds is None
    time_left.update(CellEvent(some[0], "done", seconds=2, resumed=True))
    assert time_left.seconds is None
