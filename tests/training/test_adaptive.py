"""Which iteration of adaptive training is kept, and when a matcher is left for another."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from riskcore.config import AdaptConfig, RunConfig
from riskcore.data import TargetTruth, Workload, build_workload, find_sample, open_data
from riskcore.matchers import create
from riskcore.matchers.base import Matcher
from riskcore.training import adaptive
from riskcore.training.adaptive import adapt, best_iteration
from riskcore.training.evidence import Evidence
from riskcore.training.gather import gather
from riskcore.training.results import IterationRow
from riskcore.training.supervised import train_on_labels


def test_the_earliest_best_iteration_is_kept() -> None:
    rows = [{"iteration": n, "validation_f1": f1} for n, f1 in enumerate([0.5, 0.7, 0.7, 0.6])]
    assert best_iteration(rows, AdaptConfig()) == 1


def test_of_equal_f1_the_lowest_loss_is_kept() -> None:
    """With a hundred labels many iterations have the same F1, and the first of them was kept."""
    scores = [(0.5, 0.1), (0.7, 0.3), (0.7, 0.2), (0.7, 0.2), (0.6, 0.0)]
    rows = [{"iteration": n, "validation_f1": f1, "validation_loss": loss} for n, (f1, loss) in enumerate(scores)]
    assert best_iteration(rows, AdaptConfig()) == 2


def test_without_validation_labels_the_starting_matcher_is_kept() -> None:
    """The last iteration with a steady match rate was kept once: on an unlabelled set, all of its flips were wrong."""
    rows = [{"iteration": n, "validation_f1": None, "match_rate": rate} for n, rate in enumerate([0.2, 0.22, 0.25])]
    assert best_iteration(rows, AdaptConfig()) == 0


def test_a_good_matcher_near_its_source_is_not_replaced_by_chance() -> None:
    def rows(near_source: bool, *mistakes: int) -> list[IterationRow]:
        return [
            {"iteration": at, "validation_f1": 1 - some / 50, "validation_mistakes": some, "near_source": near_source}
            for at, some in enumerate(mistakes)
        ]

    assert best_iteration(rows(True, 1, 1, 0), AdaptConfig()) == 0
    assert best_iteration(rows(True, 3, 2, 1, 1), AdaptConfig()) == 2
    assert best_iteration(rows(True, 3, 4, 5), AdaptConfig()) == 0
    assert best_iteration(rows(True, 20, 21, 19), AdaptConfig()) == 2  # a bad matcher is more likely to get better
    assert best_iteration(rows(False, 1, 1, 0), AdaptConfig()) == 2  # elsewhere the best validation F1 decides
    paper = AdaptConfig(good_f1=1.0, chance_mistakes=0)
    assert best_iteration(rows(True, 1, 1, 0), paper) == 2
    assert best_iteration(rows(True, 3, 2, 1, 1), AdaptConfig(chance_mistakes=2)) == 0


@pytest.mark.parametrize(
    ("target", "validation", "folds", "expected"),
    [
        (None, 100, 3, True),
        (None, 400, 3, False),  # more validation than training pairs
        (None, 100, 0, False),  # the paper's schedule
        ("bibliography_scraped", 100, 3, False),
    ],
)
def test_near_its_source_with_fewer_validation_than_training_pairs(
    quick: RunConfig, target: str | None, validation: int, folds: int, expected: bool
) -> None:
    clean = open_data(find_sample("bibliography_clean").path)
    other = open_data(find_sample(target).path) if target else None
    workload, _ = build_workload(clean, other, train_fraction=0.2, validation_size=validation)
    config = dataclasses.replace(
        quick, methods=("tradition", "risk"), adapt=dataclasses.replace(quick.adapt, iterations=0, folds=folds)
    )
    matcher, evidence = create(config.matcher, workload.attributes), gather(workload, config)
    train_on_labels(matcher, evidence.source.examples, evidence.validation.examples, config.tune, config.seed)
    (row,) = adapt(matcher, evidence, config).rows
    assert row["near_source"] is expected


def test_loss_weights_are_one_minus_value_at_risk_averaged_with_those_of_the_pass_before(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig
) -> None:
    config = dataclasses.replace(quick, adapt=dataclasses.replace(quick.adapt, folds=0, var_momentum=0.25))
    evidence = gather(shifted[0], config)
    last = {"var_match": np.array([0.1, 0.8]), "var_non_match": np.array([0.9, 0.4])}
    first = adaptive._loss_weights(evidence, last, config)
    assert set(first) == {"target_match", "target_non_match"}
    np.testing.assert_allclose(first["target_match"], [0.9, 0.2])  # there is no pass before
    np.testing.assert_allclose(first["target_non_match"], [0.1, 0.6])
    then = {"var_match": np.array([0.5, 0.0]), "var_non_match": np.array([0.7, 1.0]), **first}
    second = adaptive._loss_weights(evidence, then, config)
    np.testing.assert_allclose(second["target_match"], [0.6, 0.8])  # 3/4 of 0.5 and 1, 1/4 of 0.9 and 0.2
    np.testing.assert_allclose(second["target_non_match"], [0.25, 0.15])  # 3/4 of 0.3 and 0, 1/4 of 0.1 and 0.6
    without = dataclasses.replace(config, adapt=dataclasses.replace(config.adapt, var_momentum=0.0))
    np.testing.assert_allclose(adaptive._loss_weights(evidence, then, without)["target_match"], [0.5, 1.0])


def test_a_validation_pairs_own_label_does_not_reach_its_loss_weights(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folds are held: they are dealt by class, and another label would deal them differently."""
    workload, _ = shifted
    evidence = gather(workload, quick)
    matcher = create(quick.matcher, workload.attributes)
    train_on_labels(matcher, evidence.source.examples, evidence.validation.examples, config=quick.tune, seed=quick.seed)
    folds = adaptive.folds_of(workload.validation.labels, quick.adapt.folds, quick.seed)
    monkeypatch.setattr(adaptive, "folds_of", lambda *_: folds)
    pair, other = int(folds[0][0]), folds[1]
    labels = workload.validation.labels.copy()
    labels[pair] = 1 - labels[pair]
    validation = dataclasses.replace(workload.validation, labels=labels)
    examples = dataclasses.replace(evidence.validation.examples, pairs=validation)
    relabelled = dataclasses.replace(evidence, validation=dataclasses.replace(evidence.validation, examples=examples))
    one_pass = dataclasses.replace(quick, adapt=dataclasses.replace(quick.adapt, iterations=1))
    passes: list[dict[str, np.ndarray]] = []

    def noted(_matcher: Matcher, _evidence: Evidence, weights: dict[str, np.ndarray], *_: object) -> float:
        passes.append(weights)
        return 0.0

    monkeypatch.setattr(adaptive, "_one_pass", noted)
    for some in (evidence, relabelled):
        adapt(matcher, some, one_pass)
    of_true, of_flipped = passes
    for name in ("validation_match", "validation_non_match"):
        assert of_true[name][pair] == of_flipped[name][pair]
        assert not np.array_equal(
            of_true[name][other], of_flipped[name][other]
        )  # the risk model of the other fold saw the flipped label


def test_every_fit_of_the_risk_model_follows_the_seed(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cross-fitted risk models of the validation folds drew with seed 0, whatever the seed of the run."""
    evidence = gather(shifted[0], quick)
    seeds: list[tuple[int, ...]] = []
    real = adaptive.fit_risk_model
    monkeypatch.setattr(adaptive, "fit_risk_model", lambda *args: seeds.append(args[5:]) or real(*args))
    adapt_config = dataclasses.replace(quick.adapt, iterations=1)
    for seed in (0, 1):
        config = dataclasses.replace(quick, adapt=adapt_config, seed=seed)
        matcher = create(config.matcher, shifted[0].attributes)
        train_on_labels(matcher, evidence.source.examples, evidence.validation.examples, config.tune, config.seed)
        adapt(matcher, evidence, config)
    half = len(seeds) // 2
    assert half == 2 + config.adapt.folds  # two iterations, and the folds of the pass between them
    assert not set(seeds[:half]) & set(seeds[half:])
    assert seeds[0] == seeds[half - 1]  # the risk model of every iteration draws alike
