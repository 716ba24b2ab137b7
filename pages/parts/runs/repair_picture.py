"""Watch the repair: all target pairs in one picture that plays through the iterations, and a box that opens pairs."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from pages.parts.frame.errors import boundary
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import section
from pages.parts.frame.palette import method_words
from pages.parts.frame.text import plural
from pages.parts.runs.proposals import only_proposes
from pages.parts.runs.repair_figure import Box, repair_figure
from pages.parts.runs.repair_frames import Repair, RepairFrame, read_repair
from pages.parts.runs.repair_layout import unstretched
from pages.parts.runs.run_files import stamp
from pages.parts.runs.score_columns import columns_of, ids_of, truth_of
from riskcore.runs import RunFolder

TITLE = "Watch the repair"
_HELP = (
    "Each point is a pair. To the right, the rules expect a match; at the top, the model says match. Where the two "
    "contradict each other, the label is in doubt, and fine-tuning moves it. Both scales are stretched towards 0 and "
    "1. What the rules expect includes the matcher's own share. A ring marks a risk of 0.5 or more."
)
_DIGITS = 4  # of a range in a link: the scales tell 0.001 from 0.002
_CONFIG = {
    "editSelection": False,
    "modeBarButtonsToRemove": ["zoom", "pan", "select", "zoomIn", "zoomOut", "autoScale", "resetScale"],
    "toImageButtonOptions": {"filename": "repair", "scale": 2},
}
# What plotly cannot take from the theme: readable text, and buttons that stay readable under the pointer.
_STYLE = """<style>
.st-key-repair_picture .js-plotly-plot text{fill:currentColor!important}
.st-key-repair_picture .annotation-text{opacity:.75}
.st-key-repair_picture .updatemenu-item-rect{fill:color-mix(in srgb,currentColor 6%,transparent)!important;
 stroke:color-mix(in srgb,currentColor 22%,transparent)!important}
.st-key-repair_picture .updatemenu-button:hover .updatemenu-item-rect{
 fill:color-mix(in srgb,currentColor 14%,transparent)!important}
.st-key-repair_picture .slider-rail-rect{fill:color-mix(in srgb,currentColor 22%,transparent)!important}
</style>"""


@st.fragment
def watch_repair(folder: RunFolder, over: bool) -> None:
    """The section of a run: nothing while it has no second iteration. It is a fragment, since a box reruns it."""
    with boundary("repair"):
        methods = [method for method in folder.methods() if over or len(folder.iterations(method)) > 1]
        if not methods:
            return
        section(TITLE, _HELP)
        method = methods[0]
        if len(methods) > 1:
            chosen = st.segmented_control(
                "Method",
                methods,
                default=method,
                required=True,
                key="repair of",
                bind="query-params",
                help=method_words(methods),
                label_visibility="collapsed",
            )
            method = chosen if chosen in methods else method
        show_repair(folder, method)


def show_repair(folder: RunFolder, method: str) -> None:
    """The picture of a method's iterations, what it shows in a sentence, and a link to the pairs in a box."""
    repair, pair_ids = _repair(folder, method)
    words = repair_words(folder, repair)
    place = f"repair {folder.path.name} {method}"
    brush = _brush(place)
    shown = next((at for at, frame in enumerate(repair.frames) if frame.name == brush.frame), 0)
    chart = f"{place} {brush.times}"
    with st.container(key="repair_picture"):
        st.html(_STYLE)
        st.plotly_chart(
            repair_figure(repair.frames, folder.kept(method), pair_ids, shown, brush.box),
            key=chart,
            on_select=lambda: _take_box(place, chart),
            selection_mode="box",
            config=_CONFIG,
            alt=f"{plural(repair.pairs, 'target pair')} by what the rules expect and by the model's match probability, "
            f"iteration by iteration. {words}",
        )
    used = "target, for scoring only" if folder.has_truth else "none"
    st.caption(" ".join(filter(None, [words, repair.left_out, f"Labels used: {used}."])))
    if brush.box is None:
        st.caption("Drag a box over points to open those pairs in the queue.")
    else:
        _offer_pairs(folder, repair.frames[shown], brush.box, place)


def _repair(folder: RunFolder, method: str) -> tuple[Repair, list[str]]:
    """The frames, and the ids of the drawn pairs."""
    files = [folder.scores_file(method, iteration) for iteration in folder.iterations(method)]
    return _read(str(folder.path), method, stamp(*files, folder.results_file))


@st.cache_resource(max_entries=4, ttl=1800, show_spinner="Reading all iterations …")
def _read(path: str, method: str, written: tuple[int, ...]) -> tuple[Repair, list[str]]:
    folder = RunFolder(path)
    repair = read_repair(folder, method)
    return repair, ids_of(folder, repair.rows)


