"""Which run, method and iteration a screen shows: chosen in the sidebar, kept in the address, validated here."""

from __future__ import annotations

import dataclasses
from typing import Literal

import streamlit as st

from pages.parts.frame.address import choose
from pages.parts.frame.glossary import WORDS
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.palette import method_words
from pages.parts.frame.text import literal, short
from pages.parts.runs.forgotten_view import shown_forgotten
from riskcore.audit.labels import is_draft
from riskcore.paths import runs_root
from riskcore.runs import RunFolder, RunRecord, RunState, RunStore

_Colour = Literal["gray", "blue", "green", "red", "orange"]
STATES: dict[RunState, tuple[str, str, _Colour]] = {  # word, icon, colour
    RunState.WAITING: ("waiting", ":material/hourglass_empty:", "gray"),
    RunState.RUNNING: ("running", ":material/progress_activity:", "blue"),
    RunState.DONE: ("done", ":material/check_circle:", "green"),
    RunState.FAILED: ("failed", ":material/error:", "red"),
    RunState.CANCELLED: ("cancelled", ":material/cancel:", "gray"),
    RunState.LOST: ("lost", ":material/link_off:", "orange"),
}
_LAST = "last run"
_OF_ONE_RUN = (  # in the address
    *("pair", "page", "one", "constraint", "entity", "entity_page"),
    *("kind", "probability", "evidence", "reason", "tour"),
)


@dataclasses.dataclass(frozen=True)
class View:
    """What a screen shows: one iteration of one method of one run."""

    run: RunRecord
    folder: RunFolder
    method: str
    iteration: int

    @property
    def link(self) -> dict[str, str]:
        """The part of an address that leads back here."""
        return {"run": self.run.id, "method": self.method, "iteration": str(self.iteration)}


def store() -> RunStore:
    return _store(str(runs_root()))


@st.cache_resource(max_entries=4, show_spinner=False)
def _store(root: str) -> RunStore:
    return RunStore(root)


def run_words(record: RunRecord) -> str:
    """A run in a list: name and time of creation. The text must not change over time; the list would reset."""
    draft = " · draft" if is_draft(record.config) else ""
    return short(f"{record.name}{draft} · {record.created:%d %b %H:%M} · {record.id[-4:]}", 90)


def pick_run(scored: bool = False) -> RunRecord | None:
    """The run chosen in the sidebar; None where there is none, after showing what to do.

    The address always contains the run, so that a copied link keeps its meaning. `scored` prefers runs with pairs.
    """
    records = {record.id: record for record in store().list()}
    if not records:
        no_runs()
        return None
    asked = st.query_params.get("run")
    if asked is not None and asked not in records:
        st.warning(f"There is no run {literal(asked, 60)}. Another run is shown instead.", icon=":material/warning:")
    remembered = (run for run in (asked, st.session_state.get(_LAST)) if run in records)
    newest = (r.id for r in records.values() if not scored or RunFolder(r.folder).ready)
    current = next(remembered, None) or next(newest, None) or next(iter(records))
    choose_run(current)
    key = "chosen run"
    st.session_state[key] = current

    def changed() -> None:
        if st.session_state[key] in records:  # a list whose options have changed sends its old choice once more
            choose_run(st.session_state[key])

    st.sidebar.selectbox(
        "Run", list(records), format_func=lambda run: run_words(records[run]), key=key, on_change=changed
    )
    return None if shown_forgotten(records[current]) else records[current]


def choose_run(run: str) -> None:
    """Make this the current run; drop what belongs to another run (pair, page, constraint, ...) from the address."""
    if st.query_params.get("run", run) != run:
        for name in _OF_ONE_RUN:
            st.query_params.pop(name, None)
    if st.query_params.get("run") != run:
        st.query_params["run"] = run
    st.session_state[_LAST] = run


def pick_view(with_iteration: bool = True) -> View | None:
    """Run, method and iteration; None where no pairs are scored yet, after showing what to do.

    By default the iteration is the kept one, or the latest while the run is active.
    """
    record = pick_scored()
    return None if record is None else view_of(record, with_iteration)


def pick_scored() -> RunRecord | None:
    """The chosen run; None where no pairs are scored yet, after showing what to do."""
    record = pick_run(scored=True)
    if record is not None and not RunFolder(record.folder).ready:
        not_ready(record)
        return None
    return record


def view_of(record: RunRecord, with_iteration: bool = True) -> View:
    """Method and iteration of a run that has scored pairs."""
    folder = RunFolder(record.folder)
    methods = folder.methods()
    help_text = method_words(methods)
    method = choose(st.sidebar, "Method", methods, "method", methods[0], help=help_text, remember=True)
    iterations = folder.iterations(method)[::-1]
    kept = folder.kept(method)
    default = folder.iteration(method, None)
    if not with_iteration:
        return View(record, folder, method, default)
    iteration = choose(
        st.sidebar,
        "Iteration",
        iterations,
        "iteration",
        default,
        words=lambda at: _iteration_words(at, iterations[0], kept),
        help=WORDS["iteration"],
    )
    if kept is not None and iteration != kept:
        st.sidebar.caption(f":orange[Not the result:] iteration {kept} is kept and exported.")
    return View(record, folder, method, iteration)


def _iteration_words(iteration: int, latest: int, kept: int | None) -> str:
    facts = {"kept": iteration == kept, "latest": iteration == latest, "before fine-tuning": iteration == 0}
    notes = [note for note, holds in facts.items() if holds]
    return f"{iteration}{' · ' if notes else ''}{', '.join(notes)}"


def no_runs() -> None:
    """Show what to do where there are no runs."""
    st.info(
        "There are no runs yet. Run the sample on the Overview; it takes under a minute.",
        icon=":material/rocket_launch:",
    )
    st.page_link(SCREENS["overview"].path, label="Open the Overview", icon=SCREENS["overview"].icon)


def not_ready(record: RunRecord) -> None:
    """Show why the run has no scored pairs, and what to do."""
    word, icon, _ = STATES[record.state]
    if record.state in (RunState.WAITING, RunState.RUNNING):
        st.info("This run has not scored any pairs yet. Wait for it, or choose another run.", icon=icon)
    elif record.state is RunState.DONE:
        st.info(
            "This run has no method that ranks pairs by risk. Start a run with the method risk, or choose another run.",
            icon=icon,
        )
    else:
        st.warning(f"This run is {word} and has no scored pairs. Resume it, or choose another run.", icon=icon)
    show_error_and_link(record)


def show_error_and_link(record: RunRecord) -> None:
    """The run's error, if it ended with one, and the way to the run."""
    if record.error:
        st.code(record.error, language=None, wrap_lines=True)
    st.page_link(
        SCREENS["fine_tuning"].path,
        label="Open this run in Fine-tuning",
        icon=SCREENS["fine_tuning"].icon,
        query_params={"run": record.id},
    )
