"""What Riskcore does, three ways to begin, and the recent runs."""

import streamlit as st

from pages.parts.audit.undo import show_undo
from pages.parts.frame.actions import barred
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import open_page, section
from pages.parts.frame.palette import FLIPPED, INK, MATCH, RISKY
from pages.parts.runs.proposals import warn_of_all
from pages.parts.runs.run_list import run_table
from pages.parts.runs.run_picker import store
from pages.parts.runs.run_view import show_run
from pages.parts.runs.sample_run import NAME, start_sample
from pages.parts.runs.waiting import all_looked_at
from pages.parts.tour.banner import begin_tour, may_begin
from riskcore.runs import RunRecord

RECENT = 8
STYLE = """<style>
.rc-flow{display:flex;flex-wrap:wrap;gap:.5rem;align-items:stretch;margin:.4rem 0 .2rem;line-height:1.4}
.rc-stage{flex:1 1 8.5rem;border-radius:10px;padding:.7rem .85rem;position:relative;
 background:color-mix(in srgb,var(--tone) 9%,transparent);
 border:1px solid color-mix(in srgb,var(--tone) 45%,transparent)}
.rc-stage b{display:block;margin-bottom:.2rem}
.rc-stage span{font-size:.85rem;opacity:.85}
.rc-arrow{align-self:center;opacity:.75;font-size:1.15rem}
.rc-loop{text-align:center;font-size:.85rem;opacity:.8;margin:.1rem 0 .6rem}
</style>"""
STAGES = (
    (INK, "1 · Train", "train a matcher on the labelled source"),
    (MATCH.colour, "2 · Find rules", "“year differs → non-match”, reliable on the source"),
    (RISKY.colour, "3 · Measure risk", "compare rules and matcher on the unlabelled target"),
    (FLIPPED.colour, "4 · Repair", "fine-tune by risk; wrong labels flip ⇄"),
    (INK, "5 · Audit", "review the riskiest pairs first, each with its reasons"),
)


def stage(tone: str, title: str, words: str) -> str:
    return f'<div class="rc-stage" style="--tone:{tone}"><b>{title}</b><span>{words}</span></div>'


def introduce() -> None:
    st.markdown(
        "Riskcore trains an entity matcher on data that has labels and adapts it to data that has none. Readable "
        "rules show which of its labels are probably wrong, and why. You review those pairs first."
    )


def show_doors(records: list[RunRecord]) -> None:
    """The three ways to begin."""
    running = next((r for r in records if r.name == NAME and not r.state.over), None)
    tables, scores, sample = (column.container(border=True, height="stretch") for column in st.columns(3))
    with tables:
        door("Bring two tables", "Two tables, or one with duplicates, with or without labels: csv, xlsx, parquet, zip.")
        data_link("Add tables", "tables")
    with scores:
        door("I already have a matcher’s scores", "See which of its answers are risky, and why. Review these first.")
        data_link("Add scores", "scores")
    with sample:
        door("See it work", "A finished example: five stops in ninety seconds. Or run it yourself, in under a minute.")
        row = st.container(horizontal=True)
        if row.button("Take the tour", type="primary", icon=":material/tour:", disabled=not may_begin()):
            begin_tour()
        waits = running is not None or barred(start_sample)
        if row.button("Run the sample", icon=":material/play_arrow:", disabled=waits):
            st.query_params["run"] = start_sample(store()).id
            st.rerun()
    shown = running.id if running else st.query_params.get("run")
    if shown in {record.id for record in records if record.name == NAME}:
        with st.container(border=True):
            show_run(shown, "sample")


def door(title: str, words: str) -> None:
    st.markdown(f"**{title}**")
    st.caption(words)


def data_link(label: str, add: str) -> None:
    st.page_link(SCREENS["data_sets"].path, label=label, icon=":material/arrow_forward:", query_params={"add": add})


def show_stages() -> None:
    section("How it works")
    st.html(
        f'{STYLE}<div class="rc-flow" role="img" aria-label="Train, find rules, measure risk, repair, audit">'
        + '<span class="rc-arrow">→</span>'.join(stage(*one) for one in STAGES)
        + '</div><div class="rc-loop">Steps 3 and 4 are repeated in every iteration.</div>'
    )
    st.page_link(
        SCREENS["help"].path, label="The method in words", icon=SCREENS["help"].icon, query_params={"part": "method"}
    )


def recent(records: list[RunRecord]) -> None:
    section("Recent runs")
    if not records:
        st.info("There are no runs yet. Choose one of the three ways above.", icon=":material/info:")
        return
    warn_of_all(records[:RECENT])
    run_table(records[:RECENT])
    if len(records) > RECENT:
        st.caption(f"{len(records) - RECENT} older runs can be chosen on the Fine-tuning screen.")


with open_page("overview"):
    show_undo("overview")
    known = all_looked_at()
    introduce()
    show_doors(known)
    recent(known)
    show_stages()
