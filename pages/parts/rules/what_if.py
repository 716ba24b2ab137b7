"""Rules that people muted or pinned: kept with the run and applied to its queue; here, what they change in the value at
risk of the rules themselves."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

from pages.parts.frame.actions import action
from pages.parts.frame.page import reviewer
from pages.parts.frame.palette import of_label
from pages.parts.runs.run_files import model_of, rules_of
from pages.parts.runs.run_picker import View
from pages.parts.runs.score_columns import columns_of, fired_of, ids_of, pairs_in
from riskcore.access import Role
from riskcore.risk import top
from riskcore.risk.value_at_risk import risk_of
from riskcore.runs import RunFolder
from riskcore.runs.feedback_files import MUTED, PINNED, clear_rules, decide_rule, read_choices

LEARNED = "learned"
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
        return MUTED if rule in self.muted else PINNED if rule in self.pinned else LEARNED


@dataclasses.dataclass(frozen=True, eq=False)
class WhatIfOutcome:
    """The pairs that the rules contradict most with the decisions, compared with the learned weights."""

    table: pd.DataFrame  # pair, label, rank and value at risk before and after
    changed: int  # pairs whose value at risk changed
    entered: int  # of the first SHOWN, how many were not among them before
    rescored: int  # pairs that were scored again: all, or the riskiest of a large run
    pairs: int


def decisions(folder: RunFolder) -> RuleDecisions:
    """What people decided about the run's rules; rules that it does not have are left out."""
    number = {rule.key: place for place, rule in enumerate(rules_of(folder).rules)}
    choices = read_choices(folder)
    muted, pinned = (
        frozenset(number[rule] for rule in choices.rules_that_are(state) if rule in number) for state in (MUTED, PINNED)
    )
    return RuleDecisions(muted, pinned)


@action(Role.OPERATOR)
def decide(folder: RunFolder, rule: int, state: str) -> None:
    """Mute or pin a rule, or restore its learned weight; for everyone, until someone changes it."""
    decide_rule(folder, rules_of(folder).rules[rule].key, None if state == LEARNED else state, reviewer())


@action(Role.OPERATOR)
def reset(folder: RunFolder) -> None:
    clear_rules(folder)


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
