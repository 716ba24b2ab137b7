"""The base learners of `risk+`: models that classify a pair from other evidence than the matcher does.

The rules (a risk model whose rule means have been updated by the validation pairs); three forests on the metrics
(source and validation together, the same with the validation pairs weighing as much as the source, and the validation
pairs alone); a linear model on the metrics; and the matcher, fine-tuned on the validation labels. Each is fitted on
some validation pairs and predicts others, so the stacker learns from out-of-fold predictions only.

Where the target has attributes that the source lacks, the last two forests and the linear model see their metrics too
(missing in the source), and rules on them, learned from the same validation pairs, are one more base learner.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from riskcore.config import RunConfig, StackConfig
from riskcore.matchers.base import Arrays, Matcher
from riskcore.random_streams import Stream, stream_seed
from riskcore.risk import RiskModel, prior_model
from riskcore.risk.fit import fit_risk_model
from riskcore.rules.generation import target_rules
from riskcore.training.decided_rules import with_decided_rules
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.fitted_learners import (
    FittedLearner,
    ForestLearner,
    LinearLearner,
    RulesLearner,
    ScoredPart,
    TargetRulesLearner,
    log_odds,
)
from riskcore.training.forest import train_forest, with_flags
from riskcore.training.passes import Passes
from riskcore.training.stored_forest import StoredForest
from riskcore.training.supervised import rate_at
from riskcore.training.validation_tuning import fine_tune_on_labels

SOURCE_FOREST = "forest"  # trained on source and validation pairs: the method `forest` itself
BASE_LEARNERS = ("rules", SOURCE_FOREST, "balanced forest", "target forest", "linear model")
TARGET_RULES = "target rules"  # one more where the target has attributes that the source lacks
FINE_TUNED = "fine-tuned matcher"  # one more where the matcher can be trained
RESAMPLED_PAIRS = 3_000  # of either part: a fit that only shows how steady a reason is must be quick
SOURCE_LEARNERS = ("rules", SOURCE_FOREST, "linear model")  # what can be fitted without validation labels

__all__ = [
    "BASE_LEARNERS",
    "FINE_TUNED",
    "SOURCE_FOREST",
    "SOURCE_LEARNERS",
    "TARGET_RULES",
    "ScoredPart",
    "fine_tuned_log_odds",
    "fine_tuned_weights",
    "fit_metric_learners",
    "fit_rule_learners",
    "fit_sampling_learners",
    "fit_source_learners",
    "log_odds",
    "posterior_means",
]


def posterior_means(evidence: Evidence, fired: sparse.csr_array, labels: np.ndarray, prior_pairs: float) -> RiskModel:
    """The prior risk model with each rule's mean updated by labelled pairs; the source counts as `prior_pairs`."""
    fires = np.asarray(fired.sum(axis=0), dtype=float)
    matches = np.asarray(fired.T.astype(float) @ labels.astype(float))
    prior, pairs = evidence.prior.mean, prior_pairs + fires
    mean = np.divide(prior_pairs * prior + matches, pairs, out=prior.copy(), where=pairs > 0)
    return dataclasses.replace(evidence.prior, mean=np.clip(mean, 0, 1))


def fit_rule_learners(
    evidence: Evidence, train: ScoredPart, config: RunConfig
) -> tuple[RulesLearner, tuple[TargetRulesLearner, ...]]:
    """The base learners whose predictions depend on the matcher's: the rules and, where the target has attributes of
    its own, the rules on these."""
    labels = train.part.labels
    prior = posterior_means(evidence, train.part.source_fired, labels, config.adapt.source_prior_pairs)
    drawn = stream_seed(config.seed, Stream.RULE_LEARNER)
    rules = fit_risk_model(prior, train.part.source_fired, train.probability, labels, config.risk, drawn).model
    own = (_target_rules(train.part, config),) if train.part.target_only is not None else ()
    return RulesLearner(rules, config.risk), own


def fit_metric_learners(evidence: Evidence, train: EvidencePart, config: RunConfig) -> tuple[FittedLearner, ...]:
    """The base learners that know nothing but metrics: three forests and the linear model."""
    labels, source = train.labels, evidence.source
    shared = np.vstack([source.metrics.values, train.metrics.values])
    metrics = np.vstack([source.all_metrics.values, train.all_metrics.values])
    both = np.concatenate([source.labels, labels])
    balance = np.repeat([1.0, max(1.0, len(source) / max(1, len(labels)))], [len(source), len(labels)])
    source_forest = _source_forest(shared, both, config)
    forests = [
        _forest(metrics, both, balance, config, Stream.BALANCED_FOREST),
        _forest(train.all_metrics.values, labels, None, config, Stream.TARGET_FOREST),
    ]
    return (
        ForestLearner(StoredForest.of(source_forest), shared_only=True),
        *(ForestLearner(StoredForest.of(forest), shared_only=False) for forest in forests),
        _linear_model(metrics, both, balance, config.stack, shared_only=False),
    )


def fit_source_learners(evidence: Evidence, config: RunConfig) -> tuple[FittedLearner, ...]:
    """`SOURCE_LEARNERS`, which need no validation label; of a source without both classes nothing can be learned."""
    source = evidence.source
    if not source.has_both_classes:
        return ()
    forest = _source_forest(source.metrics.values, source.labels, config)
    weights = np.ones(len(source))
    return (
        RulesLearner(evidence.prior, config.risk),
        ForestLearner(StoredForest.of(forest), shared_only=True),
        _linear_model(source.metrics.values, source.labels, weights, config.stack, shared_only=True),
    )


