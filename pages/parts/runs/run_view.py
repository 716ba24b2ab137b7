"""One run on screen: state, steps, progress with time left, charts by iteration; cancel and resume.

Drawn in a fragment that repeats while the run is active and stops when it is over. Nothing selectable is inside.
"""

from __future__ import annotations

import html
from collections.abc import Callable

import pandas as pd
import streamlit as st

from pages.parts.frame.actions import action, barred
from pages.parts.frame.charts import draw_chart
from pages.parts.frame.errors import boundary
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.palette import INK, MATCH, NEUTRAL, of_label, text_tone
from pages.parts.frame.text import duration, number, percent, plural
from pages.parts.runs.proposals import only_proposes, warn_of_proposals
from pages.parts.runs.run_charts import (
    auroc_chart,
    epochs_chart,
    f1_chart,
    flips_chart,
    mean_risk_chart,
    with_kept,
)
from pages.parts.runs.run_files import risk_labels, summary_of
from pages.parts.runs.run_picker import STATES, store
from pages.parts.runs.waiting import looked_at, waiting_words
from riskcore.access import Role
from riskcore.audit.labels import is_draft
from riskcore.runs import Event, RunFolder, RunRecord, RunState, cancel, resume
from riskcore.runs.documents import DoubtedLabel
from riskcore.runs.readers.time_left import RunProgress, pass_words, run_progress, step_words, steps_of

TICK_SECONDS = 1.5
MAX_EVENTS = 20_000
MAX_FOLLOWED = 4  # runs whose events a session keeps
_EVENTS = "events of the run"


def show_run(run: str, key: str = "live") -> None:
    """The live view of one run."""
    shown = store().get(run)
    ticking, ready = not shown.state.over, RunFolder(shown.folder).ready

    @st.fragment(run_every=TICK_SECONDS if ticking else None, key=f"{key} {run}")
    def tick() -> None:
        with boundary("run"):
            record = looked_at(run)
            if ticking and (record.state.over or RunFolder(record.folder).ready != ready):
                st.rerun()  # the whole page: to stop the timer, or to add the links to the pairs
            draw(record)

    _buttons(shown, key)
    tick()


def follow_to_end(record: RunRecord) -> None:
    """How far an active run is, on a screen that needs it done: draws the whole page again once it is over."""
    if record.state.over:
        return

    @st.fragment(run_every=TICK_SECONDS, key=f"end of {record.id}")
    def tick() -> None:
        with boundary("run"):
            now = looked_at(record.id)
            if now.state.over:
                st.rerun()
            _state(now, run_progress(now, all_events(now.id)))

    tick()


def draw(record: RunRecord) -> None:
    """The part of the view that changes while the run is active."""
    events = all_events(record.id)
    folder = RunFolder(record.folder)
    progress = run_progress(record, events)
    _state(record, progress)
    _steps(record, progress)
    epochs = [e.record for e in events if e.kind == "epoch_end" and e.record.get("phase") == "tradition"]
    methods = [method for method in folder.methods() if len(summary_of(folder, method))]
    if methods:
        warn_of_proposals(record)
        proposed = only_proposes(folder)
        places = st.tabs(methods) if len(methods) > 1 else [st.container()]
        for place, method in zip(places, methods, strict=True):
            with place:
                for sentence in folder.method_results(method).get("lacked") or ():
                    if proposed:  # the banner has said the most of it
                        st.caption(sentence)
                    else:
                        st.info(sentence, icon=":material/info:")
                draw_history(summary_of(folder, method), folder.has_truth, folder.kept(method), proposed)
        show_doubted_labels(folder)
    elif any(epoch.get("validation_f1") is not None for epoch in epochs):
        st.markdown("**Training on the source**: F1 on validation after each epoch")
        draw_chart(epochs_chart(epochs), "F1 on validation by epoch")


def show_doubted_labels(folder: RunFolder) -> None:
    """Validation labels that every learner contradicts, for a person to check; nothing where there are none."""
    results = folder.results()
    doubted = [] if results is None else results.get("doubted_labels") or []
    if not doubted:
        return
    left_out = sum(not one["used"] for one in doubted)
    what = f" {left_out} of them were left out of what risk+ and the ranking learned from." if left_out else ""
    st.warning(
        f"Check {plural(len(doubted), 'validation label')}: the matcher and every base learner contradict "
        f"{'it' if len(doubted) == 1 else 'them'}.{what}",
        icon=":material/rule:",
    )
    rows = [
        {
            "pair": one["pair_id"],
            "label": of_label(one["label"]).text,
            **{f"{side} {name}": value for name in one["left"] for side, value in _sides(one, name)},
        }
        for one in doubted
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, placeholder="–", alt="validation labels to check")
    st.caption("Labels used: validation.")


def _sides(doubted: DoubtedLabel, name: str) -> list[tuple[str, str | None]]:
    return [("left", doubted["left"][name]), ("right", doubted["right"].get(name))]


