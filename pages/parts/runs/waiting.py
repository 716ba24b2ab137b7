"""Runs that wait for their turn: their place in words; looking at them starts the first where a slot is free."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.runs.run_picker import store
from riskcore.runs import RunRecord, look
from riskcore.runs.readers.queue import place_of, queue_places


def looked_at(run: str) -> RunRecord:
    """The run as it is now. If it waits, the first of the queue is started where a slot is free."""
    record = store().get(run)
    if not record.queued:
        return record
    look(store())
    return store().get(run)


def all_looked_at() -> list[RunRecord]:
    """All runs, the newest first; those that wait are started where a slot is free."""
    records = store().list()
    if not any(record.queued for record in records):
        return records
    look(store())
    return store().list()


def places_in_words(records: Sequence[RunRecord]) -> dict[str, str]:
    """Where those of the runs that wait are in the queue, and when they are expected to start."""
    if not any(record.queued for record in records):
        return {}
    return {run: place.words for run, place in queue_places(store()).items()}


def waiting_words(record: RunRecord) -> str:
    """What a waiting run waits for."""
    place = place_of(store(), record.id) if record.queued else None
    if place is not None:
        return f"Waiting: {place.words}"
    return "Waiting for the worker to start"
