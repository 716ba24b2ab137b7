"""What if a rule were muted or pinned: the ranking by value at risk with a person's decisions about rules.

Decisions belong to the session; the run is not changed.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts.frame.palette import of_label
from pages.parts.runs.run_files import model_of
from pages.parts.runs.run_picker import View
from pages.parts.runs.score_columns import columns_of, fired_of, ids_of, pairs_in
from riskcore.risk import top
from riskcore.risk.value_at_risk import risk_of

SHOWN = 20
CHANGED = 1e-4  # a smaller change of the value at risk is no change


@dataclasses.dataclass(frozen=True)
class RuleDecisions:
    """Rules that a person muted or pinned, by number."""

    muted: frozenset[int] = frozenset()
    pinned: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.muted or self.pinned)

    def state_of(self, rule: int) -> str:
        return "muted" if rule in self.muted else "pinned" if rule in self.pinned else "learned"


@dataclasses.dataclass(frozen=True, eq=False)
class WhatIfOutcome:
    """The pairs that the rules contradict most with the decisions, compared with the learned weights."""

    table: pd.DataFrame  # pair, label, rank and value at risk before and after
    changed: int  # pairs whose value at risk changed
    entered: int  # of the first SHOWN, how many were not among them before
    rescored: int  # pairs that were scored again: all, or the riskiest of a large run
    pairs: int


def decisions(run: str) -> RuleDecisions:
    return st.session_state.get(f"decisions {run}", RuleDecisions())


def decide(run: str, rule: int, state: str) -> None:
    """Mute or pin a rule, or restore its learned weight."""
    old = decisions(run)
    muted, pinned = old.muted - {rule}, old.pinned - {rule}
    if state == "muted":
        muted |= {rule}
    elif state == "pinned":
        pinned |= {rule}
    st.session_state[f"decisions {run}"] = RuleDecisions(muted, pinned)


def reset(run: str) -> None:
    st.session_state.pop(f"decisions {run}", None)


def rescore(view: View, wanted: RuleDecisions) -> WhatIfOutcome:
    """Score again with the decisions, and compare the top of both rankings."""
    model = model_of(view.folder, view.method, view.iteration)
    rows, fired = fired_of(view.folder, view.method, view.iteration, len(model.rules))
    names = ("probability", "label", "var_match", "var_non_match")
    probability, label, *values_at_risk = (
        values[rows] for values in columns_of(view.folder, view.method, view.iteration, *names)
    )
    before = risk_of(label, *values_at_risk)
    muted, pinned = ([model.rules[number] for number in sorted(group)] for group in (wanted.muted, wanted.pinned))
    after = model.with_rules(muted=muted, pinned=pinned).score(probability, fired, label).risk
    old, new = top(before, SHOWN), top(after, SHOWN)
    ranks = [int((before > before[at]).sum()) + 1 for at in new]
    table = pd.DataFrame(
        {
            "rank": np.arange(1, len(new) + 1),
            "learned rank": ranks,
            "value at risk": after[new],
            "learned value at risk": before[new],
            "label": [of_label(int(label[at])).text for at in new],
            "pair": ids_of(view.folder, rows[new]),
        }
    )
    changed = int((np.abs(after - before) > CHANGED).sum())
    pairs = pairs_in(view.folder, view.method, view.iteration)
    return WhatIfOutcome(table, changed, len(set(new.tolist()) - set(old.tolist())), len(rows), pairs)
