"""How good the labels are, what fine-tuning changed, what a review finds, and what the theory says about it.

True labels are used only after training: nothing here is ever given to training.
"""

from riskcore.evaluation.budget import BudgetCurve, budget_curve, budget_curves
from riskcore.evaluation.calibration import (
    Calibration,
    CalibrationChange,
    ReliabilityBin,
    calibration_change,
    measure_calibration,
    reliability,
)
from riskcore.evaluation.flips import (
    FlipCounts,
    LabelChange,
    compare_labels,
    f1_change_interval,
    flips_by_class,
    mcnemar,
)
from riskcore.evaluation.responsibility import Responsibilities, Responsibility, responsibilities
from riskcore.evaluation.scores import (
    Confusion,
    ThresholdCurve,
    average_precision,
    confusion,
    f1_interval,
    precision_recall_points,
    score_method,
)
from riskcore.evaluation.theory import ErrorTheory, PairTheory, Theory, deviation_term, theory_of
from riskcore.evaluation.theory_table import FlipCell, FlipRow, FlipTable, flip_table
from riskcore.evaluation.truth import UNKNOWN, EvaluationError

__all__ = [
    "UNKNOWN",
    "BudgetCurve",
    "Calibration",
    "CalibrationChange",
    "Confusion",
    "ErrorTheory",
    "EvaluationError",
    "FlipCell",
    "FlipCounts",
    "FlipRow",
    "FlipTable",
    "LabelChange",
    "PairTheory",
    "ReliabilityBin",
    "Responsibilities",
    "Responsibility",
    "Theory",
    "ThresholdCurve",
    "average_precision",
    "budget_curve",
    "budget_curves",
    "calibration_change",
    "compare_labels",
    "confusion",
    "deviation_term",
    "f1_change_interval",
    "f1_interval",
    "flip_table",
    "flips_by_class",
    "mcnemar",
    "measure_calibration",
    "precision_recall_points",
    "reliability",
    "responsibilities",
    "score_method",
    "theory_of",
]
