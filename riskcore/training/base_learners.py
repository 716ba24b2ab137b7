"""Witnesses: models that each judge a pair from other evidence than the matcher does.

The rules (a risk model whose rule means have been updated by the validation pairs); three forests on the metrics
(source and validation together, the same with the validation pairs weighing as much as the source, and the validation
pairs alone); a linear model on the metrics; and the matcher, taught the validation labels. Each is fitted on some
validation pairs and asked about others, so that what a jury learns of them was never taught to them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from riskcore.config import RunConfig
from riskcore.matchers.base import Matcher, ShouldStop
from riskcore.risk import RiskModel
from riskcore.risk.fit import fit_risk_model
from riskcore.training.evidence import Evidence, Part
from riskcore.training.forest import forest_proba, train_forest, with_flags
from riskcore.training.supervised import rate_at
from riskcore.training.validation_tuning import teach_labels

NAMES = ("rules", "forest", "balanced forest", "target forest", "linear model")
TAUGHT = "taught matcher"  # one more where the matcher can learn
_CERTAIN = 1e-3  # no witness is believed beyond this
_LINEAR_STRENGTH = 0.1  # scikit-learn's C: metrics say much the same, and a weak fit carries over better
_FIRST = 3  # times the trees, for the forest that is heard first near the source: as fine as the rival, and the same
_WILD = 5.0  # standard deviations beyond which a metric says no more


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """Pairs to judge, and what the matcher says of them."""

    part: Part
    answers: np.ndarray

    def take(self, rows: np.ndarray) -> Question:
        metrics = dataclasses.replace(self.part.metrics, values=self.part.metrics.values[rows])
        return Question(Part(self.part.examples.take(rows), metrics, self.part.rules), self.answers[rows])


def log_odds(probability: np.ndarray) -> np.ndarray:
    p = np.clip(probability, _CERTAIN, 1 - _CERTAIN)
    return np.log(p) - np.log1p(-p)


def posterior_means(evidence: Evidence, fired: sparse.csr_array, labels: np.ndarray, worth: float) -> RiskModel:
    """The prior risk model with each rule's mean updated: the source counts as `worth` pairs, each pair here as one."""
    fires = np.asarray(fired.sum(axis=0), dtype=float)
    matches = np.asarray(fired.T.astype(float) @ labels.astype(float))
    prior, known = evidence.prior.mean, worth + fires
    mean = np.divide(worth * prior + matches, known, out=prior.copy(), where=known > 0)
    return dataclasses.replace(evidence.prior, mean=np.clip(mean, 0, 1))


def hear(evidence: Evidence, known: Question, questions: Sequence[Question], config: RunConfig) -> list[np.ndarray]:
    """All witnesses but the taught matcher, fitted on `known` validation pairs: log-odds, pairs x witnesses."""
    labels, source = known.part.labels, evidence.source
    prior = posterior_means(evidence, known.part.fired, labels, config.adapt.source_worth)
    rules = fit_risk_model(prior, known.part.fired, known.answers, labels, config.risk, config.seed).model
    metrics = np.vstack([source.metrics.values, known.part.metrics.values])
    both = np.concatenate([source.labels, labels])
    balance = np.repeat([1.0, max(1.0, len(source) / max(1, len(labels)))], [len(source), len(labels)])
    forests = [
        train_forest(metrics, both, config.seed, _FIRST * config.adapt.witness_trees),
        _forest(metrics, both, balance, config),
        _forest(known.part.metrics.values, labels, None, config),
    ]
    linear = _Linear(metrics, both, balance)

    def testify(asked: Question) -> np.ndarray:
        values = asked.part.metrics.values
        said = [rules.score(asked.answers, asked.part.fired, config=config.risk).mu]
        said += [forest_proba(forest, values) for forest in forests]
        return log_odds(np.column_stack([*said, linear.proba(values)]))

    return [testify(asked) for asked in questions]


def hear_taught(
    matcher: Matcher, known: Question, questions: Sequence[Question], config: RunConfig, should_stop: ShouldStop
) -> list[np.ndarray]:
    """The matcher's log-odds after being taught the labels of `known`; it is left as it was.

    It is taught in earnest, at the rate at which it was trained, falling likewise: the gentle passes of adaptive
    training leave thousands of labels half learned.
    """
    before, passes = matcher.snapshot(), config.adapt.iterations
    tune = dataclasses.replace(config.tune, epochs=passes)
    rates = [rate_at(one, tune, matcher.rates.train) for one in range(1, passes + 1)]
    teach_labels(matcher, known.part.examples, config, rates, should_stop)
    said = [log_odds(matcher.predict_proba(asked.part.examples)) for asked in questions]
    matcher.restore(before)
    return said


class _Linear:
    """Logistic regression on standardised metrics and missing flags; where there is one class only, sure of it."""

    def __init__(self, metrics: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> None:
        self._only = float(labels[0]) if labels.min() == labels.max() else None
        self._model = make_pipeline(
            SimpleImputer(add_indicator=True, keep_empty_features=True),
            StandardScaler(),
            FunctionTransformer(_clipped),
            LogisticRegression(C=_LINEAR_STRENGTH, max_iter=300),
        )
        if self._only is None:
            self._model.fit(metrics, labels, logisticregression__sample_weight=weights / weights.mean())

    def proba(self, metrics: np.ndarray) -> np.ndarray:
        if self._only is not None or not len(metrics):
            return np.full(len(metrics), self._only or 0.0)
        answers: np.ndarray = self._model.predict_proba(metrics)[:, 1]
        return answers


def _clipped(standardised: np.ndarray) -> np.ndarray:
    """One wild gap (a year typed as 19999) must not drown the rest."""
    return np.clip(standardised, -_WILD, _WILD)


def _forest(
    metrics: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, config: RunConfig
) -> RandomForestClassifier:
    forest = RandomForestClassifier(config.adapt.witness_trees, random_state=config.seed, n_jobs=-1)
    return forest.fit(with_flags(metrics), labels, sample_weight=weights)
