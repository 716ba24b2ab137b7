"""The second stage of an estimate: pairs outside the candidates, judged blind, and recall with what blocking missed.

Drawing them searches the tables, and so does capture and recapture: both happen in a process of their own.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.drawn import outside_of
from pages.parts.audit.undo import undo_button, undo_last
from pages.parts.audit.verdict_bar import verdict_bar
from pages.parts.frame.actions import barred, requires
from pages.parts.frame.given import INSIDE_STAGE, OUTSIDE, OUTSIDE_STAGE, STAGE
from pages.parts.frame.text import percent, plural
from pages.parts.pairs.masks import show_judged_records
from pages.parts.runs.run_files import stamp, types_of
from riskcore.access import Role
from riskcore.audit.estimate import Estimate, WithMissed, estimate_run
from riskcore.audit.estimate.runs import AUDITS
from riskcore.errors import RiskcoreError
from riskcore.paths import child_environment
from riskcore.runs import RunFolder, RunRecord

USUAL = 100  # pairs of a draw
MOST_SECONDS = 1_800  # of a search
BATCH = 10  # verdicts after which the figures are made again
ENOUGH = 20  # verdicts of either stage before anything is said


def outside_is_open() -> bool:
    """Which of the two stages is open; the key M must mean one pair."""
    chosen = st.segmented_control(
        "Which pairs",
        [INSIDE_STAGE, OUTSIDE_STAGE],
        default=INSIDE_STAGE,
        key=STAGE,
        bind="query-params",
        label_visibility="collapsed",
        required=True,
    )
    return chosen == OUTSIDE_STAGE


def show_outside(record: RunRecord, folder: RunFolder) -> None:
    """Draw pairs that are no candidates, judge them, and see recall and F1 with what blocking missed."""
    pairs = outside_of(folder)
    if not pairs:
        _introduce(record, folder)
        undo_button(record)
        return
    judged = verdicts.current(record.id)
    left = [pair for pair in pairs if pair not in judged]
    done = len(pairs) - len(left)
    st.progress(done / len(pairs), text=f"**{done:,} of {len(pairs):,}** pairs outside the candidates judged")
    _show_figures(record, folder, done, len(pairs))
    asked = st.query_params.get("pair")
    if left or asked in pairs:
        _judge(record, folder, asked if asked in pairs else left[0])
    else:
        st.success("All pairs drawn outside the candidates are judged.", icon=":material/check_circle:")
        undo_button(record, OUTSIDE)
    with st.expander("Draw more pairs", icon=":material/add:", expanded=not left):
        _draw_form(folder, USUAL // 2)


def show_with_missed(found: WithMissed) -> None:
    """Recall and F1 with what blocking missed, and what they rest on."""
    st.markdown("**With what blocking missed**")
    values = {"F1, missed included": found.f1, "Recall, missed included": found.recall}
    columns = st.columns(4)
    for column, (name, one) in zip(columns, values.items(), strict=False):
        column.metric(name, percent(one.value))
        column.caption(f"{percent(one.low)} to {percent(one.high)}")
    columns[2].metric("Matches missed", f"{found.missed.value:,.0f}")
    columns[2].caption(f"{found.missed.low:,.0f} to {found.missed.high:,.0f}")
    if found.contrary:
        st.warning(found.sentence, icon=":material/warning:")
    else:
        st.caption(found.sentence)


def _introduce(record: RunRecord, folder: RunFolder) -> None:
    st.markdown(
        "A match that is no candidate is lost, and verdicts on candidates cannot tell. Here you judge pairs that "
        "blocking left out: most of them from a wider search, more where records are alike, and a few at random from "
        "all the rest, which is taken for non-matches. Recall and F1 are then also stated with what blocking missed."
    )
    _draw_form(folder, USUAL, primary=True)
    if _now(record, folder).verdicts < ENOUGH:
        st.caption(f"Judge at least {ENOUGH} pairs among the candidates too: recall is known from both together.")
        return
    told = st.session_state.get(_told(record))
    if told is None and st.button(
        "Estimate without verdicts",
        icon=":material/compare_arrows:",
        disabled=barred(_child),
        help="Capture and recapture: two searches by different attributes, and how far they find the same pairs.",
    ):
        with st.spinner("Searching by other attributes …"):
            told = st.session_state[_told(record)] = _recapture(folder)
    if told is not None:
        show_with_missed(told)


def _draw_form(folder: RunFolder, usual: int, primary: bool = False) -> None:
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    size = int(row.number_input("Pairs to draw", 20, 10_000, usual, step=10, key=f"outside size {usual}", width=150))
    label = f"Draw {plural(size, 'pair')}"
    icon = ":material/travel_explore:"
    if row.button(
        label, key="draw outside", icon=icon, type="primary" if primary else "secondary", disabled=barred(_child)
    ):
        with st.spinner("Searching for pairs that blocking left out …"):
            _child(folder, "--draw", str(size))
        st.rerun()


def _judge(record: RunRecord, folder: RunFolder, pair: str) -> None:
    pairs = outside_of(folder)
    verdict_bar(
        record.id,
        pair,
        verdicts.mine(record.id).get(pair),
        give=lambda word: _give(record.id, pair, word),
        undo=lambda: undo_last(record, OUTSIDE),
        can_undo=verdicts.last_given(record.id) is not None,
    )
    types = {name: str(kind) for name, kind in types_of(folder).items()}
    show_judged_records(record.id, pair, *pairs[pair], types)


def _give(run: str, pair: str, word: str) -> None:
    verdicts.give(run, pair, word, OUTSIDE)
    st.query_params.pop("pair", None)


def _show_figures(record: RunRecord, folder: RunFolder, done: int, drawn: int) -> None:
    found = _now(record, folder, whole=done == drawn)
    if found.verdicts < ENOUGH:
        st.caption(f"Judge at least {ENOUGH} pairs among the candidates too: recall is known from both together.")
        return
    if found.with_missed is None:
        st.caption(f"The first figures are shown after about {ENOUGH} verdicts.")
        return
    show_with_missed(found.with_missed)
    ends = f"{percent(found.recall.low)} to {percent(found.recall.high)}"
    st.caption(f"Among the candidates alone, recall is {percent(found.recall.value)} ({ends}).")


def _now(record: RunRecord, folder: RunFolder, whole: bool = True) -> Estimate:
    """The estimate by all verdicts, or as it was after the last batch of them."""
    size = verdicts.log().size(record.id)
    written = stamp(*sorted((folder.path / AUDITS).glob("*.parquet")))
    return _estimated(str(folder.path), written, size if whole else size - size % BATCH)


@st.cache_data(max_entries=16, ttl=900, show_spinner="Estimating …")
def _estimated(path: str, written: tuple[int, ...], size: int) -> Estimate:
    """`size` is that of the log when the figures are made again."""
    return estimate_run(RunFolder(path))


def _recapture(folder: RunFolder) -> WithMissed:
    known = {field.name for field in dataclasses.fields(Estimate)}
    told = {name: value for name, value in _child(folder).items() if name in known}
    found = Estimate.from_dict(told).with_missed
    assert found is not None  # the command fails where it is not known
    return found


@requires(Role.AUDITOR)
def _child(folder: RunFolder, *options: str) -> dict[str, Any]:
    """What `audit estimate --outside` prints, run in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "riskcore", "audit", "estimate", str(folder.path.absolute()), "--outside"]
        command += [*options, *(["--out", str(Path(place) / "list.csv")] if options else []), "--json"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=MOST_SECONDS, env=child_environment(), check=False
        )
    if done.returncode:
        raise RiskcoreError(done.stderr.strip().removeprefix("Error: ")[-2_000:] or "The search ended without a word.")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _told(record: RunRecord) -> str:
    return f"recaptured {record.id}"
