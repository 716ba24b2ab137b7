"""Reviewing pairs by hand: the log of verdicts, and exports."""

from __future__ import annotations

from riskcore.audit.export import EXPORT_FORMATS, ExportError, export_frame, html_report, safe_cell
from riskcore.audit.verdicts import VERDICTS, Verdict, VerdictError, VerdictLog, verdicts_in

__all__ = [
    "EXPORT_FORMATS",
    "VERDICTS",
    "ExportError",
    "Verdict",
    "VerdictError",
    "VerdictLog",
    "export_frame",
    "html_report",
    "safe_cell",
    "verdicts_in",
]
