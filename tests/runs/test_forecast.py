"""How long a run will take: by method, by the speed measured here, and what would make it cheaper."""

from __future__ import annotations

import dataclasses

import pytest

from riskcore.config import AdaptConfig, MatcherConfig, RunConfig, TuneConfig
from riskcore.registry import MATCHERS
from riskcore.runs.readers import forecast as module
from riskcore.runs.readers.forecast import Forecast, cheaper, forecast, measured_speed
from riskcore.runs.readers.time_left import step_seconds
from riskcore.training.costs import RunSizes

SIZES = RunSizes(2000, 100, 1000)
DITTO = RunConfig(
    source="data",
    methods=("tradition", "risk", "risk+"),
    matcher=MatcherConfig(kind="ditto"),
    tune=TuneConfig(epochs=5),
    adapt=AdaptConfig(iterations=4),
)


def trained(store, config, *speeds):
    """A run whose epochs were measured; it did not end."""
    run = store.create(config).id
    attempt = store.claim(run)
    for number, speed in enumerate(speeds):
        record = {"task": "tradition", "pairs_per_second": speed}
        store.record(run, "speed", f"speed/{attempt}/{number}", record)
    return run


def test_words_go_by_the_whole():
    steps = {"evidence": 20.0, "tradition": 480.0, "risk": 725.0, "risk+": 890.0}
    assert Forecast(2110.0, steps, None, 0).words == "about 35 minutes: tradition 8, risk 12, risk+ 15"
    assert Forecast(21100.0, {"risk": 18000.0, "report": 60.0}, None, 0).words == "about 5.9 hours: risk 5.0"
    assert Forecast(31.0, {"risk": 20.0}, None, 0).words == "about 31 seconds"
    assert not Forecast(1800.0, {}, None, 0).long
    assert Forecast(1801.0, {}, None, 0).long


def test_a_usual_figure_until_the_matcher_was_measured_here(store):
    found = forecast(store, DITTO, SIZES)
    assert found.speed is None
    assert "usual figure" in found.basis
    assert found.steps == step_seconds(DITTO, SIZES)
    trained(store, DITTO, 15.0)
    measured, usual = forecast(store, DITTO, SIZES), MATCHERS["ditto"].pairs_per_second
    assert measured.speed == 15.0
    assert measured.basis == "Measured on this machine: this matcher trained on about 15 pairs a second."
    assert measured.steps["tradition"] == pytest.approx(found.steps["tradition"] * usual / 15)
    assert measured.seconds > found.seconds


def test_longer_pairs_take_longer(store):
    longer = dataclasses.replace(DITTO, matcher=MatcherConfig(kind="ditto", max_tokens=128))
    steps, twice = (step_seconds(config, SIZES) for config in (DITTO, longer))
    assert twice["tradition"] == pytest.approx(2 * steps["tradition"])
    assert MATCHERS["hybrid"].speed(128) == MATCHERS["hybrid"].speed(64)


def test_only_this_machine_and_this_matcher_count(store, monkeypatch):
    trained(store, DITTO, 30.0)
    other = dataclasses.replace(DITTO, matcher=MatcherConfig(kind="ditto", max_tokens=32))
    trained(store, other, 70.0)
    assert measured_speed(store, store.list(), DITTO.matcher) == 30.0
    assert measured_speed(store, store.list(), other.matcher) == 70.0
    monkeypatch.setattr(module, "this_host", lambda: "another")
    assert forecast(store, DITTO, SIZES).speed is None


def test_finished_runs_correct_it_where_passes_are_too_short_to_measure(store, finished):
    config = store.list()[0].config
    found = forecast(store, config, SIZES)
    assert (found.speed, found.runs) == (None, 1)
    assert found.basis == "Corrected by an earlier run with this matcher on this machine."


def test_advice_names_what_costs(store):
    found = forecast(store, DITTO, RunSizes(source=60_000, validation=3_000, target=20_000))
    assert found.long
    advice = cheaper(DITTO, found)
    for words in ("fewer epochs", "fewer iterations", "fewer methods", "hybrid", "max_tokens"):
        assert words in advice
    short = dataclasses.replace(DITTO, matcher=MatcherConfig(), methods=("tradition",))
    assert cheaper(short, Forecast(2000.0, {"tradition": 1990.0}, None, 0)) == "Cheaper: fewer epochs."


def test_of_a_large_target_the_sample_counts(store):
    large, sample = (dataclasses.replace(SIZES, target=pairs) for pairs in (1_000_000, 10_000))
    assert forecast(store, DITTO, large).seconds == forecast(store, DITTO, sample).seconds
    whole = dataclasses.replace(DITTO, adapt=dataclasses.replace(DITTO.adapt, target_sample=0))
    assert forecast(store, whole, large).seconds > 20 * forecast(store, DITTO, large).seconds


def test_a_run_that_continues_another_does_not_train_again():
    again = dataclasses.replace(DITTO, start="weights")
    assert step_seconds(again, SIZES)["tradition"] < step_seconds(DITTO, SIZES)["tradition"] / 10
