"""Choose or bring a data set; see what is in it and what is wrong with it; correct types and counterparts."""

from pathlib import Path

import streamlit as st

from pages.parts.data.figures import DataFigures, figures_of
from pages.parts.data.known_sets import KnownSet, known_sets, register, save_upload
from pages.parts.data.set_view import edit_map, edit_types, map_problem, show_figures, show_previews, show_problems
from pages.parts.frame import address
from pages.parts.frame.page import open_page
from pages.parts.frame.paths import may_open
from pages.parts.frame.text import short
from riskcore.errors import ConfigError

UPLOAD_MB = 200


def choose() -> str | None:
    """The path of the set to look at."""
    known = known_sets()
    picked, typed, sent = st.tabs(["Known data sets", "A folder on this machine", "Upload"])
    with picked:
        chosen = choose_one(known) if known else None
    with typed:
        _register_folder()
    with sent:
        _upload()
    return chosen


def choose_one(known: dict[str, KnownSet]) -> str:
    def words(path: str) -> str:
        return short(f"{known[path].title} · {known[path].note}", 140)

    return address.choose(st.container(), "Data set", list(known), "set", next(iter(known)), words=words, remember=True)


def _register_folder() -> None:
    with st.form("folder", border=False):
        text = st.text_input(
            "Folder or file of pairs",
            placeholder="/data/customers",
            help="A folder with tableA.csv, tableB.csv, train.csv, valid.csv, test.csv; or one csv or parquet file "
            "with left_… and right_… columns.",
        )
        if st.form_submit_button("Open", icon=":material/folder_open:") and text.strip():
            path = Path(text.strip()).expanduser().absolute()
            if not may_open(path, st.get_option("server.address")):
                raise ConfigError("On a shared server only the data folder can be opened. Upload the files instead.")
            if not path.exists():
                raise ConfigError(f"There is nothing at {short(str(path), 200)}. Check the path.")
            _open(str(path))


def _upload() -> None:
    with st.form("upload", border=False):
        files = st.file_uploader(
            "Files",
            type=["csv", "parquet", "zip"],
            accept_multiple_files=True,
            max_upload_size=UPLOAD_MB,
            help="One file of pairs, one zip, or the files tableA, tableB, train, valid and test together.",
        )
        name = st.text_input("Name", placeholder="customers_2026", max_chars=60)
        if st.form_submit_button("Upload and check", icon=":material/upload:"):
            if not files or not name.strip():
                raise ConfigError("Choose at least one file and give the data set a name.")
            _open(str(save_upload(name, files)))


def _open(path: str) -> None:
    register(path)
    st.query_params["set"] = path
    st.rerun()


def show(one: KnownSet) -> None:
    figures = figures_of(one.path)
    show_problems(figures.problems)
    if figures.profile is None:
        return
    show_figures(figures.profile)
    st.subheader(
        "Attributes", anchor=False, help="Types decide how values are compared. They are inferred; correct them."
    )
    types = edit_types(figures, one.types, f"types {one.path}")
    if types != one.types and st.button("Save types", type="primary", icon=":material/save:"):
        register(one.path, types=types)
        st.rerun()
    st.subheader("Counterparts in a source", anchor=False, help="Only needed where names differ: author = authors.")
    _map(one, figures)
    st.subheader("Preview", anchor=False)
    show_previews(figures.previews)
    st.caption(f"Fingerprint of the content: `{figures.profile.fingerprint}`")


def _map(one: KnownSet, figures: DataFigures) -> None:
    others = {path: other for path, other in known_sets().items() if path != one.path}
    source = st.selectbox(
        "Source to learn from", list(others), index=None, format_func=lambda path: others[path].title, key="map_source"
    )
    if source is None or figures.profile is None:
        st.caption("Choose a source to see which of its attributes this data set has under which name.")
        return
    theirs = figures_of(source).profile
    if theirs is None:
        raise ConfigError("That data set has errors. Choose it above to see them.")
    names, own = ([a.name for a in p.attributes] for p in (theirs, figures.profile))
    chosen = edit_map(names, own, one.maps.get(source, {}), f"map {one.path} {source}")
    problem = map_problem(chosen)
    if problem:
        st.warning(problem, icon=":material/warning:")
    elif st.button("Save counterparts", icon=":material/save:", disabled=chosen == one.maps.get(source)):
        register(one.path, maps={source: chosen})
        st.rerun()


with open_page("data_sets", "Choose or bring data, see what is in it and what is wrong with it."):
    path = choose()
    if path is None:
        st.info("No data set is known yet. Open a folder or upload files above.", icon=":material/info:")
    else:
        show(known_sets()[path])
