"""What a result was made from: settings, data, code, library versions; and on what machine.

A result is valid while the first four are the same. The machine is recorded, not compared.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
from functools import cache
from pathlib import Path
from typing import Any

from riskcore.bench.run.schema import Hardware
from riskcore.config import Config, RunConfig
from riskcore.provenance import code_stamp, named_hash, short_hash

_SCORING = ("evaluation/scores.py", "evaluation/truth_scorer.py")
_ABLATIONS = "bench/plan/ablations.py"
_NOT_SETTINGS = ("source", "target", "methods", "engine")  # where the data is, what is requested, and the machine


def settings_stamp(config: RunConfig) -> str:
    """A hash of all settings that a method's result depends on."""
    settings = dataclasses.asdict(config)
    for name in _NOT_SETTINGS:
        settings.pop(name)
    return short_hash(json.dumps(settings, sort_keys=True).encode())


def shared_stamp(config: RunConfig) -> str:
    """The same for all seeds: results may be averaged only where it agrees."""
    return settings_stamp(dataclasses.replace(config, seed=0))


def restored(changed: dict[str, Any]) -> RunConfig:
    """The settings that `changed_settings` recorded, if the defaults are still the same."""
    values: dict[str, Any] = {}
    for name, value in changed.items():
        *outer, last = name.split(".")
        group = values
        for part in outer:
            group = group.setdefault(part, {})
        group[last] = value
    return RunConfig.from_stored(values)


def data_stamp(config: RunConfig) -> str:
    """A hash of the files of source and target, wherever they are."""
    paths = [Path(path) for path in (config.source, config.target) if path]
    return short_hash("".join(_files_hash(path.resolve()) for path in paths).encode())


def result_stamp(ablation: str | None) -> str:
    """A hash of the code that a result depends on; that of an ablation also depends on what the ablation removes."""
    return code_stamp(*_SCORING, *(() if ablation is None else (_ABLATIONS,)))


@cache
def hardware() -> Hardware:
    """The machine, as a report names it."""
    cpu = platform.processor() or platform.machine()
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        cpu = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_gb": round(memory, 1), "system": platform.system()}


def changed_settings(config: Config, default: Config | None = None) -> dict[str, Any]:
    """The settings that differ from the defaults, by dotted name."""
    default = default or type(config)()
    found: dict[str, Any] = {}
    for field in dataclasses.fields(config):
        value, usual = getattr(config, field.name), getattr(default, field.name)
        if isinstance(value, Config):
            found |= {f"{field.name}.{name}": one for name, one in changed_settings(value, usual).items()}
        elif value != usual and field.name not in _NOT_SETTINGS:
            found[field.name] = value
    return found


@cache
def _files_hash(path: Path) -> str:
    files = sorted(path.glob("*.csv")) + sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    return short_hash(b"\0".join(named_hash(file, path) for file in files if file.is_file()))
