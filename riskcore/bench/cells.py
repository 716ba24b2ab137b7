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

CELLS, LOGS, CHECKPOINTS = "cells", "logs", "checkpoints"
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
    def title(self) -> str:
        return ", ".join(part for part in (self.workload, self.variant, self.matcher, f"seed {self.seed}") if part)

    @property
    def name(self) -> str:
        """A file name: the same cell always has the same."""
        parts = (self.workload, self.variant.replace("%", "percent"), self.matcher, f"seed{self.seed}")
        return ".".join(re.sub(r"[^\w-]+", "-", part).strip("-") for part in parts if part)

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
        """Where a cut-off cell left its work; other wishes, code or data start afresh."""
        made_from = hashlib.sha256("\0".join((self.to_json(), *stamps)).encode()).hexdigest()[:12]
        return out / CHECKPOINTS / self.bench / self.name / made_from

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
