"""Step 2: what each file is, and which column identifies a record."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import streamlit as st

from pages.parts.bring.staging import Bring
from pages.parts.bring.steps import show_buttons, show_preview
from pages.parts.frame.text import literal
from riskcore.data.bring.files import BroughtFile
from riskcore.data.bring.plan import Plan, replan
from riskcore.data.bring.roles import ID_PAIRS, Recognised, Role, id_column, label_column
from riskcore.data.bring.sides import sides_of

NUMBERED = "(none: number the rows)"
NO_LABEL = "(none)"
_SHOWN_ROWS = 3


def show(bring: Bring) -> None:
    files = [file for file in bring.files() if file.text is not None]
    roles = bring.roles or bring.recognised()
    st.markdown("This is what the files seem to be. Correct it where it is wrong.")
    chosen = []
    for file, role in zip(files, roles, strict=True):
        with st.container(border=True):
            chosen.append(_choose(bring, file, role))
    bring.roles = tuple(chosen)
    plan = Plan(bring.roles)
    ids = bring.table_ids.get(plan.left or ""), bring.table_ids.get(plan.right or "")
    if ids != bring.ids or bring.roles != roles:
        bring.ids, bring.attributes = ids, None
    if show_buttons(bring, _problem(plan)):
        bring.step = 2
        st.rerun()


def plan_of(bring: Bring) -> Plan:
    """The plan with all choices so far."""
    files = [file for file in bring.files() if file.text is not None]
    plan = replan(files, bring.roles or bring.recognised(), bring.ids)
    if bring.attributes is None:
        return plan
    return dataclasses.replace(plan, attributes=bring.attributes, left_out=bring.left_out)


def _choose(bring: Bring, file: BroughtFile, suggested: Recognised) -> Recognised:
    row = st.columns([4, 3, 3], vertical_alignment="center")
    reason = suggested.reason[:1].upper() + suggested.reason[1:]
    row[0].markdown(f"**{literal(file.name, 60)}**  \n:small[{literal(reason, 200)}.]")
    roles = list(Role)
    chosen = row[1].selectbox(
        "This file is", roles, index=roles.index(suggested.role), key=f"role {file.name}", format_func=_words
    )
    role = Role(str(chosen))
    found = dataclasses.replace(suggested, role=role)
    if role in (Role.LEFT, Role.RIGHT):
        with row[2]:
            bring.table_ids[file.name] = _choose_id(file, bring.table_ids.get(file.name, id_column(file)))
    elif role in ID_PAIRS:
        found = _choose_pair_columns(file, found)
    elif role is Role.RECORD_PAIRS:
        sides = sides_of(file.columns).ids or (None, None)
        found = dataclasses.replace(found, left_id=sides[0], right_id=sides[1], label=label_column(file))
    elif role is Role.SCORES:
        row[2].caption("They are used at the end, once the data set is saved.")
    if role is not Role.UNUSED:
        show_preview(file, _SHOWN_ROWS)
    return found


def _words(role: Role) -> str:
    more = {
        Role.RECORD_PAIRS: "pairs of records, both in one row",
        Role.CANDIDATES: "candidate pairs (ids of two records)",
        Role.LABELS: "labels (ids and yes or no)",
        Role.MATCHES: "known matches (ids), to check candidates by",
        Role.TRAIN: "labelled pairs for training",
        Role.VALID: "labelled pairs for validation",
        Role.TEST: "pairs for testing",
    }
    return more.get(role, role.value)


def _choose_id(file: BroughtFile, kept: str | None) -> str | None:
    options = [NUMBERED, *(column.name for column in file.columns)]
    chosen = st.selectbox(
        "Id column",
        options,
        index=0 if kept is None else options.index(kept),
        key=f"id {file.name}",
        help="It identifies a record and is not compared. Every record needs its own.",
    )
    return None if chosen == NUMBERED else chosen


def _choose_pair_columns(file: BroughtFile, role: Recognised) -> Recognised:
    names = [column.name for column in file.columns]
    sides = sides_of(file.columns).ids or (None, None)
    left, right = role.left_id or sides[0], role.right_id or sides[1]
    label = role.label or label_column(file)
    columns = st.columns(3)
    left = columns[0].selectbox(
        "Ids of the left table", names, index=_at(names, left), key=f"left {file.name}", placeholder="choose a column"
    )
    right = columns[1].selectbox(
        "Ids of the right table",
        names,
        index=_at(names, right),
        key=f"right {file.name}",
        placeholder="choose a column",
    )
    label = columns[2].selectbox(
        "Label",
        [NO_LABEL, *names],
        index=0 if label is None else 1 + names.index(label),
        key=f"label {file.name}",
        help="1, yes, true or match; 0, no, false or non-match; empty where it is not known.",
    )
    return dataclasses.replace(role, left_id=left, right_id=right, label=None if label == NO_LABEL else label)


def _at(names: Sequence[str], name: str | None) -> int | None:
    return names.index(name) if name in names else None


def _problem(plan: Plan) -> str | None:
    """Why these roles cannot be used."""
    for role in (Role.LEFT, Role.RIGHT, Role.RECORD_PAIRS):
        if len(plan.of_role(role)) > 1:
            return f"Two files are the {role}. Choose one."
    if plan.left is None and plan.record_pairs is None:
        return "Choose the left table. If you have one table only, it is the left one."
    if plan.left is not None and plan.record_pairs is not None:
        return "A file with both records in one row needs no tables beside it. Choose one of the two."
    unnamed = [one.file for one in plan.of_role(*ID_PAIRS) if one.left_id is None or one.right_id is None]
    if unnamed:
        return f"Choose the two columns of ids of {literal(unnamed[0], 60)}."
    same = [one.file for one in plan.of_role(*ID_PAIRS) if one.left_id == one.right_id]
    return f"The two columns of ids of {literal(same[0], 60)} are the same." if same else None
