"""The report of a benchmark as Markdown: every result next to the paper's, and whether it is above, level or below."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from riskcore.bench.plan.ablations import ABLATIONS
from riskcore.bench.report.cells_text import (
    difference_text,
    markdown_table,
    mean_of,
    paper_text,
    row_text,
    score_text,
    score_texts,
)
from riskcore.bench.report.differences import (
    ONE_SEED,
    ROUNDING,
    Difference,
    compare_methods,
    compare_with_paper,
)
from riskcore.bench.report.introduction import SECTIONS, introduction
from riskcore.bench.report.means import TITLES, ResultGroup, grouped, lines, methods_of
from riskcore.bench.report.paper import REMARKS, PaperFigure, paper_figure
from riskcore.bench.report.reproduction import commands_text, cost_table, made_with
from riskcore.bench.run.schema import Document, MeanRow
from riskcore.bench.run.tables import QUEUE

NOTES = ("<!-- notes -->", "<!-- /notes -->")  # the text between them is written by hand and kept
_LEVEL = "the 95 % confidence interval of the difference (±) includes 0"
_COMPARED = ("risk", "supervised", "forest", "target forest")  # what risk+ is compared with
_RANKED = ("tradition", "risk", "risk+")  # whose labels people review


def render(documents: Sequence[Document], images: dict[str, str], notes: str = "", left_out: Sequence[str] = ()) -> str:
    """The whole page; `images` has the address of each figure that could be drawn."""
    benches = {bench: groups for bench in TITLES if (groups := grouped(documents, bench))}
    every = [group for groups in benches.values() for group in groups]
    blocks = [
        "# Results",
        *introduction(every),
        _against_the_paper(benches),
        f"{NOTES[0]}\n{notes.strip()}\n{NOTES[1]}",
    ]
    for bench, groups in benches.items():
        blocks += [f"## {TITLES[bench]}", SECTIONS[bench], _image(images, bench, TITLES[bench])]
        blocks += _BLOCKS[bench](groups) + _unseen(groups) + _without_twins(groups) + _risk_plus_compared(groups)
        blocks += _queues(groups)
    blocks += _ablations(every, images)
    blocks += ["## Time and memory", cost_table(documents)]
    blocks += ["## How these were made", commands_text(documents), made_with(documents)]
    blocks += ["## Left out", "\n".join(f"- {notice}" for notice in left_out)] if left_out else []
    return "\n\n".join(block for block in blocks if block) + "\n"


def kept_notes(page: str) -> str:
    """The notes in an earlier report."""
    if NOTES[0] not in page or NOTES[1] not in page:
        return ""
    return page.split(NOTES[0], 1)[1].split(NOTES[1], 1)[0]


@dataclasses.dataclass(frozen=True)
class PaperComparison:
    """A result that the paper has a figure for."""

    group: ResultGroup
    method: str
    paper: PaperFigure
    difference: Difference


def comparisons(groups: Iterable[ResultGroup]) -> list[PaperComparison]:
    """Every result that the paper has a figure for."""
    found = []
    for group in groups:
        for method, row in group.methods.items():
            paper = paper_figure(group.head, method)
            difference = None if paper is None else compare_with_paper(row, paper)
            if paper is not None and difference is not None:
                found.append(PaperComparison(group, method, paper, difference))
    return found


def _against_the_paper(benches: dict[str, list[ResultGroup]]) -> str:
    ours = [group for bench in ("shift", "same-source") for group in benches.get(bench, [])]
    found = [one for one in comparisons(ours) if one.method == "risk"]
    if not found:
        return "## Against the paper\n\nThe paper has no figure for any of these results."
    counts = Counter(one.difference.word for one in found)
    words = ("above", "level", "below", *(word for word in ("not below", ONE_SEED) if counts[word]))
    counted = ", ".join(f"{counts[word]} {word}" for word in words)
    rows = [
        (
            one.group.name,
            str(one.group.seeds),
            one.paper.text,
            score_text(one.group, "risk"),
            one.difference.text,
            score_text(one.group, "risk+"),
        )
        for one in found
    ]
    table = markdown_table(("workload", "seeds", "paper's risk", "risk", "risk is", "risk+"), rows)
    level = f"Level: {_LEVEL}, by Welch's t, {ROUNDING} points wider where the paper rounds."
    if any(one.group.methods["risk"]["seeds"] == 1 and one.paper.deviation for one in found):
        level += " One seed has no deviation: the paper's is used in its place."
    if counts["not below"]:
        level += " Where the paper gives only a lower bound, ours can be below it or not below it."
    text = f"Of {len(found)} results of risk that the paper has too: {counted} (points of F1 in parentheses). {level}"
    return "\n\n".join((f"## Against the paper\n\n{text}", table, *REMARKS))


def _shift(groups: Sequence[ResultGroup]) -> list[str]:
    methods, of_paper = methods_of(groups), ("tradition", "transfer", "risk")
    head = ("workload", "seeds", *(f"paper: {method}" for method in of_paper), *methods)
    return [markdown_table(head, [_row(group, group.name, of_paper, methods) for group in groups])]


def _by_variant(groups: Sequence[ResultGroup]) -> list[str]:
    """A table for each workload, a row for each variant."""
    blocks, of_paper = [], ("tradition", "risk")
    for line, some in lines(groups).items():
        methods = methods_of(some)
        head = ("variant", "seeds", *(f"paper: {method}" for method in of_paper), *methods)
        blocks += [f"### {line}", markdown_table(head, [_row(group, group.row, of_paper, methods) for group in some])]
    return blocks


def _row(group: ResultGroup, name: str, of_paper: Sequence[str], methods: Sequence[str]) -> tuple[str, ...]:
    paper = (paper_text(group, method) for method in of_paper)
    return (name, str(group.seeds), *paper, *score_texts(group, methods))


_BLOCKS: dict[str, Callable[[Sequence[ResultGroup]], list[str]]] = {
    "shift": _shift,
    "same-source": _by_variant,
    "validation-size": _by_variant,
}


def _unseen(groups: Sequence[ResultGroup]) -> list[str]:
    """F1 on target pairs that no method was given."""
    some = [group for group in groups if any(row["unseen_f1_mean"] is not None for row in group.methods.values())]
    if not some:
        return []
    methods = methods_of(some)
    rows = [(group.name, str(group.seeds), *score_texts(group, methods, "unseen_f1")) for group in some]
    text = "The same models, on target pairs that were not among the pairs to adapt to."
    return ["### On target pairs that no method saw", text, markdown_table(("workload", "seeds", *methods), rows)]


def _without_twins(groups: Sequence[ResultGroup]) -> list[str]:
    """F1 without the target pairs whose content a labelled pair has; nothing where this changes no F1."""
    some = [
        group
        for group in groups
        if any(row["f1_without_twins_mean"] not in (None, row["f1_mean"]) for row in group.methods.values())
    ]
    if not some:
        return []
    methods = methods_of(some)
    rows = [(group.name, str(group.seeds), *score_texts(group, methods, "f1_without_twins")) for group in some]
    text = "The same labels, without the target pairs that have the same content as a labelled pair."
    return ["### Without content twins", text, markdown_table(("workload", "seeds", *methods), rows)]


def _queues(groups: Sequence[ResultGroup]) -> list[str]:
    """How well the labels that each method ended with are ranked, by risk and by the method's own confidence."""
    rows = [
        (group.name, str(group.seeds), method, *(_queue_figure(group.methods[method], name) for name in QUEUE))
        for group in groups
        for method in _RANKED
        if method in group.methods and group.methods[method]["auroc_mean"] is not None
    ]
    if not rows:
        return []
    text = (
        "The labels that a method ended with, the riskiest first. AUROC: how well wrong labels come first. ECE: the "
        "mean distance between risk and the observed share of wrong labels. Top tenth: the share of the wrong labels "
        "among the riskiest tenth of the pairs."
    )
    head = ("workload", "seeds", "labels of", "AUROC of risk", "AUROC of confidence", "ECE of risk", "top tenth")
    return ["### Ranking of wrong labels", text, markdown_table(head, rows)]


