"""Out-of-fold predictions of the base learners: none predicts a validation pair whose label it was fitted on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from riskcore.config import RunConfig
from riskcore.errors import CancelledError
from riskcore.matchers.base import Arrays, Matcher, ShouldStop
from riskcore.random_streams import Stream, stream_seed
from riskcore.training.base_learners import (
    ScoredPart,
    base_learner_log_odds,
    fine_tuned_log_odds,
    source_learner_log_odds,
)
from riskcore.training.evidence import Evidence
from riskcore.training.folds import folds_of
from riskcore.training.listeners import Listener, notify

FitPredict = Callable[[ScoredPart, Sequence[ScoredPart]], list[np.ndarray]]  # fitted on the first, log-odds of the rest
Fold = tuple[np.ndarray, np.ndarray]  # rows held out, and the rest


def out_of_fold_log_odds(
    matcher: Matcher, evidence: Evidence, config: RunConfig, listeners: Sequence[Listener], should_stop: ShouldStop
) -> Arrays:
    """Log-odds of all base learners, pairs x learners: out-of-fold for validation pairs, fitted on all of them for
    target and unseen pairs."""
    parts = _scored_parts(matcher, evidence)
    validation = parts.pop("validation")
    learners = _learners_with_folds(matcher, evidence, config, should_stop)
    step = _stepper(sum(len(folds) + 1 for _, folds in learners), listeners, should_stop)
    columns = []
    for fit_predict, folds in learners:
        predicted = dict(zip(parts, fit_predict(validation, list(parts.values())), strict=True))
        step()
        columns.append({**predicted, "validation": _out_of_fold(fit_predict, validation, folds, step)})
    return {name: np.column_stack([column[name] for column in columns]) for name in columns[0]}


def source_log_odds(
    matcher: Matcher, evidence: Evidence, config: RunConfig, listeners: Sequence[Listener], should_stop: ShouldStop
) -> Arrays:
    """The same of the learners that the source alone teaches, for targets without validation labels of both classes."""
    parts = _scored_parts(matcher, evidence)
    found = source_learner_log_odds(evidence, list(parts.values()), config)
    _stepper(1, listeners, should_stop)()
    return dict(zip(parts, found, strict=True))


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
) -> list[tuple[FitPredict, list[Fold]]]:
    """The base learners and their folds. Fine-tuning the matcher is expensive: with many labels it has fewer folds."""
    labels, adapt = evidence.validation.labels, config.adapt
    folds = folds_and_rests(labels, adapt.stacking_folds, stream_seed(config.seed, Stream.STACKING_FOLDS))
    learners: list[tuple[FitPredict, list[Fold]]] = [(partial(base_learner_log_odds, evidence, config=config), folds)]
    if matcher.trainable:
        few = len(labels) < adapt.few_validation_pairs
        drawn = stream_seed(config.seed, Stream.FINE_TUNING_FOLDS)
        fewer = folds if few else folds_and_rests(labels, adapt.fine_tuning_folds, drawn)
        learners.append((partial(fine_tuned_log_odds, matcher, config=config, should_stop=should_stop), fewer))
    return learners


def _out_of_fold(
    fit_predict: FitPredict, validation: ScoredPart, folds: Sequence[Fold], step: Callable[[], None]
) -> np.ndarray:
    """Log-odds of each validation pair from base learners fitted on the other folds."""
    predicted: np.ndarray | None = None
    for fold, rest in folds:
        some = fit_predict(validation.take(rest), [validation.take(fold)])[0]
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
