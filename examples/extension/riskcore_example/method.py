"""A method: the label of the nearest labelled pairs, by their metrics."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from riskcore.training.method import MethodContext
from riskcore.training.results import MethodResult


def neighbours(context: MethodContext) -> MethodResult:
    """The share of matches among the nearest source and validation pairs; missing metrics count as 0."""
    evidence = context.evidence
    metrics = np.vstack([evidence.source.metrics.values, evidence.validation.metrics.values])
    labels = np.concatenate([evidence.source.labels, evidence.validation.labels])
    model = KNeighborsClassifier(n_neighbors=min(15, len(labels))).fit(np.nan_to_num(metrics), labels)
    context.progress(1, 2)

    def answer(values: np.ndarray) -> np.ndarray:
        shares = model.predict_proba(np.nan_to_num(values))
        return shares[:, list(model.classes_).index(1)] if 1 in model.classes_ else np.zeros(len(values))

    unseen = evidence.unseen
    return MethodResult(
        context.name,
        answer(evidence.target.metrics.values),
        None if unseen is None else answer(unseen.metrics.values),
        context.labels_to_learn,
        {"neighbours": 15},
    )
