"""The sample of a large target: exact chances, the same whatever the labels, and none where the target is small."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from riskcore.config import AdaptConfig, MatcherConfig, RunConfig
from riskcore.data import TargetTruth, Workload, build_workload, find_sample, open_data
from riskcore.data.labels import SPLITS
from riskcore.errors import CancelledError
from riskcore.training import target_sample
from riskcore.training.domain_similarity import domain_similarity
from riskcore.training.gather import gather
from riskcore.training.target_sample import draw_sample, drawn, inclusion, restricted_to, sample_size, unseen_rows


def chances_by_steps(weight: np.ndarray, size: int) -> np.ndarray:
    """The same by brute force: the factor at which capped weights add up, found by halving."""
    low, high = 0.0, size / weight.min()
    for _ in range(200):
        factor = (low + high) / 2
        low, high = (factor, high) if np.minimum(1, factor * weight).sum() < size else (low, factor)
    return np.minimum(1, high * weight)


@pytest.mark.parametrize("floor", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("size", [1, 40, 190])
def test_chances_grow_with_risk_and_add_up(floor: float, size: int) -> None:
    risk = np.random.default_rng(5).beta(0.2, 2, 200)
    found = inclusion(risk, size, AdaptConfig(sample_floor=floor))
    weight = floor + (1 - floor) * risk / risk.mean()
    np.testing.assert_allclose(found, chances_by_steps(weight, size), rtol=1e-9)
    assert found.sum() == pytest.approx(size)
    assert (found >= floor * size / 200 - 1e-12).all()


def test_pairs_without_any_risk_are_drawn_alike() -> None:
    np.testing.assert_allclose(inclusion(np.zeros(8), 2, AdaptConfig()), 0.25)


def test_each_pair_is_drawn_as_often_as_its_chance_says() -> None:
    chances = inclusion(np.array([0.25, 0.2, 0.1, 0.02, 0.01, 0.0, 0.0]), 3, AdaptConfig(sample_floor=0.2))
    assert chances.max() == 1.0
    times, draws = np.zeros(7), 20_000
    rng = np.random.default_rng(0)
    for _ in range(draws):
        rows = drawn(chances, rng)
        assert len(rows) == 3
        assert (np.diff(rows) > 0).all()  # ascending, each once
        times[rows] += 1
    assert np.abs(times / draws - chances).max() < 5 * 0.5 / np.sqrt(draws)


@pytest.mark.parametrize(
    ("adapt", "pairs", "size"),
    [
        ({}, 100_000, None),
        ({}, 100_001, 10_000),
        ({"large_target": 50, "large_sample": 80}, 70, None),
        ({"large_target": 50, "large_sample": 20}, 70, 20),
        ({"target_sample": 0}, 10**6, None),
        ({"target_sample": 500}, 500, None),
        ({"target_sample": 500}, 501, 500),
        ({"iterations": 0, "stacking_iterations": 0}, 10**6, None),  # nothing adapts
    ],
)
def test_when_a_target_is_sampled(adapt: dict[str, Any], pairs: int, size: int | None) -> None:
    assert sample_size(RunConfig(adapt=AdaptConfig(**adapt)), pairs) == size


def test_scores_of_another_matcher_are_all_taken() -> None:
    config = RunConfig(matcher=MatcherConfig(kind="external"), adapt=AdaptConfig(target_sample=5))
    assert sample_size(config, 100) is None


def test_the_sample_does_not_depend_on_the_targets_labels(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor on how many pairs are measured at a time; another seed draws others."""
    workload, _ = shifted
    first = draw_sample(workload, 150, quick)
    data = open_data(find_sample("bibliography_scraped").path)
    test, rng = data.splits[SPLITS[2]], np.random.default_rng(1)
    turned = dataclasses.replace(test, labels=rng.permutation(test.labels))
    assert (turned.labels != test.labels).any()
    data = dataclasses.replace(data, splits={**data.splits, SPLITS[2]: turned})
    source = open_data(find_sample("bibliography_clean").path)
    other, _ = build_workload(source, data, train_fraction=0.1, validation_size=120)
    again = draw_sample(other, 150, quick)
    assert np.array_equal(again.rows, first.rows)
    assert np.array_equal(again.inclusion, first.inclusion)
    assert again.similarity == first.similarity
    monkeypatch.setattr(target_sample, "PART_PAIRS", 128)
    in_parts = draw_sample(workload, 150, quick)
    assert np.array_equal(in_parts.rows, first.rows)
    assert in_parts.similarity == first.similarity
    assert not np.array_equal(draw_sample(workload, 150, dataclasses.replace(quick, seed=1)).rows, first.rows)


def test_the_sample_prefers_pairs_that_are_undecided(shifted: tuple[Workload, TargetTruth], quick: RunConfig) -> None:
    workload, _ = shifted
    sample = draw_sample(workload, 150, quick)
    assert len(np.unique(sample.rows)) == 150
    rate = 150 / len(workload.target)
    assert sample.inclusion.mean() > 1.1 * rate  # pairs with a higher chance are drawn more often
    estimated = (1 / sample.inclusion).sum()  # each drawn pair stands for so many
    assert estimated == pytest.approx(len(workload.target), rel=0.15)


def test_evidence_of_a_sample_is_that_of_its_pairs_and_knows_the_whole_targets_similarity(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig
) -> None:
    workload, _ = shifted
    sample = draw_sample(workload, 150, quick)
    whole, part = gather(workload, quick), gather(restricted_to(workload, sample), quick)
    np.testing.assert_array_equal(part.target.metrics.values, whole.target.metrics.values[sample.rows])
    of_all = domain_similarity(whole.source.metrics.values, whole.target.metrics.values, quick.seed, quick.similarity)
    assert part.domain_similarity(quick) == whole.domain_similarity(quick) == of_all


def test_a_cancelled_run_stops_while_it_samples(shifted: tuple[Workload, TargetTruth], quick: RunConfig) -> None:
    with pytest.raises(CancelledError):
        draw_sample(shifted[0], 10, quick, should_stop=lambda: True)


def test_unseen_pairs_are_drawn_alike() -> None:
    rows = unseen_rows(1_000, 30, 4)
    assert (len(rows), len(np.unique(rows))) == (30, 30)
    assert np.array_equal(rows, unseen_rows(1_000, 30, 4))
