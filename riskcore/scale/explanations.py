"""Explanations of scored pairs for the web server, which has no models: asked of a process that stays open.

The first question opens models and records, which takes seconds to minutes; the next ones are answered at once. One
process is kept for each of the sets that were asked about last. It ends when nobody has asked for a while.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any, TypedDict

from riskcore.errors import StorageError
from riskcore.paths import child_environment
from riskcore.risk.balance import BalanceSheet
from riskcore.rules.rule_set import RuleSet
from riskcore.runs.bundle.contents import RULES
from riskcore.runs.readers.pair_sheet import sheet_from
from riskcore.runs.sheet_files import SheetFacts
from riskcore.scale.folder import ScoredFolder
from riskcore.storage.files import read_json, read_text
from riskcore.storage.parquet import take_rows

LOADED, FAILED = "loaded", "failed"  # what the process says
OPEN_SETS = 1  # processes at a time: each holds the models and records of its set
IDLE_SECONDS = 900.0


class Explanation(TypedDict):
    """What is stored of an explained pair, beside its balance sheet."""

    probability: float  # exact, also where scoring stored a bound
    risk: float
    metrics: dict[str, float | None]
    fired: list[int]  # numbers of the rules that fire
    rules: list[dict[str, Any]]  # what each of them, and the model, counts for
    facts: SheetFacts


@dataclasses.dataclass(frozen=True, eq=False)
class Explained:
    """An explanation that was read."""

    about: Explanation
    sheet: BalanceSheet
    rules: RuleSet


def explanation_file(folder: ScoredFolder, left: int, right: int) -> Path:
    """The explanation of the pair of these two rows; its balance sheet lies beside it."""
    return folder.path / "explained" / f"{left}-{right}.json"


def read_explanation(folder: ScoredFolder, left: int, right: int) -> Explained | None:
    """The explanation of a pair; None where nobody has asked for it."""
    file = explanation_file(folder, left, right)
    if not file.exists():
        return None
    about: Explanation = read_json(file)
    stored = take_rows(file.with_suffix(".parquet"), [0]).to_pylist()[0]
    rules = RuleSet.from_json(read_text(folder.bundle / RULES))
    return Explained(about, sheet_from(stored, about["facts"], about["fired"]), rules)


class ExplainingProcess:
    """One open process."""

    def __init__(self, folder: ScoredFolder) -> None:
        self.folder, self.asked_at = folder, time.monotonic()
        self._asking = threading.Lock()
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "riskcore.scale.explaining", str(folder.path.absolute())],
            bufsize=0,  # a question that cannot be delivered is known at once
            stdin=subprocess.PIPE,
            stdout=self._said,
            stderr=self._errors,
            env={**child_environment(), "PYTHONUNBUFFERED": "1"},
        )

    @property
    def loaded(self) -> bool:
        return LOADED in self._lines()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, left: int, right: int) -> None:
        """Have a pair explained; the answer is a file."""
        self.asked_at = time.monotonic()
        assert self._process.stdin is not None
        try:
            with self._asking:
                self._process.stdin.write(f"{left} {right}\n".encode())
                self._process.stdin.flush()
        except OSError as error:
            raise StorageError(self.ended_because()) from error

    def refused(self, left: int, right: int) -> str | None:
        """Why this pair has no explanation; None as long as nothing went wrong."""
        begin = f"{FAILED} {left} {right} "
        found = [line.removeprefix(begin) for line in self._lines() if line.startswith(begin)]
        return found[-1] if found else None

    def ended_because(self) -> str:
        """Why the process has ended."""
        said = [line.removeprefix(FAILED).strip() for line in self._lines() if line.startswith(FAILED)]
        return said[-1] if said else f"The process that explains pairs has ended. {self._text(self._errors)[-300:]}"

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        for one in (self._said, self._errors, self._process.stdin):
            one.close()

    def _lines(self) -> list[str]:
        return self._text(self._said).splitlines()

    def _text(self, file: IO[bytes]) -> str:
        size = os.fstat(file.fileno()).st_size
        return os.pread(file.fileno(), size, 0).decode("utf-8", "replace").strip()


_open: dict[str, ExplainingProcess] = {}
_changing = threading.Lock()


def explaining_process(folder: ScoredFolder) -> ExplainingProcess:
    """The open process of a set, or a new one in place of the one that was asked longest ago."""
    key = str(folder.path)
    with _changing:
        _end_idle()
        known = _open.get(key)
        if known is not None and known.alive:
            return known
        if known is not None:
            _open.pop(key).end()
        while len(_open) >= OPEN_SETS:
            _open.pop(min(_open, key=lambda one: _open[one].asked_at)).end()
        _open[key] = ExplainingProcess(folder)
        return _open[key]


def running_process(folder: ScoredFolder) -> ExplainingProcess | None:
    """The open process of a set, dead or alive; None where there is none."""
    return _open.get(str(folder.path))


def end_processes() -> None:
    """End all of them."""
    with _changing:
        while _open:
            _open.popitem()[1].end()


def _end_idle() -> None:
    for key in [key for key, one in _open.items() if time.monotonic() - one.asked_at > IDLE_SECONDS]:
        _open.pop(key).end()
