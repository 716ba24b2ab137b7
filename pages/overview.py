"""What this is, what has been run, and one button that runs the sample."""

import streamlit as st

from pages.parts.frame.flow_diagram import PICTURE
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import open_page
from pages.parts.runs.live import show_run
from pages.parts.runs.run_list import run_table
from pages.parts.runs.run_picker import store
from pages.parts.runs.sample_run import NAME, start_sample
from riskcore.runs import RunRecord

RECENT = 8


def introduce() -> None:
    st.markdown(
        "Riskcore trains an entity matcher on data you have labels for, and lets it repair itself on data you have "
        "none for. Readable rules say which of its answers are probably wrong. You audit those first, each with its "
        "reasons."
    )
    st.html(PICTURE)


def offer_sample(records: list[RunRecord]) -> None:
    running = next((r for r in records if r.name == NAME and not r.state.over), None)
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    if row.button("Run the sample", type="primary", icon=":material/play_arrow:", disabled=running is not None):
        st.query_params["run"] = start_sample(store()).id
        st.rerun()
    row.caption(
        "Learns from a curated bibliography, adapts to a scraped one, and shows its riskiest pairs. Under a minute.",
        width="content",
    )
    shown = running.id if running else st.query_params.get("run")
    if shown in {record.id for record in records if record.name == NAME}:
        with st.container(border=True):
            show_run(shown, "sample")


def recent(records: list[RunRecord]) -> None:
    st.subheader("Recent runs", anchor=False)
    if not records:
        st.info("Nothing has been run yet. Press “Run the sample”, or bring your own data.", icon=":material/info:")
        st.page_link(SCREENS["data_sets"].path, label="Bring your own data", icon=SCREENS["data_sets"].icon)
        return
    run_table(records[:RECENT])
    if len(records) > RECENT:
        st.caption(f"{len(records) - RECENT} older ones are on the Fine-tuning screen.")


with open_page("overview"):
    known = store().list()
    introduce()
    offer_sample(known)
    recent(known)
