"""Turns two tables of records into candidate pairs, as a blocking step would, and writes the folder."""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from pathlib import Path
from random import Random

Pair = tuple[int, int]

SPLITS = {"train": 3, "valid": 1, "test": 1}


@dataclass(frozen=True)
class Record:
    """One row of a table. `entity` decides the label; `family` gathers what is easily confused."""

    entity: int
    family: int
    values: tuple[str, ...]

    @property
    def words(self) -> set[str]:
        """The words of the first attribute, which is what blocking looks at."""
        cleaned = "".join(letter if letter.isalnum() else " " for letter in self.values[0])
        return {word for word in cleaned.split() if len(word) > 2}


@dataclass(frozen=True)
class Mixture:
    """How many pairs of each kind: matches; confusable families; nearest by words; anything sharing a word."""

    matches: int
    family: int
    near: int
    loose: int


@dataclass(frozen=True)
class Workload:
    """Two tables and the labelled pairs between them."""

    columns: tuple[str, ...]
    left: list[Record]
    right: list[Record]
    pairs: dict[Pair, int]


def make_workload(
    rng: Random, columns: tuple[str, ...], left: list[Record], right: list[Record], mixture: Mixture
) -> Workload:
    """Choose the candidate pairs. A pair is taken once; its label is whether the entities are the same."""
    rng.shuffle(left)
    rng.shuffle(right)
    matches, family = [], []
    for a, b in sorted(_same_family(left, right)):
        (matches if left[a].entity == right[b].entity else family).append((a, b))
    near, loose = _by_shared_words(left, right)
    chosen = dict.fromkeys(_take(rng, matches, mixture.matches, {}), 1)
    for candidates, quota in ((family, mixture.family), (near, mixture.near), (loose, mixture.loose)):
        chosen |= dict.fromkeys(_take(rng, candidates, quota, chosen), 0)
    return Workload(columns, left, right, chosen)


def _same_family(left: list[Record], right: list[Record]) -> Iterable[Pair]:
    homes = defaultdict(list)
    for b, record in enumerate(right):
        homes[record.family].append(b)
    return [(a, b) for a, record in enumerate(left) for b in homes[record.family]]


def _by_shared_words(left: list[Record], right: list[Record]) -> tuple[list[Pair], list[Pair]]:
    """For each right record, the two left ones nearest by rare shared words; then all that share enough."""
    spread = Counter(word for record in left for word in record.words)
    posting = defaultdict(list)
    for a, record in enumerate(left):
        for word in record.words:
            posting[word].append(a)
    near, loose = [], []
    for b, record in enumerate(right):
        shared: Counter[int] = Counter()
        for word in sorted(record.words):  # sorted: the order of a sum decides its last bit
            for a in posting[word]:
                shared[a] += log(len(left) / spread[word])
        ranked = sorted(shared, key=lambda a: (-shared[a], a))
        others = [a for a in ranked if left[a].family != record.family]
        near += [(a, b) for a in others[:2]]
        loose += [(a, b) for a in others[2:30]]
    return near, loose


def _take(rng: Random, candidates: list[Pair], quota: int, chosen: dict[Pair, int]) -> list[Pair]:
    fresh = [pair for pair in candidates if pair not in chosen]
    if len(fresh) < quota:
        raise ValueError(f"{quota} pairs wanted, {len(fresh)} found: make larger tables")
    return rng.sample(fresh, quota)


def write(workload: Workload, folder: Path, rng: Random) -> None:
    """Write the five files; each split has the same share of matches."""
    folder.mkdir(parents=True, exist_ok=True)
    header = ("id", *workload.columns)
    for name, records in (("tableA", workload.left), ("tableB", workload.right)):
        _write_csv(folder / f"{name}.csv", header, [(index, *record.values) for index, record in enumerate(records)])
    for name, pairs in _split(workload.pairs, rng).items():
        rows = [(a, b, workload.pairs[a, b]) for a, b in pairs]
        _write_csv(folder / f"{name}.csv", ("ltable_id", "rtable_id", "label"), rows)


def _split(pairs: dict[Pair, int], rng: Random) -> dict[str, list[Pair]]:
    splits: dict[str, list[Pair]] = {name: [] for name in SPLITS}
    for label in (0, 1):
        members = [pair for pair in pairs if pairs[pair] == label]
        rng.shuffle(members)
        start = 0
        for name, share in SPLITS.items():
            size = len(members) * share // sum(SPLITS.values())
            splits[name] += members[start : start + size]
            start += size
    for members in splits.values():
        rng.shuffle(members)
    return splits


def _write_csv(path: Path, header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    # The line ending is fixed so that the files are the same on every system.
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
