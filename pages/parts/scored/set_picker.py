"""Which scored set the screen shows: chosen in the sidebar, kept in the address; and the ways to have one."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import streamlit as st

from pages.parts.data.opening import openable_folders
from pages.parts.frame.actions import barred, requires
from pages.parts.frame.address import choose
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.text import literal, short
from pages.parts.pairs.masks import masked
from riskcore.access import Role
from riskcore.data.schema import AttributeType
from riskcore.errors import ConfigError
from riskcore.paths import OPEN_VARIABLE, lies_in, runs_root
from riskcore.runs import RunFolder
from riskcore.runs.bundle.contents import read_facts
from riskcore.runs.masks import read_masks
from riskcore.scale.folder import ScoredFacts, ScoredFolder
from riskcore.scale.known import default_place, known_scored, register_scored, scored_of_run

OF_ONE_SET = ("pair", "page")  # in the address


@dataclasses.dataclass(frozen=True)
class ScoredView:
    """The set that is shown."""

    name: str
    folder: ScoredFolder
    facts: ScoredFacts
    types: dict[str, AttributeType]  # of its attributes
    hidden: frozenset[str]  # attributes that are masked in the run

    @property
    def visible_types(self) -> dict[str, AttributeType]:
        return {name: kind for name, kind in self.types.items() if name not in self.hidden}


def pick_set() -> ScoredView | None:
    """The chosen set; without any, how to have one."""
    known = known_scored(runs_root())
    complete = [one for one in known if one.facts is not None]
    if not complete:
        _invite()
    for one in known:
        if one.facts is None:
            st.warning(f"**{literal(one.name)}** cannot be shown: {literal(one.problem, 400)}", icon=":material/info:")
    if not complete:
        _open_elsewhere()
        return None
    named = {one.name: one for one in complete}
    wanted = st.query_params.get("scored")
    if wanted is not None and wanted not in named:
        st.warning(f"There is no scored set {literal(wanted)}. The first one is shown.", icon=":material/info:")
    with st.sidebar:
        name = choose(
            st.sidebar,
            "Scored set",
            list(named),
            "scored",
            complete[0].name,
            words=lambda one: short(one, 60),
            then=_leave_set,
            remember=True,
        )
    return _view(name, named[name].folder)


def link_to_sets(run: str) -> None:
    """Links to the sets that were scored with a run; nothing where there are none."""
    found = scored_of_run(runs_root(), run)
    if not found:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown("Scored with this run:", width="content")
        for one in found:
            assert one.facts is not None
            st.page_link(
                SCREENS["scored"].path,
                label=f"{literal(short(one.name, 40))} · {one.facts['pairs']:,} pairs",
                icon=SCREENS["scored"].icon,
                query_params={"scored": one.name},
            )


def _view(name: str, folder: ScoredFolder) -> ScoredView:
    facts, about = folder.facts(), read_facts(folder.bundle)
    types = {} if about is None else {one["name"]: AttributeType(one["type"]) for one in about["attributes"]}
    return ScoredView(name, folder, facts, types, _hidden(facts["run"]))


def _hidden(run: str) -> frozenset[str]:
    """What is masked in the run stays so here; there is nothing to reveal it with."""
    folder = RunFolder(runs_root() / Path(run).name)
    return frozenset((*(read_masks(folder) if folder.run_file.exists() else ()), *masked(run)))


def _leave_set() -> None:
    for name in OF_ONE_SET:
        st.query_params.pop(name, None)


def _invite() -> None:
    st.info("There are no scored sets yet.", icon=":material/info:")
    st.markdown(
        "A finished run can score any number of pairs, also many millions, with exactly what it answers with. This "
        "happens on the command line; the set appears here when it is done."
    )
    place = default_place(runs_root()) / "NAME"
    st.code(f"riskcore score RUN PAIRS --out {place}", language=None, wrap_lines=True)


def _open_elsewhere() -> None:
    """A set in another folder, where a setting allows it."""
    folders = openable_folders()
    if not folders:
        return
    with st.form("open scored", border=True):
        text = st.text_input("Folder of a scored set", max_chars=1_000, help=f"Below {', '.join(map(str, folders))}.")
        pressed = st.form_submit_button("Open", icon=":material/folder_open:", disabled=barred(_open_path))
        if pressed and text.strip():
            _open_path(text.strip())
            st.rerun()


@requires(Role.OPERATOR)
def _open_path(path: str) -> None:
    """Register the set at a path. The refusal does not tell whether there is something."""
    folder = Path(path).absolute()
    parts = (folder, folder / "pairs", folder / "bundle", folder / "bundle" / "models", folder / "bundle" / "matchers")
    if not all(lies_in(one, openable_folders()) for one in parts if one == folder or one.exists()):
        raise ConfigError(
            f"{short(path, 200)} cannot be opened: it is not there, or not below a folder that {OPEN_VARIABLE} names. "
            "Check the path, or register it with `riskcore scored add`."
        )
    st.query_params["scored"] = register_scored(runs_root(), folder)
