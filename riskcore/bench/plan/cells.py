"""A cell: one workload, one variant of it, one seed. Its name, the results it should hold, where they lie."""

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
BEGUN = "cell.json"  # among the checkpoints: the cell that they are of
Entry = tuple[str, str | None]  # a method, and what was taken away from it


@dataclasses.dataclass(frozen=True)
class Cell:
    """Everything that a process of its own needs to know to work it out."""

    bench: str  # shift, same-source or validation-size
    workload: str  # such as DA2DS
    variant: str  # such as "10 %" or "2:2:6"; empty where there is but one
    config: RunConfig
    ablations: tuple[str, ...] = ()

    @property
    def matcher(self) -> str:
        return self.config.matcher.kind + (" wide" if self.config.matcher.wide else "")

    @property
    def seed(self) -> int:
        return self.config.seed

    @property
    def group(self) -> tuple[str, ...]:
        """What cells of different seeds have in common."""
        return (self.bench, self.workload, self.variant, self.matcher)

    @property
    def kin(self) -> tuple[str, ...]:
        """What cells that take about as long have in common: the same group, the same results to work out."""
        return (*self.group, *(self.phase_of(entry) for entry in self.entries))

    @staticmethod
    def phase_of(entry: Entry) -> str:
        """What the work on a result is called among a cell's seconds."""
        method, ablation = entry
        return method if ablation is None else f"{method} ({ablation})"

    @property
    def title(self) -> str:
        return ", ".join(part for part in (self.workload, self.variant, self.matcher, f"seed {self.seed}") if part)

    @property
    def name(self) -> str:
        """A file name: the same cell always has the same."""
        parts = (self.variant.replace("%", "percent"), self.matcher, f"seed{self.seed}")
        return ".".join((self.file_prefix, *(_plain(part) for part in parts if part)))

    @property
    def file_prefix(self) -> str:
        """The workload as the start of a file name; two workloads never share one."""
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
        """Where a cut-off cell left its work; other code or data start afresh."""
        made_from = hashlib.sha256("\0".join((self.to_json(), *stamps)).encode()).hexdigest()[:12]
        return out / CHECKPOINTS / self.bench / self.name / made_from

    def cut_off(self, out: Path, wanted: Iterable[Entry], *stamps: str) -> Cell | None:
        """A cell like this one that was cut off while it worked out at least these results; None if there is none."""
        for file in sorted((out / CHECKPOINTS / self.bench / self.name).glob(f"*/{BEGUN}")):
            try:
                begun = Cell.from_json(file.read_text(encoding="utf-8"))
            except (ValueError, KeyError, TypeError, ConfigError):  # torn, or of other settings: nothing to go on with
                continue
            here = begun.checkpoints(out, *stamps) == file.parent
            same = dataclasses.replace(begun.config, methods=self.config.methods) == self.config
            if here and same and set(begun.entries) >= set(wanted):
                return begun
        return None

    def only(self, wanted: Iterable[Entry]) -> Cell:
        """The same cell with nothing but these results to work out."""
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
