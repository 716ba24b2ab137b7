"""How likely each label is to be wrong, and why. Scoring and explaining need numpy and scipy only.

Fitting (`riskcore.risk.fit`) needs torch and is therefore imported on first use, never here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riskcore.risk.baselines import Ranking
from riskcore.risk.counterfactual import Counterfactual, smallest_changes
from riskcore.risk.explain import Explanation, Explanations, explain_pair, explain_pairs
from riskcore.risk.model import RiskModel, RiskModelError, RiskScores, prior_model
from riskcore.risk.ranking_quality import Comparison, auroc, compare, errors_found
from riskcore.risk.value_at_risk import top

if TYPE_CHECKING:
    from riskcore.risk.fit import FitResult, fit_risk_model

__all__ = [
    "Comparison",
    "Counterfactual",
    "Explanation",
    "Explanations",
    "FitResult",
    "Ranking",
    "RiskModel",
    "RiskModelError",
    "RiskScores",
    "auroc",
    "compare",
    "errors_found",
    "explain_pair",
    "explain_pairs",
    "fit_risk_model",
    "prior_model",
    "smallest_changes",
    "top",
]

_NEED_TORCH = ("FitResult", "fit_risk_model")


def __getattr__(name: str) -> Any:
    if name in _NEED_TORCH:
        from riskcore.risk import fit as ranking

        return getattr(ranking, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