def fit_sampling_learners(
    source: EvidencePart, validation: EvidencePart, config: RunConfig
) -> tuple[FittedLearner, ...]:
    """What the metrics alone say, before any matcher is trained: the source's forest and, beside it, a forest and a
    linear model in which the validation pairs weigh as much as the source. None where the labels are of one class."""
    labels = np.concatenate([source.labels, validation.labels])
    if len(np.unique(labels)) < 2:
        return ()
    shared = np.vstack([source.metrics.values, validation.metrics.values])
    metrics = np.vstack([source.all_metrics.values, validation.all_metrics.values])
    balance = np.ones(len(labels))
    balance[len(source) :] = max(1.0, len(source) / max(1, len(validation)))
    return (
        ForestLearner(StoredForest.of(_source_forest(shared, labels, config)), shared_only=True),
        ForestLearner(
            StoredForest.of(_forest(metrics, labels, balance, config, Stream.BALANCED_FOREST)), shared_only=False
        ),
        _linear_model(metrics, labels, balance, config.stack, shared_only=False),
    )


def _source_forest(metrics: np.ndarray, labels: np.ndarray, config: RunConfig) -> RandomForestClassifier:
    trees = config.stack.source_forest_factor * config.adapt.base_learner_trees
    return train_forest(metrics, labels, stream_seed(config.seed, Stream.FOREST), trees)


def _target_rules(train: EvidencePart, config: RunConfig) -> TargetRulesLearner:
    """What rules on the target's own attributes say, learned from these pairs and not weighed any further."""
    rules = target_rules(train.all_metrics, train.labels, len(train.metrics.metrics), config.rule)
    model = prior_model([rule.key for rule in rules.rules], rules.match_rate, rules.support, config.risk)
    return TargetRulesLearner(rules, with_decided_rules(model, config), config.risk)


def fine_tuned_weights(
    matcher: Matcher, train: ScoredPart, config: RunConfig, passes: Passes, count: int, before: int = 0
) -> Arrays:
    """What the matcher has learned after fine-tuning on the labels of `train`; it is left as it was.

    The rate is the one it was trained with, on the same schedule: at the lower rate of adaptive training, thousands of
    labels would stay half learned. `count` passes are made; `before` is the number of the pass before the first.
    """
    start = matcher.snapshot()
    tune = dataclasses.replace(config.tune, epochs=count)
    rates = [rate_at(one, tune, matcher.rates.train) for one in range(1, count + 1)]
    fine_tune_on_labels(matcher, train.part.examples, config, rates, passes, before=before)
    weights = matcher.snapshot()
    matcher.restore(start)
    return weights


def fine_tuned_log_odds(matcher: Matcher, weights: Arrays, some: ScoredPart, floor: float) -> np.ndarray:
    """The matcher's log-odds with these weights; it is left as it was."""
    before = matcher.snapshot()
    matcher.restore(weights)
    found = log_odds(matcher.predict_proba(some.part.examples), floor)
    matcher.restore(before)
    return found


def refitted_linear(
    evidence: Evidence, rows: np.ndarray, config: RunConfig, draw: np.random.Generator
) -> LinearLearner:
    """The linear model as other pairs might have made it: fitted to source pairs drawn anew, at most as many as
    `RESAMPLED_PAIRS`, and to these validation pairs."""
    source, validation = evidence.source, evidence.validation
    count = min(len(source), RESAMPLED_PAIRS)
    drawn, rows = draw.integers(0, max(1, len(source)), count), rows[:RESAMPLED_PAIRS]
    metrics = np.vstack([source.all_metrics.values[drawn], validation.all_metrics.values[rows]])
    labels = np.concatenate([source.labels[drawn], validation.labels[rows]])
    balance = np.repeat([1.0, max(1.0, count / max(1, len(rows)))], [count, len(rows)])
    return _linear_model(metrics, labels, balance, config.stack, shared_only=False, solver="newton-cholesky")


def _linear_model(
    metrics: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    config: StackConfig,
    shared_only: bool,
    solver: str = "lbfgs",
) -> LinearLearner:
    """Logistic regression on standardised metrics and missing flags; where there is one class only, that class."""
    if labels.min() == labels.max():
        return LinearLearner({}, config.metric_clip, float(labels[0]), shared_only)
    model = make_pipeline(
        SimpleImputer(add_indicator=True, keep_empty_features=True),
        StandardScaler(),
        FunctionTransformer(_clipped, kw_args={"at": config.metric_clip}),
        LogisticRegression(C=config.linear_c, max_iter=300, solver=solver),
    )
    model.fit(metrics, labels, logisticregression__sample_weight=weights / weights.mean())
    return LinearLearner.of(model, config.metric_clip, shared_only)


def _clipped(standardised: np.ndarray, at: float) -> np.ndarray:
    """One extreme gap (a year typed as 19999) must not outweigh all other metrics."""
    return np.clip(standardised, -at, at)


def _forest(
    metrics: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, config: RunConfig, purpose: Stream
) -> RandomForestClassifier:
    seed = stream_seed(config.seed, purpose)
    forest = RandomForestClassifier(config.adapt.base_learner_trees, random_state=seed, n_jobs=-1)
    return forest.fit(with_flags(metrics), labels, sample_weight=weights)
