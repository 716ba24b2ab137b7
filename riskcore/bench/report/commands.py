"""The commands that reproduce the results of a report, all of them and no others."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from riskcore.bench.plan.ablations import ABLATIONS
from riskcore.bench.plan.methods import default_methods, in_order
from riskcore.bench.plan.plans import (
    DEFAULTS,
    DITTO_TOO,
    SAME_SOURCE,
    SHIFT,
    SIZES,
    SPLIT,
    VALIDATION_SIZE,
    usual_parts,
)
from riskcore.bench.plan.workloads import SYNONYMS
from riskcore.bench.run.schema import Document

Requested = tuple[tuple[str, ...], bool, int]  # methods, with ablations or not, number of seeds
Box = tuple[tuple[Any, ...], ...]  # values on each axis: a command runs all their combinations
_KNOWN_NAMES = {f"{a}={b}" for names in SYNONYMS for a, b in (names, names[::-1])}


def commands(bench: str, documents: Sequence[Document]) -> list[str]:
    """The commands of one benchmark; one for all workloads with the same options."""
    workloads: dict[str, list[str]] = {}
    for workload in dict.fromkeys(one["workload"] for one in documents):
        for options in _options(bench, workload, [one for one in documents if one["workload"] == workload]):
            workloads.setdefault(options, []).append(workload)
    return [f"{bench} --data DIR{_named(bench, some)} {options}" for options, some in workloads.items()]


def _named(bench: str, workloads: Sequence[str]) -> str:
    usual = set(workloads) == set(DEFAULTS[bench])
    return "" if usual else "".join(f" --workload {shlex.quote(workload)}" for workload in workloads)


def _options(bench: str, workload: str, documents: Sequence[Document]) -> list[str]:
    """The options of each command that a workload needs."""
    by_variant: dict[tuple[Any, ...], list[Document]] = {}
    for one in documents:
        by_variant.setdefault((*_point(bench, one), _map(one)), []).append(one)
    points: dict[tuple[Requested, tuple[str, ...], bool], list[tuple[Any, ...]]] = {}
    for (*point, renamed), some in by_variant.items():
        by_split = point[1] is None
        for requested in _requested(some):
            points.setdefault((requested, renamed, by_split), []).append(tuple(point))
    found = []
    for (requested, renamed, _), some_points in points.items():
        for box in _boxes(some_points):
            parts = [*renamed, *_seeds_and_methods(bench, requested), *_where(bench, workload, box)]
            found.append(" ".join([*parts, *(["--ablations"] if requested[1] else [])]))
    return found


def _point(bench: str, document: Document) -> tuple[Any, ...]:
    """Validation size, training fraction (None if only the split was given), split and matcher of a document."""
    kind, split = document["matcher"].removesuffix(" wide"), None if bench == SHIFT else document["split"]
    size = document["validation_size"] if bench == VALIDATION_SIZE else None
    only_split = split is None or (bench == SAME_SOURCE and document["variant"] == split)
    return (size, None if only_split else document["train_fraction"], split, kind)


def _map(document: Document) -> tuple[str, ...]:
    """The attribute names that have to be given, since Riskcore does not know them."""
    renamed = tuple(document["settings"].get("attribute_map", ()))
    return () if set(renamed) <= _KNOWN_NAMES else tuple(f"--map {shlex.quote(pair)}" for pair in renamed)


def _requested(documents: Sequence[Document]) -> list[Requested]:
    """Which results for how many seeds: some have fewer seeds than others."""
    by_seed = {one["seed"]: {(result["method"], result["ablation"]) for result in one["results"]} for one in documents}
    requests = []
    for entries in by_seed.values():
        seeds = 1 + max(seed for seed, there in by_seed.items() if there >= entries)
        requests.append((entries, seeds))
    needed = [one for one in requests if not any(one != other and _covers(other, one) for other in requests)]
    found = dict.fromkeys(
        (
            tuple(in_order(sorted(method for method, ablation in entries if ablation is None))),
            any(("risk", name) in entries for name in ABLATIONS),
            seeds,
        )
        for entries, seeds in needed
    )
    return sorted(found, key=lambda requested: -requested[-1])


def _covers(one: tuple[set[Any], int], other: tuple[set[Any], int]) -> bool:
    return one[0] >= other[0] and one[1] >= other[1]


def _boxes(points: Iterable[tuple[Any, ...]]) -> list[Box]:
    """A few boxes that contain exactly these points: neighbours are joined along one axis after the other."""
    boxes: list[Box] = [tuple((value,) for value in point) for point in dict.fromkeys(points)]
    for axis in range(len(boxes[0])):
        joined: dict[Box, list[Any]] = {}
        for box in boxes:
            joined.setdefault((*box[:axis], *box[axis + 1 :]), []).extend(box[axis])
        boxes = [(*rest[:axis], tuple(values), *rest[axis:]) for rest, values in joined.items()]
    return boxes


def _seeds_and_methods(bench: str, requested: Requested) -> list[str]:
    methods, _, seeds = requested
    usual = default_methods(is_shift=bench == SHIFT)
    return [f"--seeds {seeds}", *([] if methods == usual else [f"--methods {shlex.quote(','.join(methods))}"])]


def _where(bench: str, workload: str, box: Box) -> list[str]:
    """Matchers, splits, fractions and sizes that differ from the paper's."""
    sizes, fractions, splits, kinds = box
    found = []
    if set(kinds) != ({"hybrid", "ditto"} if bench == SAME_SOURCE and workload in DITTO_TOO else {"hybrid"}):
        found += [f"--matcher {shlex.quote(kind)}" for kind in sorted(kinds)]
    if splits != (None,) and {(a, b) for a in splits for b in fractions} != set(usual_parts(bench, workload)):
        by_fraction = bench == SAME_SOURCE and None not in fractions and splits == (SPLIT,)
        found += [] if by_fraction else [f"--split {split}" for split in sorted(splits)]
        found += [f"--fraction {fraction:g}" for fraction in sorted(one for one in fractions if one is not None)]
    if bench == VALIDATION_SIZE and set(sizes) != set(SIZES):
        found += [f"--size {'all' if size is None else size}" for size in sorted(sizes, key=_size)]
    return found


def _size(size: int | None) -> float:
    return float("inf") if size is None else size
