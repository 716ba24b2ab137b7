"""The time left: known from what cells took, and from how far those at work are."""

from __future__ import annotations

import pytest

from riskcore.bench.cells import Cell
from riskcore.bench.outlook import Outlook
from riskcore.bench.queue import Told
from riskcore.config import RunConfig


def cells(count: int, workload: str = "DA2DS") -> list[Cell]:
    return [Cell("shift", workload, "", RunConfig(source="a", seed=seed)) for seed in range(count)]


def test_nothing_is_known_at_first() -> None:
    outlook = Outlook(cells(2), 1)
    assert outlook.seconds_left is None
    assert outlook.left == ""


def test_a_cell_at_work_is_something_to_go_by() -> None:
    some = cells(3)
    outlook = Outlook(some, 1)
    outlook.hear(Told(some[0], "started"))
    outlook.hear(Told(some[0], "step", "risk", share=0.5, seconds=100))
    assert outlook.seconds_left == pytest.approx(100 + 2 * 200)
    assert outlook.left == "about 8 min left"


def test_cells_that_are_done_tell_what_the_others_take() -> None:
    some = cells(4)
    outlook = Outlook(some, 2)
    for cell in some[:2]:
        outlook.hear(Told(cell, "started"))
    outlook.hear(Told(some[0], "done", seconds=60))
    outlook.hear(Told(some[1], "failed", seconds=1, error="no"))
    assert outlook.over == 2
    assert outlook.seconds_left == pytest.approx(2 * 60 / 2)
    assert outlook.left == "about 60 s left"


def test_earlier_results_count() -> None:
    slow, fast = cells(2, "DS2DA"), cells(1)
    known = {slow[0].group: [36_000.0], fast[0].group: [10.0]}
    outlook = Outlook([*slow, *fast], 2, known)
    assert outlook.seconds_left == pytest.approx((2 * 36_000 + 10) / 2)
    assert outlook.left == "about 10.0 h left"


def test_cells_that_were_cut_off_tell_nothing() -> None:
    some = cells(3)
    outlook = Outlook(some, 1)
    outlook.hear(Told(some[0], "started"))
    outlook.hear(Told(some[0], "step", "risk", share=0.9, seconds=1, resumed=True))
    assert outlook.seconds_left is None
    outlook.hear(Told(some[0], "done", seconds=2, resumed=True))
    assert outlook.seconds_left is None
