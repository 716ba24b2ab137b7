"""The passes of a training: counted while they go on, and kept so that one that is interrupted goes on where it was.

A pass of a large matcher lasts minutes or hours. Its state is written beside the method's checkpoint: when the run is
cancelled, and now and then while the pass lasts, so that a kill costs a minute or two. A pass that is over quickly
writes nothing and says nothing.
"""

from __future__ import annotations

import dataclasses
import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from riskcore.errors import CheckpointError, DamagedFileError
from riskcore.matchers.base import Arrays, Matcher, PassFollower, ShouldStop, TuningSet, never
from riskcore.storage.files import remove_file
from riskcore.training.checkpoint import Checkpoint, Progress
from riskcore.training.listeners import Listener, notify

TELL_SECONDS = 2.0  # how often listeners hear of a pass; of a shorter one they hear nothing
KEEP_SECONDS = 60.0  # how often its state is kept: what a kill may cost, and more than most passes last
KEEP_SHARE = 0.02  # of the time at most, where the state is large or the disk slow


class MadePass(NamedTuple):
    """A pass that is over: its mean loss, and the seconds it had taken when it was interrupted."""

    loss: float
    earlier: float


@dataclasses.dataclass(frozen=True, eq=False)
class Passes:
    """How the passes of one training are made. The state of one that is under way belongs to `made_from`."""

    task: str  # for listeners: the method
    unit: str
    total: int
    made_from: str = ""
    listeners: Sequence[Listener] = ()
    checkpoint: Checkpoint | None = None  # of the method; the state of a pass is kept beside it
    should_stop: ShouldStop = never

    def make(
        self,
        matcher: Matcher,
        sets: TuningSet | Sequence[TuningSet],
        number: int,
        *,
        rate: float | None,
        seed: int,
        batch_size: int | None = None,
    ) -> MadePass:
        """The pass of this number, or the rest of it where it was interrupted."""
        follower = self.follower(number)
        followed: dict[str, Any] = {"follower": follower} if takes_follower(matcher) else {}
        loss = matcher.fine_tune(
            sets, rate=rate, seed=seed, batch_size=batch_size, should_stop=self.should_stop, **followed
        )
        return MadePass(loss, follower.earlier)

    def follower(self, number: int) -> Follower:
        """What follows the pass of this number."""
        return Follower(self, number)

    @property
    def interrupted(self) -> int:
        """The number of the pass that was interrupted; 0 where none was."""
        found = self._read()
        return 0 if found is None else int(found.facts["number"])

    def forget(self) -> None:
        """Remove the state of a pass: it is over, and what came of it is in the method's checkpoint."""
        if self.checkpoint is not None:
            forget_pass(self.checkpoint)

    def keep(self, number: int, seconds: float, state: Arrays) -> None:
        if self.checkpoint is not None:
            facts = {"number": number, "seconds": seconds}
            _beside(self.checkpoint).write(Progress({"state": state}, facts), self._made_from)

    def kept(self, number: int) -> Progress | None:
        """The state of the pass of this number."""
        found = self._read()
        return found if found is not None and found.facts["number"] == number else None

    @property
    def _made_from(self) -> str:
        return f"{self.task} {self.made_from}"

    def _read(self) -> Progress | None:
        """The state of the pass that was interrupted. One of another training, or one that cannot be read, is none: the
        pass begins again, and nothing but its time is lost."""
        if self.checkpoint is None:
            return None
        try:
            return _beside(self.checkpoint).read(self._made_from)
        except (CheckpointError, DamagedFileError):
            return None


class Follower(PassFollower):
    """Follows one pass: tells listeners of it, and keeps its state."""

    def __init__(self, passes: Passes, number: int) -> None:
        self.earlier = 0.0  # seconds that the pass had taken when it was interrupted
        self._passes, self._number = passes, number
        self._begun = self._told_at = self._kept_at = time.monotonic()
        self._pause = KEEP_SECONDS
        self._first: tuple[float, int] | None = None  # when the first pairs were done, and how many
        self._kept, self._told = 0, False

    def reached(self) -> Arrays:
        found = self._passes.kept(self._number)
        if found is None:
            return {}
        self.earlier = float(found.facts["seconds"])
        return dict(found.groups["state"])

    def advance(self, done: int, total: int, state: Callable[[], Arrays]) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = now, done
        if done < total and now - self._kept_at >= self._pause:
            self._keep(done, state)
            self._kept_at = time.monotonic()
            self._pause = max(KEEP_SECONDS, (self._kept_at - now) / KEEP_SHARE)
        if done == self._first[1]:  # what went before was making the records ready: no speed can be told yet
            return
        if now - self._told_at >= TELL_SECONDS or (self._told and done == total):
            self._told_at, self._told = now, True
            self._tell(done, total, now)

    def stop(self, done: int, state: Callable[[], Arrays]) -> None:
        if done:
            self._keep(done, state)

    def _keep(self, done: int, state: Callable[[], Arrays]) -> None:
        if self._passes.checkpoint is not None and done > self._kept:
            self._passes.keep(self._number, self._seconds(time.monotonic()), state())
            self._kept = done

    def _seconds(self, now: float) -> float:
        return self.earlier + now - self._begun

    def _tell(self, done: int, total: int, now: float) -> None:
        assert self._first is not None
        since, before = self._first
        per_second = (done - before) / max(now - since, 1e-9)
        notify(
            self._passes.listeners,
            "on_pairs",
            {
                "task": self._passes.task,
                "unit": self._passes.unit,
                "number": self._number,
                "of": self._passes.total,
                "done": done,
                "total": total,
                "seconds": self._seconds(now),
                "per_second": per_second,
            },
        )


def forget_pass(checkpoint: Checkpoint) -> None:
    """Remove the state of a pass that is kept beside a method's checkpoint."""
    remove_file(_beside(checkpoint).path)


def _beside(checkpoint: Checkpoint) -> Checkpoint:
    return Checkpoint(checkpoint.path.with_name(f"{checkpoint.path.stem}-pass{checkpoint.path.suffix}"))


def takes_follower(matcher: Matcher) -> bool:
    """Whether the matcher's passes can be followed. The keyword is optional: those of another package may lack it."""
    return "follower" in inspect.signature(matcher.fine_tune).parameters
