"""Pairs and verdicts in the files of other tools: Splink, Label Studio, Argilla, Zingg, and plain csv."""

from __future__ import annotations

from riskcore.audit.exchange.files import FORMATS, export_tasks, export_verdicts, read_verdicts
from riskcore.audit.exchange.pairs import ReadVerdict

__all__ = ["FORMATS", "ReadVerdict", "export_tasks", "export_verdicts", "read_verdicts"]
