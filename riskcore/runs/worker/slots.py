"""How many runs are worked on at a time on this machine."""

from __future__ import annotations

import os

from riskcore.errors import ConfigError

SLOTS_VARIABLE = "RISKCORE_SLOTS"
_CORES_OF_A_RUN = 2  # training keeps about two busy; with less, all runs together take longer


def machine_slots() -> int:
    """RISKCORE_SLOTS, or half of the cores that this process may use, at least one. 0 starts nothing here: runs wait
    for a worker pool elsewhere."""
    told = os.environ.get(SLOTS_VARIABLE, "").strip()
    if not told:
        return max(1, usable_cores() // _CORES_OF_A_RUN)
    if not (told.isascii() and told.isdigit()):
        raise ConfigError(f"{SLOTS_VARIABLE} is {told!r}; it must be a whole number such as 2. Correct it or unset it.")
    return int(told)


def usable_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
