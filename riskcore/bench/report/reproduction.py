"""How to reproduce the results of a report: commands, time and memory, hardware, versions, settings."""

from __future__ import annotations

import json
from collections.abc import Sequence

from riskcore.bench.plan.methods import in_order
from riskcore.bench.plan.plans import SAME_SOURCE, SHIFT, VALIDATION_SIZE
from riskcore.bench.report.cells_text import markdown_table
from riskcore.bench.report.commands import commands
from riskcore.bench.report.means import TITLES
from riskcore.bench.run.documents import is_current, was_resumed
from riskcore.bench.run.schema import Document, Hardware

# Settings that are options of the command, by benchmark.
_OPTIONS = {
    SHIFT: {"seed", "attribute_map", "matcher.kind"},
    SAME_SOURCE: {"seed", "matcher.kind", "split", "train_fraction"},
    VALIDATION_SIZE: {"seed", "attribute_map", "matcher.kind", "split", "train_fraction", "validation_size"},
}


def commands_text(documents: Sequence[Document]) -> str:
    """The commands that give these results."""
    by_bench = {bench: [one for one in documents if one["bench"] == bench] for bench in TITLES}
    needed = [command for bench, some in by_bench.items() for command in commands(bench, some)]
    text = "\n".join(f"    python -m riskcore bench {command}" for command in (*needed, "report --to docs/results.md"))
    return f"Seeds count from 0. DIR contains one folder per data set.\n\n{text}"


def cost_table(documents: Sequence[Document]) -> str:
    """Hours and memory of each benchmark, and how many cells have incomplete times."""
    rows = [_cost_row(bench, some) for bench in TITLES if (some := [one for one in documents if one["bench"] == bench])]
    table = markdown_table(
        ("benchmark", "cells", "hours of one core", "longest cell, minutes", "peak memory, MB"), rows
    )
    resumed = sum(was_resumed(one) for one in documents)
    incomplete = (
        f"{resumed:,} of {len(documents):,} cells were interrupted and resumed; their time before that is not counted."
    )
    text = "A cell is one workload, one variant of it and one seed, with the requested methods."
    return "\n\n".join((text, table, incomplete) if resumed else (text, table))


def _cost_row(bench: str, documents: Sequence[Document]) -> tuple[str, ...]:
    seconds = [one["seconds"]["total"] for one in documents]
    peak = max(one["peak_rss_mb"] for one in documents)
    return bench, str(len(documents)), f"{sum(seconds) / 3600:.1f}", f"{max(seconds) / 60:.0f}", f"{peak:,.0f}"


def made_with(documents: Sequence[Document]) -> str:
    """Hardware, versions, settings, and which results come from other code."""
    results = [result for one in documents for result in one["results"]]
    machines = dict.fromkeys(_machine(result["hardware"]) for result in results)
    libraries = dict.fromkeys(", ".join(f"{name} {v}" for name, v in result["versions"].items()) for result in results)
    lines_ = [
        "Hardware: " + "; ".join(machines) + ". Each cell ran on one thread, in a process of its own.",
        "Versions: " + "; ".join(libraries) + ".",
        "Settings: " + "; ".join(_all_settings(documents)) + ".",
    ]
    return "\n\n".join((*lines_, *_older(documents)))


def _older(documents: Sequence[Document]) -> list[str]:
    """Which results come from other code, by method."""
    cells: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for one in documents:
        older = in_order(result["method"] for result in one["results"] if not is_current(result))
        name = ", ".join(part for part in (one["workload"], one["variant"]) if part)
        if older:
            cells.setdefault(tuple(older), {}).setdefault(name, []).append(one["seed"])
    if not cells:
        return []
    if not any(is_current(result) for one in documents for result in one["results"]):
        return ["All results come from other code or libraries than those installed now."]
    lines_ = [
        f"- {', '.join(methods)}: " + "; ".join(f"{name} (seeds {_list(seeds)})" for name, seeds in some.items())
        for methods, some in cells.items()
    ]
    return ["These results come from other code or libraries than those installed now:", "\n".join(lines_)]


def _list(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(set(seeds))))


def _machine(found: Hardware) -> str:
    return f"{found['cpu']}, {found['cores']} cores, {found['memory_gb']:g} GB, {found['system']}"


def _all_settings(documents: Sequence[Document]) -> list[str]:
    """Each set of settings, with its workloads if there are several."""
    found: dict[str, dict[str, None]] = {}
    for one in documents:
        found.setdefault(_settings(one), {})[one["workload"]] = None
    if len(found) == 1:
        return list(found)
    return [f"{settings} ({', '.join(workloads)})" for settings, workloads in found.items()]


def _settings(document: Document) -> str:
    changed = {name: value for name, value in document["settings"].items() if name not in _OPTIONS[document["bench"]]}
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in changed.items()) or "the defaults"
