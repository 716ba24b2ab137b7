"""The introduction of a report: what was measured, with how many seeds, and what the names mean."""

from __future__ import annotations

from collections.abc import Sequence

from riskcore.bench.plan.methods import words_of
from riskcore.bench.report.cells_text import markdown_table
from riskcore.bench.report.means import ResultGroup, methods_of, seeds_of

DATA_SETS = {
    "DA": "DBLP-ACM", "DS": "DBLP-Scholar", "CORA": "Cora", "AB": "Abt-Buy", "IA": "iTunes-Amazon",
    "MB20K": "MusicBrainz 20K",
}  # fmt: skip
_ROLES = (
    "Validation pairs are labelled pairs of the target that every method may use. The matcher is `hybrid`, unless "
    "another is named in parentheses."
)
SECTIONS = {
    "shift": "Trained on one data set, adapted to another.",
    "same-source": "Trained and adapted within one data set. A ratio is training : validation : target; a share such "
    "as 10 % is the part of the training pairs that was used; the split is 2:2:6 unless a ratio precedes the share.",
    "validation-size": "The same workload with fewer and with more labelled validation pairs. A ratio is training : "
    "validation : target, a share the part of the training pairs that was used.",
}


def introduction(groups: Sequence[ResultGroup]) -> list[str]:
    """What the figures are, and the methods that gave them."""
    methods = [(f"`{method}`", words_of(method)) for method in methods_of(groups)]
    text = f"F1 on the target's test pairs, in %. {_seeds(groups)} The best of ours is in bold."
    return [
        text,
        " ".join(part for part in (_names(groups), _ROLES) if part),
        markdown_table(("method", "what it is"), methods),
    ]


def _seeds(groups: Sequence[ResultGroup]) -> str:
    seeds = seeds_of(groups)
    if seeds == "one seed":
        return "Every figure is of one seed, not a mean: how much it varies with the seed is unknown."
    if " to " not in seeds:
        return f"Figures are mean ± standard deviation over {seeds}."
    return (
        "Figures are mean ± standard deviation over as many seeds as their row says; a figure without ± is of one "
        "seed, not a mean."
    )


def _names(groups: Sequence[ResultGroup]) -> str:
    """What the short names of the data sets stand for."""
    workloads = {group.workload for group in groups}
    used = [name for name in DATA_SETS if any(_is_of(name, workload) for workload in workloads)]
    text = ", ".join(f"{name} is {DATA_SETS[name]}" for name in used)
    example = " DA2DS means trained on DA, adapted to DS." if "DA2DS" in workloads else ""
    return f"{text}.{example}" if text else ""


def _is_of(name: str, workload: str) -> bool:
    return workload == name or workload.startswith(f"{name}2") or workload.endswith(f"2{name}")
