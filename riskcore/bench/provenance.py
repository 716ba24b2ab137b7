"""How the results of a report were made: commands, time and memory, hardware, versions, settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from riskcore.bench.documents import is_current, was_resumed
from riskcore.bench.markdown import grid
from riskcore.bench.means import TITLES
from riskcore.bench.plans import DEFAULTS, DITTO_TOO, SAME_SOURCE, SHIFT, SPLIT, VALIDATION_SIZE, usual_parts
from riskcore.bench.plans import METHODS as ALL

_TOLD_ELSEWHERE = (
    "seed",
    "attribute_map",
    "split",
    "train_fraction",
    "validation_size",
    "matcher.kind",
    "matcher.wide",
)
Documents = Sequence[dict[str, Any]]


def how(documents: Documents) -> str:
    """The commands that give these results."""
    by_bench = {bench: [one for one in documents if one["bench"] == bench] for bench in TITLES}
    commands = [command for bench, some in by_bench.items() for command in _commands(bench, some)]
    commands.append("report --to docs/results.md")
    told = "\n".join(f"    python -m riskcore bench {command}" for command in commands)
    return f"Seeds count from 0. DIR holds a folder for each data set.\n\n{told}"


def _commands(bench: str, documents: Documents) -> list[str]:
    """One for all workloads that were run with the same options."""
    by_workload: dict[str, list[dict[str, Any]]] = {}
    for one in documents:
        by_workload.setdefault(one["workload"], []).append(one)
    by_options: dict[str, list[str]] = {}
    for workload, some in by_workload.items():
        by_options.setdefault(" ".join(_options(bench, workload, some)), []).append(workload)
    return [f"{bench} --data DIR{_named(bench, workloads)} {options}" for options, workloads in by_options.items()]


def _named(bench: str, workloads: Sequence[str]) -> str:
    usual = set(workloads) == set(DEFAULTS[bench])
    return "" if usual else "".join(f" --workload {workload}" for workload in workloads)


def _options(bench: str, workload: str, documents: Documents) -> list[str]:
    """How many seeds, and what else is not the paper's."""
    found = [f"--seeds {max(one['seed'] for one in documents) + 1}"]
    methods = {result["method"] for one in documents for result in one["results"]}
    if methods != {method for method in ALL if bench == SHIFT or method != "transfer"}:
        found.append(f"--methods {','.join(method for method in ALL if method in methods)}")
    kinds = {one["matcher"].removesuffix(" wide") for one in documents}
    if kinds != ({"hybrid", "ditto"} if bench == SAME_SOURCE and workload in DITTO_TOO else {"hybrid"}):
        found += [f"--matcher {kind}" for kind in sorted(kinds)]
    found += _parts(bench, workload, documents) if documents[0]["split"] else []
    sizes = {one["validation_size"] for one in documents}
    if bench == VALIDATION_SIZE and None not in sizes:
        found += [f"--size {size}" for size in sorted(sizes)]
    ablated = any(result["ablation"] for one in documents for result in one["results"])
    return [*found, "--ablations"] if ablated else found


def _parts(bench: str, workload: str, documents: Documents) -> list[str]:
    """Splits and fractions, unless they are the paper's."""
    there = {(one["split"], one["train_fraction"]) for one in documents}
    if there == set(usual_parts(bench, workload)):
        return []
    splits, fractions = sorted({split for split, _ in there}), sorted({fraction for _, fraction in there})
    by_split = [f"--split {split}" for split in splits] if splits != [SPLIT] or fractions == [1.0] else []
    return by_split + ([f"--fraction {fraction:g}" for fraction in fractions] if fractions != [1.0] else [])


def cost(documents: Documents) -> str:
    """Hours and memory of each benchmark, and whether some of the hours are not known."""
    rows = [_cost(bench, some) for bench in TITLES if (some := [one for one in documents if one["bench"] == bench])]
    table = grid(("benchmark", "cells", "hours of one core", "longest cell, minutes", "peak memory, MB"), rows)
    resumed = sum(was_resumed(one) for one in documents)
    lacking = f"{resumed:,} of {len(documents):,} cells were cut off and resumed; what they took before is not counted."
    text = "A cell is one workload, one variant of it and one seed, with all methods."
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
    older = sum(not is_current(result) for result in results)
    lines_ = [
        "Hardware: " + "; ".join(machines) + ". Each cell ran on one thread, in a process of its own.",
        "Versions: " + "; ".join(kits) + ".",
        "Settings: " + "; ".join(_all_settings(documents)) + ".",
    ]
    if older:
        lines_.append(f"{older:,} of {len(results):,} results come from other code or libraries than are here now.")
    return "\n\n".join(lines_)


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
    told = {name: value for name, value in document["settings"].items() if name not in _TOLD_ELSEWHERE}
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in told.items()) or "the defaults"