def repair_words(folder: RunFolder, repair: Repair) -> str:
    """What fine-tuning flipped up to the kept iteration, and how many flips are right where that is known."""
    method, first, last = repair.method, repair.frames[0], repair.frames[-1].iteration
    kept, flips = folder.kept(method), functools.partial(_flip_words, folder, method)
    if len(repair.frames) == 1:
        return f"There is one iteration: {flips(last)}."
    if first.method != method:
        start, to = "The matcher before fine-tuning", "iteration "
    else:
        start, to = f"Iteration {first.iteration}", ""
    if kept is None:
        return f"{start} to {to}{last} (the latest): {flips(last)}."
    if (method, kept) != (first.method, first.iteration):
        return f"{start} to {to}{kept} (kept): {flips(kept)}."
    if only_proposes(folder):
        return f"{start} (kept): {flips(kept)}. By iteration {last}, which is not applied, {flips(last, 'would flip')}."
    return f"{start} (kept): {flips(kept)}. Iteration {last}, not kept: {flips(last)}."


def _flip_words(folder: RunFolder, method: str, iteration: int, verb: str = "flipped") -> str:
    label, flipped = columns_of(folder, method, iteration, "label", "flipped")
    count, truth = int(flipped.sum()), truth_of(folder)
    if not count:
        return f"no label {verb}"
    words = f"{plural(count, 'label')} {verb}"
    known = flipped & (truth >= 0) if truth is not None else np.zeros(len(label), dtype=bool)
    if truth is None or not known.any():
        return words
    right = int((label[known] == truth[known]).sum())
    return f"{words}, {right:,} of {'them' if known.sum() == count else f'{known.sum():,} with a known truth'} right"


# The box. Plotly keeps its own and then fails to change the frame. So each box makes a new chart, with ours in it.


@dataclasses.dataclass(frozen=True)
class _Brush:
    """The current box, the frame that it was drawn in, and how often that has changed."""

    box: Box | None = None
    frame: str = ""
    times: int = 0


def _brush(place: str) -> _Brush:
    found: _Brush = st.session_state.get(place, _Brush())
    return found


def _take_box(place: str, chart: str) -> None:
    before, found = _brush(place), selected_box(st.session_state[chart]["selection"])
    box, frame = found or (before.box, before.frame)
    st.session_state[place] = _Brush(box, frame, before.times + 1)


def _remove_box(place: str) -> None:
    before = _brush(place)
    st.session_state[place] = _Brush(None, before.frame, before.times + 1)


def selected_box(selection: Mapping[str, Any]) -> tuple[Box, str] | None:
    """The box that was just drawn and the name of its frame; None where nothing tells the frame."""
    names = [point["legendgroup"] for point in selection["points"] if point.get("legendgroup")]
    if not names or not selection["box"]:
        return None
    last = selection["box"][-1]
    return Box(tuple(last["x"]), tuple(last["y"])), names[0]


def _offer_pairs(folder: RunFolder, frame: RepairFrame, box: Box, place: str) -> None:
    """A link to the pairs in the box, and a button that removes it."""
    evidence, probability = selected_range(box.x), selected_range(box.y)
    count = count_pairs(folder, frame, evidence, probability)
    address = {
        "run": folder.path.name,
        "method": frame.method,
        "iteration": str(frame.iteration),
        "probability": range_text(probability),
        "evidence": range_text(evidence),
    }
    words = f"Open {'this' if count == 1 else 'these'} {plural(count, 'pair')} in the queue"
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        if count:
            st.page_link(SCREENS["pairs"].path, label=words, icon=SCREENS["pairs"].icon, query_params=address)
        else:
            st.markdown("There is no pair in the box.", width="content")
        st.caption(f"The box was drawn in iteration {frame.iteration} of {frame.method}.", width="content")
        st.button("Remove the box", type="tertiary", icon=":material/close:", on_click=_remove_box, args=(place,))


def selected_range(positions: Sequence[float]) -> tuple[float, float]:
    """Two ends on an axis as probabilities, rounded outwards, so that no pair in the box is lost."""
    scale, (low, high) = 10**_DIGITS, sorted(float(position) for position in positions)
    return math.floor(unstretched(low - 0.5) * scale) / scale, math.ceil(unstretched(high + 0.5) * scale) / scale


def range_text(ends: tuple[float, float]) -> str:
    """A range in an address, such as 0.1-0.9534."""
    return "-".join(f"{end:.{_DIGITS}f}".rstrip("0").rstrip(".") for end in ends)


def count_pairs(
    folder: RunFolder, frame: RepairFrame, evidence: tuple[float, float], probability: tuple[float, float]
) -> int:
    """How many of all pairs are within both ranges, drawn or not."""
    columns = columns_of(folder, frame.method, frame.iteration, "mu", "probability")
    within = [
        (low <= values) & (values <= high) for values, (low, high) in zip(columns, (evidence, probability), strict=True)
    ]
    return int((within[0] & within[1]).sum())
