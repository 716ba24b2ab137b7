"""Blocking in memory: two tables in, candidate pairs out."""

from __future__ import annotations

from riskcore.blocking.candidates import Candidates
from riskcore.blocking.steps import OnProgress, Work
from riskcore.config import BlockConfig
from riskcore.data.pairs import Table


def block(
    left: Table,
    right: Table | None = None,
    config: BlockConfig | None = None,
    on_progress: OnProgress | None = None,
) -> Candidates:
    """The pairs of records worth comparing; without a right table, pairs within the left one, each once.

    The same tables and settings give the same candidates, whatever `block_records` and `threads` are.
    `on_progress` is told the blocker at work and the share that is done.
    """
    work = Work(left, None if right is left else right, config or BlockConfig())
    found = [(step.number, one) for step, one in work.run(work.steps(), on_progress)]
    return work.candidates(found)
