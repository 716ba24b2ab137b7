"""Damaged run folders: a bit flipped, a file cut, exchanged or removed. Noticed means an error that names the file.

The readers of screens and exports are asked first, then `riskcore runs check`. What neither notices is counted by
whether the answers differ from those of the sound run: then they are wrong, and nobody was told.
"""

from __future__ import annotations

import dataclasses
import random
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.chaos.limited import FINE, REFUSED, Answer, Limited
from benchmarks.chaos.site import Figure, Site, share

# Not results: the log of the worker, and files that lock.
LEFT_OUT = ("worker.log", "worker.lock", ".lock", ".verdicts.jsonl.lock")
READERS, CHECK, BADLY, WRONG, UNSEEN = "by a reader", "by the check", "not in words", "wrong answers", "no difference"
NONE_WRONG = "0 wrong answers, 0 not in words"
SHOWN = 12
Damage = Callable[[Path, Sequence[Path], random.Random], None]


def flip(file: Path, others: Sequence[Path], chance: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def cut(file: Path, others: Sequence[Path], chance: random.Random) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: chance.randrange(len(content))])


def exchange(file: Path, others: Sequence[Path], chance: random.Random) -> None:
    """By another file with the same ending, as a careless restore does."""
    same = [one for one in others if one.suffix == file.suffix and one.read_bytes() != file.read_bytes()]
    file.write_bytes(chance.choice(same).read_bytes()) if same else cut(file, others, chance)


def remove(file: Path, others: Sequence[Path], chance: random.Random) -> None:
    file.unlink()


@dataclasses.dataclass
class _Copy:
    """A copy of the store, its files, and what a sound run answers."""

    folder: Path
    out: Path
    child: Limited
    files: list[Path] = dataclasses.field(default_factory=list)
    sound: Answer = dataclasses.field(default_factory=lambda: Answer(""))

    def __post_init__(self) -> None:
        inside = (file for file in self.folder.rglob("*") if file.is_file() and file.stat().st_size)
        self.files = sorted(file for file in inside if file.name not in LEFT_OUT)
        self.sound = self.child.ask("read_run", str(self.folder), str(self.out))
        if self.sound.kind != FINE or self._checked().kind != FINE:
            raise RuntimeError(f"The sound run cannot be read: {self.sound.words or self._checked().words}")

    def try_out(self, damage: Damage, chance: random.Random) -> tuple[str, str]:
        """What became of one damage, and the file."""
        file = chance.choice(self.files)
        before = file.read_bytes()
        damage(file, self.files, chance)
        try:
            return self._noticed(file), str(file.relative_to(self.folder))
        finally:
            file.write_bytes(before)

    def _noticed(self, file: Path) -> str:
        found = self.child.ask("read_run", str(self.folder), str(self.out))
        if found.kind == REFUSED and file.name in found.words:
            return READERS
        checked = self._checked()
        if checked.kind == REFUSED and file.name in checked.words:
            return CHECK
        if found.kind != FINE:
            return BADLY
        return UNSEEN if found.value == self.sound.value else WRONG

    def _checked(self) -> Answer:
        answer = self.child.ask("check_run", str(self.folder.parent), self.folder.name)
        if answer.kind != FINE or answer.value[0] in (-1, 0):
            return answer
        return Answer(REFUSED, answer.value[1])


def bit_flips(site: Site) -> list[Figure]:
    """A bit flipped in any file of a run."""
    return [_figure(site, "Bit flips in a run folder", (flip,), site.sizes.flips, "100 % noticed")]


def spoilt_folders(site: Site) -> list[Figure]:
    """Files cut, exchanged for others, and removed."""
    return [_figure(site, "Files cut, exchanged, removed", (cut, exchange, remove), site.sizes.spoilt, NONE_WRONG)]


def _figure(site: Site, name: str, damages: Sequence[Damage], count: int, bar: str) -> Figure:
    workers = site.sizes.workers
    original = site.finished.path  # made before the threads begin
    shares = [range(one, count, workers) for one in range(workers)]
    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(lambda numbers: _part(site, name, damages, numbers, original), shares))
    found = [one for part in parts for one in part]
    counts = Counter(kind for kind, _, _ in found)
    noticed = counts[READERS] + counts[CHECK]
    missed = [f"{how}, {file}: {kind}" for kind, file, how in found if kind not in (READERS, CHECK)]
    rest = ", ".join(f"{counts[kind]:,} {kind}" for kind in (WRONG, UNSEEN, BADLY))
    return Figure(
        name,
        f"{len(found):,} in {len({file for _, file, _ in found})} files",
        f"{share(noticed, len(found))} noticed: {counts[READERS]:,} {READERS}, {counts[CHECK]:,} {CHECK}; "
        f"not noticed: {rest}",
        bar,
        (not (counts[WRONG] or counts[BADLY]) if bar == NONE_WRONG else noticed == len(found)) and len(found) == count,
        tuple(missed[:SHOWN]),
    )


def _part(
    site: Site, name: str, damages: Sequence[Damage], numbers: range, original: Path
) -> list[tuple[str, str, str]]:
    place = site.folder(f"{name}-{numbers.start}")
    shutil.copytree(original.parent, place / "runs")
    found = []
    with Limited(place) as child:
        copy = _Copy(place / "runs" / original.name, place, child)
        for number in numbers:
            if site.over:
                break
            damage = damages[number % len(damages)]
            found.append((*copy.try_out(damage, site.chance(name, number)), damage.__name__))
    return found
