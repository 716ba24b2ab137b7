"""The verdict log for readers that ask again and again: each asks the store only for the entries it has not seen.

Entries are only added, so what was read once stays true. Whatever process adds the next ones, they are found by their
numbers. If the last entry that was seen is no longer there with its digest, the log is another one (it was restored, or
tampered with), and it is read again as a whole. `log_check` and sign-offs do not read here: they look at the store.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Iterable

from riskcore.audit.seal import LogHead
from riskcore.audit.tags import tags_of
from riskcore.audit.verdicts import WITHDRAWN, Verdict, VerdictLog

MOST_RUNS = 8  # whose logs are kept; one of 20,000 verdicts takes about 20 MB


@dataclasses.dataclass(frozen=True, eq=False)
class Judged:
    """The verdicts that stand at one state of a run's log, by pair: one person's, or the latest by anyone."""

    head: LogHead = dataclasses.field(default_factory=LogHead)
    who: str | None = None
    verdicts: dict[str, Verdict] = dataclasses.field(default_factory=dict)


class CachedLog(VerdictLog):
    """A verdict log that keeps in memory what it has read. All of a process share it, from any thread."""

    def judged(self, run: str, who: str | None = None) -> Judged:
        """The current verdicts as in `current`, with the state of the log that they belong to."""
        seen = self._seen(run)
        with seen.lock:
            found = seen.latest if who is None else seen.of_person.get(who, {})
            return Judged(seen.head, who, dict(found))

    def current(self, run: str, who: str | None = None) -> dict[str, Verdict]:
        return self.judged(run, who).verdicts

    def entries(self, run: str, start: int = 1) -> list[Verdict]:
        seen = self._seen(run)
        with seen.lock:
            return [*seen.entries] if start <= 1 else [one for one in seen.entries if one.number >= start]

    def size(self, run: str) -> int:
        return self._seen(run).head.size

    def head(self, run: str) -> LogHead:
        return self._seen(run).head

    def people(self, run: str) -> list[str]:
        """Everyone who has given a verdict, in alphabetical order."""
        seen = self._seen(run)
        with seen.lock:
            return sorted(seen.of_person)

    def tagged(self, run: str) -> dict[str, tuple[str, ...]]:
        """`pairs_by_tag` of the log."""
        seen = self._seen(run)
        with seen.lock:
            by_tag = seen.by_tag
            return {tag: tuple(by_tag[tag]) for tag in sorted(by_tag, key=lambda tag: (-len(by_tag[tag]), tag))}

    def _seen(self, run: str) -> _SeenLog:
        """The run's log as it is now."""
        seen = _log_of(self.store.url or str(self.store.root), run)
        with seen.lock:  # others wait for one reader instead of reading the same
            rows = super().entries(run, seen.head.size)
            if seen.entries and (not rows or rows[0].digest != seen.head.digest):
                seen.forget()
                rows = super().entries(run)
            seen.add(rows[1:] if seen.entries else rows)
        return seen


class _SeenLog:
    """The entries of one run that were read so far, and what follows from them, kept up to date entry by entry."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.forget()

    def forget(self) -> None:
        self.head = LogHead()
        self.entries: list[Verdict] = []
        self.latest: dict[str, Verdict] = {}  # by pair
        self.of_person: dict[str, dict[str, Verdict]] = {}  # by person and pair
        self.by_tag: dict[str, dict[str, int]] = {}  # how many people's verdicts on a pair have the tag
        self._of_pair: dict[str, dict[str, Verdict]] = {}  # by pair and person, the latest entry last

    def add(self, entries: Iterable[Verdict]) -> None:
        for entry in entries:
            self.entries.append(entry)
            self.head = LogHead(entry.number, entry.digest)
            self._stand(entry)

    def _stand(self, entry: Verdict) -> None:
        """What the entry changes in the verdicts that stand."""
        pair, who = entry.pair_id, entry.who
        people, own = self._of_pair.setdefault(pair, {}), self.of_person.setdefault(who, {})
        before = people.pop(who, None)
        own.pop(pair, None)
        self.latest.pop(pair, None)
        if before is not None:
            self._count(before, -1)
        if entry.verdict != WITHDRAWN:
            people[who] = own[pair] = entry
            self._count(entry, 1)
        if people:
            self.latest[pair] = next(reversed(people.values()))
        else:
            del self._of_pair[pair]

    def _count(self, entry: Verdict, step: int) -> None:
        for tag in tags_of(entry.note):
            pairs = self.by_tag.setdefault(tag, {})
            pairs[entry.pair_id] = pairs.get(entry.pair_id, 0) + step
            if not pairs[entry.pair_id]:
                del pairs[entry.pair_id]
            if not pairs:
                del self.by_tag[tag]


_logs: OrderedDict[tuple[str, str], _SeenLog] = OrderedDict()
_lock = threading.Lock()


def _log_of(place: str, run: str) -> _SeenLog:
    """What is kept of a run's log; of many runs, the latest asked for are kept."""
    with _lock:
        found = _logs.setdefault((place, run), _SeenLog())
        _logs.move_to_end((place, run))
        while len(_logs) > MOST_RUNS:
            _logs.popitem(last=False)
        return found
