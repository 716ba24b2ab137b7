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
from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from riskcore.config import RunConfig, StackConfig
from riskcore.matchers.base import Matcher, ShouldStop
from riskcore.random_streams import Stream, stream_seed
from riskcore.risk import RiskModel, prior_model
from riskcore.risk.fit import fit_risk_model
from riskcore.rules.firing import fire
from riskcore.rules.generation import target_rules
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.forest import forest_proba, train_forest, with_flags
from riskcore.training.supervised import rate_at
from riskcore.training.validation_tuning import fine_tune_on_labels

SOURCE_FOREST = "forest"  # trained on source and validation pairs: the method `forest` itself
BASE_LEARNERS = ("rules", SOURCE_FOREST, "balanced forest", "target forest", "linear model")
TARGET_RULES = "target rules"  # one more where the target has attributes that the source lacks
FINE_TUNED = "fine-tuned matcher"  # one more where the matcher can be trained
SOURCE_LEARNERS = ("rules", SOURCE_FOREST, "linear model")  # what can be fitted without validation labels


@dataclasses.dataclass(frozen=True, eq=False)
class ScoredPart:
    """Some pairs, and the matcher's probabilities for them."""

    part: EvidencePart
    probability: np.ndarray

    def take(self, rows: np.ndarray) -> ScoredPart:
        return ScoredPart(self.part.take(rows), self.probability[rows])


def log_odds(probability: np.ndarray, floor: float) -> np.ndarray:
    """Log-odds of probabilities, none of which counts as closer to 0 or 1 than `floor`."""
    p = np.clip(probability, floor, 1 - floor)
    return np.log(p) - np.log1p(-p)


def posterior_means(evidence: Evidence, fired: sparse.csr_array, labels: np.ndarray, prior_pairs: float) -> RiskModel:
    """The prior risk model with each rule's mean updated by labelled pairs; the source counts as `prior_pairs`."""
    fires = np.asarray(fired.sum(axis=0), dtype=float)
    matches = np.asarray(fired.T.astype(float) @ labels.astype(float))
    prior, pairs = evidence.prior.mean, prior_pairs + fires
    mean = np.divide(prior_pairs * prior + matches, pairs, out=prior.copy(), where=pairs > 0)
    return dataclasses.replace(evidence.prior, mean=np.clip(mean, 0, 1))


def base_learner_log_odds(
    evidence: Evidence, train: ScoredPart, parts: Sequence[ScoredPart], config: RunConfig
) -> list[np.ndarray]:
    """Fit all base learners but the fine-tuned matcher on `train`; their log-odds for each part, pairs x learners."""
    labels, source = train.part.labels, evidence.source
    prior = posterior_means(evidence, train.part.source_fired, labels, config.adapt.source_prior_pairs)
    drawn = stream_seed(config.seed, Stream.RULE_LEARNER)
    rules = fit_risk_model(prior, train.part.source_fired, train.probability, labels, config.risk, drawn).model
    shared = np.vstack([source.metrics.values, train.part.metrics.values])
    metrics = np.vstack([source.all_metrics.values, train.part.all_metrics.values])
    both = np.concatenate([source.labels, labels])
    balance = np.repeat([1.0, max(1.0, len(source) / max(1, len(labels)))], [len(source), len(labels)])
    source_forest = _source_forest(shared, both, config)
    forests = [
        _forest(metrics, both, balance, config, Stream.BALANCED_FOREST),
        _forest(train.part.all_metrics.values, labels, None, config, Stream.TARGET_FOREST),
    ]
    linear = _LinearModel(metrics, both, balance, config.stack)
    own_rules = None if train.part.target_only is None else _target_rules(train.part, config)

    def predict(some: ScoredPart) -> np.ndarray:
        values = some.part.all_metrics.values
        columns = [rules.score(some.probability, some.part.source_fired, config=config.risk).mu]
        columns += [forest_proba(source_forest, some.part.metrics.values)]
        columns += [forest_proba(forest, values) for forest in forests]
        columns += [linear.predict_proba(values)]
        if own_rules is not None:
            columns.append(own_rules(some))
        return log_odds(np.column_stack(columns), config.stack.probability_floor)

    return [predict(some) for some in parts]


