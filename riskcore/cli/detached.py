"""What is said of a run that goes on in a process of its own, or waits in the queue for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riskcore.cli.console import print_json, say

if TYPE_CHECKING:
    from riskcore.runs.readers.queue import QueuePlace
    from riskcore.runs.store.run_record import RunRecord
    from riskcore.runs.store.run_store import RunStore


def detached(store: RunStore, record: RunRecord, as_json: bool) -> None:
    """Say that the run continues in a process of its own, or waits for its turn."""
    from riskcore.runs.readers.queue import place_of

    place = place_of(store, record.id)
    if as_json:
        document = {"run": record.id, "folder": str(record.folder), "state": "waiting", "queue": place_document(place)}
        print_json(document)
        return
    what = "runs in the background" if place is None else f"waits: {place.words}"
    say(f"Run {record.id} {what}. Watch it with: riskcore runs show {record.id}")


def place_document(place: QueuePlace | None) -> dict[str, Any] | None:
    """A place in the queue as JSON."""
    return None if place is None else {"place": place.number, "starts_in_seconds": place.seconds}
