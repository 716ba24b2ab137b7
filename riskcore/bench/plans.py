"""Which cells a benchmark has: the paper's evaluation by default, or any part of it, on any folders of that format.

Cells come seed by seed, so that a benchmark that is cut off has whole seeds of all workloads. Slow matchers come
after the fast ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from riskcore.bench.cells import Cell
from riskcore.bench.workloads import Place, find, look
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
    return sorted(seeded, key=lambda cell: (kinds.index(cell.config.matcher.kind), cell.seed)), notices


def _places(bench: str, wish: Wish) -> tuple[dict[str, Place], list[str]]:
    if wish.workloads:
        return {name: find(wish.data, name, wish.attribute_map) for name in wish.workloads}, []
    found = {name: look(wish.data, name, wish.attribute_map) for name in DEFAULTS[bench]}
    lacking = [name for name, place in found.items() if place is None]
    places = {name: place for name, place in found.items() if place is not None}
    if not places:
        raise ConfigError(f"{wish.data} has none of {', '.join(lacking)}. Name others with --workload.")
    return places, [f"{', '.join(lacking)}: left out, their folders are not there."] if lacking else []


def _with_methods(config: RunConfig, bench: str, wish: Wish) -> RunConfig:
    methods = wish.methods or (METHODS if bench == SHIFT else _UNSHIFTED)
    if not wish.methods and config.matcher.kind in ("toy", "external"):
        methods = tuple(method for method in methods if method != "transfer")  # they have no gradient to reverse
    return dataclasses.replace(config, methods=methods)


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
            variant = split if fraction is None else _percent(fraction)
            yield Cell(SAME_SOURCE, name, variant, _part(config, split, fraction or 1.0))


def _training_parts(name: str, wish: Wish) -> list[tuple[str, float | None]]:
    """Splits or training fractions: what was asked for, or the paper's for this data set."""
    if wish.splits or (name in BY_SPLIT and not wish.fractions):
        return [(split, None) for split in wish.splits or SPLITS]
    return [(SPLIT, fraction) for fraction in wish.fractions or FRACTIONS]


def _validation_sizes(name: str, place: Place, wish: Wish, notices: list[str]) -> Iterator[Cell]:
    base = _located(wish.base, place)
    if place.target is None:
        fraction = wish.fractions[0] if wish.fractions else 0.1 if name in TENTHS else 1.0
        base = _part(base, wish.splits[0] if wish.splits else SPLIT, fraction)
    there = _validation_pairs(base)
    for config in _matchers(base, wish.matchers):
        for size in wish.sizes or SIZES:
            if size is not None and size >= there:
                notices.append(f"{name}: {size:,} validation pairs left out, there are {there:,}.")
                continue
            variant = f"{'all' if size is None else size} validation pairs"
            yield Cell(VALIDATION_SIZE, name, variant, dataclasses.replace(config, validation_size=size))


def _validation_pairs(config: RunConfig) -> int:
    from riskcore.runs.execute import load_data

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
