"""The report of a benchmark as Markdown: every result next to the paper's, and plainly above, level or below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from riskcore.bench.plan.ablations import ABLATIONS
from riskcore.bench.report.differences import LEVEL, ROUNDING, Verdict, against, against_paper
from riskcore.bench.report.introduction import SECTIONS, opening
from riskcore.bench.report.markdown import grid, image
from riskcore.bench.report.means import TITLES, Group, grouped, lines, methods_of
from riskcore.bench.report.paper import REMARKS, published
from riskcore.bench.report.provenance import cost, how, made_with
from riskcore.bench.run.tables import Row

NOTES = ("<!-- notes -->", "<!-- /notes -->")  # what stands between them is written by hand and kept
_RIVALS = ("risk", "supervised", "forest")
Documents = Sequence[dict[str, Any]]


def render(documents: Documents, images: dict[str, str], notes: str = "", left_out: Sequence[str] = ()) -> str:
    """The whole page; `images` has the address of each figure that could be drawn."""
    benches = {bench: groups for bench in TITLES if (groups := grouped(documents, bench))}
    every = [group for groups in benches.values() for group in groups]
    blocks = ["# Results", *opening(every), _against_the_paper(benches), f"{NOTES[0]}\n{notes.strip()}\n{NOTES[1]}"]
    for bench, groups in benches.items():
        blocks += [f"## {TITLES[bench]}", SECTIONS[bench], image(images, bench, TITLES[bench])]
        blocks += _BLOCKS[bench](groups) + _unseen(groups) + _rivals(groups)
    blocks += _ablations(every, images)
    blocks += ["## Time and memory", cost(documents), "## How these were made", how(documents), made_with(documents)]
    blocks += ["## Left out", "\n".join(f"- {notice}" for notice in left_out)] if left_out else []
    return "\n\n".join(block for block in blocks if block) + "\n"


def kept_notes(page: str) -> str:
    """What was written by hand into an earlier report."""
    if NOTES[0] not in page or NOTES[1] not in page:
        return ""
    return page.split(NOTES[0], 1)[1].split(NOTES[1], 1)[0]


def comparisons(benches: Iterable[Group]) -> list[tuple[Group, str, Any, Any]]:
    """Every result that the paper has a figure for: group, method, the figure, the verdict."""
    found = []
    for group in benches:
        for method, row in group.methods.items():
            paper = published(group.head, method)
            if paper is not None and row["f1_mean"] is not None:
                found.append((group, method, paper, against_paper(row, paper)))
    return found


def _against_the_paper(benches: dict[str, list[Group]]) -> str:
    ours = [group for bench in ("shift", "same-source") for group in benches.get(bench, [])]
    found = [one for one in comparisons(ours) if one[1] == "risk"]
    if not found:
        return "## Against the paper\n\nNothing here that the paper has a figure for."
    counts = Counter(verdict.word for *_, verdict in found)
    words = ("above", "level", "below", *(["not below"] if counts["not below"] else []))
    said = ", ".join(f"{counts[word]} {word}" for word in words)
    rows = [
        (
            group.name,
            str(group.seeds),
            paper.text,
            _score(group, "risk"),
            verdict.text,
            _score(group, "risk+"),
        )
        for group, _, paper, verdict in found
    ]
    table = grid(("workload", "seeds", "paper's risk", "risk", "risk is", "risk+"), rows)
    level = f"Level is a difference within two standard errors or {LEVEL} points, {ROUNDING} where the paper rounds."
    if any(group.methods["risk"]["seeds"] == 1 and paper.deviation for group, _, paper, _ in found):
        level += " One seed has no error of its own: the paper's deviation stands in for it."
    if counts["not below"]:
        level += " Where the paper says only that it is over a figure, ours can be below that or not below."
    text = f"Of {len(found)} results of risk that the paper has too, {said} (points of F1 in brackets). {level}"
    return "\n\n".join((f"## Against the paper\n\n{text}", table, *REMARKS))


def _shift(groups: Sequence[Group]) -> list[str]:
    methods = methods_of(groups)
    head = ("workload", "seeds", "paper: tradition", "paper: transfer", "paper: risk", *methods)
    rows = [
        (
            group.name,
            str(group.seeds),
            *(_paper(group, method) for method in ("tradition", "transfer", "risk")),
            *_scores(group, methods),
        )
        for group in groups
    ]
    return [grid(head, rows)]


def _by_variant(groups: Sequence[Group]) -> list[str]:
    """A table for each workload, a row for each variant."""
    blocks = []
    for line, some in lines(groups).items():
        methods = methods_of(some)
        rows = [
            (
                group.row,
                str(group.seeds),
                _paper(group, "tradition"),
                _paper(group, "risk"),
                *_scores(group, methods),
            )
            for group in some
        ]
        blocks += [f"### {line}", grid(("variant", "seeds", "paper: tradition", "paper: risk", *methods), rows)]
    return blocks


_BLOCKS: dict[str, Callable[[Sequence[Group]], list[str]]] = {
    "shift": _shift,
    "same-source": _by_variant,
    "validation-size": _by_variant,
}


def _unseen(groups: Sequence[Group]) -> list[str]:
    """F1 on target pairs that no method was given."""
    some = [group for group in groups if any(row["unseen_f1_mean"] is not None for row in group.methods.values())]
    if not some:
        return []
    methods = methods_of(some)
    rows = [(group.name, str(group.seeds), *_scores(group, methods, "unseen_f1")) for group in some]
    text = "The same results of training, on target pairs that were not among those to adapt to."
    return ["### On target pairs that no method saw", text, grid(("workload", "seeds", *methods), rows)]


def _rivals(groups: Sequence[Group]) -> list[str]:
    """What risk+ has over those that it must not lose to."""
    rows = []
    for group in groups:
        ours = group.methods.get("risk+")
        verdicts = [against(ours, group.methods.get(rival)) for rival in _RIVALS]
        known = [verdict.difference for verdict in verdicts if verdict is not None]
        if known:
            told = [_told(group, verdict) for verdict in verdicts]
            held = "**no**" if min(known) < -LEVEL else "yes" if len(known) == len(_RIVALS) else ""
            rows.append((group.name, str(group.seeds), _score(group, "risk+"), *told, held))
    if not rows:
        return []
    text = f"In brackets, points of F1; within {LEVEL} points is level."
    head = ("workload", "seeds", "risk+", *(f"against {rival}" for rival in _RIVALS), "level or above against all")
    return ["### risk+ against its rivals", text, grid(head, rows)]


def _told(group: Group, verdict: Verdict | None) -> str:
    """The verdict, and on how many seeds, where not on all that the row tells of."""
    if verdict is None:
        return ""
    return verdict.text if verdict.seeds == group.seeds else f"{verdict.text}, of {verdict.seeds} seeds"


def _ablations(groups: Sequence[Group], images: dict[str, str]) -> list[str]:
    some = [
        group for group in groups if any(against(row, group.methods.get("risk")) for row in group.ablations.values())
    ]
    if not some:
        return []
    names = [name for name in ABLATIONS if any(name in group.ablations for group in some)]
    rows = [
        (group.name, str(group.seeds), _score(group, "risk"), *(_without(group, name) for name in names))
        for group in some
    ]
    text = "`risk` with one part taken away; in brackets, what that changes on the same seeds."
    table = grid(("workload", "seeds", "risk", *names), rows)
    return ["## Ablations", text, image(images, "ablations", "Ablations"), table]


def _without(group: Group, ablation: str) -> str:
    row = group.ablations.get(ablation)
    verdict = against(row, group.methods.get("risk"))
    return "" if row is None or verdict is None else f"{_text(row, group.seeds)} ({verdict.difference:+.2f})"


def _paper(group: Group, method: str) -> str:
    found = published(group.head, method)
    return "" if found is None else found.text


def _scores(group: Group, methods: Sequence[str], score: str = "f1") -> list[str]:
    """Each method's mean, the best one in bold, of those that have all seeds: others had easier or harder ones."""
    whole = [name for name in methods if name in group.methods and group.methods[name]["seeds"] == group.method_seeds]
    means = {name: group.methods[name][f"{score}_mean"] for name in whole}
    known = [round(mean, 4) for mean in means.values() if mean is not None]
    best = max(known) if len(known) > 1 else None
    told = []
    for name in methods:
        text = _score(group, name, score)
        is_best = means.get(name) is not None and round(means[name], 4) == best
        told.append(f"**{text}**" if is_best else text)
    return told


def _score(group: Group, method: str, score: str = "f1") -> str:
    return _text(group.methods[method], group.seeds, score) if method in group.methods else ""


def _text(row: Row, seeds: int, score: str = "f1") -> str:
    """Mean and deviation, or the one figure there is; how many seeds, where they are fewer than the row's."""
    mean, deviation = row[f"{score}_mean"], row[f"{score}_deviation"]
    if mean is None:
        return ""
    fewer = f" ({row['seeds']} of {seeds} seeds)" if row["seeds"] < seeds else ""
    return f"{100 * mean:.2f}" + ("" if deviation is None else f" ± {100 * deviation:.2f}") + fewer
