"""One folder of scored pairs in the making.

Parts are gathered first. Where candidates compete, each part then hears the strongest competitors of its records, which
all parts together have; two numbers per record are held for that, and nothing per pair. A process that was killed goes
on where it was, and the files have the same bytes as if it had not been.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from riskcore.config import ScaleConfig
from riskcore.data.fingerprint import Fingerprint
from riskcore.data.pairs import Table
from riskcore.errors import StorageError
from riskcore.runs.bundle.read import Bundle
from riskcore.scale.competitors import Competitors
from riskcore.scale.folder import FORMAT, ScoredFacts, ScoredFolder
from riskcore.scale.inputs import PairStream
from riskcore.scale.parts import PartScorer, read_gathered
from riskcore.scale.processes import Done, Pool
from riskcore.scale.riskiest import write_riskiest
from riskcore.storage.files import read_json, remove_file, remove_folder, remove_parts, write_json
from riskcore.storage.parquet import load_columns
from riskcore.version import __version__

OnShare = Callable[[str, float], None]  # what is being done, and the share of all that is over
READING, FINISHING = 0.05, 0.93  # shares of the work at which pairs begin to be gathered, and to be finished
_Work = tuple[int, "Future[Done] | None"]  # pairs of a part, and its result; None where it is stored already


class Job:
    """One folder of scored pairs in the making."""

    def __init__(
        self, folder: ScoredFolder, bundle: Bundle, method: str, config: ScaleConfig, pairs: PairStream
    ) -> None:
        self.folder, self.bundle, self.method, self.config, self.pairs = folder, bundle, method, config, pairs
        self.competes = _ranking(bundle, method).get("competition") is not None
        self.parts = 0

    def begin(self, left: Table, right: Table) -> bool:
        """Whether all is done. Else what is needed for the parts is in place, the tables too, which are not held."""
        plan = {"format": FORMAT, "fingerprint": self._fingerprint(left, right), "version": __version__}
        if self.folder.plan_file.exists():
            if read_json(self.folder.plan_file) != plan:
                raise StorageError(
                    f"{self.folder.path} holds the scores of other pairs, of another run or with other settings. Give "
                    "another folder, or remove this one."
                )
        elif any(one != self.folder.lock_file for one in self.folder.path.iterdir() if not _own(one)):
            raise StorageError(f"{self.folder.path} holds other files. Give an empty folder, or one that is not there.")
        if self.folder.is_complete:
            return True
        remove_parts(self.folder.path)
        remove_file(self.folder.shared_tables)
        self.folder.write_records(left, right)
        if not self.folder.bundle.is_dir():
            unfinished = self.folder.path / ".bundle"
            shutil.rmtree(unfinished, ignore_errors=True)
            shutil.copytree(self.bundle.path, unfinished)
            os.rename(unfinished, self.folder.bundle)
        write_json(self.folder.plan_file, plan)
        return False

    def work(self, workers: Pool, tell: OnShare) -> dict[str, Any]:
        """Gather all parts, then finish them; how long either took."""
        started, spent = time.monotonic(), _Spent()
        progress = _Progress(tell, self.pairs.pairs)
        for pairs, done in _in_order(self._gathering(workers), workers.ahead):
            spent.add(done)
            progress.add(pairs)
        gathered, scored = time.monotonic(), spent.pairs
        if self.competes:
            competitors = self._competitors(workers.scorer())
            for _, done in _in_order(self._finishing(workers, competitors), workers.ahead):
                spent.add(done)
                tell("hearing other candidates", FINISHING)
        return {
            "gathering": round(gathered - started, 2),
            "finishing": round(time.monotonic() - gathered, 2),
            "scored_pairs": scored,
            "others_cpu_seconds": spent.cpu_seconds,
            "others_peak_mb": spent.peak_mb,
        }

    def end(self, workers: Pool) -> ScoredFacts:
        """The riskiest pairs with their reasons, and what was scored; last of all the file that says it is complete."""
        opened = workers.scorer()
        if self.parts:
            write_riskiest(self.folder, opened, self.parts, self.config.reasons)
        facts = self._facts(opened)
        write_json(self.folder.about_file, facts)
        remove_folder(self.folder.path / "gathered")
        remove_folder(self.folder.path / "pairs-of-records")
        return facts

    def _gathering(self, workers: Pool) -> Iterator[_Work]:
        for left, right in self.pairs.parts(self.config.part_pairs):
            number, self.parts = self.parts, self.parts + 1
            stored = self.folder.gathered_file(number) if self.competes else self.folder.pairs_file(number)
            yield len(left), None if stored.exists() else workers.gather(number, left, right)

    def _finishing(self, workers: Pool, competitors: Competitors) -> Iterator[_Work]:
        for number in range(self.parts):
            if self.folder.pairs_file(number).exists():
                continue
            left, right, gathered = read_gathered(self.folder, number)
            yield len(left), workers.finish(number, competitors.against(left, right, gathered.low))

    def _competitors(self, opened: PartScorer) -> Competitors:
        """The strongest competitors that all parts together have."""
        found = Competitors(self.bundle, self.method, opened.left, opened.right)
        for number in range(self.parts):
            left, right, gathered = read_gathered(self.folder, number)
            found.add(left, right, gathered.low)
        return found

    def _fingerprint(self, left: Table, right: Table) -> str:
        """Of all that the stored bytes depend on."""
        digest = Fingerprint()
        for file in sorted(self.bundle.path.rglob("*")):
            if file.is_file():
                digest.add_words(str(file.relative_to(self.bundle.path)), hashlib.sha256(file.read_bytes()).hexdigest())
        for table in (left, right):
            digest.add_table(table)
        digest.add_words(self.method, self.config.to_json(), *self.pairs.words)
        return digest.hexdigest()

    def _facts(self, opened: PartScorer) -> ScoredFacts:
        pairs = matches = spared = unasked = 0
        for number in range(self.parts):
            table = load_columns(self.folder.pairs_file(number), columns=["label", "asked", "bound"])
            pairs += len(table)
            matches += pc.sum(table.column("label")).as_py() or 0
            spared += pc.sum(table.column("bound")).as_py() or 0
            unasked += pc.sum(pc.equal(table.column("asked"), 0)).as_py() or 0
        _, method = self.bundle.method(self.method)
        return {
            "format": FORMAT,
            "run": self.bundle.facts["run"],
            "name": self.bundle.facts["name"],
            "method": self.method,
            "kept_iteration": method["iteration"],
            "labels_used": method["labels_used"],
            "fingerprint": read_json(self.folder.plan_file)["fingerprint"],
            "self_join": self.bundle.facts["self_join"],
            "attributes": list(opened.left.attributes),
            "pairs": pairs,
            "parts": self.parts,
            "part_pairs": self.config.part_pairs,
            "matches": int(matches),
            "spared": int(spared),
            "unasked": int(unasked),
            "records": {"left": len(opened.left), "right": len(opened.right)},
            "settings": dataclasses.asdict(self.config),
            "version": __version__,
        }


class _Progress:
    """How many pairs are gathered, told as a share where their number is known."""

    def __init__(self, tell: OnShare, pairs: int | None) -> None:
        self._tell, self._pairs, self._done = tell, pairs, 0

    def add(self, pairs: int) -> None:
        self._done += pairs
        share = self._done / self._pairs if self._pairs else 0.0
        self._tell(f"{self._done:,} pairs", READING + (FINISHING - READING) * min(1.0, share))


class _Spent:
    """What the other processes that score have needed so far, all together."""

    def __init__(self) -> None:
        self._last: dict[int, Done] = {}
        self.pairs = 0

    def add(self, done: Done | None) -> None:
        if done is not None:
            self.pairs += done.pairs
            if done.process != os.getpid():
                self._last[done.process] = done

    @property
    def peak_mb(self) -> float:
        return sum(one.peak_mb for one in self._last.values())

    @property
    def cpu_seconds(self) -> float:
        return sum(one.cpu_seconds for one in self._last.values())


def _in_order(work: Iterable[_Work], ahead: int) -> Iterator[tuple[int, Done | None]]:
    """The results in the order of the work, of which no more than `ahead` is under way: memory stays bounded."""
    waiting: deque[_Work] = deque()
    for one in work:
        waiting.append(one)
        while len(waiting) >= ahead:
            yield _result(*waiting.popleft())
    while waiting:
        yield _result(*waiting.popleft())


def _result(pairs: int, future: Future[Done] | None) -> tuple[int, Done | None]:
    return pairs, None if future is None else future.result()


def _ranking(bundle: Bundle, method: str) -> dict[str, Any]:
    return bundle.method(method)[1]["ranking"] or {}


def _own(path: Path) -> bool:
    """Whether a killed `begin` may have left it."""
    return path.name in ("records-left.parquet", "records-right.parquet", "bundle", ".bundle", "pairs-of-records")
