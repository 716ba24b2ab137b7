"""Precision, recall and F1 from errors: labelled matches are known, so false positives and negatives say it all."""

from __future__ import annotations

import numpy as np

MEASURES = ("precision", "recall", "f1")
LEVEL = 0.95


def measures(matches: float, false_positives: np.ndarray, false_negatives: np.ndarray) -> dict[str, np.ndarray]:
    """The three measures of `matches` labelled matches with these errors; 1 where nothing can be wrong."""
    true_positives = matches - np.asarray(false_positives, dtype=np.float64)
    false_negatives = np.asarray(false_negatives, dtype=np.float64)
    return {
        "precision": _share(true_positives, np.full_like(true_positives, matches)),
        "recall": _share(true_positives, true_positives + false_negatives),
        "f1": _share(2 * true_positives, matches + true_positives + false_negatives),
    }


def f1_slopes(
    matches: float, false_positives: np.ndarray, false_negatives: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How much one false positive and one false negative lower F1: what makes an error on either side matter."""
    size = 2 * matches - false_positives + false_negatives
    f1 = 2 * (matches - false_positives) / np.maximum(size, 1e-9)
    return (2 - f1) / np.maximum(size, 1e-9), f1 / np.maximum(size, 1e-9)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), 1.0)
