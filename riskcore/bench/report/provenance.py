"""How the results of a report were made: commands, time and memory, hardware, versions, settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from riskcore.bench.plan.plans import METHODS, SAME_SOURCE, SHIFT, VALIDATION_SIZE
from riskcore.bench.report.commands import commands
from riskcore.bench.report.markdown import grid
from riskcore.bench.report.means import TITLES
from riskcore.bench.run.documents import is_current, was_resumed

# Settings that a command says, by benchmark.
_TOLD = {
    SHIFT: {"seed", "attribute_map", "matcher.kind"},
    SAME_SOURCE: {"seed", "matcher.kind", "split", "train_fraction"},
    VALIDATION_SIZE: {"seed", "attribute_map", "matcher.kind", "split", "train_fraction", "validation_size"},
}
Documents = Sequence[dict[str, Any]]


def how(documents: Documents) -> str:
    """The commands that give these results."""
    by_bench = {bench: [one for one in documents if one["bench"] == bench] for bench in TITLES}
    asked = [command for bench, some in by_bench.items() for command in commands(bench, some)]
    told = "\n".join(f"    python -m riskcore bench {command}" for command in (*asked, "report --to docs/results.md"))
    return f"Seeds count from 0. DIR holds a folder for each data set.\n\n{told}"


def cost(documents: Documents) -> str:
    """Hours and memory of each benchmark, and whether some of the hours are not known."""
    rows = [_cost(bench, some) for bench in TITLES if (some := [one for one in documents if one["bench"] == bench])]
    table = grid(("benchmark", "cells", "hours of one core", "longest cell, minutes", "peak memory, MB"), rows)
    resumed = sum(was_resumed(one) for one in documents)
    lacking = f"{resumed:,} of {len(documents):,} cells were cut off and resumed; what they took before is not counted."
    text = "A cell is one workload, one variant of it and one seed, with the methods asked for."
    return "\n\n".join((text, table, lacking) if resumed else (text, table))


def _cost(bench: str, documents: Documents) -> tuple[str, ...]:
    seconds = [one["seconds"]["total"] for one in documents]
    peak = max(one["peak_rss_mb"] for one in documents)
    return bench, str(len(documents)), f"{sum(seconds) / 3600:.1f}", f"{max(seconds) / 60:.0f}", f"{peak:,.0f}"


def made_with(documents: Documents) -> str:
    """Hardware, versions, settings, and whether all of it is this code's."""
    results = [result for one in documents for result in one["results"]]
    machines = dict.fromkeys(_machine(result["hardware"]) for result in results)
    kits = dict.fromkeys(", ".join(f"{name} {v}" for name, v in result["versions"].items()) for result in results)
    lines_ = [
        "Hardware: " + "; ".join(machines) + ". Each cell ran on one thread, in a process of its own.",
        "Versions: " + "; ".join(kits) + ".",
        "Settings: " + "; ".join(_all_settings(documents)) + ".",
    ]
    return "\n\n".join((*lines_, *_older(documents)))


def _older(documents: Documents) -> list[str]:
    """Which results come from other code, by the methods that cells have of them."""
    cells: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for one in documents:
        older = {result["method"] for result in one["results"] if not is_current(result)}
        name = ", ".join(part for part in (one["workload"], one["variant"]) if part)
        if older:
            methods = tuple(method for method in METHODS if method in older)
            cells.setdefault(methods, {}).setdefault(name, []).append(one["seed"])
    if not cells:
        return []
    if not any(is_current(result) for one in documents for result in one["results"]):
        return ["All results come from other code or libraries than are here now."]
    lines_ = [
        f"- {', '.join(methods)}: " + "; ".join(f"{name} (seeds {_list(seeds)})" for name, seeds in some.items())
        for methods, some in cells.items()
    ]
    return ["These results come from other code or libraries than are here now:", "\n".join(lines_)]


def _list(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(set(seeds))))


def _machine(found: dict[str, Any]) -> str:
    return f"{found['cpu']}, {found['cores']} cores, {found['memory_gb']:g} GB, {found['system']}"


def _all_settings(documents: Documents) -> list[str]:
    """Each set of settings; which workloads had it, where there are several."""
    found: dict[str, dict[str, None]] = {}
    for one in documents:
        found.setdefault(_settings(one), {})[one["workload"]] = None
    if len(found) == 1:
        return list(found)
    return [f"{settings} ({', '.join(workloads)})" for settings, workloads in found.items()]


def _settings(document: dict[str, Any]) -> str:
    told = {name: value for name, value in document["settings"].items() if name not in _TOLD[document["bench"]]}
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in told.items()) or "the defaults"
