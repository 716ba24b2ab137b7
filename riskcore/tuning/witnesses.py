"""Witnesses: models that each judge a pair from other evidence than the matcher does.

The rules (a risk model whose rule means have been updated by the validation pairs), and three forests on the
metrics: source and validation together, the same with the validation pairs weighing as much as the source, and the
validation pairs alone. Each is fitted on some validation pairs and asked about others, so that what a jury learns
of them was never taught to them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from riskcore.config import RunConfig
from riskcore.risk import RiskModel
from riskcore.risk.ranking import fit_risk_model
from riskcore.tuning.evidence import Evidence, Part
from riskcore.tuning.forest import forest_proba, with_flags

NAMES = ("rules", "forest", "balanced forest", "target forest")
_CERTAIN = 1e-3  # no witness is believed beyond this


Testify = Callable[[Part, np.ndarray], np.ndarray]  # a part and the matcher's answers -> log-odds, pairs x witnesses


def log_odds(probability: np.ndarray) -> np.ndarray:
    p = np.clip(probability, _CERTAIN, 1 - _CERTAIN)
    return np.log(p) - np.log1p(-p)


def posterior_means(evidence: Evidence, fired: sparse.csr_array, labels: np.ndarray, worth: float) -> RiskModel:
    """The prior risk model with each rule's mean updated: the source counts as `worth` pairs, each pair here as one."""
    fires = np.asarray(fired.sum(axis=0), dtype=float)
    matches = np.asarray(fired.T.astype(float) @ labels.astype(float))
    mean = (worth * evidence.prior.mean + matches) / (worth + fires)
    return dataclasses.replace(evidence.prior, mean=np.clip(mean, 0, 1))


def hear(evidence: Evidence, rows: np.ndarray, answers: np.ndarray, config: RunConfig, trees: int) -> Testify:
    """All witnesses, fitted on these validation pairs (`answers` are the matcher's, for all of them)."""
    validation, source = evidence.validation, evidence.source
    labels, fired = validation.labels[rows], validation.fired[rows]
    prior = posterior_means(evidence, fired, labels, config.adapt.source_worth)
    rules = fit_risk_model(prior, fired, answers[rows], labels, config.risk, config.seed).model
    metrics = np.vstack([source.metrics.values, validation.metrics.values[rows]])
    both = np.concatenate([source.labels, labels])
    balance = len(source) / max(1, len(rows))
    weights = np.concatenate([np.ones(len(source)), np.full(len(rows), max(1.0, balance))])
    forests = [_forest(metrics, both, None, config, trees), _forest(metrics, both, weights, config, trees)]
    forests.append(_forest(validation.metrics.values[rows], labels, None, config, trees))

    def testify(part: Part, probability: np.ndarray) -> np.ndarray:
        said = [rules.score(probability, part.fired, config=config.risk).mu]
        said += [forest_proba(forest, part.metrics.values) for forest in forests]
        return np.column_stack([log_odds(one) for one in said])

    return testify


def _forest(
    metrics: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, config: RunConfig, trees: int
) -> RandomForestClassifier:
    forest = RandomForestClassifier(n_estimators=trees, random_state=config.seed, n_jobs=-1)
    return forest.fit(with_flags(metrics), labels, sample_weight=weights)
