"""Where a waiting run is in the queue, and when it is expected to start.

Expected starts come from the time left of the runs at work and from the expected durations of those that wait before
it, both as `time_left` estimates them. As many runs are assumed to be worked on at a time as there are now.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections.abc import Sequence

from riskcore.config import RunConfig
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.time_left import estimate_seconds, finished_alike, past_seconds, run_progress, sizes_of
from riskcore.runs.store.run_record import RunRecord, RunState
from riskcore.runs.store.run_store import RunStore
from riskcore.training.costs import RunSizes

MAX_EVENTS = 20_000


@dataclasses.dataclass(frozen=True)
class QueuePlace:
    """The place of a run in the queue, from 1, and the seconds until its start; None where these are not known."""

    number: int
    seconds: float | None

    @property
    def words(self) -> str:
        return f"place {self.number:,} in the queue, {start_words(self.seconds)}"


def queue_places(store: RunStore, records: Sequence[RunRecord] | None = None) -> dict[str, QueuePlace]:
    """The places of all waiting runs, by run, in order. `records` are all runs, where the caller has read them."""
    records = store.list() if records is None else records
    waiting = sorted((one for one in records if one.queued), key=lambda one: one.ticket or 0)
    if not waiting:
        return {}
    working = [one for one in records if one.state is RunState.RUNNING or one.starting]
    ends = [_known(_seconds_left(store, one, records)) for one in working]
    starts = expected_starts(ends, [_known(_expected_seconds(one, records)) for one in waiting])
    return {
        one.id: QueuePlace(number, None if math.isinf(start) else start)
        for number, (one, start) in enumerate(zip(waiting, starts, strict=True), start=1)
    }


def place_of(store: RunStore, run: str) -> QueuePlace | None:
    """The run's place in the queue; None where it does not wait there."""
    return queue_places(store).get(run)


def expected_starts(ends: Sequence[float], durations: Sequence[float]) -> list[float]:
    """When each waiting run starts: each, in order, as soon as one of those before it ends. `ends` are the seconds
    until each run at work ends, `durations` those that the waiting runs will take; unknown ones are infinite."""
    slots, starts = list(ends), []
    heapq.heapify(slots)
    for duration in durations:
        starts.append(slots[0] if slots else math.inf)
        if slots:
            heapq.heapreplace(slots, slots[0] + duration)
    return starts


def start_words(seconds: float | None) -> str:
    """When a run starts, in the unit that a person would use."""
    if seconds is None:
        return "start not known yet"
    if seconds < 45:
        return "starts in less than a minute"
    if seconds < 5400:
        minutes = max(round(seconds / 60), 1)
        return f"starts in about {minutes} minute{'' if minutes == 1 else 's'}"
    return f"starts in about {seconds / 3600:.1f} hours"


def _known(seconds: float | None) -> float:
    return math.inf if seconds is None else seconds


def _seconds_left(store: RunStore, record: RunRecord, records: Sequence[RunRecord]) -> float | None:
    """Until a run at work ends: at its own pace, or before that can be seen, by runs like it."""
    if record.state is RunState.RUNNING:
        left = run_progress(record, store.events(record.id, limit=MAX_EVENTS)).left
        if left is not None:
            return left
    return _expected_seconds(record, records)


def _expected_seconds(record: RunRecord, records: Sequence[RunRecord]) -> float | None:
    """What a run still takes; None where the size of its data is not known. What it did before it stopped counts."""
    sizes = _expected_sizes(record, records)
    if sizes is None:
        return None
    past = past_seconds(finished_alike(records, record.config.matcher.kind))
    return max(estimate_seconds(record.config, sizes, past) - record.seconds, 0.0)


def _expected_sizes(record: RunRecord, records: Sequence[RunRecord]) -> RunSizes | None:
    """The pairs of a run, if it has read its data before or another run has read the same."""
    sizes = sizes_of(RunFolder(record.folder))
    if sizes is not None:
        return sizes
    same = _data_of(record.config)
    alike = (one for one in records if _data_of(one.config) == same)
    return next((sizes for one in alike if (sizes := sizes_of(RunFolder(one.folder))) is not None), None)


def _data_of(config: RunConfig) -> tuple[object, ...]:
    """What the number of pairs follows from."""
    return config.source, config.target, config.split, config.train_fraction, config.validation_size
