"""Masked attributes: their values are not sent to the browser until a person reveals them, for one pair.

Which attributes are masked is chosen in the sidebar: from the address, else as chosen before in this session, else as
the run's owner has set it. What was revealed before a verdict goes into its note.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.parts.frame.actions import action, barred
from pages.parts.frame.page import reviewer
from pages.parts.frame.text import literal, short
from pages.parts.pairs.pair_card import show_both
from riskcore.access import Role
from riskcore.audit.disclosure import with_disclosure
from riskcore.runs import RunFolder
from riskcore.runs.masks import read_masks, write_masks

HELP = (
    "Values of these attributes are hidden until you reveal them, with V or a button, for one pair. What was revealed "
    "is recorded in the verdict's note."
)
PARAMETER = "mask"  # in the address: names with commas between them


def choose_masks(run: str, folder: RunFolder) -> None:
    """The field in the sidebar. Call it before anything that shows records."""
    attributes, key = folder.attributes(), f"masks {run}"
    if key not in st.session_state:
        st.session_state[key] = _initial(run, folder, attributes)
    chosen = [name for name in st.session_state[key] if name in attributes]
    with st.sidebar.popover("Mask attributes", icon=":material/visibility_off:", width="stretch"):
        st.multiselect("Masked attributes", attributes, key=key, help=HELP, placeholder="none")
        default = set(chosen) == set(read_masks(folder))
        st.button(
            "Make it the default of this run",
            disabled=default or barred(_set_default),
            on_click=_set_default,
            args=(folder, key),
            help="Everyone who opens the run begins with it.",
        )
    if chosen:
        st.sidebar.caption(f"Masked: {literal(', '.join(chosen), 200)}")
    st.session_state[_kept(run)] = tuple(name for name in attributes if name in st.session_state[key])


def masked(run: str) -> tuple[str, ...]:
    """The attributes that are masked in this session."""
    return st.session_state.get(_kept(run), ())


def revealed(run: str, pair: str) -> tuple[str, ...]:
    """Those that were revealed for this pair."""
    return st.session_state.get(_revealed(run, pair), ())


def hidden(run: str, pair: str) -> frozenset[str]:
    """Those whose values must not be sent for this pair."""
    return frozenset(masked(run)) - frozenset(revealed(run, pair))


def note_with_disclosure(run: str, pair: str, note: str) -> str:
    """A verdict's note with what was masked and revealed when it was given."""
    return with_disclosure(note, masked(run), revealed(run, pair))


def show_judged_records(
    run: str,
    pair: str,
    left: Mapping[str, str | None],
    right: Mapping[str, str | None],
    types: Mapping[str, str] | None = None,
) -> None:
    """Both records as a person judges them, and the way to reveal what is masked."""
    not_shown = hidden(run, pair)
    show_both(pair, left, right, types, not_shown)
    if not_shown:
        _offer_reveal(run, pair, [name for name in left if name in not_shown])


def _offer_reveal(run: str, pair: str, names: list[str]) -> None:
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.button(
        "Reveal all" if len(names) > 1 else f"Reveal {literal(short(names[0], 40))}",
        key=f"reveal all {run} {pair}",
        icon=":material/visibility:",
        shortcut="V",
        on_click=_reveal,
        args=(run, pair, names),
        help="For this pair only. It is recorded with your verdict.",
    )
    for name in names if len(names) > 1 else ():
        row.button(
            f"Reveal {literal(short(name, 40))}",
            key=f"reveal {name} {run} {pair}",
            type="tertiary",
            on_click=_reveal,
            args=(run, pair, [name]),
        )


def _reveal(run: str, pair: str, names: list[str]) -> None:
    st.session_state[_revealed(run, pair)] = tuple(dict.fromkeys([*revealed(run, pair), *names]))


def _initial(run: str, folder: RunFolder, attributes: list[str]) -> list[str]:
    asked = st.query_params.get(PARAMETER)
    if asked is not None:
        return [name for name in attributes if name in asked.split(",")]
    return [name for name in st.session_state.get(_kept(run), read_masks(folder)) if name in attributes]


@action(Role.OWNER)
def _set_default(folder: RunFolder, key: str) -> None:
    write_masks(folder, st.session_state[key], reviewer())
    st.toast("Saved as the default of this run", icon=":material/save:")


def _kept(run: str) -> str:
    return f"masked attributes {run}"


def _revealed(run: str, pair: str) -> str:
    return f"revealed {run} {pair}"
