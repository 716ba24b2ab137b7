"""Out-of-fold predictions of the base learners: none predicts a validation pair whose label it was fitted on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from riskcore.config import RunConfig
from riskcore.errors import CancelledError
from riskcore.matchers.base import Arrays, Matcher, ShouldStop
from riskcore.random_streams import Stream, stream_seed
from riskcore.training.base_learners import (
    ScoredPart,
    fit_metric_learners,
    fit_rule_learners,
    fit_source_learners,
)
from riskcore.training.checkpoint import Checkpoint
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.fine_tuned_fits import FineTunedFits
from riskcore.training.fitted_learners import FittedLearner, FittedLearners
from riskcore.training.folds import folds_of
from riskcore.training.listeners import Listener, notify

Fold = tuple[np.ndarray, np.ndarray]  # rows held out, and the rest


@dataclasses.dataclass(frozen=True, eq=False)
class Predicted:
    """Log-odds of the base learners for `validation`, `target` and `unseen` pairs, and the learners that were fitted on
    all validation pairs."""

    log_odds: Arrays
    learners: FittedLearners


@dataclasses.dataclass(frozen=True, eq=False)
class FitOnMetrics:
    """Base learners that know nothing but metrics, fitted on some validation pairs, and their log-odds of others."""

    learners: tuple[FittedLearner, ...]  # empty for a fold: nobody asks them again
    log_odds: tuple[np.ndarray, ...]  # of each part that was asked about, pairs x learners

    @classmethod
    def of(
        cls, evidence: Evidence, train: EvidencePart, asked: Sequence[EvidencePart], config: RunConfig
    ) -> FitOnMetrics:
        """Fit them on `train`."""
        fitted = FittedLearners(fit_metric_learners(evidence, train, config))
        some = [ScoredPart(part, np.zeros(len(part))) for part in asked]  # the matcher's word does not matter to them
        return cls(fitted.learners, tuple(fitted.log_odds(one, config.stack.probability_floor) for one in some))


def fit_on_metrics(evidence: Evidence, config: RunConfig) -> list[FitOnMetrics]:
    """The fit on all validation pairs, which answers for target and unseen pairs, and then those without each fold.

    They need no matcher: where a core is free, they are made while it is trained.
    """
    asked = [part for part in (evidence.target, evidence.unseen) if part is not None]
    whole = FitOnMetrics.of(evidence, evidence.validation, asked, config)
    return [whole, *(_without_fold(evidence, fold, config) for fold in _stacking_folds(evidence, config))]


def _without_fold(evidence: Evidence, fold: Fold, config: RunConfig) -> FitOnMetrics:
    """The fit without a fold, and what it says of the fold."""
    held_out, rest = (evidence.validation.take(rows) for rows in fold)
    return dataclasses.replace(FitOnMetrics.of(evidence, rest, [held_out], config), learners=())


def out_of_fold_log_odds(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener],
    should_stop: ShouldStop,
    start: Arrays | None = None,
    on_metrics: Sequence[FitOnMetrics] | None = None,
    checkpoint: Checkpoint | None = None,
) -> Predicted:
    """Log-odds of all base learners, pairs x learners: out-of-fold for validation pairs, fitted on all of them for
    target and unseen pairs. `start` are the matcher's probabilities, where they are known, and `on_metrics` what
    `fit_on_metrics` gives for this evidence. Beside the checkpoint, what is done of the fine-tuning is kept."""
    parts = _scored_parts(matcher, evidence, start)
    validation = parts.pop("validation")
    folds, fewer = _stacking_folds(evidence, config), _fine_tuning_folds(matcher, evidence, config)
    step = _stepper(len(folds) + 1 + (len(fewer) + 1 if fewer else 0), listeners, should_stop)
    columns, learners = _all_but_fine_tuned(evidence, validation, parts, config, step, on_metrics)
    fitted = FittedLearners(learners)
    if fewer:
        fits = FineTunedFits(matcher, evidence, config, len(fewer) + 1, listeners, checkpoint, should_stop)
        tuned = fits.fit(0, validation, parts)
        fitted = dataclasses.replace(fitted, fine_tuned=tuned.weights)
        step()
        found = {**tuned.log_odds, "validation": np.zeros(len(validation.part))}
        for number, (fold, rest) in enumerate(fewer, start=1):
            tuned = fits.fit(number, validation.take(rest), {"held out": validation.take(fold)})
            found["validation"][fold] = tuned.log_odds["held out"]
            step()
        columns = {name: np.column_stack([columns[name], found[name]]) for name in columns}
    return Predicted(columns, fitted)


def _all_but_fine_tuned(
    evidence: Evidence,
    validation: ScoredPart,
    parts: dict[str, ScoredPart],
    config: RunConfig,
    step: Callable[[], None],
    on_metrics: Sequence[FitOnMetrics] | None,
) -> tuple[Arrays, tuple[FittedLearner, ...]]:
    """Log-odds of all base learners but the fine-tuned matcher, by part, and these learners."""
    asked, columns = list(parts.values()), Arrays()
    said, learners = _fitted(evidence, validation, asked, config, on_metrics[0] if on_metrics else None)
    columns |= dict(zip(parts, said, strict=True))
    step()
    held_out: np.ndarray | None = None
    for number, (fold, rest) in enumerate(_stacking_folds(evidence, config), start=1):
        known = on_metrics[number] if on_metrics else None
        ((some,), _) = _fitted(evidence, validation.take(rest), [validation.take(fold)], config, known)
        held_out = np.zeros((len(validation.part), some.shape[1])) if held_out is None else held_out
        held_out[fold] = some
        step()
    assert held_out is not None
    return {**columns, "validation": held_out}, learners


def _fitted(
    evidence: Evidence,
    train: ScoredPart,
    asked: Sequence[ScoredPart],
    config: RunConfig,
    on_metrics: FitOnMetrics | None,
) -> tuple[list[np.ndarray], tuple[FittedLearner, ...]]:
    """All base learners but the fine-tuned matcher, fitted on `train`, and their log-odds of the parts asked about."""
    floor = config.stack.probability_floor
    rules, own = fit_rule_learners(evidence, train, config)
    known = on_metrics or FitOnMetrics.of(evidence, train.part, [one.part for one in asked], config)
    before, behind = FittedLearners((rules,)), FittedLearners(own)
    said = [
        np.column_stack([before.log_odds(some, floor), by_metrics, behind.log_odds(some, floor)])
        for some, by_metrics in zip(asked, known.log_odds, strict=True)
    ]
    return said, (rules, *known.learners, *own)


def source_log_odds(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener],
    should_stop: ShouldStop,
    start: Arrays | None = None,
) -> Predicted:
    """The same of the learners that the source alone teaches, for targets without validation labels of both classes."""
    fitted = FittedLearners(fit_source_learners(evidence, config))
    floor = config.stack.probability_floor
    found = {name: fitted.log_odds(some, floor) for name, some in _scored_parts(matcher, evidence, start).items()}
    _stepper(1, listeners, should_stop)()
    return Predicted(found, fitted)


def _scored_parts(matcher: Matcher, evidence: Evidence, start: Arrays | None) -> dict[str, ScoredPart]:
    parts = {"validation": evidence.validation, "target": evidence.target, "unseen": evidence.unseen}
    known = start or {}
    return {
        name: ScoredPart(part, known[name] if name in known else matcher.predict_proba(part.examples))
        for name, part in parts.items()
        if part is not None
    }


def folds_and_rests(labels: np.ndarray, count: int, seed: int) -> list[Fold]:
    """Each fold's rows, and the rest."""
    return [(fold, np.setdiff1d(np.arange(len(labels)), fold)) for fold in folds_of(labels, count, seed)]


def _stacking_folds(evidence: Evidence, config: RunConfig) -> list[Fold]:
    drawn = stream_seed(config.seed, Stream.STACKING_FOLDS)
    return folds_and_rests(evidence.validation.labels, config.adapt.stacking_folds, drawn)


def _fine_tuning_folds(matcher: Matcher, evidence: Evidence, config: RunConfig) -> list[Fold]:
    """Fine-tuning the matcher is expensive: with many labels it has fewer folds. None where it cannot be trained."""
    if not matcher.trainable:
        return []
    labels, adapt = evidence.validation.labels, config.adapt
    if len(labels) < adapt.few_validation_pairs:
        return _stacking_folds(evidence, config)
    return folds_and_rests(labels, adapt.fine_tuning_folds, stream_seed(config.seed, Stream.FINE_TUNING_FOLDS))


def _stepper(total: int, listeners: Sequence[Listener], should_stop: ShouldStop) -> Callable[[], None]:
    """Reports that another step is done, and stops where the run was cancelled."""
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        notify(listeners, "on_progress", {"phase": "base learners", "done": done, "total": total})
        if should_stop():
            raise CancelledError("Training was cancelled; the last checkpoint holds what was reached.")

    return step
