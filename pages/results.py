"""The result of a run: what is decided and by whom, the constraint, pairs and entities, and their files."""

import streamlit as st

from pages.parts.audit.undo import show_signing
from pages.parts.frame.address import choose
from pages.parts.frame.page import open_page, section
from pages.parts.frame.palette import method_words
from pages.parts.results.constraint import applied_constraint, show_constraint
from pages.parts.results.downloads import show_downloads
from pages.parts.results.entity_table import show_entities
from pages.parts.results.pair_table import show_pairs
from pages.parts.results.run_results import ResultKey, can_cluster, key_of, result_of
from pages.parts.results.sign_off_view import show_sign_off
from pages.parts.results.summary import show_summary
from pages.parts.results.tomorrow import show_tomorrow
from pages.parts.runs.proposals import warn_of_proposals
from pages.parts.runs.run_picker import STATES, pick_run, show_error_and_link
from pages.parts.runs.run_view import follow_to_end
from pages.parts.scored.set_picker import link_to_sets
from riskcore.audit.decisions import answer_of
from riskcore.runs import RunFolder, RunRecord, RunState

PAIRS, ENTITIES = "Pairs", "Entities"


def no_result(record: RunRecord) -> None:
    """Say why there is no result, and what to do."""
    word, icon, _ = STATES[record.state]
    if record.state in (RunState.WAITING, RunState.RUNNING):
        st.info(f"This run is {word}. It has a result once it is done. Wait for it, or choose another run.", icon=icon)
        follow_to_end(record)
    else:
        st.warning(f"This run is {word} and has no result. Resume it, or choose another run.", icon=icon)
    show_error_and_link(record)


def choose_result(record: RunRecord, folder: RunFolder, methods: list[str]) -> ResultKey:
    """Method and constraint, from the sidebar and the address. By default the method is the run's answer."""
    default = answer_of(folder).method
    method = choose(st.sidebar, "Method", methods, "method", default, help=method_words(methods))
    return key_of(record.id, folder, method, applied_constraint(folder))


def show_parts(key: ResultKey) -> None:
    """The pairs, or the entities."""
    st.session_state.setdefault("result part", ENTITIES if "entity" in st.query_params else PAIRS)
    part = st.segmented_control(
        "Show", [PAIRS, ENTITIES], required=True, key="result part", label_visibility="collapsed"
    )
    if part == ENTITIES:
        show_entities(key)
    else:
        show_pairs(key)


def show(record: RunRecord, folder: RunFolder, methods: list[str]) -> None:
    """The sections in the order in which a reader needs them: what it is, what could change, the rows, the files."""
    key = choose_result(record, folder, methods)
    warn_of_proposals(record, result=True)
    show_summary(result_of(key))
    if can_cluster(key):
        show_constraint(key)
        section("Pairs and entities")
        show_parts(key)
    else:
        st.info(
            "This run is of version 0.1, which did not store the ids of all records: it has pairs but no entities. Run "
            "again to have both.",
            icon=":material/info:",
        )
        show_pairs(key)
    show_downloads(key)
    show_sign_off(record)
    show_tomorrow(folder, key.method)
    link_to_sets(record.id)


with open_page("results", "A decision on every pair of the target, the entities that follow, and files of both."):
    record = pick_run(scored=True)
    if record is not None:
        folder = RunFolder(record.folder)
        results = folder.results()
        if results is None:
            no_result(record)
        else:
            show_signing(record, "results")
            show(record, folder, list(results["methods"]))
