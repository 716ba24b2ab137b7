"""How good a run's labels are now: precision, recall and F1 from verdicts on pairs that a design has drawn.

`draw_audit` draws the next pairs of a run, `estimate_run` estimates from the verdicts on them, `verdicts_needed` says
how many more it takes. Without a run, `audit_design` and `estimate` do the same for any labels and risks.
"""

from __future__ import annotations

from riskcore.audit.estimate.estimating import estimate
from riskcore.audit.estimate.meter import enough, next_pairs, verdicts_needed
from riskcore.audit.estimate.missed import Ring, with_missed
from riskcore.audit.estimate.planner import expected_errors, review_outcome
from riskcore.audit.estimate.result import Estimate, Interval, StratumCounts, WithMissed
from riskcore.audit.estimate.review import RunPlan, plan_review
from riskcore.audit.estimate.runs import AuditFacts, audits_of, draw_audit, estimate_run
from riskcore.audit.estimate.strata import Strata, audit_design

__all__ = [
    "AuditFacts",
    "Estimate",
    "Interval",
    "Ring",
    "RunPlan",
    "Strata",
    "StratumCounts",
    "WithMissed",
    "audit_design",
    "audits_of",
    "draw_audit",
    "enough",
    "estimate",
    "estimate_run",
    "expected_errors",
    "next_pairs",
    "plan_review",
    "review_outcome",
    "verdicts_needed",
    "with_missed",
]
