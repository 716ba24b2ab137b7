"""The built-in methods, each as the function that its spec in the registry names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from riskcore.random_streams import Stream, stream_seed
from riskcore.training.adaptive import Adapted, adapt
from riskcore.training.ensemble import Ensemble
from riskcore.training.forest import forest_proba, train_forest
from riskcore.training.listeners import notify
from riskcore.training.method import MethodContext
from riskcore.training.results import MethodResult
from riskcore.training.risk_plus import train_risk_plus
from riskcore.training.self_training import train_on_own_labels
from riskcore.training.supervised import train_on_labels
from riskcore.training.validation_tuning import fine_tune_on_validation

NO_FOREST = "There is no label to grow a forest from, so every pair is called a non-match."
NO_TARGET_FOREST = "There is no validation label to grow a forest from, so every pair is called a non-match."


def tradition(context: MethodContext) -> MethodResult:
    """Train on the source's labels; the other methods start from the weights learned here."""
    if context.trained:
        return context.answer(context.trained_matcher(), context.labels_to_choose, {}, context.trained)
    matcher, evidence = context.new_matcher(), context.evidence
    history = train_on_labels(
        matcher,
        evidence.source.examples,
        evidence.validation.examples,
        context.config.tune,
        context.config.seed,
        context.listeners,
        context.checkpoint(),
        should_stop=context.should_stop,
    )
    record = {"best_epoch": history.best_epoch}
    return context.answer(matcher, context.labels_to_choose, record, matcher.snapshot())


def risk(context: MethodContext) -> MethodResult:
    """Algorithm 1 of the paper; listeners are notified of the adapted matcher and store it."""
    matcher = context.trained_matcher()
    adapted = adapt(
        matcher,
        context.evidence,
        context.config,
        context.listeners,
        context.checkpoint(),
        context.should_stop,
        context.rank_with_matcher if context.ranks else None,
        context.start,
        context.can_rank,
    )
    if matcher.trainable:
        notify(context.listeners, "on_adapted", matcher)
    return context.answer(matcher, context.labels_to_choose, _kept(adapted))


def risk_plus(context: MethodContext) -> MethodResult:
    """Adaptive training towards stacked evidence."""
    matcher = context.trained_matcher()
    ensemble = context.ensemble or Ensemble(matcher, context.evidence, context.config, context.listeners)
    return train_risk_plus(
        matcher, ensemble, context.listeners, context.checkpoint(), context.should_stop, context.start
    )


def transfer(context: MethodContext) -> MethodResult:
    """Gradient reversal, from scratch."""
    from riskcore.training.transfer import train_transfer  # brings torch, which other matchers do without

    matcher = context.new_matcher()
    train_transfer(matcher, context.evidence, context.config, context.listeners, context.should_stop)
    return context.answer(matcher, context.labels_to_choose, {})


def supervised(context: MethodContext) -> MethodResult:
    """Fine-tune on the validation labels."""
    matcher = context.trained_matcher()
    fine_tune_on_validation(
        matcher, context.evidence, context.config, context.listeners, context.should_stop, context.checkpoint()
    )
    taught = bool(context.config.adapt.iterations)
    labels = context.labels_to_learn if taught else context.labels_to_choose
    return context.answer(matcher, labels, {}, taught=taught)


def self_training(context: MethodContext) -> MethodResult:
    """Train on the matcher's own confident labels."""
    matcher = context.trained_matcher()
    adapted = train_on_own_labels(
        matcher, context.evidence, context.config, context.listeners, context.checkpoint(), context.should_stop
    )
    return context.answer(matcher, context.labels_to_choose, _kept(adapted))


def forest(context: MethodContext) -> MethodResult:
    """A random forest on the metrics of source and validation pairs."""
    evidence, unseen = context.evidence, context.evidence.unseen
    if not len(evidence.source) + len(evidence.validation):
        return _no_forest(context, NO_FOREST)
    predict = _forest_of(context)
    return MethodResult(
        context.name,
        predict(evidence.target.metrics.values),
        None if unseen is None else predict(unseen.metrics.values),
        context.labels_to_learn,
        {},
    )


def _forest_of(context: MethodContext) -> Callable[[np.ndarray], np.ndarray]:
    """The predictions of the forest; a base learner may be this very forest, tree for tree."""
    evidence, trees = context.evidence, context.config.adapt.forest_trees
    grown = None if context.ensemble is None else context.ensemble.source_forest(trees)
    if grown is not None:
        return grown.predict_proba
    metrics = np.vstack([evidence.source.metrics.values, evidence.validation.metrics.values])
    labels = np.concatenate([evidence.source.labels, evidence.validation.labels])
    return partial(forest_proba, train_forest(metrics, labels, stream_seed(context.config.seed, Stream.FOREST), trees))


def target_forest(context: MethodContext) -> MethodResult:
    """A random forest on the validation pairs alone, with the metrics of all of the target's attributes: what a
    practitioner would build who has a hundred labels and no source."""
    evidence, validation, unseen = context.evidence, context.evidence.validation, context.evidence.unseen
    if not len(validation):
        return _no_forest(context, NO_TARGET_FOREST)
    seed = stream_seed(context.config.seed, Stream.TARGET_FOREST)
    trees = train_forest(validation.all_metrics.values, validation.labels, seed, context.config.adapt.forest_trees)
    return MethodResult(
        context.name,
        forest_proba(trees, evidence.target.all_metrics.values),
        None if unseen is None else forest_proba(trees, unseen.all_metrics.values),
        ("validation",),
        {},
    )


def _no_forest(context: MethodContext, lacked: str) -> MethodResult:
    """No label, no forest: nothing is called a match."""
    nothing, unseen = np.zeros(len(context.evidence.target)), context.evidence.unseen
    return MethodResult(
        context.name, nothing, None if unseen is None else np.zeros(len(unseen)), (), {"lacked": [lacked]}
    )


def _kept(adapted: Adapted) -> dict[str, Any]:
    return {"best_iteration": adapted.best, "rows": list(adapted.rows), "lacked": adapted.lacked}
