"""Runs: their store, their files and their workers. Reading a run needs no torch; working on one does."""

from __future__ import annotations

from riskcore.columns import SCORE_COLUMNS
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.pair_detail import (
    PairDetail,
    PairNotFoundError,
    explain_detail,
    explain_with,
    pair_detail,
    pair_history,
)
from riskcore.runs.readers.queries import PairPage, PairQuery, all_pairs, query_pairs
from riskcore.runs.readers.rule_table import rule_table, summary
from riskcore.runs.store.run_record import (
    Event,
    RunError,
    RunFailedError,
    RunNotFoundError,
    RunRecord,
    RunState,
    RunStateError,
)
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.jobs import cancel, look, resume, start

__all__ = [
    "SCORE_COLUMNS",
    "Event",
    "PairDetail",
    "PairNotFoundError",
    "PairPage",
    "PairQuery",
    "RunError",
    "RunFailedError",
    "RunFolder",
    "RunNotFoundError",
    "RunRecord",
    "RunState",
    "RunStateError",
    "RunStore",
    "all_pairs",
    "cancel",
    "explain_detail",
    "explain_with",
    "look",
    "pair_detail",
    "pair_history",
    "query_pairs",
    "resume",
    "rule_table",
    "start",
    "summary",
]
