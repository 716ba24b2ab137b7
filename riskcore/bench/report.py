"""The report of a benchmark as Markdown: every result next to the paper's, and plainly above, level or below."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from riskcore.bench.ablations import ABLATIONS
from riskcore.bench.documents import is_current
from riskcore.bench.means import Group, grouped, lines, methods_of
from riskcore.bench.published import REMARKS, published
from riskcore.bench.tables import Row
from riskcore.bench.verdicts import LEVEL, against, against_paper

TITLES = {"shift": "Distribution shift", "same-source": "Same source", "validation-size": "Validation size"}
NOTES = ("<!-- notes -->", "<!-- /notes -->")  # what stands between them is written by hand and kept
_RIVALS = ("risk", "supervised", "forest")
_TOLD_ELSEWHERE = (
    "seed",
    "attribute_map",
    "split",
    "train_fraction",
    "validation_size",
    "matcher.kind",
    "matcher.wide",
)
Documents = Sequence[dict[str, Any]]


def render(documents: Documents, images: dict[str, str], notes: str = "", left_out: Sequence[str] = ()) -> str:
    """The whole page; `images` has the address of each figure that could be drawn."""
    benches = {bench: groups for bench in TITLES if (groups := grouped(documents, bench))}
    blocks = ["# Results", _how(documents), _against_the_paper(benches), f"{NOTES[0]}\n{notes.strip()}\n{NOTES[1]}"]
    for bench, groups in benches.items():
        blocks += [f"## {TITLES[bench]}", _image(images, bench, TITLES[bench]), *_BLOCKS[bench](groups)]
        blocks += _unseen(groups) + _rivals(groups)
    blocks += _ablations([group for groups in benches.values() for group in groups], images)
    blocks += ["## Time and memory", _cost(documents), _made_with(documents)]
    blocks += ["## Left out", "\n".join(f"- {notice}" for notice in left_out)] if left_out else []
    return "\n\n".join(block for block in blocks if block) + "\n"


def kept_notes(page: str) -> str:
    """What was written by hand into an earlier report."""
    if NOTES[0] not in page or NOTES[1] not in page:
        return ""
    return page.split(NOTES[0], 1)[1].split(NOTES[1], 1)[0]


def _how(documents: Documents) -> str:
    """The commands that give these results."""
    commands = []
    for bench in TITLES:
        some = [one for one in documents if one["bench"] == bench]
        if some:
            seeds = max(one["seed"] for one in some) + 1
            ablations = " --ablations" if any(result["ablation"] for one in some for result in one["results"]) else ""
            commands.append(f"python -m riskcore bench {bench} --data DIR --seeds {seeds}{ablations}")
    commands.append("python -m riskcore bench report --to docs/results.md")
    text = "F1 in %, mean ± standard deviation over seeds; the best of ours in bold. Seeds are 0, 1, 2 and so on."
    return text + "\n\n" + "\n".join(f"    {command}" for command in commands)


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
    said = ", ".join(f"{counts[word]} {word}" for word in ("above", "level", "below"))
    rows = [
        (
            " ".join(part for part in (group.line, group.head["variant"]) if part),
            paper.text,
            _score(group.methods["risk"]),
            verdict.text,
            _score(group.methods["risk+"]) if "risk+" in group.methods else "",
        )
        for group, _, paper, verdict in found
    ]
    grid = _grid(("workload", "paper's risk", "risk", "risk is", "risk+"), rows)
    level = f"Level is a difference within two standard errors, or {LEVEL} points."
    return "\n\n".join((f"## Against the paper\n\nOf risk's means, {said}. {level}", grid, *REMARKS))


def _shift(groups: Sequence[Group]) -> list[str]:
    methods = methods_of(groups)
    head = ("workload", "seeds", "paper: tradition", "paper: transfer", "paper: risk", *methods)
    rows = [
        (
            _name(group),
            _seeds(group),
            *(_paper(group, method) for method in ("tradition", "transfer", "risk")),
            *_scores(group, methods),
        )
        for group in groups
    ]
    return [_grid(head, rows)]


def _by_variant(groups: Sequence[Group]) -> list[str]:
    """A table for each workload, a row for each variant."""
    blocks = []
    for line, some in lines(groups).items():
        methods = methods_of(some)
        rows = [
            (
                group.head["variant"],
                _seeds(group),
                _paper(group, "tradition"),
                _paper(group, "risk"),
                *_scores(group, methods),
            )
            for group in some
        ]
        blocks += [f"### {line}", _grid(("", "seeds", "paper: tradition", "paper: risk", *methods), rows)]
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
    rows = [(_name(group), *_scores(group, methods, "unseen_f1")) for group in some]
    return ["### On target pairs that no method saw", _grid(("workload", *methods), rows)]


def _rivals(groups: Sequence[Group]) -> list[str]:
    """What risk+ has over those that it must not lose to."""
    some = [group for group in groups if "risk+" in group.methods and len(group.methods) > 2]
    rows = []
    for group in some:
        ours = group.methods["risk+"]
        verdicts = [against(ours, group.methods[rival]) for rival in _RIVALS if rival in group.methods]
        told = [against(ours, group.methods[rival]).text if rival in group.methods else "" for rival in _RIVALS]
        worst = min((verdict.difference for verdict in verdicts), default=0.0)
        rows.append((_name(group), _score(ours), *told, "yes" if worst >= -LEVEL else "**no**"))
    if not rows:
        return []
    head = ("workload", "risk+", *(f"against {rival}" for rival in _RIVALS), f"never {LEVEL} below")
    return ["### risk+ against its rivals", _grid(head, rows)]


def _ablations(groups: Sequence[Group], images: dict[str, str]) -> list[str]:
    some = [group for group in groups if group.ablations and "risk" in group.methods]
    if not some:
        return []
    names = [name for name in ABLATIONS if any(name in group.ablations for group in some)]
    rows = []
    for group in some:
        full = group.methods["risk"]
        cells = [
            f"{_score(group.ablations[name])} ({against(group.ablations[name], full).difference:+.1f})"
            if name in group.ablations
            else ""
            for name in names
        ]
        rows.append((_name(group), _score(full), *cells))
    text = "`risk` with one part taken away; in brackets, what that changes."
    return ["## Ablations", text, _image(images, "ablations", "Ablations"), _grid(("workload", "risk", *names), rows)]


def _cost(documents: Documents) -> str:
    rows = []
    for bench in TITLES:
        some = [one for one in documents if one["bench"] == bench]
        if some:
            seconds = [one["seconds"]["total"] for one in some]
            peak = max(one["peak_rss_mb"] for one in some)
            hours, longest = f"{sum(seconds) / 3600:.1f}", f"{max(seconds) / 60:.0f}"
            rows.append((bench, str(len(some)), hours, longest, f"{peak:,.0f}"))
    return _grid(("benchmark", "cells", "hours of one core", "longest cell, minutes", "peak memory, MB"), rows)


def _made_with(documents: Documents) -> str:
    """Hardware, versions, settings, and whether all of it is this code's."""
    results = [result for one in documents for result in one["results"]]
    machines = dict.fromkeys(_machine(result["hardware"]) for result in results)
    kits = dict.fromkeys(", ".join(f"{name} {v}" for name, v in result["versions"].items()) for result in results)
    settings = dict.fromkeys(_settings(one) for one in documents)
    older = sum(not is_current(result) for result in results)
    lines_ = [
        "Hardware: " + "; ".join(machines) + ". Each cell ran on one thread, in a process of its own.",
        "Versions: " + "; ".join(kits) + ".",
        "Settings: " + "; ".join(settings) + ".",
    ]
    if older:
        lines_.append(f"{older:,} of {len(results):,} results come from other code or libraries than are here now.")
    return "\n\n".join(lines_)


