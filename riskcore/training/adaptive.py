"""Algorithm 1: fine-tune a matcher on a target it has no labels for, by minimising the risk of its own predictions.

    repeat:
        predict the validation and the target pairs;
        fit the risk model on the validation pairs: which predictions of this matcher are wrong?
        score the target pairs: VaR+ if labelled match, VaR- if labelled non-match;
        one pass over the target with the loss  -(1 - VaR+) log g - (1 - VaR-) log(1 - g);
    keep the iteration with the best validation F1, the starting model included; a good one near its source, with
    few validation pairs to judge it by, stays unless more than luck speaks for another. Without validation labels of
    both classes the starting model is kept: nothing could tell a better iteration from a worse one.

The validation pairs take part in the pass as unlabelled pairs, their VaR coming from risk models fitted on the
other folds: fine-tuning on the target alone teaches the matcher the target pairs themselves, and a selection on
pairs it was never shown would not see that. No label of the target is at hand here.

Two settings take a part away, to show what it is worth: without `hear_rules` every rule is muted and the matcher's
output is all there is; without `refit` the risk model of the first iteration judges all later ones.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence

import numpy as np

from riskcore.config import RunConfig
from riskcore.matchers.base import Arrays, Matcher, ShouldStop, TuningSet, never
from riskcore.risk import RiskModel, RiskScores
from riskcore.risk.fit import FitResult, fit_risk_model
from riskcore.training.checkpoint import Checkpoint
from riskcore.training.domain_similarity import nearness
from riskcore.training.evidence import Evidence, Part
from riskcore.training.folds import folds_of
from riskcore.training.iterations import Rounds
from riskcore.training.listeners import Listener, Record, notify
from riskcore.training.results import IterationScores
from riskcore.training.supervised import epoch_seed, validation_scores

_NEAR = 0.5  # of `nearness`: data sets are near 0, parts of one near 1
_GOOD = 0.9  # validation F1 of a matcher that has more to lose than to win
_LUCK = 1  # validation pairs that any matcher may win or lose by chance
NOTHING_TO_CHOOSE_BY = (
    "There are no validation labels of both classes to choose an iteration by, so iteration 0, the matcher before "
    "adaptation, is kept."
)


@dataclasses.dataclass(frozen=True, eq=False)
class Adapted:
    """The history of adaptive training, one row per iteration, and the iteration kept."""

    rows: tuple[Record, ...]
    best: int

    @property
    def lacked(self) -> list[str]:
        """Why later iterations were not considered, where there are any; in sentences for whoever reads the result."""
        return [NOTHING_TO_CHOOSE_BY] if len(self.rows) > 1 and self.rows[0]["validation_f1"] is None else []


def adapt(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
    should_stop: ShouldStop = never,
) -> Adapted:
    """Run Algorithm 1 from the matcher as it is; leave it at its best iteration."""
    evidence = evidence if config.adapt.hear_rules else _without_rules(evidence)
    rounds = Rounds.resume(matcher, checkpoint, config.to_json() + evidence.fingerprint)
    last = config.adapt.iterations if matcher.trainable else 0  # foreign scores are ranked as they are
    home = at_home(evidence, config)
    for iteration in range(len(rounds.rows), last + 1):
        started = time.perf_counter()
        aims = _aims(evidence, rounds.arrays, config) if iteration else {}
        if iteration:
            _one_pass(matcher, evidence, aims, config, iteration, should_stop)
        probability = matcher.predict_proba(evidence.target.examples)
        validated = matcher.predict_proba(evidence.validation.examples)
        fitted_on = validated if config.adapt.refit else rounds.arrays.get("fitted_on", validated)
        fit = _fit(evidence.prior, evidence.validation, fitted_on, config)
        scores = fit.model.score(probability, evidence.target.fired, config=config.risk)
        row = _row(iteration, scores, fit, evidence, validated, rounds.arrays.get("label", scores.label))
        row |= {"at_home": home, "seconds": time.perf_counter() - started}
        arrays = {name: getattr(scores, name) for name in ("label", "var_match", "var_non_match")}
        rounds.advance(matcher, row, {**arrays, "validated": validated, "fitted_on": fitted_on, **aims}, best_iteration)
        notify(listeners, "on_iteration_end", IterationScores("risk", iteration, scores, fit.model, row))
        rounds.save(matcher)
    matcher.restore(rounds.best)
    return Adapted(tuple(rounds.rows), best_iteration(rounds.rows))


def on_validation(labels: np.ndarray, validated: np.ndarray) -> Record:
    """What an iteration is chosen by."""
    mistakes = int(((validated >= 0.5) != labels).sum())
    return {"validation_f1": validation_scores(labels, validated)[0], "validation_mistakes": mistakes}


def best_iteration(rows: Sequence[Record]) -> int:
    """Highest validation F1, the earliest of equals. A good matcher that is at home has more to lose than to win:
    others must make fewer mistakes there by more than luck, one of fifty validation pairs being no reason to leave it.
    Without validation pairs of both classes, iteration 0: nothing here could tell a better iteration from a worse."""
    scored = [row for row in rows if row["validation_f1"] is not None]
    if not scored:
        return 0
    start = scored[0]
    if start.get("at_home") and start["validation_f1"] >= _GOOD:
        fewer = start["validation_mistakes"] - _LUCK
        scored = [start, *(row for row in scored if row["validation_mistakes"] < fewer)]
    return int(max(scored, key=lambda row: (row["validation_f1"], -row["iteration"]))["iteration"])


def at_home(evidence: Evidence, config: RunConfig) -> bool:
    """Whether the matcher is near its source and learned from more pairs than there are to judge it by. Where the
    validation pairs outnumber those it learned from, they are the better judge. Without folds, the paper's selection.
    """
    if not config.adapt.folds or len(evidence.source) <= len(evidence.validation):
        return False
    return nearness(evidence.source.metrics.values, evidence.target.metrics.values, config.seed) >= _NEAR


def _aims(evidence: Evidence, last: Arrays, config: RunConfig) -> Arrays:
    """What a pass pulls each pair to: 1 - VaR of either label, averaged with the aims of the pass before.

    A risk model fitted to a matcher that has just swung one way swings it back; the average holds both still.
    """
    now = {"target_match": 1 - last["var_match"], "target_non_match": 1 - last["var_non_match"]}
    if config.adapt.folds:
        now |= _cross_fitted(evidence, last["validated"], last["fitted_on"], config)
    memory = config.adapt.memory
    return {name: (1 - memory) * aim + memory * last.get(name, aim) for name, aim in now.items()}


def _one_pass(
    matcher: Matcher, evidence: Evidence, aims: Arrays, config: RunConfig, iteration: int, should_stop: ShouldStop
) -> None:
    """One pass over target and, where they join, validation pairs with the risk loss; VaR is held constant."""
    sets = [TuningSet(evidence.target.examples, aims["target_match"], aims["target_non_match"])]
    if config.adapt.folds:
        sets.append(TuningSet(evidence.validation.examples, aims["validation_match"], aims["validation_non_match"]))
    seed = epoch_seed(config.seed, 10_000 + iteration)
    matcher.fine_tune(sets, rate=config.adapt.rate, seed=seed, should_stop=should_stop)


def _without_rules(evidence: Evidence) -> Evidence:
    """The same evidence with every rule muted: the matcher's output is all that risk can follow from."""
    return dataclasses.replace(evidence, prior=evidence.prior.with_rules(muted=evidence.prior.rules))


