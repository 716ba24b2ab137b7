"""What a correction is worth: how much F1 rises where one wrong label is put right."""

from __future__ import annotations


def f1_gains(matches: float, false_positives: float, false_negatives: float) -> tuple[float, float]:
    """By how much F1 rises if one false negative is corrected, and if one false positive is: indexed by the label.

    `matches` are the labelled ones. A corrected false positive leaves them, a corrected false negative joins them. The
    errors may be expected ones; there is at least the one that is corrected.
    """
    missed, wrong = max(false_negatives, 1.0), max(false_positives, 1.0)
    kept = max(matches - false_positives, 0.0)
    of_missed = _f1(kept + 1, false_positives, missed - 1) - _f1(kept, false_positives, missed)
    right = max(matches - wrong, 0.0)
    of_wrong = _f1(right, wrong - 1, false_negatives) - _f1(right, wrong, false_negatives)
    return of_missed, of_wrong


def _f1(right: float, false_positives: float, false_negatives: float) -> float:
    size = 2 * right + false_positives + false_negatives
    return 2 * right / size if size > 0 else 1.0
