"""Pairs and verdicts in the files of other tools: Splink, Label Studio, Argilla, Zingg, and plain csv."""

from __future__ import annotations

from riskcore.audit.exchange.bring import (
    BroughtVerdicts,
    ImportCounts,
    PairFinder,
    bring_verdicts,
    preview_import,
    record_import,
)
from riskcore.audit.exchange.files import FORMATS, encoded, export_tasks, export_verdicts, read_verdicts
from riskcore.audit.exchange.pairs import ReadVerdict

__all__ = [
    "FORMATS",
    "BroughtVerdicts",
    "ImportCounts",
    "PairFinder",
    "ReadVerdict",
    "bring_verdicts",
    "encoded",
    "export_tasks",
    "export_verdicts",
    "preview_import",
    "read_verdicts",
    "record_import",
]