def _cross_fitted(evidence: Evidence, validated: np.ndarray, fitted_on: np.ndarray, config: RunConfig) -> Arrays:
    """The validation pairs as unlabelled ones: each fold's risk from a model that saw the other folds only."""
    part = evidence.validation
    aims = {name: np.zeros(len(part)) for name in ("validation_match", "validation_non_match")}
    for fold in folds_of(part.labels, config.adapt.folds, config.seed):
        rest = np.setdiff1d(np.arange(len(part)), fold)
        fit = fit_risk_model(evidence.prior, part.fired[rest], fitted_on[rest], part.labels[rest], config.risk)
        scores = fit.model.score(validated[fold], part.fired[fold], config=config.risk)
        aims["validation_match"][fold] = 1 - scores.var_match
        aims["validation_non_match"][fold] = 1 - scores.var_non_match
    return aims


def _fit(prior: RiskModel, part: Part, validated: np.ndarray, config: RunConfig) -> FitResult:
    return fit_risk_model(prior, part.fired, validated, part.labels, config.risk, config.seed)


def _row(
    iteration: int, scores: RiskScores, fit: FitResult, evidence: Evidence, validated: np.ndarray, before: np.ndarray
) -> Record:
    """What one iteration did, told without the target's labels."""
    return {
        "iteration": iteration,
        **on_validation(evidence.validation.labels, validated),
        "flips": int((scores.label != before).sum()),
        "match_rate": float(scores.label.mean()),
        "mean_risk": float(scores.risk.mean()),
        "disagreement": float(np.mean((scores.mu >= 0.5) != (scores.label == 1))),
        "labels_used": list(fit.labels_used),
        "lacked": list(fit.lacked),
    }