def source_learner_log_odds(evidence: Evidence, parts: Sequence[ScoredPart], config: RunConfig) -> list[np.ndarray]:
    """The log-odds of `SOURCE_LEARNERS`, which need no validation label, for each part."""
    source = evidence.source
    forest = _source_forest(source.metrics.values, source.labels, config)
    linear = _LinearModel(source.metrics.values, source.labels, np.ones(len(source)), config.stack)

    def predict(some: ScoredPart) -> np.ndarray:
        rules = evidence.prior.score(some.probability, some.part.source_fired, config=config.risk).mu
        values = some.part.metrics.values
        columns = [rules, forest_proba(forest, values), linear.predict_proba(values)]
        return log_odds(np.column_stack(columns), config.stack.probability_floor)

    return [predict(some) for some in parts]


def _source_forest(metrics: np.ndarray, labels: np.ndarray, config: RunConfig) -> RandomForestClassifier:
    trees = config.stack.source_forest_factor * config.adapt.base_learner_trees
    return train_forest(metrics, labels, stream_seed(config.seed, Stream.FOREST), trees)


def _target_rules(train: EvidencePart, config: RunConfig) -> Callable[[ScoredPart], np.ndarray]:
    """What rules on the target's own attributes say, learned from these pairs and not weighed any further."""
    rules = target_rules(train.all_metrics, train.labels, len(train.metrics.metrics), config.rule)
    model = prior_model([rule.key for rule in rules.rules], rules.match_rate, rules.support, config.risk)

    def predict(some: ScoredPart) -> np.ndarray:
        mu: np.ndarray = model.score(some.probability, fire(rules.rules, some.part.all_metrics), config=config.risk).mu
        return mu

    return predict


def fine_tuned_log_odds(
    matcher: Matcher, train: ScoredPart, parts: Sequence[ScoredPart], config: RunConfig, should_stop: ShouldStop
) -> list[np.ndarray]:
    """The matcher's log-odds after fine-tuning on the labels of `train`; it is left as it was.

    The rate is the one it was trained with, on the same schedule: at the lower rate of adaptive training, thousands of
    labels would stay half learned.
    """
    before, passes = matcher.snapshot(), config.adapt.iterations
    tune = dataclasses.replace(config.tune, epochs=passes)
    rates = [rate_at(one, tune, matcher.rates.train) for one in range(1, passes + 1)]
    fine_tune_on_labels(matcher, train.part.examples, config, rates, should_stop)
    floor = config.stack.probability_floor
    columns = [log_odds(matcher.predict_proba(some.part.examples), floor) for some in parts]
    matcher.restore(before)
    return columns


class _LinearModel:
    """Logistic regression on standardised metrics and missing flags; where there is one class only, that class."""

    def __init__(self, metrics: np.ndarray, labels: np.ndarray, weights: np.ndarray, config: StackConfig) -> None:
        self._only = float(labels[0]) if labels.min() == labels.max() else None
        self._model = make_pipeline(
            SimpleImputer(add_indicator=True, keep_empty_features=True),
            StandardScaler(),
            FunctionTransformer(_clipped, kw_args={"at": config.metric_clip}),
            LogisticRegression(C=config.linear_c, max_iter=300),
        )
        if self._only is None:
            self._model.fit(metrics, labels, logisticregression__sample_weight=weights / weights.mean())

    def predict_proba(self, metrics: np.ndarray) -> np.ndarray:
        if self._only is not None or not len(metrics):
            return np.full(len(metrics), self._only or 0.0)
        probability: np.ndarray = self._model.predict_proba(metrics)[:, 1]
        return probability


def _clipped(standardised: np.ndarray, at: float) -> np.ndarray:
    """One extreme gap (a year typed as 19999) must not outweigh all other metrics."""
    return np.clip(standardised, -at, at)


def _forest(
    metrics: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, config: RunConfig, purpose: Stream
) -> RandomForestClassifier:
    seed = stream_seed(config.seed, purpose)
    forest = RandomForestClassifier(config.adapt.base_learner_trees, random_state=seed, n_jobs=-1)
    return forest.fit(with_flags(metrics), labels, sample_weight=weights)
