"""Labels and splits as files hold them: what is accepted, and what is reported.

A label is 1 (match) or 0 (non-match); 1.0 and 0.0 are accepted too, because spreadsheets and pandas write them like
this once a column has a gap. A missing label is `UNKNOWN`, which only pairs outside train and valid may have.
"""

from __future__ import annotations

import numpy as np

from riskcore.config import DataConfig
from riskcore.data.problems import ProblemLog, shown
from riskcore.data.text_file import TextFile

LABEL = "label"
SPLITS = ("train", "valid", "test")
LABELLED_SPLITS = ("train", "valid")
UNSPLIT = "all"  # the split of pairs that belong to none: of a file of pairs without splits, and of a folder's `pairs`
UNKNOWN = -1  # the label of a pair that has none

_LABELS = {"": UNKNOWN, "0": 0, "1": 1, "0.0": 0, "1.0": 1}
_BAD = 2


def read_labels(file: TextFile, log: ProblemLog, config: DataConfig) -> np.ndarray:
    """The file's labels as int8, `UNKNOWN` where there is none; other texts are logged."""
    if LABEL not in file.names:
        return np.full(len(file), UNKNOWN, dtype=np.int8)
    texts = file.text(LABEL, config)
    labels = np.fromiter((_LABELS.get(text, _BAD) for text in texts), dtype=np.int8, count=len(texts))
    bad = np.flatnonzero(labels == _BAD)
    cure = "Write 1 for a match and 0 for a non-match."
    log.add_rows("bad_label", file.rows[bad], lambda n: f"The label is {shown(texts[bad[n]])}.", cure, file.name, LABEL)
    return labels


def without_bad(labels: np.ndarray) -> np.ndarray:
    """The labels with those that were refused turned into `UNKNOWN`."""
    return np.where(labels == _BAD, np.int8(UNKNOWN), labels)


def require_labels(file: TextFile, labels: np.ndarray, wanted: np.ndarray, log: ProblemLog) -> None:
    """Log the wanted rows (a mask) that have no label at all."""
    gaps = file.rows[wanted & (labels == UNKNOWN)]
    cure = "Label it 1 or 0, or move it to test, where labels may be missing."
    log.add_rows("missing_label", gaps, lambda _: "The pair has no label.", cure, file.name, LABEL)
