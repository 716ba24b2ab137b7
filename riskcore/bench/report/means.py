"""The summary of a benchmark, arranged for reading: groups of cells in the paper's order, methods side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from riskcore.bench.plan.plans import DEFAULTS, METHODS, SPLITS
from riskcore.bench.report.differences import against
from riskcore.bench.run.averaging import GROUP, STAMPS
from riskcore.bench.run.tables import Row, long_rows, summary

TITLES = {"shift": "Distribution shift", "same-source": "Same source", "validation-size": "Validation size"}
Key = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Group:
    """One workload and variant: the mean row of each method, and of `risk` without a part."""

    head: Row  # bench, workload, variant, matcher, split, train_fraction, validation_size
    methods: dict[str, Row]
    ablations: dict[str, Row]

    @property
    def workload(self) -> str:
        return str(self.head["workload"])

    @property
    def line(self) -> str:
        """What cells that differ in their variant only have in common: a line of a figure, a table of a page."""
        share = self.head["train_fraction"]
        parts = [self.workload]
        if self.head["bench"] == "validation-size" and self.head["split"]:
            parts.append(str(self.head["split"]) + (f", {100 * share:g} %" if share < 1 else ""))
        return " ".join(parts) + ("" if self.head["matcher"] == "hybrid" else f" ({self.head['matcher']})")

    @property
    def row(self) -> str:
        """What tells it from the others of its line."""
        if self.head["bench"] != "validation-size":
            return str(self.head["variant"])
        size = self.head["validation_size"]
        return f"{'all' if size is None else format(size, ',')} validation pairs"

    @property
    def seeds(self) -> int:
        """How many stand behind its means; a method may have fewer, and an ablation."""
        return max(int(row["seeds"]) for row in (*self.methods.values(), *self.ablations.values()))

    @property
    def method_seeds(self) -> int:
        """The most that any method has."""
        return max((int(row["seeds"]) for row in self.methods.values()), default=0)

    @property
    def is_ablated(self) -> bool:
        """Whether there is something to say of what a part taken away changes."""
        return any(against(row, self.methods.get("risk")) is not None for row in self.ablations.values())

    @property
    def name(self) -> str:
        return ", ".join(part for part in (self.line, self.row) if part)


def grouped(documents: Sequence[dict[str, Any]], bench: str) -> list[Group]:
    """The groups of one benchmark, in the paper's order, then others by name."""
    found: dict[Key, Group] = {}
    for row in summary(long_rows([one for one in documents if one["bench"] == bench])):
        head = {name: row[name] for name in (*GROUP, *STAMPS)}
        group = found.setdefault(tuple(head.values()), Group(head, {}, {}))
        (group.methods if row["ablation"] is None else group.ablations)[row["ablation"] or row["method"]] = row
    return sorted(found.values(), key=_order)


def _order(group: Group) -> Key:
    head, usual = group.head, DEFAULTS[group.head["bench"]]
    place = usual.index(group.workload) if group.workload in usual else len(usual)
    split = SPLITS.index(head["split"]) if head["split"] in SPLITS else len(SPLITS)
    size = float("inf") if head["validation_size"] is None else head["validation_size"]
    return (head["matcher"] != "hybrid", head["matcher"], place, group.workload, -split, head["train_fraction"], size)


def methods_of(groups: Sequence[Group]) -> list[str]:
    """The methods that any of them has, in the order in which they are shown."""
    return [method for method in METHODS if any(method in group.methods for group in groups)]


def lines(groups: Sequence[Group]) -> dict[str, list[Group]]:
    found: dict[str, list[Group]] = {}
    for group in groups:
        found.setdefault(group.line, []).append(group)
    return found


def seeds_of(groups: Sequence[Group]) -> str:
    """In words: one seed, 5 seeds, 1 to 5 seeds."""
    counts = sorted({row["seeds"] for group in groups for row in (*group.methods.values(), *group.ablations.values())})
    if counts == [1]:
        return "one seed"
    return f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"
