"""Why a file could not be read in the process apart, in one sentence."""

from __future__ import annotations

import signal
from pathlib import Path

from riskcore.data.problems import visible
from riskcore.errors import RiskcoreError
from riskcore.sandbox.limits import Limits

_OUT_OF_TIME = (signal.SIGALRM, signal.SIGXCPU)


class ReadingError(RiskcoreError):
    """Reading broke the process, or took more than it may. `file` is what was being read, and should not be read
    again."""

    def __init__(self, reason: str, file: Path | None = None) -> None:
        self.file = file
        super().__init__(reason)


class CrowdedError(RiskcoreError):
    """So many files are being read that this one has to wait."""


def out_of_memory(file: Path | None, limits: Limits) -> ReadingError:
    cure = "Split it, or let the server read more (RISKCORE_READ_GB)."
    return ReadingError(f"{_named(file)} needs more than {limits.gigabytes} of memory to read. {cure}", file)


def out_of_time(file: Path | None, limits: Limits) -> ReadingError:
    cure = "Split it, or let the server read longer (RISKCORE_READ_SECONDS)."
    return ReadingError(f"Reading {_named(file)} took longer than {limits.seconds:g} s. {cure}", file)


def unexpected(file: Path | None, name: str) -> ReadingError:
    cure = "Save it again in another form, such as csv; the server's log has the details."
    return ReadingError(f"{_named(file)} cannot be read: the reader failed with an unexpected {name}. {cure}", file)


def too_much_to_show(file: Path | None, limits: Limits) -> ReadingError:
    return ReadingError(f"{_named(file)} has more than {limits.answer_bytes:,} bytes to show. Split it.", file)


def ended(status: int, file: Path | None, limits: Limits) -> ReadingError:
    """Why a process ended without an answer, by its exit status as `waitstatus_to_exitcode` gives it."""
    if -status in _OUT_OF_TIME:
        return out_of_time(file, limits)
    name = signal.Signals(-status).name if -status in set(signal.Signals) else f"code {status}"
    cure = "Save it again in another form, such as csv, or split it."
    reason = f"it is damaged, or needs more than {limits.gigabytes} of memory"
    return ReadingError(f"{_named(file)} stopped its reader ({name}): {reason}. {cure}", file)


def _named(file: Path | None) -> str:
    return "The file" if file is None else visible(file.name)
