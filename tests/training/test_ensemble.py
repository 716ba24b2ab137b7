"""All the evidence: attributes that only the target has, labels that everything contradicts, and no labels at all."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from riskcore.config import RunConfig, StackConfig
from riskcore.data import TargetTruth, Workload, build_workload, find_sample, open_data
from riskcore.evaluation.scores import confusion
from riskcore.matchers import create
from riskcore.training import out_of_fold
from riskcore.training.base_learners import SOURCE_LEARNERS, TARGET_RULES
from riskcore.training.ensemble import Ensemble
from riskcore.training.experiment import run_experiment
from riskcore.training.gather import gather
from riskcore.training.supervised import train_on_labels
from tests.training.conftest import with_methods
from tests.training.test_experiment import Notes


def ensemble_of(workload: Workload, config: RunConfig) -> Ensemble:
    evidence = gather(workload, config)
    matcher = create(config.matcher, workload.attributes)
    train_on_labels(matcher, evidence.source.examples, evidence.validation.examples, config.tune, config.seed)
    return Ensemble(matcher, evidence, config)


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workload, TargetTruth]:
    """A source that knows titles only, and a target that knows everything."""
    folder = Path(tmp_path_factory.mktemp("narrow"))
    clean = find_sample("bibliography_clean").path
    for name in ("tableA", "tableB"):
        pd.read_csv(clean / f"{name}.csv", dtype=str)[["id", "title"]].to_csv(folder / f"{name}.csv", index=False)
    for name in ("train", "valid", "test"):
        (folder / f"{name}.csv").write_bytes((clean / f"{name}.csv").read_bytes())
    target = open_data(find_sample("bibliography_scraped").path)
    return build_workload(open_data(folder), target, train_fraction=0.2, validation_size=300)


def test_attributes_of_the_target_alone_are_used_and_said_to_be(
    narrow: tuple[Workload, TargetTruth], quick: RunConfig
) -> None:
    workload, truth = narrow
    assert [one.name for one in workload.attributes] == ["title"]
    assert [one.name for one in workload.target_only] == ["authors", "venue", "year"]
    notes = Notes()
    results = run_experiment(workload, with_methods(quick, "risk", "risk+", "forest", "target forest"), [notes])
    f1 = {name: confusion(truth.labels, one.probability >= 0.5).f1 or 0.0 for name, one in results.items()}
    assert f1["risk+"] > f1["forest"] + 0.05
    assert f1["target forest"] > f1["forest"] + 0.05
    assert f1["risk+"] > f1["target forest"] - 0.06  # ten trees and a toy matcher
    evidence = gather(workload, quick)
    taught = evidence.rules.from_validation
    assert 0 < taught.sum() < len(taught)
    own = {"authors", "venue", "year", "full_record"}
    for rule, from_validation in zip(evidence.rules.rules, taught, strict=True):
        assert any(one.attribute in own for one in rule.conditions) == from_validation
    assert not evidence.source.fired[:, np.flatnonzero(taught)].sum()
    for part in (evidence.validation, evidence.target):
        assert part.fired[:, np.flatnonzero(taught)].sum()
        assert not part.source_fired[:, np.flatnonzero(taught)].sum()
        np.testing.assert_array_equal(
            part.source_fired[:, np.flatnonzero(~taught)].toarray(), part.fired[:, np.flatnonzero(~taught)].toarray()
        )
    for one in notes.iterations:  # as published, risk does without rules of the target; risk+ explains by them too
        weights = one.model.effective_weight[taught]
        assert (weights == (0.0 if one.method == "risk" else quick.risk.prior_weight)).all()


def test_rules_of_the_target_are_out_of_fold_too(
    narrow: tuple[Workload, TargetTruth], quick: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload, _ = narrow
    folds = out_of_fold.folds_and_rests(workload.validation.labels, 3, 0)
    monkeypatch.setattr(out_of_fold, "folds_and_rests", lambda *_: folds)
    fold = folds[0][0]
    labels = workload.validation.labels.copy()
    labels[fold] = 1 - labels[fold]
    evidence = gather(workload, quick)
    matcher = create(quick.matcher, workload.attributes)
    matcher.begin(evidence.source.examples, 0)
    examples = dataclasses.replace(
        evidence.validation.examples, pairs=dataclasses.replace(workload.validation, labels=labels)
    )
    flipped = dataclasses.replace(evidence, validation=dataclasses.replace(evidence.validation, examples=examples))
    one, other = (
        out_of_fold.out_of_fold_log_odds(matcher, some, quick, (), lambda: False).log_odds["validation"]
        for some in (evidence, flipped)
    )
    np.testing.assert_array_equal(one[fold], other[fold])
    assert not np.array_equal(one, other)
    assert ensemble_of(workload, quick).names[-2] == TARGET_RULES
    assert one.shape[1] == len(ensemble_of(workload, quick).names) - 1


def flipped_labels(workload: Workload, count: int) -> tuple[Workload, np.ndarray]:
    labels = workload.validation.labels.copy()
    rows = np.random.default_rng(0).choice(len(labels), count, replace=False)
    labels[rows] = 1 - labels[rows]
    return dataclasses.replace(workload, validation=dataclasses.replace(workload.validation, labels=labels)), rows


def test_labels_that_every_learner_contradicts_are_named_and_left_out(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig
) -> None:
    workload, rows = flipped_labels(shifted[0], 12)
    plain, noisy = ensemble_of(shifted[0], quick), ensemble_of(workload, quick)
    assert len(plain.doubted) <= 2
    wrong = set(workload.validation.ids[rows])
    named = {one["pair_id"] for one in noisy.doubted}
    assert len(named & wrong) >= 6
    assert len(named - wrong) <= 2
    left_out = {one["pair_id"] for one in noisy.doubted if not one["used"]}
    assert left_out == set(workload.validation.ids) - set(workload.validation.ids[noisy.trusted])
    assert len(noisy.evidence.validation) == len(noisy.trusted) < len(workload.validation)
    one = noisy.doubted[0]
    assert set(one["left"]) == {"title", "authors", "venue", "year"}
    off = ensemble_of(workload, dataclasses.replace(quick, stack=StackConfig(doubted_share=1.0)))
    assert len(off.trusted) == len(workload.validation)
    assert all(one["used"] for one in off.doubted)


def test_wrong_labels_do_not_reach_the_ranking_of_a_matcher(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig
) -> None:
    """`risk` hands over predictions of all validation pairs; those that are not trusted are left out again."""
    workload, _ = flipped_labels(shifted[0], 12)
    results = run_experiment(workload, with_methods(quick, "risk"))
    for method in ("tradition", "risk"):
        found = results[method].risk
        assert found is not None
        assert found.choice is not None
        wrong = (results[method].validated >= 0.5) != workload.validation.labels  # type: ignore[operator]
        assert found.choice["errors"] < wrong.sum()


def test_without_labels_the_sources_learners_are_averaged(
    shifted: tuple[Workload, TargetTruth], quick: RunConfig
) -> None:
    workload, truth = shifted
    unlabelled = dataclasses.replace(workload, validation=workload.validation.take(np.zeros(0, dtype=int)))
    ensemble = ensemble_of(unlabelled, quick)
    assert ensemble.names == ("matcher", *SOURCE_LEARNERS)
    assert ensemble.labels_used == ("source",)
    predicted = np.full(len(workload.target), 0.7)
    stacked = ensemble.stack(np.zeros(0), predicted)
    log_odds = np.column_stack([np.full(len(predicted), np.log(0.7 / 0.3)), ensemble.log_odds["target"]]).mean(axis=1)
    assert stacked.probability == pytest.approx(1 / (1 + np.exp(-log_odds)))
    assert stacked.out_of_fold is None
    results = run_experiment(unlabelled, with_methods(quick, "risk", "risk+"))
    found = results["risk"].risk
    assert found is not None
    assert (found.labels_used, found.calibrated) == (("source",), False)
    np.testing.assert_array_equal(results["risk+"].probability, results["tradition"].probability)
    assert len(found.risk) == len(truth.labels)
