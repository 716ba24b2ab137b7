"""Runs that cannot be lost: their store, their files, their workers. Nothing here needs torch; workers do."""

from __future__ import annotations

from riskcore.runs.columns import SCORE_COLUMNS
from riskcore.runs.details import (
    PairDetail,
    PairNotFoundError,
    explain_detail,
    explain_with,
    pair_detail,
    pair_history,
)
from riskcore.runs.folder import RunFolder
from riskcore.runs.jobs import cancel, resume, start
from riskcore.runs.ledger import rule_ledger, summary
from riskcore.runs.queries import PairPage, PairQuery, all_pairs, query_pairs
from riskcore.runs.records import (
    Event,
    RunBusyError,
    RunError,
    RunFailedError,
    RunNotFoundError,
    RunRecord,
    RunState,
    RunStateError,
    RunStorageError,
)
from riskcore.runs.store import RunStore

__all__ = [
    "SCORE_COLUMNS",
    "Event",
    "PairDetail",
    "PairNotFoundError",
    "PairPage",
    "PairQuery",
    "RunBusyError",
    "RunError",
    "RunFailedError",
    "RunFolder",
    "RunNotFoundError",
    "RunRecord",
    "RunState",
    "RunStateError",
    "RunStorageError",
    "RunStore",
    "all_pairs",
    "cancel",
    "explain_detail",
    "explain_with",
    "pair_detail",
    "pair_history",
    "query_pairs",
    "resume",
    "rule_ledger",
    "start",
    "summary",
]
