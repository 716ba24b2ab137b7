"""Texts of a report's tables: a Markdown table, mean and deviation, the best in bold, differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from riskcore.bench.report.differences import Difference
from riskcore.bench.report.means import ResultGroup
from riskcore.bench.report.paper import paper_figure
from riskcore.bench.run.schema import MeanRow


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table without its empty columns."""
    used = [column for column in range(len(head)) if column == 0 or any(row[column] for row in rows)]
    cells = [[row[column] for column in used] for row in (head, ["---"] * len(head), *rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def paper_text(group: ResultGroup, method: str) -> str:
    found = paper_figure(group.head, method)
    return "" if found is None else found.text


def score_texts(group: ResultGroup, methods: Sequence[str], score: str = "f1") -> list[str]:
    """Each method's mean. Bold is the best of those with all seeds: fewer seeds may have been easier or harder."""
    complete = [name for name in methods if name in group.methods and group.has_all_seeds(name)]
    means = {name: mean_of(group.methods[name], score)[0] for name in complete}
    known = {name: round(mean, 4) for name, mean in means.items() if mean is not None}
    best = max(known.values()) if len(known) > 1 else None
    texts = {name: score_text(group, name, score) for name in methods}
    return [f"**{text}**" if name in known and known[name] == best else text for name, text in texts.items()]


def score_text(group: ResultGroup, method: str, score: str = "f1") -> str:
    return row_text(group.methods[method], group.seeds, score) if method in group.methods else ""


def row_text(row: MeanRow, seeds: int, score: str = "f1") -> str:
    """Mean and deviation, or the only figure; the number of seeds if it is less than the row's."""
    mean, deviation = mean_of(row, score)
    if mean is None:
        return ""
    fewer = f" ({row['seeds']} of {seeds} seeds)" if row["seeds"] < seeds else ""
    return f"{100 * mean:.2f}" + ("" if deviation is None else f" ± {100 * deviation:.2f}") + fewer


def mean_of(row: MeanRow, score: str) -> tuple[float | None, float | None]:
    """Mean and deviation of a score."""
    fields: dict[str, Any] = {**row}
    return fields[f"{score}_mean"], fields[f"{score}_deviation"]


def difference_text(group: ResultGroup, difference: Difference | None) -> str:
    """The difference; the number of seeds it is based on if it is not the row's."""
    if difference is None:
        return ""
    fewer = "" if difference.seeds == group.seeds else f", of {difference.seeds} seeds"
    return f"{difference.text}{fewer}"
