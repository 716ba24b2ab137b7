"""Base learners: which labels they may know, and domain similarity."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.metrics import log_loss

from riskcore.config import Config, MatcherConfig, RunConfig, SimilarityConfig, StackConfig
from riskcore.data.pairs import LabelledPairs
from riskcore.data.workload import TargetTruth, Workload
from riskcore.matchers import create
from riskcore.training import ensemble, out_of_fold, risk_plus
from riskcore.training import evidence as evidence_module
from riskcore.training.base_learners import (
    BASE_LEARNERS,
    ScoredPart,
    fine_tuned_log_odds,
    fine_tuned_weights,
    posterior_means,
)
from riskcore.training.domain_similarity import domain_similarity
from riskcore.training.experiment import methods_of, run_experiment
from riskcore.training.fitted_learners import FittedLearners
from riskcore.training.gather import gather
from riskcore.training.passes import Passes
from riskcore.training.supervised import train_on_labels
from tests.training.conftest import with_methods
from tests.training.test_experiment import Notes


def evidence_and_matcher(workload: Workload, config: RunConfig):
    evidence = gather(workload, config)
    matcher = create(config.matcher, workload.attributes)
    train_on_labels(matcher, evidence.source.examples, evidence.validation.examples, config.tune, config.seed)
    return evidence, matcher


def predicted(log_odds: dict[str, np.ndarray]) -> out_of_fold.Predicted:
    return out_of_fold.Predicted(log_odds, FittedLearners(()))


def test_out_of_fold_predictions_do_not_depend_on_the_pairs_own_labels(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload, _ = shifted
    evidence, matcher = evidence_and_matcher(workload, quick)
    folds = out_of_fold.folds_and_rests(workload.validation.labels, 3, 0)
    monkeypatch.setattr(out_of_fold, "folds_and_rests", lambda *_: folds)
    fold = folds[0][0]
    labels = workload.validation.labels.copy()
    labels[fold] = 1 - labels[fold]
    validation = dataclasses.replace(workload.validation, labels=labels)
    examples = dataclasses.replace(evidence.validation.examples, pairs=validation)
    relabelled = dataclasses.replace(evidence, validation=dataclasses.replace(evidence.validation, examples=examples))
    log_odds, of_flipped = (
        out_of_fold.out_of_fold_log_odds(matcher, some, quick, (), lambda: False).log_odds["validation"]
        for some in (evidence, relabelled)
    )
    np.testing.assert_array_equal(log_odds[fold], of_flipped[fold])
    assert not np.array_equal(log_odds, of_flipped)  # base learners of the other folds were fitted on flipped labels


def test_there_is_a_column_for_each_base_learner_and_the_matcher_is_unchanged(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig
) -> None:
    evidence, matcher = evidence_and_matcher(shifted[0], quick)
    before = matcher.snapshot()
    log_odds = out_of_fold.out_of_fold_log_odds(matcher, evidence, quick, (), lambda: False).log_odds
    assert set(log_odds) == {"validation", "target"}
    assert log_odds["validation"].shape == (len(evidence.validation), len(BASE_LEARNERS) + 1)
    assert log_odds["target"].shape == (len(evidence.target), len(BASE_LEARNERS) + 1)
    assert all(np.isfinite(some).all() for some in log_odds.values())
    after = matcher.snapshot()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_the_matcher_is_fine_tuned_at_its_falling_training_rate(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence, matcher = evidence_and_matcher(shifted[0], quick)
    rates: list[float] = []
    fine_tune = matcher.fine_tune

    def noted(sets: Any, **options: Any) -> float:
        rates.append(options["rate"])
        return fine_tune(sets, **options)

    monkeypatch.setattr(matcher, "fine_tune", noted)
    part = ScoredPart(evidence.validation, matcher.predict_proba(evidence.validation.examples))
    weights = fine_tuned_weights(matcher, part, quick, Passes("base learners", "pass", 3), 3)
    log_odds = fine_tuned_log_odds(matcher, weights, part, quick.stack.probability_floor)
    usual = matcher.rates.train
    assert rates == pytest.approx([usual, 0.55 * usual, 0.1 * usual])
    labels = evidence.validation.labels
    assert log_loss(labels, expit(log_odds)) < log_loss(labels, part.probability)


def test_the_matcher_is_kept_where_base_learners_are_noise(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence, matcher = evidence_and_matcher(shifted[0], quick)
    rng, width = np.random.default_rng(0), len(BASE_LEARNERS) + 1
    sizes = {"validation": len(evidence.validation), "target": len(evidence.target)}
    noise = {name: rng.normal(0, 6, (size, width)) for name, size in sizes.items()}
    monkeypatch.setattr(ensemble, "out_of_fold_log_odds", lambda *_: predicted(noise))
    sure = np.where(evidence.validation.labels == 1, 1 - 1e-6, 1e-6)
    own = matcher.predict_proba
    known = evidence.validation.examples
    monkeypatch.setattr(matcher, "predict_proba", lambda some: sure if some is known else own(some))
    notes = Notes()
    result = risk_plus.train_risk_plus(matcher, ensemble.Ensemble(matcher, evidence, quick), [notes])
    assert result.record["lacked"] == [risk_plus.NO_BETTER]
    np.testing.assert_array_equal(result.probability, own(evidence.target.examples))
    kept = notes.iterations[result.record["best_iteration"]]
    assert [one.iteration for one in notes.iterations] == [0, 1, 2, 3]  # three that were rejected, then the matcher
    assert [one.fallback for one in notes.iterations] == [False, False, False, True]
    np.testing.assert_array_equal(kept.scores.probability, result.probability)
    assert kept.record["validation_f1"] == result.record["validation_f1"] == 1.0
    assert result.labels_used == ("source", "validation")  # they chose the matcher


def test_the_settings_of_a_run_reach_stacker_and_domain_similarity(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = dataclasses.replace(
        quick,
        adapt=dataclasses.replace(quick.adapt, stacking_iterations=0),
        stack=StackConfig(source_share=0.1),
        similarity=SimilarityConfig(trees=60),
    )
    evidence, matcher = evidence_and_matcher(shifted[0], config)
    sizes = {"validation": len(evidence.validation), "target": len(evidence.target)}
    zeros = {name: np.zeros((size, len(BASE_LEARNERS) + 1)) for name, size in sizes.items()}
    monkeypatch.setattr(ensemble, "out_of_fold_log_odds", lambda *_: predicted(zeros))
    seen: set[Config] = set()
    for module, name in ((ensemble, "fit_stacker"), (evidence_module, "domain_similarity")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, real=real: seen.add(args[-1]) or real(*args))
    risk_plus.train_risk_plus(matcher, ensemble.Ensemble(matcher, evidence, config))
    assert seen == {config.stack, config.similarity}


def test_posterior_means_count_the_source_as_so_many_pairs(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig
) -> None:
    evidence = gather(shifted[0], quick)
    rules = len(evidence.prior.rules)
    prior = np.full(rules, 0.5)
    prior[:3] = 0.9, 0.2, 0.0
    evidence = dataclasses.replace(evidence, prior=dataclasses.replace(evidence.prior, mean=prior))
    fired = np.zeros((4, rules))
    fired[[0, 1, 2], 0] = 1  # two matches and a non-match
    fired[[2, 3], 1] = 1  # two non-matches
    labels = np.array([1, 1, 0, 0])
    updated = posterior_means(evidence, sparse.csr_array(fired), labels, prior_pairs=5.0).mean
    np.testing.assert_allclose(updated[:2], [(5 * 0.9 + 2) / 8, (5 * 0.2 + 0) / 7])
    np.testing.assert_array_equal(updated[2:], prior[2:])  # rules that fire on no validation pair
    of_here = posterior_means(evidence, sparse.csr_array(fired), labels, prior_pairs=0.0).mean
    np.testing.assert_allclose(of_here[:3], [2 / 3, 0.0, 0.0])


def test_a_source_is_similar_to_itself_and_dissimilar_to_another() -> None:
    rng = np.random.default_rng(0)
    here, there = rng.normal(size=(800, 6)), rng.normal(size=(800, 6))
    here[rng.random(here.shape) < 0.1] = np.nan
    there[rng.random(there.shape) < 0.1] = np.nan
    assert domain_similarity(here.astype(np.float32), there.astype(np.float32), 0) > 0.85
    shifted = there + 2.0
    assert domain_similarity(here.astype(np.float32), shifted.astype(np.float32), 0) < 0.2
    assert domain_similarity(here[:3].astype(np.float32), there.astype(np.float32), 0) == 0.0


def test_the_source_forest_is_the_method_forest() -> None:
    config = RunConfig()
    assert config.stack.source_forest_factor * config.adapt.base_learner_trees == config.adapt.forest_trees


def test_foreign_scores_go_through_a_default_run(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig, tmp_path: Path
) -> None:
    workload, truth = shifted
    parts = (workload.source, workload.validation, workload.target)
    rng = np.random.default_rng(0)
    ids = np.concatenate([part.ids for part in parts])
    labels = np.concatenate([part.labels if isinstance(part, LabelledPairs) else truth.labels for part in parts])
    guess = np.clip(0.7 * labels + 0.3 * rng.random(len(ids)), 0, 1)
    path = tmp_path / "scores.csv"
    pd.DataFrame({"id": ids, "probability": guess}).drop_duplicates("id").to_csv(path, index=False)
    config = dataclasses.replace(quick, matcher=MatcherConfig(kind="external", scores=str(path)))
    assert methods_of(config) == ["tradition", "risk", "risk+", "forest", "target forest"]
    results = run_experiment(workload, config, unseen=workload.source.without_labels())
    np.testing.assert_array_equal(results["risk"].probability, results["tradition"].probability)
    assert all(result.unseen is None for result in results.values())  # a file of scores need not have those pairs
    assert np.isfinite(results["risk+"].probability).all()
    used = {method: result.labels_used for method, result in results.items()}
    assert (used["tradition"], used["risk"], used["forest"]) == ((), (), ("source", "validation"))
    unlabelled = dataclasses.replace(workload, validation=workload.validation.take(np.zeros(0, int)))
    alone = run_experiment(unlabelled, with_methods(config, "risk+"))["risk+"]
    assert (alone.labels_used, alone.record["best_iteration"]) == ((), 0)
