"""A worker gives way: while it trains for minutes, the screens that someone is clicking through come first."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

STEP = 5  # a third of a share while others want the processor; with nothing else to do, all of it
AUTOGROUP = Path("/proc/self/autogroup")


def lower_priority(autogroup: Path = AUTOGROUP) -> None:
    """Let other processes go first.

    Linux shares a desktop's processor by session, and within a session by niceness: the worker, having a session of
    its own, has to make that one nicer too. Where neither is allowed, it works as everyone does.
    """
    with contextlib.suppress(OSError):
        os.nice(STEP)
    if os.getsid(0) == os.getpid():  # else the session is someone's terminal
        with contextlib.suppress(OSError):
            autogroup.write_text(str(STEP), encoding="ascii")
