"""The verdicts that were given in this session, and where: what Undo withdraws first, and where it returns to."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import streamlit as st

from riskcore.audit import Verdict

QUEUE, GROUP = "queue", "group"  # a pair's card; errors by kind, above the list
# tabs of Label & audit
LABEL, ESTIMATE, WORK_LISTS, CONTRADICTIONS = "Label", "Estimate", "Work lists", "Contradictions"
REVIEWERS = "Reviewers"
LIST = "list"  # the number of a work list, in the address
CONFLICTS, OUTSIDE = "conflicts", "outside"  # on the tab Reviewers, on the tab Estimate
STAGE = "stage"  # of the tab Estimate, also in the address
INSIDE_STAGE, OUTSIDE_STAGE = "Among the candidates", "Outside the candidates"
_GIVEN = "verdicts given"  # the oldest first


@dataclasses.dataclass(frozen=True)
class GivenVerdict:
    """A verdict that can be withdrawn, the place it was given at ("" where nobody knows) and the address then."""

    run: str
    who: str
    pair: str
    number: int
    place: str = ""
    address: Mapping[str, str] = dataclasses.field(default_factory=dict)


def remember(entry: Verdict, place: str) -> None:
    """Add a verdict to those of this session."""
    address = st.query_params.to_dict()
    given = GivenVerdict(entry.run, entry.who, entry.pair_id, entry.number, place, address)
    st.session_state.setdefault(_GIVEN, []).append(given)


def latest_first() -> list[GivenVerdict]:
    """Those of this session."""
    return st.session_state.get(_GIVEN, [])[::-1]