def _queue_figure(row: MeanRow, name: str) -> str:
    mean, deviation = mean_of(row, name)
    if mean is None:
        return ""
    return f"{mean:.3f}" + ("" if deviation is None else f" ± {deviation:.3f}")


def _risk_plus_compared(groups: Sequence[ResultGroup]) -> list[str]:
    """Whether risk+ is at least level with the methods that it should not be worse than."""
    rows = []
    for group in groups:
        ours = group.methods.get("risk+")
        differences = [compare_methods(ours, group.methods.get(method)) for method in _COMPARED]
        words = [difference.word for difference in differences if difference is not None]  # older results lack one
        if words:
            texts = [difference_text(group, difference) for difference in differences]
            rows.append((group.name, str(group.seeds), score_text(group, "risk+"), *texts, _at_least_level(words)))
    if not rows:
        return []
    text = (
        f"Points of F1 in parentheses. Level: {_LEVEL}, by Student's t on the differences of the seeds that both "
        "methods have. It means that these seeds show no difference, not that there is none; one seed shows neither."
    )
    head = ("workload", "seeds", "risk+", *(f"against {method}" for method in _COMPARED), "level or above all")
    return ["### risk+ against the other methods", text, markdown_table(head, rows)]


def _at_least_level(words: Sequence[str]) -> str:
    if "below" in words:
        return "**no**"
    if len(words) < len(_COMPARED) - 1:
        return ""
    return "not known" if ONE_SEED in words else "yes"


def _ablations(groups: Sequence[ResultGroup], images: dict[str, str]) -> list[str]:
    some = [group for group in groups if group.is_ablated]
    if not some:
        return []
    found = dict.fromkeys(name for group in some for name in group.ablations)
    names = sorted(found, key=lambda name: list(ABLATIONS).index(name) if name in ABLATIONS else len(ABLATIONS))
    rows = [
        (group.name, str(group.seeds), score_text(group, "risk"), *(_ablation(group, name) for name in names))
        for group in some
    ]
    text = "`risk` with one part removed; in parentheses, the change on the same seeds."
    table = markdown_table(("workload", "seeds", "risk", *names), rows)
    return ["## Ablations", text, _image(images, "ablations", "Ablations"), table]


def _ablation(group: ResultGroup, ablation: str) -> str:
    row = group.ablations.get(ablation)
    difference = compare_methods(row, group.methods.get("risk"))
    return "" if row is None or difference is None else f"{row_text(row, group.seeds)} ({difference.points:+.2f})"


def _image(addresses: dict[str, str], name: str, title: str) -> str:
    """The image, if it was drawn."""
    return f"![{title}]({addresses[name]})" if name in addresses else ""
