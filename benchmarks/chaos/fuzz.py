"""Spoilt inputs through the doors of users: refused in words or read, never a traceback and never over 2 GB."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from benchmarks.chaos.inputs import Input, inputs_of, write_sound
from benchmarks.chaos.limited import CRASHED, FINE, REFUSED, SLOW, TOO_LARGE, TRACEBACK, Answer, Limited
from benchmarks.chaos.site import Figure, Site

BAR = 10_000
SHOWN = 12  # failures that are told


class Tally:
    """What became of the inputs of one child process."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.failures: list[str] = []
        self.megabytes = 0

    def add(self, number: int, kind: Input, answer: Answer) -> None:
        self.kinds[answer.kind] += 1
        if answer.kind not in (FINE, REFUSED):
            self.failures.append(f"input {number}, {kind.name}: {answer.kind}\n{answer.words}")


def fuzzed_inputs(site: Site) -> list[Figure]:
    """The same number of inputs of each kind; input `n` is the same for every number of processes."""
    kinds, workers = inputs_of(site), site.sizes.workers
    with ThreadPoolExecutor(workers) as pool:
        tallies = list(pool.map(lambda one: _part(site, kinds, one, workers), range(workers)))
    counts = sum((one.kinds for one in tallies), Counter[str]())
    failures = [failure for one in tallies for failure in one.failures]
    bad = {name: counts[name] for name in (TRACEBACK, TOO_LARGE, CRASHED, SLOW)}
    said = ", ".join(f"{count:,} {name}" for name, count in bad.items())
    peak = max(one.megabytes for one in tallies)
    return [
        Figure(
            "Spoilt inputs",
            f"{counts.total():,} files and texts of {len(kinds)} kinds",
            f"{said}; {counts[REFUSED]:,} refused in words, {counts[FINE]:,} read; at most {peak:,} MB",
            f"{BAR:,}; 0 tracebacks, 0 over 2 GB",
            not any(bad.values()) and counts.total() >= min(BAR, site.sizes.inputs),
            tuple(failures[:SHOWN]),
        )
    ]


def _part(site: Site, kinds: list[Input], first: int, step: int) -> Tally:
    tally, place = Tally(), site.folder(f"fuzz-{first}")
    write_sound(site, place)
    with Limited(place) as child:
        for number in range(first, site.sizes.inputs, step):
            if site.over:
                break
            kind = kinds[number % len(kinds)]
            chance = site.chance("input", number)
            sound = chance.choice(kind.sound)
            file = place / kind.file
            file.write_bytes(chance.choice(kind.how)(sound, chance))
            path = file.parent if file.parent != place else file
            tally.add(number, kind, child.ask(kind.door, str(path), *kind.more))
            file.write_bytes(sound)
        tally.megabytes = int(child.ask("peak_megabytes").value)
    return tally
