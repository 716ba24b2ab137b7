"""How many processes a run may use on this machine: by its free cores and its free memory; and how much they take."""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

STAT, STATUS, MEMORY = Path("/proc/stat"), Path("/proc/self/status"), Path("/proc/meminfo")
LIMIT, USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")  # of a container
MOSTLY = 0.7  # a core that is idle for this share of the time is free
HELPER_MB = 1_000.0  # a helper takes at least this: its libraries half, the training of a small matcher the rest
TIMES_READ = 4.0  # and this many times what the worker has once the data is read: metrics, rules, base learners


def usable_cores() -> int:
    """The cores that this process may run on."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # no such call outside Linux
        return os.cpu_count() or 1


class CoreWatch:
    """Counts the cores that have been free since it was made, or the last count."""

    def __init__(self, stat: Path = STAT) -> None:
        self._stat, self._before, self._own = stat, _ticks(stat), _own_seconds()
        self._since = time.monotonic()

    def free_cores(self) -> int:
        """Cores that this process may use: those it has used itself, and those that were idle. At least one."""
        cores, now = usable_cores(), _ticks(self._stat)
        if cores == 1 or now is None or self._before is None:
            return cores if cores == 1 else _by_load(cores)
        idle, total = (after - before for after, before in zip(now, self._before, strict=True))
        wall = time.monotonic() - self._since
        own = (_own_seconds() - self._own) / wall if wall > 0 else 0.0
        all_cores = os.cpu_count() or cores
        idle_cores = all_cores * idle / total if total > 0 else float(all_cores - 1)
        return max(1, min(cores, int(idle_cores + min(own, 1.0) + 1 - MOSTLY)))


def processes_in_memory() -> int:
    """The processes that the free memory has room for, this one included; it has read the data by now."""
    free = _free_mb()
    if free is None:
        return sys.maxsize
    return 1 + max(0, int(free / max(HELPER_MB, TIMES_READ * (_rss_mb() - HELPER_MB / 2)) - 1))


def peak_rss_mb() -> float:
    """The most memory this process has had, in units of 2^20 bytes."""
    try:  # getrusage would include the parent's peak
        lines = STATUS.read_text().splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024
    except (OSError, StopIteration):
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _rss_mb() -> float:
    return float(os.sysconf("SC_PAGE_SIZE")) * int(Path("/proc/self/statm").read_text().split()[1]) / 2**20


def _free_mb() -> float | None:
    """What the machine has left or, where that is less, the container; None where the system does not tell."""
    try:
        rows = (line.split() for line in MEMORY.read_text().splitlines())
        free = next(float(row[1]) for row in rows if row[0] == "MemAvailable:") / 1024
    except (OSError, StopIteration):
        return None
    try:
        return min(free, (int(LIMIT.read_text()) - int(USED.read_text())) / 2**20)
    except (OSError, ValueError):  # no container, or one without a limit
        return free


def _ticks(stat: Path) -> tuple[int, int] | None:
    """Idle and all processor time so far; None where the system does not tell."""
    try:
        counts = [int(one) for one in stat.read_text().split("\n", 1)[0].split()[1:9]]
    except (OSError, ValueError):
        return None
    return (counts[3] + counts[4], sum(counts)) if len(counts) > 4 else None


def _own_seconds() -> float:
    return time.process_time()


def _by_load(cores: int) -> int:
    """By the load of the last minute, of which this process is part."""
    try:
        return max(1, min(cores, round(cores + 1 - max(1.0, os.getloadavg()[0]))))
    except OSError:
        return 1
