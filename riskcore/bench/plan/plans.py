"""Which cells a benchmark has: the paper's evaluation by default, or any part of it, on any folders of that format.

Cells are ordered by seed, so that an interrupted benchmark has complete seeds of all workloads. Slow matchers come
last.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from riskcore.bench.plan.cells import Cell
from riskcore.bench.plan.methods import default_methods
from riskcore.bench.plan.workloads import DataLocation, find_workload, workload_or_none
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
BY_SPLIT = ("AB",)  # too hard for 10 % of a fifth of the pairs: the paper varies the split instead
TENTHS = ("DA", "MB20K")  # so easy that the paper varies the validation size at 10 % of the training part
DITTO_TOO = ("AB", "IA")


@dataclasses.dataclass(frozen=True)
class BenchRequest:
    """What was requested; an empty field means the paper's choice."""

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


def plan(bench: str, request: BenchRequest) -> tuple[list[Cell], list[str]]:
    """The cells of a benchmark, and notices for the user."""
    locations, notices = _locations(bench, request)
    groups = [
        dataclasses.replace(cell, config=_with_methods(cell.config, bench, request), ablations=request.ablations)
        for name, location in locations.items()
        for cell in _GROUPS[bench](name, location, request, notices)
    ]
    kinds = list(dict.fromkeys(cell.config.matcher.kind for cell in groups))
    seeded = [
        dataclasses.replace(cell, config=dataclasses.replace(cell.config, seed=seed))
        for seed in range(request.seeds)
        for cell in groups
    ]
    cells = list(dict.fromkeys(seeded))  # a cell that was requested twice runs once
    return sorted(cells, key=lambda cell: (kinds.index(cell.config.matcher.kind), cell.seed)), notices


def _locations(bench: str, request: BenchRequest) -> tuple[dict[str, DataLocation], list[str]]:
    if request.workloads:
        names = [name.strip("/") for name in request.workloads]  # the shell completes a folder's name with a slash
        return {name: find_workload(request.data, name, request.attribute_map) for name in names}, []
    found = {name: workload_or_none(request.data, name, request.attribute_map) for name in DEFAULTS[bench]}
    lacking = [name for name, location in found.items() if location is None]
    locations = {name: location for name, location in found.items() if location is not None}
    if not locations:
        raise ConfigError(f"{request.data} has none of {', '.join(lacking)}. Name other workloads with --workload.")
    return locations, [f"{', '.join(lacking)}: left out, their folders are missing."] if lacking else []


def _with_methods(config: RunConfig, bench: str, request: BenchRequest) -> RunConfig:
    """The methods that a run with this matcher can use; with others its cell would never be complete."""
    from riskcore.training.experiment import methods_of

    methods = request.methods or default_methods(is_shift=bench == SHIFT)
    if not request.methods and config.matcher.kind == "toy":
        methods = tuple(method for method in methods if method != "transfer")  # it has no gradient to reverse
    config = dataclasses.replace(config, methods=methods)
    possible = methods_of(config)
    return dataclasses.replace(config, methods=tuple(method for method in methods if method in possible))


def _shifts(name: str, location: DataLocation, request: BenchRequest, _: list[str]) -> Iterator[Cell]:
    if location.target is None:
        raise ConfigError(f"{name} is one data set; `bench shift` needs two, such as DA2DS.")
    for config in _matchers(_located(request.base, location), request.matchers):
        yield Cell(SHIFT, name, "", config)


def _same_sources(name: str, location: DataLocation, request: BenchRequest, _: list[str]) -> Iterator[Cell]:
    if location.target is not None:
        raise ConfigError(f"{name} is two data sets; `bench same-source` needs one, such as DA.")
    base = _located(request.base, location)
    matchers = request.matchers or ((base.matcher.kind, "ditto") if name in DITTO_TOO else ())
    for config in _matchers(base, matchers):
        for split, fraction in _training_parts(name, request):
            variant = split if fraction is None else _part_name(split, fraction)
            yield Cell(SAME_SOURCE, name, variant, _part(config, split, fraction or 1.0))


def _training_parts(name: str, request: BenchRequest) -> list[tuple[str, float | None]]:
    """Splits, training fractions or their combinations, as requested or as in the paper."""
    if request.fractions:
        return [(split, fraction) for split in request.splits or (SPLIT,) for fraction in request.fractions]
    return [(split, None) for split in request.splits] or usual_parts(SAME_SOURCE, name)


def usual_parts(bench: str, name: str) -> list[tuple[str, float | None]]:
    """The paper's splits and training fractions for a data set; no fraction if the paper varies the split."""
    if bench == VALIDATION_SIZE:
        return [(SPLIT, 0.1 if name in TENTHS else 1.0)]
    return [(split, None) for split in SPLITS] if name in BY_SPLIT else [(SPLIT, fraction) for fraction in FRACTIONS]


def _part_name(split: str, fraction: float) -> str:
    """The fraction of a training part, preceded by the split unless that is the paper's."""
    if split == SPLIT:
        return _percent(fraction)
    return split if fraction == 1 else f"{split}, {_percent(fraction)}"


def _validation_sizes(name: str, location: DataLocation, request: BenchRequest, notices: list[str]) -> Iterator[Cell]:
    for part, base in _validation_bases(name, _located(request.base, location), request, notices):
        available, sizes = _validation_pairs(base), []
        for size in request.sizes or SIZES:
            if size is not None and size >= available:
                title = ", ".join(one for one in (name, part) if one)
                notices.append(f"{title}: {size:,} validation pairs left out, there are {available:,}.")
            else:
                sizes.append(size)
        for config in _matchers(base, request.matchers):
            for size in sizes:
                variant = f"{part}, " * bool(part) + f"{'all' if size is None else size} validation pairs"
                yield Cell(VALIDATION_SIZE, name, variant, dataclasses.replace(config, validation_size=size))


def _validation_bases(
    name: str, base: RunConfig, request: BenchRequest, notices: list[str]
) -> Iterator[tuple[str, RunConfig]]:
    """Each training part at which validation size is varied, and its name, which is empty for the usual one."""
    if base.target is not None:
        if request.splits or request.fractions:
            notices.append(f"{name} has a target with its own parts: --split and --fraction are ignored for it.")
        yield "", base
        return
    usual_split, usual_fraction = usual_parts(VALIDATION_SIZE, name)[0]
    for split in request.splits or (usual_split,):
        for fraction in request.fractions or (usual_fraction or 1.0,):
            part = "" if (split, fraction) == (usual_split, usual_fraction) else _part_name(split, fraction)
            yield part, _part(base, split, fraction)


def _validation_pairs(config: RunConfig) -> int:
    from riskcore.runs.worker.execute import load_data

    return len(load_data(config)[0].validation)


_GROUPS = {SHIFT: _shifts, SAME_SOURCE: _same_sources, VALIDATION_SIZE: _validation_sizes}


def _located(base: RunConfig, location: DataLocation) -> RunConfig:
    target = None if location.target is None else str(location.target)
    return dataclasses.replace(base, source=str(location.source), target=target, attribute_map=location.attribute_map)


def _part(config: RunConfig, split: str, fraction: float) -> RunConfig:
    return dataclasses.replace(config, split=split, train_fraction=fraction)


def _matchers(config: RunConfig, kinds: Sequence[str]) -> Iterator[RunConfig]:
    for kind in kinds or (config.matcher.kind,):
        yield dataclasses.replace(config, matcher=dataclasses.replace(config.matcher, kind=kind))


def _percent(fraction: float) -> str:
    return f"{100 * fraction:g} %"