def _machine(found: dict[str, Any]) -> str:
    return f"{found['cpu']}, {found['cores']} cores, {found['memory_gb']:g} GB, {found['system']}"


def _settings(document: dict[str, Any]) -> str:
    told = {name: value for name, value in document["settings"].items() if name not in _TOLD_ELSEWHERE}
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in told.items()) or "the defaults"


def _name(group: Group) -> str:
    return " ".join(part for part in (group.line, group.head["variant"]) if part)


def _seeds(group: Group) -> str:
    """How many seeds stand behind the means; from the fewest to the most, where methods differ."""
    counts = sorted({row["seeds"] for row in group.methods.values()})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _paper(group: Group, method: str) -> str:
    found = published(group.head, method)
    return "" if found is None else found.text


def _scores(group: Group, methods: Sequence[str], score: str = "f1") -> list[str]:
    """Each method's mean, the best one in bold."""
    means = {name: group.methods[name][f"{score}_mean"] for name in methods if name in group.methods}
    best = max((round(mean, 4) for mean in means.values() if mean is not None), default=None)
    told = []
    for name in methods:
        text = _score(group.methods[name], score) if name in means else ""
        is_best = means.get(name) is not None and round(means[name], 4) == best
        told.append(f"**{text}**" if is_best else text)
    return told


def _score(row: Row, score: str = "f1") -> str:
    mean, deviation = row[f"{score}_mean"], row[f"{score}_deviation"]
    if mean is None:
        return ""
    return f"{100 * mean:.2f}" + ("" if deviation is None else f" ± {100 * deviation:.2f}")


def _image(images: dict[str, str], name: str, title: str) -> str:
    return f"![{title}]({images[name]})" if name in images else ""


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table without the columns that nothing stands in."""
    used = [column for column in range(len(head)) if column == 0 or any(row[column] for row in rows)]
    told = [[row[column] for column in used] for row in (head, ["---"] * len(head), *rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in told)
