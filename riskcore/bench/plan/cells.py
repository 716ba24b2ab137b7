"""A cell: one workload, one variant of it, one seed. Its name, the results it should hold, and their files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from riskcore.config import RunConfig
from riskcore.errors import ConfigError

CELLS, LOGS, CHECKPOINTS = "cells", "logs", "checkpoints"
BEGUN = "cell.json"  # in the folder of checkpoints: the cell that they belong to
Entry = tuple[str, str | None]  # a method, and the ablation if there is one
CellGroup = tuple[str, ...]  # what cells of different seeds have in common
CostGroup = tuple[str, ...]  # what cells that take about the same time have in common


@dataclasses.dataclass(frozen=True)
class Cell:
    """Everything that a worker process needs to know to run it."""

    bench: str  # shift, same-source or validation-size
    workload: str  # such as DA2DS
    variant: str  # such as "10 %" or "2:2:6"; empty if there is only one
    config: RunConfig
    ablations: tuple[str, ...] = ()

    @property
    def matcher(self) -> str:
        return self.config.matcher.kind + (" wide" if self.config.matcher.wide else "")

    @property
    def seed(self) -> int:
        return self.config.seed

    @property
    def group(self) -> CellGroup:
        """What cells of different seeds have in common."""
        return (self.bench, self.workload, self.variant, self.matcher)

    @property
    def cost_group(self) -> CostGroup:
        """What cells that take about the same time have in common: the group and the results to make."""
        return (*self.group, *(self.phase_of(entry) for entry in self.entries))

    @staticmethod
    def phase_of(entry: Entry) -> str:
        """The name of a result in a cell's table of seconds."""
        method, ablation = entry
        return method if ablation is None else f"{method} ({ablation})"

    @property
    def title(self) -> str:
        return ", ".join(part for part in (self.workload, self.variant, self.matcher, f"seed {self.seed}") if part)

    @property
    def name(self) -> str:
        """A file name, always the same for the same cell."""
        parts = (self.variant.replace("%", "percent"), self.matcher, f"seed{self.seed}")
        return ".".join((self.file_prefix, *(_plain(part) for part in parts if part)))

    @property
    def file_prefix(self) -> str:
        """The start of the file name, unique to the workload."""
        plain = _plain(self.workload)
        if plain == self.workload:
            return plain
        return f"{plain}-{hashlib.sha256(self.workload.encode()).hexdigest()[:6]}"

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The results that the cell should hold."""
        methods = dict.fromkeys(("tradition", *self.config.methods))
        return (*((method, None) for method in methods), *(("risk", ablation) for ablation in self.ablations))

    def file(self, out: Path) -> Path:
        return out / CELLS / self.bench / f"{self.name}.json"

    def log(self, out: Path) -> Path:
        return out / LOGS / self.bench / f"{self.name}.log"

    def checkpoints(self, out: Path, *stamps: str) -> Path:
        """Where an interrupted cell keeps its work; other code or data get a folder of their own."""
        made_from = hashlib.sha256("\0".join((self.to_json(), *stamps)).encode()).hexdigest()[:12]
        return out / CHECKPOINTS / self.bench / self.name / made_from

    def interrupted(self, out: Path, wanted: Iterable[Entry], *stamps: str) -> Cell | None:
        """A cell like this one that was interrupted while it made at least these results; None if there is none."""
        for file in sorted((out / CHECKPOINTS / self.bench / self.name).glob(f"*/{BEGUN}")):
            try:
                begun = Cell.from_json(file.read_text(encoding="utf-8"))
            except (ValueError, KeyError, TypeError, ConfigError):  # damaged, or of other settings: nothing to resume
                continue
            is_current = begun.checkpoints(out, *stamps) == file.parent
            is_same = dataclasses.replace(begun.config, methods=self.config.methods) == self.config
            if is_current and is_same and set(begun.entries) >= set(wanted):
                return begun
        return None

    def only(self, wanted: Iterable[Entry]) -> Cell:
        """The same cell with only these results to make."""
        wanted = list(wanted)
        methods = tuple(method for method, ablation in wanted if ablation is None) or ("tradition",)
        ablations = tuple(ablation for _, ablation in wanted if ablation is not None)
        return dataclasses.replace(self, config=dataclasses.replace(self.config, methods=methods), ablations=ablations)

    def to_json(self) -> str:
        return json.dumps({**dataclasses.asdict(self), "config": json.loads(self.config.to_json())})

    @classmethod
    def from_json(cls, text: str) -> Cell:
        saved: dict[str, Any] = json.loads(text)
        config, ablations = RunConfig.from_dict(saved.pop("config")), tuple(saved.pop("ablations"))
        return cls(**saved, config=config, ablations=ablations)


def _plain(part: str) -> str:
    return re.sub(r"[^\w-]+", "-", part).strip("-")