def draw_history(history: pd.DataFrame, has_truth: bool, kept: int | None, proposed: bool = False) -> None:
    """Charts by iteration, each with the labels it used. `kept` is known once the run is done; `proposed` says that
    there were no labels to choose an iteration by, so that flips are proposals."""
    if kept is not None and len(history) == 1:
        _draw_figures(history, has_truth)
        return
    scored = "target, for scoring only" if has_truth else "none"
    flips = "Flips proposed" if proposed else "Labels flipped"
    charts = [
        ("F1", f1_chart(history), _f1_labels(history, has_truth), WORDS["f1"], _f1_words(history, kept)),
        ("Mean risk", mean_risk_chart(history), risk_labels(history), WORDS["risk"], _risk_words(history, kept)),
        (flips, flips_chart(history), scored, WORDS["flipped"], flip_words(history, kept, proposed)),
    ]
    if has_truth:
        auroc = "Ranking of wrong labels"
        words = _auroc_words(history, kept)
        charts.append((auroc, auroc_chart(history), "target, for scoring only", WORDS["auroc"], words))
    cells = [column for _ in range(0, len(charts), 2) for column in st.columns(2, gap="medium")]
    for cell, (title, chart, used, help_text, words) in zip(cells, charts, strict=False):
        with cell:
            st.markdown(f"**{title}**", help=help_text)
            draw_chart(with_kept(chart, kept), words)
            st.caption(f"{words} Labels used: {used}.")


def _draw_figures(history: pd.DataFrame, has_truth: bool) -> None:
    """The figures of a run with a single iteration, which has no course to draw."""
    row, scored = history.iloc[0], "target, for scoring only"
    figures = [("Mean risk", f"{row['mean_risk']:.3f}", risk_labels(history), WORDS["risk"])]
    if pd.notna(row["validation_f1"]):
        figures.append(("F1 on validation", percent(row["validation_f1"]), "validation", WORDS["f1"]))
    if has_truth:
        figures.append(("F1 on the target", percent(row["f1"]), scored, WORDS["f1"]))
        figures.append(("AUROC of risk", number(row["auroc_risk"], 3), scored, WORDS["auroc"]))
    for column, (title, value, used, words) in zip(st.columns(4), figures, strict=False):
        column.metric(title, value, help=words)
        column.caption(f"Labels used: {used}.")
    st.caption("There is one iteration, the matcher as it is: it is kept, and no label flipped.")


def _f1_labels(history: pd.DataFrame, has_truth: bool) -> str:
    """The labels that F1 was measured with."""
    if history["validation_f1"].notna().any():
        return "validation and target (scoring only)" if has_truth else "validation"
    return "target, for scoring only" if has_truth else "none"


def course_words(values: pd.Series, iterations: pd.Series, kept: int | None, words: Callable[[float], str]) -> str:
    """A figure at the start, and now; once the run is done, in the kept iteration and in the last, told apart."""
    first, last, at = words(values.iloc[0]), words(values.iloc[-1]), int(iterations.iloc[-1])
    if kept is None:
        return f"{first} at iteration 0, {last} now (iteration {at})."
    of_kept = words(values[iterations == kept].iloc[0])
    if kept == at:
        return f"{first} at iteration 0, {of_kept} kept (iteration {kept}, the last)." if at else f"{first} kept."
    start = "" if kept == 0 else f"{first} at iteration 0, "
    return f"{start}{of_kept} kept (iteration {kept}); {last} in the last iteration ({at}), which is not kept."


def _f1_words(history: pd.DataFrame, kept: int | None) -> str:
    words = [
        f"{name}: {course_words(history[column], history['iteration'], kept, percent)}"
        for name, column in (("Validation", "validation_f1"), ("Target", "f1"))
        if pd.notna(history[column].iloc[-1])
    ]
    return " ".join(words or ["There are no labels to compute F1 from."])


def _risk_words(history: pd.DataFrame, kept: int | None) -> str:
    return course_words(history["mean_risk"], history["iteration"], kept, lambda risk: f"{risk:.3f}")


def _auroc_words(history: pd.DataFrame, kept: int | None) -> str:
    row = history.iloc[-1] if kept is None else history[history["iteration"] == kept].iloc[0]
    when = "now" if kept is None else f"of the kept iteration ({kept})"
    return (
        f"AUROC {when}: {number(row['auroc_risk'], 3)} for risk, {number(row['auroc_confidence'], 3)} for confidence."
    )


