"""The strongest baseline: a random forest on the metrics, trained on source and validation labels together. It is what
a practitioner would try first: `forest_trees` trees, scikit-learn's defaults, every metric and a flag for each that is
missing.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier

_MISSING = -1.0  # at the low end of all metrics; where a metric reaches it, the flag sets missing values apart


def with_flags(metrics: np.ndarray) -> np.ndarray:
    """Metrics and, beside each, whether it is missing."""
    missing = np.isnan(metrics)
    return np.hstack([np.where(missing, np.float32(_MISSING), metrics), missing.astype(np.float32)])


def train_forest(metrics: np.ndarray, labels: np.ndarray, seed: int, trees: int) -> RandomForestClassifier:
    return RandomForestClassifier(n_estimators=trees, random_state=seed, n_jobs=-1).fit(with_flags(metrics), labels)


def forest_proba(forest: RandomForestClassifier, metrics: np.ndarray) -> np.ndarray:
    """Match probability; a forest trained on one class only predicts that class."""
    if not len(metrics):
        return np.zeros(0)
    forest.n_jobs = 1  # threads add up the trees in varying order: the same seed would not give the same bits
    classes = forest.classes_.tolist()
    shares = forest.predict_proba(with_flags(metrics))
    return shares[:, classes.index(1)] if 1 in classes else np.zeros(len(metrics))
