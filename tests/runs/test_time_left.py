"""The estimate of time: shares add up, the pace is extrapolated, the command line and the screens agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.api.progress import Estimate, ProgressListener
from riskcore.config import RunConfig
from riskcore.registry import METHODS
from riskcore.runs.readers.time_left import (
    estimate_seconds,
    pass_words,
    seconds_left,
    share_done,
    step_seconds,
    step_words,
    steps_of,
    within_evidence,
    within_passes,
)
from riskcore.training.costs import RunSizes

SIZES = RunSizes(3000, 600, 600)


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=6), st.integers(0, 6), st.floats(0, 1))
def test_the_share_is_the_sum_of_what_is_over(costs, over, within):
    seconds = {f"step {number}": cost for number, cost in enumerate(costs)}
    done = list(seconds)[:over]
    current = list(seconds)[over] if over < len(costs) else None
    part = within * costs[over] if over < len(costs) else 0.0
    assert share_done(seconds, done, current, within) == pytest.approx((sum(costs[:over]) + part) / sum(costs))


def test_time_left_goes_by_the_pace_so_far():
    assert seconds_left(30.0, 0.25) == pytest.approx(90.0)
    assert seconds_left(30.0, 0.01) is None


def test_finished_runs_correct_the_estimate():
    config = RunConfig(source="a", target="b")
    plain = estimate_seconds(config, SIZES)
    assert estimate_seconds(config, SIZES, [(10.0, 20.0), (10.0, 20.0), (10.0, 500.0)]) == pytest.approx(2 * plain)
    assert estimate_seconds(config, SIZES, [(10.0, 0.0)]) == plain


def test_every_method_has_words_and_a_cost():
    config = RunConfig(source="a", target="b", methods=METHODS.names())
    seconds = step_seconds(config, SIZES)
    assert list(seconds) == list(steps_of(config))
    assert all(cost > 0 for cost in seconds.values())
    for method in METHODS:
        assert step_words(method.name) == method.step
    assert step_words("no such method") == "Run no such method"


def test_metrics_and_rules_fill_the_step_of_evidence():
    assert within_evidence("metrics", 0.0) == 0.0
    assert within_evidence("metrics", 1.0) == within_evidence("rules", 0.0)
    assert within_evidence("rules", 1.0) == pytest.approx(1.0)


def test_the_command_line_estimates_as_the_screens_do():
    """It had shares of its own, and methods from other packages counted as half a unit."""
    config = RunConfig(source="a", target="b", methods=("tradition", "risk"))
    estimate = Estimate(config)
    seconds = step_seconds(config)
    assert estimate.share == 0.0
    for phase in ("evidence", "tradition", "base learners"):
        estimate.begin(phase)
        estimate.end(phase)
    estimate.begin("risk")
    estimate.step(0.5)
    trained = seconds["evidence"] + seconds["tradition"] + seconds["base learners"]
    assert estimate.share == pytest.approx((trained + 0.5 * seconds["risk"]) / (trained + seconds["risk"]))
    estimate.end("risk")
    assert estimate.share == pytest.approx(1.0)


def test_a_method_that_reports_its_own_progress_moves_the_bar():
    shown = []
    listener = ProgressListener(
        RunConfig(methods=("supervised",)), lambda estimate, *_, **__: shown.append(estimate.share)
    )
    listener.on_phase_start({"phase": "supervised"})
    for done in range(5):
        listener.on_progress({"phase": "supervised", "done": done, "total": 4})
    assert shown == sorted(shown)
    assert shown[-1] > shown[1]


EPOCH = {
    "task": "tradition", "unit": "epoch", "number": 2, "of": 5, "done": 640, "total": 1915,
    "seconds": 15.6, "per_second": 41.2,
}  # fmt: skip


def test_a_pass_says_its_pairs_its_speed_and_its_time_left():
    assert (
        pass_words(EPOCH) == "Tradition, epoch 2 of 5: 640 of 1,915 pairs, 41 a second, about 31 s left in this epoch"
    )
    slow = {**EPOCH, "task": "base learners", "unit": "pass", "number": 13, "of": 110, "per_second": 2.34}
    assert pass_words(slow) == (
        "Base learners, pass 13 of 110: 640 of 1,915 pairs, 2.3 a second, about 9 min left in this pass"
    )
    over = pass_words({**EPOCH, "done": 1915})
    assert over == "Tradition, epoch 2 of 5: 1,915 of 1,915 pairs, 41 a second"


def test_a_pass_moves_the_share_of_its_step():
    assert within_passes(EPOCH) == pytest.approx((1 + 640 / 1915) / 5)
    assert within_passes({**EPOCH, "number": 5, "done": 1915}) == 1.0
    assert within_passes(EPOCH, 1) == pytest.approx((2 + 640 / 1915) / 6)  # iteration 0 makes no pass
    shown = []
    listener = ProgressListener(RunConfig(), lambda estimate, what: shown.append((estimate.within, what)))
    listener.estimate.begin("tradition")
    listener.on_pairs(EPOCH)
    listener.on_pairs({**EPOCH, "task": "risk+"})  # beside it
    assert [within for within, _ in shown] == [pytest.approx(within_passes(EPOCH))] * 2
    assert shown[0][1] == pass_words(EPOCH)
