"""The summary of a benchmark in reading order: groups of cells as in the paper, methods side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from riskcore.bench.plan.methods import in_order
from riskcore.bench.plan.plans import DEFAULTS, SPLITS
from riskcore.bench.report.differences import compare_methods
from riskcore.bench.run.averaging import GroupKey
from riskcore.bench.run.schema import Document, MeanRow, ResultHead
from riskcore.bench.run.tables import long_rows, summary

TITLES = {"shift": "Distribution shift", "same-source": "Same source", "validation-size": "Validation size"}


@dataclasses.dataclass(frozen=True)
class ResultGroup:
    """One workload and variant: the mean row of each method, and of each ablation of `risk`."""

    head: ResultHead
    methods: dict[str, MeanRow]
    ablations: dict[str, MeanRow]

    @property
    def workload(self) -> str:
        return self.head["workload"]

    @property
    def line(self) -> str:
        """What groups that differ only in their variant have in common: a line of a figure, a table of a page."""
        share = self.head["train_fraction"]
        parts = [self.workload]
        if self.head["bench"] == "validation-size" and self.head["split"]:
            parts.append(self.head["split"] + (f", {100 * share:g} %" if share < 1 else ""))
        return " ".join(parts) + ("" if self.head["matcher"] == "hybrid" else f" ({self.head['matcher']})")

    @property
    def row(self) -> str:
        """What distinguishes it from the other groups of its line."""
        if self.head["bench"] != "validation-size":
            return self.head["variant"]
        size = self.head["validation_size"]
        return f"{'all' if size is None else format(size, ',')} validation pairs"

    @property
    def seeds(self) -> int:
        """The most seeds that a mean of the group has; a method or an ablation may have fewer."""
        return max(row["seeds"] for row in (*self.methods.values(), *self.ablations.values()))

    def has_all_seeds(self, method: str) -> bool:
        """Whether no other method has more seeds."""
        return self.methods[method]["seeds"] == max(row["seeds"] for row in self.methods.values())

    @property
    def is_ablated(self) -> bool:
        """Whether an ablation can be compared with `risk`."""
        return any(compare_methods(row, self.methods.get("risk")) is not None for row in self.ablations.values())

    @property
    def name(self) -> str:
        return ", ".join(part for part in (self.line, self.row) if part)


def grouped(documents: Sequence[Document], bench: str) -> list[ResultGroup]:
    """The groups of one benchmark: the paper's workloads in its order, then the others by name."""
    found: dict[GroupKey, ResultGroup] = {}
    for row in summary(long_rows([one for one in documents if one["bench"] == bench])):
        head = _head(row)
        group = found.setdefault(tuple(head.values()), ResultGroup(head, {}, {}))
        (group.methods if row["ablation"] is None else group.ablations)[row["ablation"] or row["method"]] = row
    return sorted(found.values(), key=_order)


def _head(row: MeanRow) -> ResultHead:
    return {
        "bench": row["bench"],
        "workload": row["workload"],
        "variant": row["variant"],
        "matcher": row["matcher"],
        "split": row["split"],
        "train_fraction": row["train_fraction"],
        "validation_size": row["validation_size"],
        "shared_stamp": row["shared_stamp"],
        "data_stamp": row["data_stamp"],
    }


def _order(group: ResultGroup) -> GroupKey:
    head, usual = group.head, DEFAULTS[group.head["bench"]]
    position = usual.index(group.workload) if group.workload in usual else len(usual)
    split = SPLITS.index(head["split"]) if head["split"] in SPLITS else len(SPLITS)
    size = float("inf") if head["validation_size"] is None else head["validation_size"]
    return (
        head["matcher"] != "hybrid",
        head["matcher"],
        position,
        group.workload,
        -split,
        head["train_fraction"],
        size,
    )


def methods_of(groups: Sequence[ResultGroup]) -> list[str]:
    """The methods that any of the groups has, in the order in which they are shown."""
    return in_order(method for group in groups for method in group.methods)


def lines(groups: Sequence[ResultGroup]) -> dict[str, list[ResultGroup]]:
    found: dict[str, list[ResultGroup]] = {}
    for group in groups:
        found.setdefault(group.line, []).append(group)
    return found


def seeds_of(groups: Sequence[ResultGroup]) -> str:
    """The number of seeds in words: one seed, 5 seeds, 1 to 5 seeds."""
    counts = sorted({row["seeds"] for group in groups for row in (*group.methods.values(), *group.ablations.values())})
    if counts == [1]:
        return "one seed"
    return f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"