def flip_words(history: pd.DataFrame, kept: int | None, proposed: bool) -> str:
    """What fine-tuning flipped, or what it proposes to flip."""
    last = history.iloc[-1]
    if last["iteration"] == 0:
        return "No label has flipped: this is iteration 0."
    if proposed:
        known = f": {_fixed_words(last)}" if pd.notna(last["fixed"]) else ""
        return f"The last iteration ({int(last['iteration'])}) is a proposal{known}. No flip is applied."
    row = last if kept is None else history[history["iteration"] == kept].iloc[0]
    when = "now" if kept is None else f"in the kept iteration ({kept})"
    if pd.notna(row["fixed"]):
        return f"Since iteration 0, {when}: {_fixed_words(row)}."
    flips = history.loc[history["iteration"] <= row["iteration"], "flips"].sum()
    return f"{plural(int(flips), 'flip')} in total, {when}. Without labels, it is unknown which of them are correct."


def _fixed_words(row: pd.Series) -> str:
    return f"{int(row['fixed']):,} fixed, {int(row['broken']):,} broken"


def _state(record: RunRecord, progress: RunProgress) -> None:
    word, icon, colour = STATES[record.state]
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    row.badge("stopping …" if record.cancelling else word, icon=icon, color=colour)
    row.markdown(f"running time **{duration(record.seconds)}**", width="content")
    if record.state is RunState.RUNNING:
        left = "estimating the time left …" if progress.left is None else f"about **{duration(progress.left)}** left"
        row.markdown(left, width="content")
        st.progress(progress.share, text=step_words(progress.current) if progress.current else "Starting")
        for told in record.passes:
            st.caption(pass_words(told))
    elif record.state is RunState.WAITING:
        st.progress(0.0, text=waiting_words(record))
    elif record.state is RunState.LOST:
        st.warning(
            "The worker has stopped. Its progress is saved: press Resume to continue.",
            icon=":material/link_off:",
        )
    elif record.state is RunState.CANCELLED:
        st.info("This run was cancelled. Its progress is saved: press Resume to continue.", icon=":material/cancel:")
    elif record.state is RunState.FAILED:
        st.error("The run failed. Do what the message says, then press Resume.", icon=":material/error:")
        st.code(
            record.error or "There is no message. See worker.log in the run's folder.", language=None, wrap_lines=True
        )


def _steps(record: RunRecord, progress: RunProgress) -> None:
    """All steps in a row, each with a sign for done, active or still to do."""
    parts = []
    for step in steps_of(record.config):
        done, current = step in progress.done, step == progress.current and not record.state.over
        sign, tone = ("✓", MATCH.colour) if done else ("▶", INK) if current else ("○", NEUTRAL)
        weight = "600" if current else "400"
        words = step_words(step) if record.config.source else step_words(step).replace(" on the source", "")
        words = "Take over the matcher" if step == "tradition" and record.config.start else words
        words = html.escape(words)
        mark = f'<b style="color:{text_tone(tone)}">{sign}</b>'
        parts.append(f'<span style="white-space:nowrap;font-weight:{weight}">{mark} {words}</span>')
    st.html(f'<div style="display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;font-size:.88rem">{"".join(parts)}</div>')


@action(Role.OPERATOR)
def _cancel(run: str) -> None:
    cancel(store(), run)


@action(Role.OPERATOR)
def _resume(run: str) -> None:
    resume(store(), run)


def _buttons(record: RunRecord, key: str) -> None:
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    if not record.state.over:
        row.button(
            "Cancel",
            icon=":material/cancel:",
            key=f"{key} cancel",
            disabled=record.cancelling or barred(_cancel),
            on_click=_cancel,
            args=(record.id,),
        )
    elif record.state.resumable:
        row.button(
            "Resume",
            icon=":material/play_arrow:",
            key=f"{key} resume",
            type="primary",
            disabled=barred(_resume),
            on_click=_resume,
            args=(record.id,),
        )
    if RunFolder(record.folder).ready:
        with row:
            link("pairs", "Top-risk pairs", record)
            link("rules", "Rules", record)
            link("compare", "Compare", record)
            if record.state is RunState.DONE:
                link("results", "Results", record)


def link(screen: str, label: str, record: RunRecord) -> None:
    st.page_link(SCREENS[screen].path, label=label, icon=SCREENS[screen].icon, query_params={"run": record.id})


def all_events(run: str) -> list[Event]:
    """All events of the run, up to a limit that no ordinary run reaches; a session reads each of them once."""
    seen: dict[str, list[Event]] = st.session_state.setdefault(_EVENTS, {})
    found = seen.setdefault(run, [])
    for other in list(seen)[:-MAX_FOLLOWED]:
        del seen[other]
    while len(found) < MAX_EVENTS and (batch := store().events(run, found[-1].sequence if found else 0)):
        found += batch
    return found


def describe(record: RunRecord) -> str:
    """A run's settings in a line."""
    config = record.config
    if is_draft(config):
        return f"draft · matcher {config.matcher.kind} · seed {config.seed}"
    return (
        f"matcher {config.matcher.kind} · {plural(config.tune.epochs, 'epoch')} · "
        f"{plural(config.adapt.iterations, 'iteration')} · seed {config.seed} · {', '.join(config.methods)}"
    )
