"""The page that someone came for before they had signed in: a screen and its parameters, and nothing else.

The browser keeps it during the sign-in and hands it back, so it is read as user input: a screen of ours, parameters
that the screens know, and no other place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.parts.frame.navigation import LANDING, SCREENS

LONGEST = 4_000  # characters of a kept target; the ids of a pair's two records may be long
MOST = 40  # parameters
# Every parameter that a screen reads; a test looks for names in the code that are missing here.
PARAMETERS = frozenset({
    "add", "against", "answer", "asking", "attribute", "calibration of", "constraint", "decided_by", "decision",
    "draw", "entity", "entity_page", "evidence", "find", "flip", "flips of", "iteration", "kind", "label", "list",
    "mask", "method", "one", "order", "own", "page", "pair", "part", "probabilities", "probability", "reason",
    "repair of", "review of", "risk", "risks", "rule", "rule_text", "run", "says", "scored", "set", "sort", "stage",
    "step", "tag", "target", "text", "tour", "verdict",
})  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Target:
    """A screen and the parameters of its address."""

    screen: str
    parameters: Mapping[str, str]

    @property
    def title(self) -> str:
        return SCREENS[self.screen].title

    def text(self) -> str:
        """As the browser keeps it: the address below the server's own, without a leading slash."""
        return f"{self.screen}?{urlencode(self.parameters)}"


def requested(screen: str) -> Target | None:
    """The page that this address asks for; None for the bare address of the server, where sign-ins land."""
    target = _target(screen, st.query_params.to_dict())
    return None if target is None or is_landing(screen) else target


def is_landing(screen: str) -> bool:
    """Whether this is the bare address of the server. Streamlit returns there from every sign-in and sign-out."""
    return screen == LANDING and not st.query_params.to_dict()


def parse_target(text: Any) -> Target | None:
    """The target that a browser kept; None for anything else."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    screen, _, query = text.partition("?")
    try:
        return _target(screen, dict(parse_qsl(query, keep_blank_values=True, max_num_fields=MOST)))
    except ValueError:
        return None


def _target(screen: str, parameters: Mapping[str, str]) -> Target | None:
    """Without parameters that no screen knows; None for no screen of ours, and for more than is kept."""
    known = {name: value for name, value in parameters.items() if name in PARAMETERS}
    if screen not in SCREENS or len(known) > MOST:
        return None
    target = Target(screen, known)
    return target if len(target.text()) <= LONGEST else None
