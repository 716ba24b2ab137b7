"""Errors by kind on screen: groups of pairs, each with its counts, its queue and a way to judge it at once."""

from __future__ import annotations

import html
from collections.abc import Mapping

import streamlit as st

from pages.parts.frame.palette import RISKY, of_label
from pages.parts.frame.text import plural
from pages.parts.pairs.group_verdicts import show_group
from pages.parts.runs.run_files import stamp
from pages.parts.runs.run_picker import View
from riskcore.audit.error_kinds import FLAGGED_RISK, ErrorKind, count_flagged, error_kinds, measure_kinds
from riskcore.audit.verdicts import Verdict
from riskcore.data.problems import visible
from riskcore.rules.rule import Condition, Rule, RuleFormatError
from riskcore.runs import RunFolder
from riskcore.runs.readers.queries import metric_keys

Kinds = tuple[tuple[Condition, ...], ...]
LONGEST_KIND = 1_000  # characters in the address
HELP = (
    "Pairs that are likely wrong, grouped by what their values have in common. Pairs count as flagged with a risk of "
    f"{FLAGGED_RISK} or more, or with a verdict that differs from their label."
)

_STYLE = f"""<style>
.rc-kind-text{{font-weight:600;overflow-wrap:anywhere;unicode-bidi:isolate}}
.rc-kind-facts{{font-size:.85rem;opacity:.85;margin-top:.1rem}}
.rc-kind-track{{height:6px;border-radius:3px;margin-top:.4rem;max-width:36rem;
 background:color-mix(in srgb,currentColor 10%,transparent)}}
.rc-kind-bar{{height:6px;border-radius:3px;background:{RISKY.colour}}}
</style>"""


def show_error_kinds(view: View, verdicts: Mapping[str, Verdict]) -> None:
    """The groups, those with the most flagged pairs first. `verdicts` are the current ones by pair id.

    Groups stay as they are while their pairs are judged; only the counts follow. A button finds them again.
    """
    state, now = f"error kinds {view.run.id} {view.method} {view.iteration}", _signature(verdicts)
    if state not in st.session_state:
        found = _found(*_address(view), now, verdicts)
        st.session_state[state] = (tuple(kind.conditions for kind in found), now)
    conditions, then = st.session_state[state]
    kinds, flagged = _measured(*_address(view), conditions, now, verdicts)
    if not kinds:
        st.caption(_none_words(flagged))
    for kind in kinds:
        _show_kind(view, kind, max(one.flagged for one in kinds), verdicts)
    rest = flagged - sum(kind.flagged for kind in kinds)
    if kinds and rest > 0:
        lack = "it differs from them, or lacks a value" if rest == 1 else "they differ too much, or lack a value"
        st.caption(f"{plural(rest, 'more flagged pair')} {'is' if rest == 1 else 'are'} in no group: {lack}.")
    if then != now:
        st.button(
            "Find the groups again",
            key=f"again {state}",
            icon=":material/refresh:",
            type="tertiary",
            on_click=_forget,
            args=(state,),
            help="Verdicts were given or withdrawn since these groups were found.",
        )


def kind_from_address(text: str, folder: RunFolder) -> tuple[Condition, ...]:
    """The conditions that `?kind=` names, if the run has their metrics; none where the text is anything else."""
    if not text or len(text) > LONGEST_KIND:
        return ()
    try:
        conditions = Rule.parse(f"{text} -> match").conditions
    except (RuleFormatError, ValueError, RecursionError):
        return ()
    known = set(metric_keys(folder))
    return conditions if all(condition.metric.key in known for condition in conditions) else ()


def _show_kind(view: View, kind: ErrorKind, most: int, verdicts: Mapping[str, Verdict]) -> None:
    with st.container(border=True):
        columns = st.columns([7, 2, 2], vertical_alignment="center")
        columns[0].html(_STYLE + _kind_html(kind, most))
        columns[1].button(
            f"Show {plural(kind.pairs, 'pair')}",
            key=f"show {view.run.id} {kind.text}",
            icon=":material/filter_alt:",
            on_click=_narrow,
            args=(kind.text,),
            help="Narrow the queue to the pairs of this group. The other filters stay.",
        )
        opened = columns[2].toggle(
            "Judge at once",
            key=f"group {view.run.id} {kind.text}",
            help="Judge a sample of the group one by one. If it agrees, give the other pairs the same verdict.",
        )
        if opened:
            show_group(view, kind, verdicts)


def _kind_html(kind: ErrorKind, most: int) -> str:
    label = of_label(kind.flagged_label)
    facts = [
        plural(kind.pairs, "pair"),
        f"{kind.flagged:,} flagged" + (f", most labelled {label.text}" if kind.flagged else ""),
        f"about {kind.expected:,.0f} wrong expected",
        f"{kind.judged:,} judged, {kind.wrong:,} wrong" if kind.judged else "none judged",
    ]
    sentence = kind.sentence[:1].upper() + kind.sentence[1:]
    width = 100 * kind.flagged / max(1, most)
    return (
        f'<div class="rc-kind-text" title="{html.escape(visible(kind.text))}">{html.escape(visible(sentence))}</div>'
        f'<div class="rc-kind-facts">{html.escape(" · ".join(facts))}</div>'
        f'<div class="rc-kind-track" role="img" aria-label="{kind.flagged:,} flagged pairs">'
        f'<div class="rc-kind-bar" style="width:{width:.1f}%"></div></div>'
    )


def _none_words(flagged: int) -> str:
    if not flagged:
        return (
            f"No pair has a risk of {FLAGGED_RISK} or more, and no verdict differs from a label: there are no groups."
        )
    return f"{plural(flagged, 'flagged pair')}: too few, or too different, to form groups."


def _narrow(text: str) -> None:
    """Narrow the queue. A link from this screen to itself would leave the browser's address as it was."""
    st.query_params["kind"] = text
    for name in ("page", "pair"):
        st.query_params.pop(name, None)


def _forget(state: str) -> None:
    st.session_state.pop(state, None)


def _signature(verdicts: Mapping[str, Verdict]) -> int:
    """Which verdicts these are; good for as long as the process runs."""
    return hash(frozenset((pair, one.number) for pair, one in verdicts.items()))


def _address(view: View) -> tuple[str, str, int, tuple[int, ...]]:
    files = (view.folder.scores_file(view.method, view.iteration), view.folder.metrics_file)
    return str(view.folder.path), view.method, view.iteration, stamp(*files)


@st.cache_data(max_entries=20, show_spinner="Looking for groups of errors …")
def _found(
    path: str,
    method: str,
    iteration: int,
    written: tuple[int, ...],
    signature: int,
    _verdicts: Mapping[str, Verdict],
) -> list[ErrorKind]:
    return error_kinds(RunFolder(path), method, iteration, _verdicts)


@st.cache_data(max_entries=20, show_spinner=False)
def _measured(
    path: str,
    method: str,
    iteration: int,
    written: tuple[int, ...],
    kinds: Kinds,
    signature: int,
    _verdicts: Mapping[str, Verdict],
) -> tuple[list[ErrorKind], int]:
    """The groups as they are now, and how many pairs are flagged in all."""
    folder = RunFolder(path)
    found = measure_kinds(folder, method, iteration, _verdicts, kinds)
    return found, count_flagged(folder, method, iteration, _verdicts)
