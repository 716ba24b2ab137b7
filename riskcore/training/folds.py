"""Folds of labelled pairs, for scores that no pair's own label took part in."""

from __future__ import annotations

import numpy as np


def folds_of(labels: np.ndarray, count: int, seed: int) -> list[np.ndarray]:
    """Up to `count` disjoint sets of rows, alike in size and match rate; empty ones are left out."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(labels))
    ranked = shuffled[np.argsort(labels[shuffled], kind="stable")]  # so that matches spread evenly over the folds
    return [np.sort(ranked[start::count]) for start in range(count) if start < len(ranked)]
