"""A child process with limits on memory and time that goes through the doors of `doors.py`, one question at a time.

What an input does to the process is part of the answer: a crash, an exceeded limit and a traceback are told apart.
"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import select
import subprocess
import sys
import traceback
from pathlib import Path
from typing import IO, Any, Self

from benchmarks.chaos.site import PROJECT, environment

MEMORY = 2 * 2**30  # bytes that the process may have
_STATM = Path("/proc/self/statm")
SECONDS = 30.0  # for one question; a loaded machine included
FINE, REFUSED, TRACEBACK, TOO_LARGE, CRASHED, SLOW = "fine", "refused", "traceback", "over 2 GB", "crashed", "slow"


@dataclasses.dataclass(frozen=True)
class Answer:
    """What came of a question: the kind, the words of an error, and what the door returned."""

    kind: str
    words: str = ""
    value: Any = None


class Limited:
    """The child, seen from outside. It is started again after it has died."""

    def __init__(self, place: Path, seconds: float = SECONDS) -> None:
        self._place, self._seconds = place, seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def ask(self, door: str, *arguments: str) -> Answer:
        """Go through a door with these texts."""
        if self._process is None:
            self._start()
            if self._line(120.0) is None:
                raise RuntimeError(f"The limited process did not start: {self._said()}")
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.write(json.dumps([door, *arguments]).encode() + b"\n")
        process.stdin.flush()
        line = self._line(self._seconds)
        if line:
            return Answer(*json.loads(line))
        self._stop()
        if line is None:
            return Answer(SLOW, f"no answer within {self._seconds:g} s")
        said = self._said()
        kind = TOO_LARGE if "alloc" in said or "Memory" in said else CRASHED
        return Answer(kind, f"exit code {process.returncode}: {said}")

    def _start(self) -> None:
        with (self._place / "limited.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.chaos.limited"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=PROJECT,
                env=environment(MALLOC_ARENA_MAX="2"),
            )  # fmt: skip
        self._rest = b""

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _line(self, seconds: float) -> bytes | None:
        """The next line; empty if the process has ended, None if it takes too long."""
        assert self._process is not None
        assert self._process.stdout is not None
        file = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            if not select.select([file], [], [], seconds)[0]:
                return None
            read = os.read(file, 65_536)
            if not read:
                return b""
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _said(self) -> str:
        return (self._place / "limited.log").read_text("utf-8", "replace")[-2000:]


def _answer(door: str, arguments: list[str]) -> list[Any]:
    from benchmarks.chaos.doors import DOORS
    from riskcore.errors import RiskcoreError

    try:
        return [FINE, "", DOORS[door](*arguments)]
    except RiskcoreError as error:
        return [REFUSED, str(error)]
    except MemoryError as error:
        return [TOO_LARGE, _told(error)]
    except Exception as error:
        return [TRACEBACK, _told(error)]


def _told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-3000:]


def _limit_memory() -> None:
    """Libraries reserve address space that they never use, and only address space can be limited: what is reserved by
    now stays, and beyond it the process gets as much as it has left of its memory."""
    reserved, resident = (int(word) * os.sysconf("SC_PAGE_SIZE") for word in _STATM.read_text().split()[:2])
    limit = reserved + MEMORY - resident
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _main(answers: IO[str]) -> None:
    from benchmarks.chaos import doors

    _limit_memory()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(json.dumps([FINE, doors.__name__]), file=answers, flush=True)
    for line in sys.stdin:
        door, *arguments = json.loads(line)
        print(json.dumps(_answer(door, arguments)), file=answers, flush=True)


if __name__ == "__main__":
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints does not mix with the answers
    _main(own)
