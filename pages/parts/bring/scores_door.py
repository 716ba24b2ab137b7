"""Scores of another matcher for a data set: the file, what its columns mean, which pairs it covers, and a run on it."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.bring import staging
from pages.parts.bring.steps import show_preview
from pages.parts.data.figures import figures_of
from pages.parts.data.known_sets import KnownSet, known_sets
from pages.parts.data.set_view import problem_table
from pages.parts.frame.actions import requires
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import section
from pages.parts.frame.text import literal, plural, short
from pages.parts.runs.run_form import choose_map
from pages.parts.runs.run_picker import choose_run
from pages.parts.runs.run_start import start_run
from riskcore.access import Role
from riskcore.config import MatcherConfig, RunConfig
from riskcore.data.bring.files import UPLOADS, BroughtFile
from riskcore.data.bring.scores import ScoreColumns
from riskcore.data.scored_pairs import Coverage
from riskcore.errors import ConfigError
from riskcore.paths import data_root
from riskcore.sandbox import calls
from riskcore.sandbox.quarantine import signature
from riskcore.storage.files import private_folder, writing

UPLOAD_MB = 200
KEPT = ".scores"
NO_SOURCE = "(none)"
_STATE = "scores file"
_PAIRS, _CLUSTERS = "Two ids and a probability", "Records with a cluster and a score"


def show() -> None:
    path: Path | None = st.session_state.get(_STATE)
    if path is None or not path.exists():
        _upload()
        return
    file, found = _file(str(path), path.stat().st_mtime_ns)
    st.markdown(f"**{literal(file.name, 80)}** · {literal(file.form.words, 80)}")
    st.button("Choose another file", type="tertiary", icon=":material/restart_alt:", on_click=_drop)
    if file.errors or file.text is None:
        st.error("The file cannot be used. The table says where and what to do.", icon=":material/error:")
        st.dataframe(problem_table(file.problems), hide_index=True, placeholder="–")
        return
    show_preview(file)
    meaning = _meaning(file, found or ScoreColumns())
    if meaning is not None:
        _for_a_set(path, file, meaning)


def take_over(path: Path, target: str) -> None:
    """Go on here with scores that were brought together with the tables of a data set."""
    _, paths = staging.stage([_Kept(path)])
    st.session_state[_STATE] = paths[0]
    st.session_state["scores target"] = target
    st.query_params["add"] = "scores"
    st.rerun()


class _Kept:
    """A file that was uploaded before, as an upload."""

    def __init__(self, path: Path) -> None:
        self.name, self._path = path.name, path

    def getvalue(self) -> bytes:
        return self._path.read_bytes()


def _upload() -> None:
    calls.get_ready()
    st.markdown(
        "Bring the answers of **any matcher**: Splink's predictions, the clusters of dedupe or Zingg, or a table of "
        "ids and probabilities. Riskcore says which of them are probably wrong, and why."
    )
    with st.form("bring scores", border=False):
        file = st.file_uploader("Scores", type=list(UPLOADS), max_upload_size=UPLOAD_MB)
        st.caption("csv with any delimiter and encoding, xlsx, or parquet.")
        if st.form_submit_button("Read the scores", type="primary", icon=":material/upload:"):
            if file is None:
                raise ConfigError("Choose a file of scores.")
            _, paths = staging.stage([file])
            st.session_state[_STATE] = paths[0]
            st.rerun()


def _drop() -> None:
    path: Path | None = st.session_state.pop(_STATE, None)
    if path is not None:
        shutil.rmtree(path.parent, ignore_errors=True)


@st.cache_resource(max_entries=2, show_spinner="Reading the scores …", show_time=True)
def _file(path: str, stamp: int) -> tuple[BroughtFile, ScoreColumns | None]:
    return calls.look_at_scores(Path(path))


@st.cache_data(max_entries=8, show_spinner="Comparing the scores with the data set …", show_time=True)
def _cover(path: str, stamp: int, meaning: ScoreColumns, target: str, signature: Any) -> Coverage:
    return calls.cover(Path(path), meaning, Path(target))


def _meaning(file: BroughtFile, found: ScoreColumns) -> ScoreColumns | None:
    """What the columns mean: as detected, corrected by the person. None while something is missing."""
    section("Columns")
    kind = st.segmented_control(
        "The file has", [_PAIRS, _CLUSTERS], default=_CLUSTERS if found.is_clusters else _PAIRS, required=True
    )
    fields: tuple[str, ...] = (
        ("record", "cluster", "probability") if kind == _CLUSTERS else ("left", "right", "probability")
    )
    words = {
        "left": "Ids of the left table",
        "right": "Ids of the right table",
        "probability": "Probability, from 0 to 1",
        "record": "Ids of the records",
        "cluster": "Cluster",
    }
    names = [column.name for column in file.columns]
    if found.pair is not None and kind == _PAIRS:
        fields, words["pair"] = ("pair", "probability"), "Ids of the pairs (left:right)"
    chosen: dict[str, str | None] = {}
    for place, field in zip(st.columns(len(fields)), fields, strict=True):
        at = names.index(value) if (value := getattr(found, field)) in names else None
        chosen[field] = place.selectbox(
            words[field], names, index=at, key=f"score {field} {file.name}", placeholder="choose a column"
        )
    if any(value is None for value in chosen.values()):
        st.info("Choose a column for each of these.", icon=":material/info:")
        return None
    low = found.low if kind == _CLUSTERS and chosen["probability"] == found.probability else None
    return ScoreColumns(**chosen, low=low, missing=0.0 if kind == _CLUSTERS else None)


def _for_a_set(path: Path, file: BroughtFile, meaning: ScoreColumns) -> None:
    """Choose the data set, see what is covered, start."""
    section("Data set")
    known = known_sets()
    columns = st.columns(2, gap="large")
    target = columns[0].selectbox(
        "Scores of the pairs of",
        list(known),
        index=None,
        format_func=lambda one: short(known[one].title, 80),
        placeholder="choose a data set",
        key="scores target",
    )
    source = columns[1].selectbox(
        "Source of rules",
        [NO_SOURCE, *(one for one in known if one != target)],
        format_func=lambda one: one if one == NO_SOURCE else short(known[one].title, 80),
        key="scores source",
        help="Labelled data that rules are learned from. Without one, labels of the data set itself teach them.",
    )
    if target is None:
        words = "Not there yet? Add its tables first"
        columns[0].page_link(
            SCREENS["data_sets"].path, label=words, icon=":material/add:", query_params={"add": "tables"}
        )
        return
    cover = _cover(str(path), path.stat().st_mtime_ns, meaning, target, signature(Path(target)))
    missing = _show_coverage(cover, meaning)
    attribute_map = _mapped(known, source, target)
    usual = f"{short(file.name, 40)} on {short(known[target].title, 35)}"
    name = st.text_input("Name of the run", placeholder=usual, max_chars=80)
    waits = (cover.missing > 0 and missing is None) or attribute_map is None
    if st.button("Start", type="primary", icon=":material/play_arrow:", disabled=waits):
        config = _config(path, dataclasses.replace(meaning, missing=missing), target, source, known)
        config = dataclasses.replace(config, attribute_map=attribute_map or ())
        choose_run(start_run(config, name.strip() or usual))
        _drop()
        st.session_state["show"] = "Watch a run"
        st.switch_page(SCREENS["fine_tuning"].path)


def _mapped(known: dict[str, KnownSet], source: str, target: str) -> tuple[str, ...] | None:
    """The attributes that correspond under other names; None while none does."""
    if source == NO_SOURCE:
        return ()
    profiles = [figures_of(path).profile for path in (source, target)]
    usable = [profile for profile in profiles if profile is not None]
    if len(usable) < 2:
        raise ConfigError("One of the two data sets has errors. See it under Data sets.")
    return choose_map(known, source, target, usable)


def _show_coverage(cover: Coverage, meaning: ScoreColumns) -> float | None:
    """What fits and what does not; returns the probability of pairs without a score."""
    scored = cover.pairs - cover.missing
    if cover.own:
        st.info(
            f"The data set has no candidates; the {plural(scored, 'scored pair')} will be these.",
            icon=":material/info:",
        )
    elif scored == 0:
        raise ConfigError(
            "None of the data set's pairs is scored. Are these scores of another data set, or are the ids elsewhere?"
        )
    else:
        st.success(
            f"{scored:,} of the data set's {plural(cover.pairs, 'pair')} are scored.", icon=":material/check_circle:"
        )
    if cover.unused:
        st.caption(f"{plural(cover.unused, 'scored pair')} are no pairs of the data set and are not used.")
    if not cover.missing or meaning.missing is not None:
        if cover.missing:
            st.caption(f"{plural(cover.missing, 'pair')} in different clusters get the probability 0.")
        return meaning.missing
    agreed = st.checkbox(
        f"The matcher left out {plural(cover.missing, 'pair')} that it takes for non-matches: give them probability 0"
    )
    if not agreed:
        st.info("Score every pair of the data set, or agree to the above.", icon=":material/info:")
    return 0.0 if agreed else None


def _config(path: Path, meaning: ScoreColumns, target: str, source: str, known: dict[str, KnownSet]) -> RunConfig:
    types = known[target if source == NO_SOURCE else source].types
    return RunConfig(
        source="" if source == NO_SOURCE else source,
        target=target,
        types=tuple(f"{name}={kind}" for name, kind in types.items()),
        matcher=MatcherConfig(kind="external", scores=str(_keep(path)), score_columns=meaning.text),
    )


@requires(Role.OPERATOR)
def _keep(path: Path) -> Path:
    """The file where runs find it: a run that is resumed reads it again."""
    folder = data_root() / KEPT / path.parent.name
    with writing(folder):
        private_folder(data_root())
        private_folder(folder.parent)
        private_folder(folder)
        shutil.copy(path, folder / path.name)  # with its mode: nobody else reads it
    return folder / path.name
