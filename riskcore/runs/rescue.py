"""Run folders that their store does not know, because it was lost or replaced: taken into the store again.

What a run computed is in its folder; the store adds its state and its events. A rescued run has no events, and one that
was not done can be resumed. Verdicts are restored by `riskcore.audit.journal`.
"""

from __future__ import annotations

import dataclasses
import time
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa

from riskcore.config import RunConfig
from riskcore.errors import RiskcoreError
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.database import runs
from riskcore.runs.store.run_record import RunState
from riskcore.runs.store.run_store import RunStore

INTERRUPTED = "The store was lost while the run was not done. Resume it."


@dataclasses.dataclass(frozen=True)
class Rescue:
    """What became of one folder: taken into the store, or the reason why not."""

    run: str
    problem: str | None = None


def rescue_runs(store: RunStore) -> list[Rescue]:
    """Take every run folder of the root that the store does not know into it; folders of other things are left out."""
    known = {record.id for record in store.list()}
    folders = [path.parent for path in sorted(store.root.glob("*/run.json"))]
    return [_rescue(store, path) for path in folders if path.name not in known and not path.name.startswith(".")]


def _rescue(store: RunStore, path: Path) -> Rescue:
    try:
        folder = RunFolder(path)
        description, results = folder.run(), folder.results()
        if description["run"] != path.name:
            return Rescue(path.name, f"run.json is of run {description['run']}: rename the folder to that.")
        config = RunConfig.from_stored(description["config"])
        created = datetime.fromisoformat(description["created"]).timestamp()
    except (RiskcoreError, KeyError, TypeError, ValueError) as error:
        return Rescue(path.name, f"It cannot be read: {error}")
    state = RunState.DONE if results is not None else RunState.FAILED
    seconds = 0.0 if results is None else float(results["seconds"].get("total") or 0.0)
    values = {
        "id": path.name,
        "name": description["name"],
        "state": state.value,
        "config": config.to_json(),
        "seconds": seconds,
        "created": created,
        "started": created,
        "ended": time.time(),
        "attempts": 1,
        "error": None if results is not None else INTERRUPTED,
    }
    with store.database.write(durable=True) as tx:
        tx.execute(sa.insert(runs).values(**values))
    return Rescue(path.name)
