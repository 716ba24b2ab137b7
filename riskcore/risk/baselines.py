"""Baseline rankings of labels by how likely they are wrong, with one interface: a `Ranking`, higher is riskier.

To add one, write a function that returns a `Ranking` with a score per pair and the labels it used;
`ranking_quality.compare` and the screens then treat it like all the others.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from riskcore.config import RiskConfig
from riskcore.metrics.spread import mean_and_spread, with_missing_flags
from riskcore.risk.model import RiskModel
from riskcore.risk.scoring import RiskModelError, checked_labels, checked_probabilities


@dataclasses.dataclass(frozen=True, eq=False)
class Ranking:
    """A score per pair, higher where the label is likelier wrong, and which labels it was made from."""

    name: str
    scores: np.ndarray
    labels_used: tuple[str, ...] = ()  # of source, validation, target; the matcher's own training aside

    def __post_init__(self) -> None:
        scores = np.asarray(self.scores, dtype=np.float64)
        if scores.ndim != 1 or not np.isfinite(scores).all():
            raise RiskModelError(f"The ranking {self.name} needs one finite score per pair.")
        object.__setattr__(self, "scores", scores)


def confidence(probabilities: np.ndarray, labels: np.ndarray | None = None) -> Ranking:
    """How far the matcher's output is from the label it led to."""
    probability = checked_probabilities(probabilities)
    return Ranking("confidence", np.abs(probability - checked_labels(labels, probability)))


def uncertainty(ensemble: np.ndarray) -> Ranking:
    """Variance of the votes of several matchers (a row each): p (1 - p) with p the share that says match."""
    votes = np.asarray(ensemble, dtype=np.float64) >= 0.5
    if votes.ndim != 2 or len(votes) < 2:
        raise RiskModelError("Ensemble uncertainty needs the outputs of at least two matchers, a row each.")
    share = votes.mean(axis=0)
    return Ranking("uncertainty", share * (1 - share))


def static_rules(
    prior: RiskModel, probabilities: np.ndarray, fired: sparse.sparray, labels: np.ndarray | None = None
) -> Ranking:
    """The risk model with its prior weights: what the rules indicate without learning to rank."""
    return Ranking("static rules", prior.score(probabilities, fired, labels).risk, ("source",))


def learned_risk(
    model: RiskModel, probabilities: np.ndarray, fired: sparse.sparray, labels: np.ndarray | None = None
) -> Ranking:
    """The fitted risk model, as published."""
    return Ranking("learnrisk", model.score(probabilities, fired, labels).risk, ("source", "validation"))


def class_distances(
    train_metrics: np.ndarray, train_labels: np.ndarray, metrics: np.ndarray, config: RiskConfig | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """How far each pair is from the nearest training matches and from the nearest non-matches, among the metrics.

    Standardised by the training pairs; a missing metric counts as average and raises a flag of its own,
    so two pairs that lack the same metrics are close.
    """
    config = config or RiskConfig()
    train_labels = np.asarray(train_labels).astype(bool)
    if train_labels.all() or not train_labels.any():
        raise RiskModelError("A trust score needs training pairs of both classes.")
    train, target = standardised(train_metrics, metrics)
    classes = (train[train_labels], train[~train_labels])
    to_match, to_non_match = (_distance(points, target, config.trust_neighbours) for points in classes)
    return to_match, to_non_match


def trust_score(distances: tuple[np.ndarray, np.ndarray], labels: np.ndarray) -> Ranking:
    """Closer to training pairs of the other class than to those of its own: `own / (own + other)`, in [0, 1]."""
    to_match, to_non_match = distances
    labels = np.asarray(labels).astype(bool)
    own, other = np.where(labels, to_match, to_non_match), np.where(labels, to_non_match, to_match)
    both = own + other
    return Ranking("trust score", np.where(both > 0, own / np.where(both > 0, both, 1), 0.5), ("source",))


def standardised(train: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both sets of metrics in units of the training pairs' spread, missing at 0, with missing flags beside."""
    train, target = np.asarray(train, dtype=np.float64), np.asarray(target, dtype=np.float64)
    mean, spread = mean_and_spread(train)
    spread[spread == 0] = 1  # constant among the training pairs: leave as it is

    def scaled(values: np.ndarray) -> np.ndarray:
        return np.nan_to_num(with_missing_flags((values - mean) / spread), nan=0.0)

    return scaled(train), scaled(target)


def _distance(points: np.ndarray, queries: np.ndarray, neighbours: int) -> np.ndarray:
    """Mean distance to the nearest points."""
    from sklearn.neighbors import NearestNeighbors  # slow to import, and only this baseline needs it

    nearest = NearestNeighbors(n_neighbors=min(neighbours, len(points))).fit(points)
    return np.asarray(nearest.kneighbors(queries)[0]).mean(axis=1) if len(queries) else np.empty(0)
