"""A hearing of all witnesses: those asked about validation pairs were never taught these pairs' labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from riskcore.config import RunConfig
from riskcore.errors import CancelledError
from riskcore.matchers.base import Arrays, Matcher, ShouldStop
from riskcore.training.base_learners import Question, hear, hear_taught
from riskcore.training.evidence import Evidence
from riskcore.training.folds import folds_of
from riskcore.training.listeners import Listener, notify

Hear = Callable[[Question, Sequence[Question]], list[np.ndarray]]  # taught the first, asked the others
Fold = tuple[np.ndarray, np.ndarray]  # rows held out, and the rest


def testimony(
    matcher: Matcher, evidence: Evidence, config: RunConfig, listeners: Sequence[Listener], should_stop: ShouldStop
) -> Arrays:
    """What all witnesses say of validation (cross-fitted), target and unseen pairs: log-odds, pairs x witnesses."""
    parts = {"validation": evidence.validation, "target": evidence.target, "unseen": evidence.unseen}
    asked = {
        name: Question(part, matcher.predict_proba(part.examples)) for name, part in parts.items() if part is not None
    }
    validation = asked.pop("validation")
    ways = _ways(matcher, evidence, config, should_stop)
    tell = _teller(sum(len(folds) + 1 for _, folds in ways), listeners, should_stop)
    columns = []
    for ask, folds in ways:
        said = dict(zip(asked, ask(validation, list(asked.values())), strict=True))
        tell()
        columns.append({**said, "validation": _held_out(ask, validation, folds, tell)})
    return {name: np.column_stack([column[name] for column in columns]) for name in columns[0]}


def folds_and_rests(labels: np.ndarray, count: int, seed: int) -> list[Fold]:
    """Each fold's rows, and the rest."""
    return [(fold, np.setdiff1d(np.arange(len(labels)), fold)) for fold in folds_of(labels, count, seed)]


def _ways(
    matcher: Matcher, evidence: Evidence, config: RunConfig, should_stop: ShouldStop
) -> list[tuple[Hear, list[Fold]]]:
    """Whom to hear, each with its folds. Teaching the matcher is dear: with many labels it has fewer folds."""
    labels, adapt = evidence.validation.labels, config.adapt
    folds = folds_and_rests(labels, adapt.witness_folds, config.seed)
    ways: list[tuple[Hear, list[Fold]]] = [(partial(hear, evidence, config=config), folds)]
    if matcher.trainable:
        fewer = folds if len(labels) < adapt.few_pairs else folds_and_rests(labels, adapt.taught_folds, config.seed)
        ways.append((partial(hear_taught, matcher, config=config, should_stop=should_stop), fewer))
    return ways


def _held_out(ask: Hear, validation: Question, folds: Sequence[Fold], tell: Callable[[], None]) -> np.ndarray:
    """What is said of each validation pair by witnesses that were taught the other folds."""
    said: np.ndarray | None = None
    for fold, rest in folds:
        some = ask(validation.take(rest), [validation.take(fold)])[0]
        said = np.zeros((len(validation.part), *some.shape[1:])) if said is None else said
        said[fold] = some
        tell()
    assert said is not None
    return said


def _teller(total: int, listeners: Sequence[Listener], should_stop: ShouldStop) -> Callable[[], None]:
    """Tells that another step is done, and stops where someone has cancelled."""
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        notify(listeners, "on_progress", {"phase": "witnesses", "done": done, "total": total})
        if should_stop():
            raise CancelledError("Training was cancelled; the last checkpoint holds what was reached.")

    return tell
