"""Each ablation takes away what it says, and nothing else."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riskcore.bench.plan.ablations import ABLATIONS, ablated
from riskcore.config import AdaptConfig, MatcherConfig, RiskConfig, RunConfig, TuneConfig
from riskcore.data import TargetTruth, Workload, build_workload, find_sample, open_data
from riskcore.errors import ConfigError
from riskcore.matchers.base import as_sets
from riskcore.matchers.toy import ToyMatcher
from riskcore.metrics.kinds import KINDS
from riskcore.training.evidence import Evidence
from riskcore.training.experiment import run_experiment
from riskcore.training.listeners import Listener
from riskcore.training.results import IterationScores, MethodResult

QUICK = RunConfig(
    matcher=MatcherConfig(kind="toy"), tune=TuneConfig(epochs=3), risk=RiskConfig(steps=20),
    adapt=AdaptConfig(iterations=3, base_learner_trees=5, stacking_folds=2),
)  # fmt: skip


class Notes(Listener):
    def __init__(self, stop_after: int | None = None) -> None:
        self.iterations: list[IterationScores] = []
        self.evidence: Evidence | None = None
        self.stop_after = stop_after

    def on_evidence(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def on_iteration_end(self, scores: IterationScores) -> None:
        self.iterations.append(scores)
        if len(self.iterations) == self.stop_after:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def workload() -> Workload:
    made: tuple[Workload, TargetTruth] = build_workload(
        open_data(find_sample("bibliography_clean").path),
        open_data(find_sample("bibliography_scraped").path),
        train_fraction=0.1,
        validation_size=120,
    )
    return made[0]


Outcome = tuple[dict[str, MethodResult], Notes]
_KNOWN: dict[str, Outcome] = {}  # by settings: the same run is asked for by several tests


def outcome(workload: Workload, config: RunConfig) -> Outcome:
    key = config.to_json()
    if key not in _KNOWN:
        _KNOWN[key] = fresh_outcome(workload, config)
    return _KNOWN[key]


def fresh_outcome(workload: Workload, config: RunConfig, **options: Any) -> Outcome:
    notes = Notes()
    return run_experiment(workload, config, [notes], **options), notes


def test_the_settings_of_a_run_take_nothing_away() -> None:
    config = RunConfig()
    assert config.adapt.use_rules
    assert config.adapt.refit
    assert config.metric.differences


@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ablation_changes_settings_and_runs_risk_only(name: str, workload: Workload) -> None:
    config = ablated(QUICK, name)
    assert RunConfig.from_json(config.to_json()) == config
    assert dataclasses.replace(config, methods=QUICK.methods) != QUICK
    results, _ = outcome(workload, config)
    plain, _ = outcome(workload, dataclasses.replace(QUICK, methods=("risk",)))
    assert list(results) == ["tradition", "risk"]
    np.testing.assert_array_equal(results["tradition"].probability, plain["tradition"].probability)


def test_an_unknown_ablation_is_refused() -> None:
    with pytest.raises(ConfigError, match="no rules"):
        ablated(QUICK, "no magic")


def test_without_rules_the_mean_is_the_matchers_output(workload: Workload) -> None:
    _, notes = outcome(workload, ablated(QUICK, "no rules"))
    for one in notes.iterations:
        np.testing.assert_allclose(one.scores.mu, one.scores.probability, atol=1e-12)
    _, plain = outcome(workload, dataclasses.replace(QUICK, methods=("risk",)))
    assert (np.abs(plain.iterations[0].scores.mu - plain.iterations[0].scores.probability) > 0.01).any()


def test_without_learned_weights_the_priors_stay(workload: Workload) -> None:
    _, notes = outcome(workload, ablated(QUICK, "no learned weights"))
    for one in notes.iterations:
        assert (one.model.weight == QUICK.risk.prior_weight * notes.evidence.rules.stands_for).all()
        assert (one.model.rsd == QUICK.risk.prior_rsd).all()
        assert one.model.a == QUICK.risk.prior_a


def test_without_difference_metrics_no_rule_speaks_of_one(workload: Workload) -> None:
    _, notes = outcome(workload, ablated(QUICK, "no difference metrics"))
    _, plain = outcome(workload, dataclasses.replace(QUICK, methods=("risk",)))
    assert notes.evidence is not None
    assert plain.evidence is not None
    kinds = {metric.kind for metric in notes.evidence.target.metrics.metrics}
    assert kinds == {m.kind for m in plain.evidence.target.metrics.metrics if not KINDS[m.kind].difference}
    spoken = {condition.kind for rule in notes.evidence.rules.rules for condition in rule.conditions}
    assert spoken
    assert not any(KINDS[kind].difference for kind in spoken)
    for metric in notes.evidence.target.metrics.metrics:
        column = plain.evidence.target.metrics.column(metric.key)
        np.testing.assert_array_equal(notes.evidence.target.metrics.column(metric.key), column)


def test_without_var_risk_is_the_mean(workload: Workload) -> None:
    _, notes = outcome(workload, ablated(QUICK, "no VaR"))
    for one in notes.iterations:
        np.testing.assert_allclose(one.scores.var_match, 1 - one.scores.mu, atol=1e-5)
        np.testing.assert_allclose(one.scores.var_non_match, one.scores.mu, atol=1e-5)
    learned = notes.iterations[0].model.weight
    assert np.isfinite(learned).all()
    assert (learned != QUICK.risk.prior_weight).any()


def test_without_refit_the_first_model_judges_all(workload: Workload, tmp_path: Path) -> None:
    config = ablated(QUICK, "no re-fit")
    results, notes = outcome(workload, config)
    first = notes.iterations[0].model
    for one in notes.iterations[1:]:
        np.testing.assert_array_equal(one.model.weight, first.weight)
    _, plain = outcome(workload, dataclasses.replace(QUICK, methods=("risk",)))
    assert (plain.iterations[1].model.weight != plain.iterations[0].model.weight).any()
    with pytest.raises(KeyboardInterrupt):
        run_experiment(workload, config, [Notes(stop_after=2)], checkpoints=tmp_path)
    resumed, _ = fresh_outcome(workload, config, checkpoints=tmp_path)
    np.testing.assert_array_equal(resumed["risk"].probability, results["risk"].probability)


def test_the_papers_schedule_passes_over_the_target_alone(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[list[int]] = []
    fine_tune = ToyMatcher.fine_tune

    def counted(self: ToyMatcher, sets: Any, **options: Any) -> float:
        passes.append([len(one) for one in as_sets(sets)])
        return fine_tune(self, sets, **options)

    monkeypatch.setattr(ToyMatcher, "fine_tune", counted)
    _, alone = fresh_outcome(workload, ablated(QUICK, "the paper's schedule"))
    target, both = [len(workload.target)], [len(workload.target), len(workload.validation)]
    assert passes[-3:] == 3 * [target]
    _, joined = fresh_outcome(workload, dataclasses.replace(QUICK, methods=("risk",)))
    assert passes[-3:] == 3 * [both]
    assert (alone.iterations[-1].scores.probability != joined.iterations[-1].scores.probability).any()
