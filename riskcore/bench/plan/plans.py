"""Which cells a benchmark has: the paper's evaluation by default, or any part of it, on any folders of that format.

Cells come seed by seed, so that a benchmark that is cut off has whole seeds of all workloads. Slow matchers come
after the fast ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from riskcore.bench.plan.cells import Cell
from riskcore.bench.plan.workloads import Place, find, look
from riskcore.config import RunConfig
from riskcore.errors import ConfigError

SHIFT, SAME_SOURCE, VALIDATION_SIZE = "shift", "same-source", "validation-size"
SHIFTS = ("DA2DS", "DA2CORA", "CORA2DS", "CORA2DA", "DS2DA", "DS2CORA")
SAME_SOURCES = ("DS", "DA", "CORA", "AB", "IA", "MB20K")
VALIDATION_SIZES = ("DA2DS", "AB", "DA")
DEFAULTS = {SHIFT: SHIFTS, SAME_SOURCE: SAME_SOURCES, VALIDATION_SIZE: VALIDATION_SIZES}

FRACTIONS = (0.1, 0.3, 0.5, 0.7, 1.0)
SPLITS = ("6:2:2", "5:2:3", "4:2:4", "3:2:5", "2:2:6")
SPLIT = "2:2:6"
SIZES = (50, 100, 200, 500, 1000, None)
BY_SPLIT = ("AB",)  # too hard for a tenth of a fifth: the paper varies the split instead
TENTHS = ("DA", "MB20K")  # so easy that the paper varies validation size at a tenth of the training part
DITTO_TOO = ("AB", "IA")

METHODS = ("tradition", "transfer", "supervised", "self-training", "forest", "risk", "risk+")
_UNSHIFTED = tuple(method for method in METHODS if method != "transfer")  # nothing to transfer to


@dataclasses.dataclass(frozen=True)
class Wish:
    """What was asked for; empty means the paper's."""

    data: Path
    workloads: tuple[str, ...] = ()
    attribute_map: tuple[str, ...] = ()
    seeds: int = 5
    methods: tuple[str, ...] = ()
    matchers: tuple[str, ...] = ()
    fractions: tuple[float, ...] = ()
    splits: tuple[str, ...] = ()
    sizes: tuple[int | None, ...] = ()
    ablations: tuple[str, ...] = ()
    base: RunConfig = dataclasses.field(default_factory=RunConfig)


def plan(bench: str, wish: Wish) -> tuple[list[Cell], list[str]]:
    """The cells of a benchmark, and what is worth telling about them."""
    places, notices = _places(bench, wish)
    groups = [
        dataclasses.replace(cell, config=_with_methods(cell.config, bench, wish), ablations=wish.ablations)
        for name, place in places.items()
        for cell in _GROUPS[bench](name, place, wish, notices)
    ]
    kinds = list(dict.fromkeys(cell.config.matcher.kind for cell in groups))
    seeded = [
        dataclasses.replace(cell, config=dataclasses.replace(cell.config, seed=seed))
        for seed in range(wish.seeds)
        for cell in groups
    ]
    cells = list(dict.fromkeys(seeded))  # what was asked for twice is worked out once
    return sorted(cells, key=lambda cell: (kinds.index(cell.config.matcher.kind), cell.seed)), notices


def _places(bench: str, wish: Wish) -> tuple[dict[str, Place], list[str]]:
    if wish.workloads:
        names = [name.strip("/") for name in wish.workloads]  # a folder's name as the shell completes it
        return {name: find(wish.data, name, wish.attribute_map) for name in names}, []
    found = {name: look(wish.data, name, wish.attribute_map) for name in DEFAULTS[bench]}
    lacking = [name for name, place in found.items() if place is None]
    places = {name: place for name, place in found.items() if place is not None}
    if not places:
        raise ConfigError(f"{wish.data} has none of {', '.join(lacking)}. Name others with --workload.")
    return places, [f"{', '.join(lacking)}: left out, their folders are not there."] if lacking else []


def _with_methods(config: RunConfig, bench: str, wish: Wish) -> RunConfig:
    """The methods that a run with this matcher really works through, or its cell would never be finished."""
    from riskcore.training.experiment import methods_of

    methods = wish.methods or (METHODS if bench == SHIFT else _UNSHIFTED)
    if not wish.methods and config.matcher.kind == "toy":
        methods = tuple(method for method in methods if method != "transfer")  # it has no gradient to reverse
    config = dataclasses.replace(config, methods=methods)
    possible = methods_of(config)
    return dataclasses.replace(config, methods=tuple(method for method in methods if method in possible))


