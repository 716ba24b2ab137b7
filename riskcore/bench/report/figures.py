"""Figures of a benchmark as plotly charts: our results with their deviations, and the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from riskcore.bench.plan.methods import colour_of
from riskcore.bench.report.differences import compare_methods
from riskcore.bench.report.means import TITLES, ResultGroup, grouped, lines, methods_of, seeds_of
from riskcore.bench.report.paper import paper_figure
from riskcore.bench.run.schema import Document, MeanRow

PAPER = "#c2410c"
_COLUMNS = 3


def figures(documents: Sequence[Document]) -> dict[str, go.Figure]:
    """A figure for each benchmark that has results, and one for the ablations."""
    found: dict[str, go.Figure] = {}
    for bench, title in TITLES.items():
        groups = grouped(documents, bench)
        if groups:
            draw = _bars if bench == "shift" else _small_multiples
            found[bench] = draw(groups, f"{title}: F1 in %, {_statistic(groups)}")
    ablated = [group for bench in TITLES for group in grouped(documents, bench) if group.is_ablated]
    if ablated:
        found["ablations"] = _ablations(ablated)
    return found


def _statistic(groups: Sequence[ResultGroup]) -> str:
    seeds = seeds_of(groups)
    return seeds if seeds == "one seed" else f"mean and deviation over {seeds}"


def _bars(groups: Sequence[ResultGroup], title: str) -> go.Figure:
    """A group of bars for each workload; the hollow bars are the paper's."""
    figure, names = go.Figure(), [group.line for group in groups]
    for method in methods_of(groups):
        rows = [group.methods.get(method) for group in groups]
        figure.add_bar(
            x=names, y=_means(rows), error_y=_deviations(rows),
            name=method, marker_color=colour_of(method), offsetgroup=method,
        )  # fmt: skip
    for method in methods_of(groups):
        paper = [paper_figure(group.head, method) for group in groups]
        if any(paper):
            figure.add_bar(
                x=names, y=[None if one is None else one.mean for one in paper], name=f"{method}, paper",
                marker={"color": "rgba(0,0,0,0)", "line": {"color": colour_of(method), "width": 2}},
                offsetgroup=f"{method}, paper",
            )  # fmt: skip
    return _laid_out(figure, title, 420)


def _small_multiples(groups: Sequence[ResultGroup], title: str) -> go.Figure:
    """A panel for each workload, a line for each method, by growing variant."""
    panels = lines(groups)
    height = -(-len(panels) // _COLUMNS)
    figure = make_subplots(
        height, min(len(panels), _COLUMNS), subplot_titles=list(panels), vertical_spacing=0.35 / height
    )
    for number, some in enumerate(panels.values()):
        cell = {"row": number // _COLUMNS + 1, "col": number % _COLUMNS + 1}
        variants = [group.row.removesuffix(" validation pairs") for group in some]
        for method in methods_of(some):
            rows = [group.methods.get(method) for group in some]
            figure.add_scatter(
                x=variants, y=_means(rows), error_y=_deviations(rows),
                name=method, legendgroup=method, showlegend=number == 0, line_color=colour_of(method),
                mode="lines+markers", marker_size=5, **cell,
            )  # fmt: skip
        _add_paper(figure, some, variants, cell)
        figure.update_xaxes(type="category", **cell)
    return _laid_out(figure, title, 60 + 270 * height)


def _add_paper(figure: go.Figure, groups: Sequence[ResultGroup], variants: Sequence[str], cell: dict[str, int]) -> None:
    """Diamonds where the paper's text has a figure; the legend lists each kind once."""
    for method, symbol in (("tradition", "diamond-open"), ("risk", "diamond")):
        paper, name = [paper_figure(group.head, method) for group in groups], f"{method}, paper"
        if any(paper):
            means = [None if one is None else one.mean for one in paper]
            listed = any(trace.name == name for trace in figure.data)
            mark = {"symbol": symbol, "size": 10, "color": PAPER}
            legend = {"name": name, "legendgroup": name, "showlegend": not listed}
            figure.add_scatter(x=variants, y=means, mode="markers", marker=mark, **legend, **cell)


def _ablations(groups: Sequence[ResultGroup]) -> go.Figure:
    """The change of F1 from removing each part."""
    figure, names = go.Figure(), [group.name for group in groups]
    for ablation in dict.fromkeys(name for group in groups for name in group.ablations):
        differences = [compare_methods(group.ablations.get(ablation), group.methods.get("risk")) for group in groups]
        figure.add_bar(x=names, y=[None if one is None else one.points for one in differences], name=ablation)
    return _laid_out(figure, f"Ablations: points of F1 against risk, {seeds_of(groups)}", 380)


def _deviations(rows: Sequence[MeanRow | None]) -> dict[str, Any]:
    """Error bars without caps, since a cap on a single seed would look like a deviation of 0; none exceeds 100."""
    below = _points([None if row is None else row["f1_deviation"] for row in rows])
    above = [
        None if deviation is None or mean is None else min(deviation, round(100 - mean, 2))
        for deviation, mean in zip(below, _means(rows), strict=True)
    ]
    return {"symmetric": False, "array": above, "arrayminus": below, "thickness": 1, "width": 0}


def _means(rows: Sequence[MeanRow | None]) -> list[float | None]:
    return _points([None if row is None else row["f1_mean"] for row in rows])


def _points(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None else round(100 * value, 2) for value in values]


def _laid_out(figure: go.Figure, title: str, height: int) -> go.Figure:
    figure.update_layout(
        template="plotly_white", width=1000, height=height, title={"text": title, "x": 0.01}, barmode="group",
        margin={"l": 45, "r": 10, "t": 60, "b": 40}, font={"family": "sans-serif", "size": 12}, bargap=0.15,
    )  # fmt: skip
    return figure
