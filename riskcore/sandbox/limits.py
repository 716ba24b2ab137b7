"""What reading a brought file may take: memory, time, the size of what it writes and answers."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import resource
import signal

from riskcore.errors import ConfigError

MEMORY_VARIABLE, SECONDS_VARIABLE = "RISKCORE_READ_GB", "RISKCORE_READ_SECONDS"
_GB = 1_000_000_000
_LIBRARIES = 2 * _GB  # of addresses that code and its reserves take, and no memory


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of one process that reads files. `at_once` is how many of them there may be."""

    memory_bytes: int = 2 * _GB  # twice what a file with the largest permitted content needs
    seconds: float = 120.0  # the largest upload is read and checked in about a minute
    answer_bytes: int = 32_000_000  # a preview and a sample of each column are a tenth of that
    at_once: int = 3

    @property
    def gigabytes(self) -> str:
        return f"{self.memory_bytes / _GB:g} GB"


def read_limits() -> Limits:
    """The limits, as the environment sets them."""
    usual = Limits()
    return dataclasses.replace(
        usual,
        memory_bytes=int(_number(MEMORY_VARIABLE, usual.memory_bytes / _GB) * _GB),
        seconds=_number(SECONDS_VARIABLE, usual.seconds),
    )


def _number(variable: str, usual: float) -> float:
    text = os.environ.get(variable)
    if not text:
        return usual
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise ConfigError(f"{variable} is {text!r}, which is not a positive number. Correct it, or unset it.")
    return value


def limit_this_process(limits: Limits) -> None:
    """Hold this process to the limits: the system refuses it memory, and ends it when its time is over."""
    _lower(resource.RLIMIT_AS, limits.memory_bytes + _LIBRARIES)
    _lower(resource.RLIMIT_DATA, limits.memory_bytes)
    _lower(resource.RLIMIT_FSIZE, limits.memory_bytes)
    _lower(resource.RLIMIT_CPU, int(limits.seconds) + 1)
    _lower(resource.RLIMIT_CORE, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, also inside a library
    signal.setitimer(signal.ITIMER_REAL, limits.seconds)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("1000")  # where the machine has less memory than this, it is taken from here


def _lower(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
