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
    fine_tuned_log_odds,
    fine_tuned_weights,
    fit_base_learners,
    fit_source_learners,
)
from riskcore.training.evidence import Evidence
from riskcore.training.fitted_learners import FittedLearners
from riskcore.training.folds import folds_of
from riskcore.training.listeners import Listener, notify

Fold = tuple[np.ndarray, np.ndarray]  # rows held out, and the rest
Fit = Callable[[ScoredPart], FittedLearners]
Predict = Callable[[FittedLearners, ScoredPart], np.ndarray]  # log-odds


@dataclasses.dataclass(frozen=True, eq=False)
class Predicted:
    """Log-odds of the base learners for `validation`, `target` and `unseen` pairs, and the learners that were fitted on
    all validation pairs."""

    log_odds: Arrays
    learners: FittedLearners


def out_of_fold_log_odds(
    matcher: Matcher, evidence: Evidence, config: RunConfig, listeners: Sequence[Listener], should_stop: ShouldStop
) -> Predicted:
    """Log-odds of all base learners, pairs x learners: out-of-fold for validation pairs, fitted on all of them for
    target and unseen pairs."""
    parts = _scored_parts(matcher, evidence)
    validation = parts.pop("validation")
    several = _learners_with_folds(matcher, evidence, config, should_stop)
    step = _stepper(sum(len(folds) + 1 for _, _, folds in several), listeners, should_stop)
    columns, fitted = [], FittedLearners(())
    for fit, predict, folds in several:
        found = fit(validation)
        fitted = FittedLearners((*fitted.learners, *found.learners), {**fitted.fine_tuned, **found.fine_tuned})
        predicted = {name: predict(found, some) for name, some in parts.items()}
        step()
        columns.append({**predicted, "validation": _out_of_fold(fit, predict, validation, folds, step)})
    return Predicted({name: np.column_stack([column[name] for column in columns]) for name in columns[0]}, fitted)


def source_log_odds(
    matcher: Matcher, evidence: Evidence, config: RunConfig, listeners: Sequence[Listener], should_stop: ShouldStop
) -> Predicted:
    """The same of the learners that the source alone teaches, for targets without validation labels of both classes."""
    fitted = FittedLearners(fit_source_learners(evidence, config))
    floor = config.stack.probability_floor
    found = {name: fitted.log_odds(some, floor) for name, some in _scored_parts(matcher, evidence).items()}
    _stepper(1, listeners, should_stop)()
    return Predicted(found, fitted)


def _scored_parts(matcher: Matcher, evidence: Evidence) -> dict[str, ScoredPart]:
    known = {"validation": evidence.validation, "target": evidence.target, "unseen": evidence.unseen}
    return {
        name: ScoredPart(part, matcher.predict_proba(part.examples)) for name, part in known.items() if part is not None
    }


def folds_and_rests(labels: np.ndarray, count: int, seed: int) -> list[Fold]:
    """Each fold's rows, and the rest."""
    return [(fold, np.setdiff1d(np.arange(len(labels)), fold)) for fold in folds_of(labels, count, seed)]


def _learners_with_folds(
    matcher: Matcher, evidence: Evidence, config: RunConfig, should_stop: ShouldStop
) -> list[tuple[Fit, Predict, list[Fold]]]:
    """The base learners and their folds. Fine-tuning the matcher is expensive: with many labels it has fewer folds."""
    labels, adapt, floor = evidence.validation.labels, config.adapt, config.stack.probability_floor
    folds = folds_and_rests(labels, adapt.stacking_folds, stream_seed(config.seed, Stream.STACKING_FOLDS))

    def fit_others(train: ScoredPart) -> FittedLearners:
        return FittedLearners(fit_base_learners(evidence, train, config))

    def fine_tune(train: ScoredPart) -> FittedLearners:
        return FittedLearners((), fine_tuned_weights(matcher, train, config, should_stop))

    learners: list[tuple[Fit, Predict, list[Fold]]] = [
        (fit_others, lambda fitted, some: fitted.log_odds(some, floor), folds)
    ]
    if matcher.trainable:
        few = len(labels) < adapt.few_validation_pairs
        drawn = stream_seed(config.seed, Stream.FINE_TUNING_FOLDS)
        fewer = folds if few else folds_and_rests(labels, adapt.fine_tuning_folds, drawn)
        learners.append(
            (fine_tune, lambda fitted, some: fine_tuned_log_odds(matcher, fitted.fine_tuned, some, floor), fewer)
        )
    return learners


def _out_of_fold(
    fit: Fit, predict: Predict, validation: ScoredPart, folds: Sequence[Fold], step: Callable[[], None]
) -> np.ndarray:
    """Log-odds of each validation pair from base learners fitted on the other folds."""
    predicted: np.ndarray | None = None
    for fold, rest in folds:
        some = predict(fit(validation.take(rest)), validation.take(fold))
        predicted = np.zeros((len(validation.part), *some.shape[1:])) if predicted is None else predicted
        predicted[fold] = some
        step()
    assert predicted is not None
    return predicted


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
