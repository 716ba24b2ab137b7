"""How long a query may take: one that a person waits for is stopped after a time, with a sentence that says so.

Screens work inside `limited`. Commands, workers and notebooks do not: nobody else waits for what they ask.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from riskcore.errors import ConfigError, StorageError

VARIABLE = "RISKCORE_QUERY_SECONDS"
USUAL_SECONDS = 20.0  # longer than a writer of SQLite waits for others; pages of a million pairs take a second or two
_AGAIN = 0.05  # seconds after which a query is stopped once more: the first time it may have been between two steps

_limit: ContextVar[float | None] = ContextVar("seconds a query may take", default=None)


class QueryTimeoutError(StorageError):
    """A query took longer than it may."""


def query_seconds() -> float:
    """What a query of the screens may take: RISKCORE_QUERY_SECONDS, or the default."""
    text = os.environ.get(VARIABLE) or str(USUAL_SECONDS)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise ConfigError(f"{VARIABLE} is {text!r}, which is no number of seconds up to a day. Correct it or unset it.")
    return seconds


@contextlib.contextmanager
def limited(seconds: float | None = None) -> Iterator[None]:
    """Stop each query in this block that takes longer than this; without a number, than the setting says."""
    token = _limit.set(query_seconds() if seconds is None else seconds)
    try:
        yield
    finally:
        _limit.reset(token)


def limit() -> float | None:
    """The seconds that a query may take here; None: as long as it needs."""
    return _limit.get()


def too_long(seconds: float) -> QueryTimeoutError:
    return QueryTimeoutError(
        f"The query took longer than {seconds:g} seconds and was stopped; nothing was changed. Narrow the filters or "
        f"the search, or try again when the server is less busy. Its owner can allow more time ({VARIABLE})."
    )


@contextlib.contextmanager
def stopped_in_time(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call `interrupt`, from another thread, once the block has taken longer than the limit."""
    seconds = limit()
    if seconds is None:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        pause = seconds
        while not over.wait(pause):
            interrupt()
            pause = _AGAIN

    watcher = threading.Thread(target=watch, name="query time limit", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()  # what it interrupts is closed next
