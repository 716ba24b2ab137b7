"""Figures that need the target's labels. Where there are none, a figure is None, never 0."""

from __future__ import annotations

import dataclasses
from typing import Any, TypedDict

import numpy as np

from riskcore.evaluation.calibration import measure_calibration
from riskcore.evaluation.flips import flips_by_class
from riskcore.evaluation.scores import confusion
from riskcore.risk import auroc, errors_found


class QueueScores(TypedDict):
    """How well the labels of an answer are ranked; None without truth."""

    errors: int | None
    auroc: float | None
    auroc_confidence: float | None
    ece: float | None  # expected calibration error of risk
    top_tenth: float | None  # share of the wrong labels among the riskiest tenth


@dataclasses.dataclass(frozen=True, eq=False)
class TruthScorer:
    """Holds the target's labels (-1 where unknown) and compares predicted labels with them."""

    truth: np.ndarray

    @property
    def known(self) -> np.ndarray:
        return self.truth >= 0

    @property
    def knows(self) -> bool:
        return bool(self.known.any())

    def wrong(self, labels: np.ndarray) -> np.ndarray:
        """Which pairs have a label known to be wrong."""
        return self.known & (labels != self.truth)

    def scores(self, labels: np.ndarray) -> dict[str, float | None]:
        """F1, precision and recall of the matches."""
        cells = confusion(self.truth, labels)
        return {"f1": cells.f1, "precision": cells.precision, "recall": cells.recall}

    def f1_without(self, labels: np.ndarray, left_out: np.ndarray) -> float | None:
        """F1 of the matches over all pairs but some."""
        return confusion(self.truth[~left_out], labels[~left_out]).f1

    def change(self, before: np.ndarray, after: np.ndarray) -> dict[str, int | None]:
        """Pairs that were wrong and are right now, the other way round, and what kind the latter were."""
        counts = flips_by_class(self.truth, before, after)
        wrongly = {"tp_flipped": counts.tp_flipped, "tn_flipped": counts.tn_flipped}
        return {"fixed": counts.fixed, "broken": counts.broken, **wrongly}

    def queue(self, labels: np.ndarray, risk: np.ndarray, probability: np.ndarray) -> QueueScores:
        """How well a method's labels are ranked by risk: against its own confidence, as a probability, and as the
        share of the wrong labels that the riskiest tenth of the pairs holds."""
        wrong, known = self.wrong(labels), self.known
        if not self.knows:
            return {"errors": None, "auroc": None, "auroc_confidence": None, "ece": None, "top_tenth": None}
        wrong, risk, doubt = wrong[known], risk[known], np.abs(probability - labels)[known]
        found = errors_found(risk, wrong)
        return {
            "errors": int(wrong.sum()),
            "auroc": auroc(risk, wrong),
            "auroc_confidence": auroc(doubt, wrong),
            "ece": measure_calibration(wrong.astype(np.int8), risk).ece,
            "top_tenth": float(found[len(wrong) // 10] / found[-1]) if wrong.any() else None,
        }

    def ranking(self, labels: np.ndarray, **rankings: np.ndarray) -> dict[str, Any]:
        """How many labels are wrong, and how well each ranking finds them."""
        if not self.knows:
            return {"mispredicted": None, **{f"auroc_{name}": None for name in rankings}}
        wrong, known = self.wrong(labels), self.known
        areas = {f"auroc_{name}": auroc(scores[known], wrong[known]) for name, scores in rankings.items()}
        return {"mispredicted": int(wrong.sum()), **areas}
