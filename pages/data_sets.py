"""Choose or add a data set; see its contents and its problems; correct types and map attributes; bring scores."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from pages.parts.audit.undo import show_undo
from pages.parts.bring import blocking_job, candidates_step, scores_door, wizard
from pages.parts.bring.next_step import next_step
from pages.parts.data.figures import figures_of
from pages.parts.data.known_sets import KnownSet, known_sets, register
from pages.parts.data.manage import show_manage
from pages.parts.data.opening import openable_folders
from pages.parts.data.set_aside import offer_to_try_again, show_set_aside
from pages.parts.data.set_view import edit_map, edit_types, map_problem, show_figures, show_previews, show_problems
from pages.parts.data.uses_view import possible, show_uses
from pages.parts.frame import address
from pages.parts.frame.access import may, require
from pages.parts.frame.actions import barred, requires
from pages.parts.frame.page import open_page, section
from pages.parts.frame.text import literal, short
from riskcore.access import Role
from riskcore.data.figures import DataFigures
from riskcore.data.uses import UseKind
from riskcore.errors import ConfigError
from riskcore.paths import OPEN_VARIABLE, lies_in

SETS, TABLES, SCORES = "Data sets", "Add tables", "Add scores"
DOORS = {"": SETS, "tables": TABLES, "scores": SCORES}  # by `?add=` in the address


def choose_door() -> str:
    """What the screen shows; `?add=tables` and `?add=scores` link to it."""
    asked = st.query_params.get("add", "")
    adds = may(Role.OPERATOR)
    asked = asked if asked in DOORS and adds else ""
    if st.session_state.get("door") != DOORS[asked]:
        st.session_state["door"] = DOORS[asked]

    def changed() -> None:
        name = next(name for name, words in DOORS.items() if words == st.session_state["door"])
        address.put("add", name, "")

    if not adds:
        return asked
    st.segmented_control(
        "Show", list(DOORS.values()), key="door", required=True, on_change=changed, label_visibility="collapsed"
    )
    return asked


def choose_known(known: dict[str, KnownSet]) -> str:
    def words(path: str) -> str:
        return short(f"{known[path].title} · {known[path].note}", 140)

    return address.choose(st.container(), "Data set", list(known), "set", next(iter(known)), words=words, remember=True)


def show_sets() -> None:
    known = known_sets()
    folders = openable_folders()
    if folders:
        with st.expander("Open a folder on this machine", icon=":material/folder_open:"):
            _ask_path(folders)
    if not known:
        st.info("There are no data sets yet. Add tables.", icon=":material/info:")
        return
    show_set_aside()
    row = st.columns([8, 1.5], vertical_alignment="bottom")
    with row[0]:
        path = choose_known(known)
    with row[1]:
        show_manage(known[path])
    show(known[path])


def _ask_path(folders: Sequence[Path]) -> None:
    with st.form("folder", border=False):
        text = st.text_input(
            "Folder, or file of pairs",
            placeholder=str(folders[0] / "customers"),
            help=f"Below {', '.join(map(str, folders))}. A folder with tableA.csv and tableB.csv and, as far as there "
            "are any, train.csv, valid.csv, test.csv and pairs.csv; or one CSV or Parquet file with left_… and right_… "
            "columns.",
        )
        if st.form_submit_button("Open", icon=":material/folder_open:", disabled=barred(open_path)) and text.strip():
            open_path(text.strip())
            st.rerun()


@requires(Role.OPERATOR)
def open_path(text: str) -> None:
    """Register the data set at a path. The refusal does not tell whether there is something."""
    path = Path(text).absolute()
    if not lies_in(path, openable_folders()):
        raise ConfigError(
            f"{short(text, 200)} cannot be opened: it is not there, or not below a folder that {OPEN_VARIABLE} names. "
            "Check the path, or add its files as tables."
        )
    register(str(path))
    st.query_params["set"] = str(path)


def show(one: KnownSet) -> None:
    figures = figures_of(one.path)
    show_problems(figures.problems)
    offer_to_try_again(one.path)
    if figures.profile is None:
        return
    show_figures(figures.profile)
    section("What is possible")
    show_uses(figures.uses)
    next_step(one.path, figures.uses, one.types, "set")
    if not possible(figures.uses, UseKind.CANDIDATES) and blocking_job.may_search(one.path):
        with st.container(border=True):
            candidates_step.find_candidates(one.path)
    section("Attributes", help="Types decide how values are compared. They are inferred; correct them if needed.")
    types = edit_types(figures, one.types, f"types {one.path}")
    if types != one.types and st.button(
        "Save types", type="primary", icon=":material/save:", disabled=barred(register)
    ):
        register(one.path, types=types)
        st.rerun()
    section("Attribute map", help="Needed only where the source uses other names, such as author for authors.")
    _map(one, figures)
    section("Preview")
    show_previews(figures.previews)
    st.caption(f"Content fingerprint: `{figures.profile.fingerprint}`")


def _map(one: KnownSet, figures: DataFigures) -> None:
    others = {path: other for path, other in known_sets().items() if path != one.path}
    source = st.selectbox(
        "Source", list(others), index=None, format_func=lambda path: others[path].title, key="map_source"
    )
    if source is None or figures.profile is None:
        st.caption("Choose a source to map its attributes to those of this data set.")
        return
    theirs = figures_of(source).profile
    if theirs is None:
        raise ConfigError("That data set has errors. Select it above to see them.")
    names, own = ([a.name for a in p.attributes] for p in (theirs, figures.profile))
    chosen = edit_map(names, own, one.maps.get(source, {}), f"map {one.path} {source}")
    rest = [literal(name, 40) for name in own if name not in chosen.values()]
    if rest:
        st.caption(
            f"Only this data set has {', '.join(rest)}: what its validation labels teach about "
            f"{'it' if len(rest) == 1 else 'them'} is used."
        )
    problem = map_problem(chosen)
    if problem:
        st.warning(problem, icon=":material/warning:")
    elif st.button("Save the map", icon=":material/save:", disabled=chosen == one.maps.get(source) or barred(register)):
        register(one.path, maps={source: chosen})
        st.rerun()


with open_page("data_sets", "Bring tables and scores, see what a data set contains, and check it for problems."):
    show_undo("data_sets")
    door = choose_door()
    if door:
        require(Role.OPERATOR)
    if door == "tables":
        wizard.show()
    elif door == "scores":
        scores_door.show()
    else:
        show_sets()
