"""Reviewing pairs by hand: the log of verdicts; and the result of a run: decisions, entities, exports."""

from __future__ import annotations

from riskcore.audit.conflicts import Contradiction
from riskcore.audit.decisions import AnswerFacts, answer_of, decisions
from riskcore.audit.export import EXPORT_FORMATS, ExportError, export_frame, html_report, safe_cell
from riskcore.audit.merged import merged_records
from riskcore.audit.resolve import CONSTRAINTS, Preview, Resolution, preview, resolve, suggest_constraint
from riskcore.audit.result import ExportedResult, RunResult, export_result, run_result
from riskcore.audit.tags import tags_of
from riskcore.audit.verdicts import VERDICTS, Verdict, VerdictError, VerdictLog, verdicts_in

__all__ = [
    "CONSTRAINTS",
    "EXPORT_FORMATS",
    "VERDICTS",
    "AnswerFacts",
    "Contradiction",
    "ExportError",
    "ExportedResult",
    "Preview",
    "Resolution",
    "RunResult",
    "Verdict",
    "VerdictError",
    "VerdictLog",
    "answer_of",
    "decisions",
    "export_frame",
    "export_result",
    "html_report",
    "merged_records",
    "preview",
    "resolve",
    "run_result",
    "safe_cell",
    "suggest_constraint",
    "tags_of",
    "verdicts_in",
]
