"""Which iteration of adaptive training is kept, and when a matcher is left for another."""

from __future__ import annotations

import dataclasses

import pytest

from riskcore.config import RunConfig
from riskcore.data import build_workload, find_sample, open_data
from riskcore.matchers import create
from riskcore.tuning.adaptive import adapt, best_iteration
from riskcore.tuning.evidence import gather
from riskcore.tuning.listeners import Record


def test_the_earliest_best_iteration_is_kept() -> None:
    rows = [{"iteration": n, "validation_f1": f1} for n, f1 in enumerate([0.5, 0.7, 0.7, 0.6])]
    assert best_iteration(rows) == 1


def test_without_validation_a_collapse_is_stopped() -> None:
    def rows(*rates: float) -> list[dict]:
        return [{"iteration": n, "validation_f1": None, "match_rate": rate} for n, rate in enumerate(rates)]

    assert best_iteration(rows(0.2, 0.22, 0.25, 0.3)) == 3
    assert best_iteration(rows(0.2, 0.15, 0.09, 0.2)) == 1
    assert best_iteration(rows(0.0, 0.1)) == 0


def test_at_home_a_matcher_is_not_left_by_luck() -> None:
    def rows(at_home: bool, *mistakes: int) -> list[Record]:
        return [
            {"iteration": at, "validation_f1": 1 - some / 50, "validation_mistakes": some, "at_home": at_home}
            for at, some in enumerate(mistakes)
        ]

    assert best_iteration(rows(True, 1, 1, 0)) == 0
    assert best_iteration(rows(True, 3, 2, 1, 1)) == 2
    assert best_iteration(rows(True, 3, 4, 5)) == 0
    assert best_iteration(rows(True, 20, 21, 19)) == 2  # a bad matcher has little to lose
    assert best_iteration(rows(False, 1, 1, 0)) == 2  # elsewhere one pair is better than nothing to go by


@pytest.mark.parametrize(
    ("target", "judges", "folds", "expected"),
    [
        (None, 100, 3, True),
        (None, 400, 3, False),  # more to judge it by than it learned from
        (None, 100, 0, False),  # the paper's schedule
        ("bibliography_scraped", 100, 3, False),
    ],
)
def test_a_matcher_is_at_home_near_its_source_with_few_to_judge_it(
    quick: RunConfig, target: str | None, judges: int, folds: int, expected: bool
) -> None:
    clean = open_data(find_sample("bibliography_clean").path)
    other = open_data(find_sample(target).path) if target else None
    workload, _ = build_workload(clean, other, train_fraction=0.2, validation_size=judges)
    config = dataclasses.replace(
        quick, methods=("tradition", "risk"), adapt=dataclasses.replace(quick.adapt, iterations=0, folds=folds)
    )
    matcher, evidence = create(config.matcher, workload.attributes), gather(workload, config)
    matcher.fit(evidence.source.examples, evidence.validation.examples, tune=config.tune, seed=config.seed)
    (row,) = adapt(matcher, evidence, config).rows
    assert row["at_home"] is expected
