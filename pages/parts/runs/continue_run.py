"""Continuing a run from one of its iterations, with the verdicts and decisions since; and what that changed."""

from __future__ import annotations

import dataclasses

import streamlit as st

from pages.parts.frame.actions import action, barred, requires
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.text import literal, percent, plural
from pages.parts.runs.run_picker import choose_run, store
from riskcore.access import Role
from riskcore.audit.continuing import (
    BranchComparison,
    compare_with_parent,
    continuing_config,
    create_continued,
    with_decided_rules,
    with_verdicts,
)
from riskcore.audit.draws import draws_of
from riskcore.audit.labels import is_draft, label_progress
from riskcore.audit.log_cache import CachedLog
from riskcore.config import RunConfig
from riskcore.runs import RunFolder, RunRecord, RunState, start
from riskcore.runs.feedback_files import read_choices
from riskcore.runs.folder import answering_method
from riskcore.runs.starts import iterations_to_continue

CONTINUED = "continued run"  # in the session: the run that was just started


def offer_continue(record: RunRecord, label: str, key: str) -> None:
    """The way to a run that continues this one; nothing where there is no matcher to continue from."""
    folder = RunFolder(record.folder)
    if record.state is not RunState.DONE or is_draft(record.config):
        return
    methods = [method for method in folder.methods() if iterations_to_continue(folder, method)]
    if methods:
        with st.popover(label, icon=":material/fork_right:"):
            _choose(record, folder, methods, key)
    run = st.session_state.pop(CONTINUED, None)
    if run is not None:
        choose_run(run)
        st.switch_page(SCREENS["fine_tuning"].path, query_params={"run": run})


def _choose(record: RunRecord, folder: RunFolder, methods: list[str], key: str) -> None:
    st.markdown("A new run goes on training from here. This run stays as it is, so an earlier iteration is an undo.")
    method = methods[0]
    if len(methods) > 1:
        usual = answering_method(methods)
        method = st.segmented_control("Method", methods, default=usual, required=True, key=f"{key} method") or usual
    stored, kept = iterations_to_continue(folder, method), folder.kept(method)
    iteration = st.selectbox(
        "From iteration",
        stored,
        index=stored.index(kept) if kept in stored else len(stored) - 1,
        format_func=lambda one: f"{one} · kept" if one == kept else str(one),
        key=f"{key} iteration {method}",
    )
    more = st.number_input("Iterations", 1, 1_000, max(1, record.config.adapt.iterations), key=f"{key} iterations")
    st.caption(_verdict_words(record, folder))
    decided = read_choices(folder).rules
    rules = bool(decided) and st.checkbox(
        f"Take {plural(len(decided), 'muted or pinned rule')} along", value=True, key=f"{key} rules"
    )
    st.button(
        f"Continue from iteration {iteration}",
        type="primary",
        icon=":material/play_arrow:",
        key=f"{key} start",
        on_click=_start,
        args=(record, method, int(iteration), int(more), rules),
        disabled=barred(_start),
    )


def _verdict_words(record: RunRecord, folder: RunFolder) -> str:
    """What the verdicts so far are used for."""
    judged = len(CachedLog(store()).current(record.id))
    if not judged:
        return "There are no verdicts yet: the new run learns from the same labels as this one."
    progress, go_along = label_progress(folder), f"All {plural(judged, 'verdict')} go along and decide their own pairs."
    if not draws_of(folder) or not progress.usable:
        return f"{go_along} None is on a pair drawn for labelling: the new run learns from the same labels as this one."
    labels = (
        f"{plural(progress.matches, 'match', 'matches')}, {plural(progress.non_matches, 'non-match', 'non-matches')}"
    )
    return f"{go_along} Those on pairs drawn for labelling are labels of the new run: {labels}."


@action(Role.OPERATOR)
def _start(record: RunRecord, method: str, iteration: int, iterations: int, rules: bool) -> None:
    folder = RunFolder(record.folder)
    config = with_verdicts(continuing_config(folder, method, iteration), folder)
    config = with_decided_rules(config, folder) if rules else config
    begin_continued(_with_iterations(config, iterations))


@requires(Role.OPERATOR)
def begin_continued(config: RunConfig) -> None:
    """Create the run and start its worker; the screen goes there with its next rerun."""
    record = create_continued(store(), config)
    start(store(), record.id)
    st.session_state[CONTINUED] = record.id


def _with_iterations(config: RunConfig, iterations: int) -> RunConfig:
    return dataclasses.replace(config, adapt=dataclasses.replace(config.adapt, iterations=iterations))


def continues_words(folder: RunFolder) -> str:
    """Which run this one continues, in words; empty where it continues none."""
    about = folder.run().get("continues") if folder.run_file.exists() else None
    if about is None:
        return ""
    return f"continues {literal(about['name'], 60)} ({about['run'][-4:]}) from iteration {about['iteration']}"


def show_before_and_after(folder: RunFolder) -> None:
    """A run beside the one that it continues; nothing where it continues none."""
    found = compare_with_parent(folder)
    if found is None:
        return
    with st.container(border=True, key="before and after"):
        st.markdown(
            f"**Since {literal(found.name, 60)}**, iteration {found.iteration} of {found.method}: "
            f"{plural(found.changed, 'label')} of {found.pairs:,} changed, {found.to_match:,} to match and "
            f"{found.changed - found.to_match:,} to non-match. What is called tradition below is that matcher."
        )
        for words in _quality_words(found):
            st.caption(words)


def _quality_words(found: BranchComparison) -> list[str]:
    words = []
    if found.f1_before is not None and found.f1_after is not None:
        before, after = percent(found.f1_before), percent(found.f1_after)
        words.append(f"F1 on these pairs: {before} before, {after} now. Labels used: target, for scoring only.")
    told = [("before", found.estimate_before), ("now", found.estimate_after)]
    parts = [
        f"{percent(one['value'])} {when} ({percent(one['low'])} to {percent(one['high'])}, "
        f"{plural(one['verdicts'], 'verdict')})"
        for when, one in told
        if one is not None
    ]
    if parts:
        words.append(f"F1 estimated by audits: {', '.join(parts)}. Labels used: verdicts on drawn pairs.")
    return words