def _shifts(name: str, place: Place, wish: Wish, _: list[str]) -> Iterator[Cell]:
    if place.target is None:
        raise ConfigError(f"{name} is one data set; a shift needs two, such as DA2DS.")
    for config in _matchers(_located(wish.base, place), wish.matchers):
        yield Cell(SHIFT, name, "", config)


def _same_sources(name: str, place: Place, wish: Wish, _: list[str]) -> Iterator[Cell]:
    if place.target is not None:
        raise ConfigError(f"{name} is two data sets; a same-source benchmark needs one, such as DA.")
    base = _located(wish.base, place)
    matchers = wish.matchers or ((base.matcher.kind, "ditto") if name in DITTO_TOO else ())
    for config in _matchers(base, matchers):
        for split, fraction in _training_parts(name, wish):
            variant = split if fraction is None else _part_name(split, fraction)
            yield Cell(SAME_SOURCE, name, variant, _part(config, split, fraction or 1.0))


def _training_parts(name: str, wish: Wish) -> list[tuple[str, float | None]]:
    """Splits, training fractions or each with each: what was asked for, or the paper's for this data set."""
    if wish.fractions:
        return [(split, fraction) for split in wish.splits or (SPLIT,) for fraction in wish.fractions]
    return [(split, None) for split in wish.splits] or usual_parts(SAME_SOURCE, name)


def usual_parts(bench: str, name: str) -> list[tuple[str, float | None]]:
    """The paper's splits and training fractions for a data set; no fraction where it varies the split."""
    if bench == VALIDATION_SIZE:
        return [(SPLIT, 0.1 if name in TENTHS else 1.0)]
    return [(split, None) for split in SPLITS] if name in BY_SPLIT else [(SPLIT, fraction) for fraction in FRACTIONS]


def _part_name(split: str, fraction: float) -> str:
    """What is not usual of a training part: its share where the split is the paper's, or else the split too."""
    if split == SPLIT:
        return _percent(fraction)
    return split if fraction == 1 else f"{split}, {_percent(fraction)}"


def _validation_sizes(name: str, place: Place, wish: Wish, notices: list[str]) -> Iterator[Cell]:
    for part, base in _validation_bases(name, _located(wish.base, place), wish, notices):
        there, sizes = _validation_pairs(base), []
        for size in wish.sizes or SIZES:
            if size is not None and size >= there:
                told = ", ".join(one for one in (name, part) if one)
                notices.append(f"{told}: {size:,} validation pairs left out, there are {there:,}.")
            else:
                sizes.append(size)
        for config in _matchers(base, wish.matchers):
            for size in sizes:
                variant = f"{part}, " * bool(part) + f"{'all' if size is None else size} validation pairs"
                yield Cell(VALIDATION_SIZE, name, variant, dataclasses.replace(config, validation_size=size))


def _validation_bases(name: str, base: RunConfig, wish: Wish, notices: list[str]) -> Iterator[tuple[str, RunConfig]]:
    """Each training part to vary validation size at, by a name that is empty for the usual one."""
    if base.target is not None:
        if wish.splits or wish.fractions:
            notices.append(f"{name} is two data sets with parts of their own: --split and --fraction pass it by.")
        yield "", base
        return
    usual_split, usual_fraction = usual_parts(VALIDATION_SIZE, name)[0]
    for split in wish.splits or (usual_split,):
        for fraction in wish.fractions or (usual_fraction or 1.0,):
            part = "" if (split, fraction) == (usual_split, usual_fraction) else _part_name(split, fraction)
            yield part, _part(base, split, fraction)


def _validation_pairs(config: RunConfig) -> int:
    from riskcore.runs.worker.execute import load_data

    return len(load_data(config)[0].validation)


_GROUPS = {SHIFT: _shifts, SAME_SOURCE: _same_sources, VALIDATION_SIZE: _validation_sizes}


def _located(base: RunConfig, place: Place) -> RunConfig:
    target = None if place.target is None else str(place.target)
    return dataclasses.replace(base, source=str(place.source), target=target, attribute_map=place.attribute_map)


def _part(config: RunConfig, split: str, fraction: float) -> RunConfig:
    return dataclasses.replace(config, split=split, train_fraction=fraction)


def _matchers(config: RunConfig, kinds: Sequence[str]) -> Iterator[RunConfig]:
    for kind in kinds or (config.matcher.kind,):
        yield dataclasses.replace(config, matcher=dataclasses.replace(config.matcher, kind=kind))


def _percent(fraction: float) -> str:
    return f"{100 * fraction:g} %"
