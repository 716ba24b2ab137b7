"""Step 3: which columns correspond, their types, what is left out and why; the name; writing the data set."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from pages.parts.bring import blocking_job
from pages.parts.bring.staging import Bring
from pages.parts.bring.steps import show_buttons
from pages.parts.bring.tables_step import plan_of
from pages.parts.data.known_sets import path_of, register
from pages.parts.data.set_view import TYPE_WORDS, problem_table
from pages.parts.frame.access import may, require
from pages.parts.frame.actions import requires
from pages.parts.frame.text import literal, short
from riskcore.access import Role
from riskcore.data import AttributeType
from riskcore.data.bring.arrange import has_same_tables
from riskcore.data.bring.files import BroughtFile
from riskcore.data.bring.plan import NO_COUNTERPART, Attribute, LeftOut, Plan, named
from riskcore.data.problems import DataFormatError
from riskcore.data.schema import type_of
from riskcore.sandbox import calls

NONE = "(none)"
NOT_CHOSEN = "not chosen"
USE, NAME, LEFT, RIGHT, TYPE, WHY, VALUES = "compare", "attribute", "left", "right", "type", "note", "for example"
_EXAMPLE_CHARS = 60


def show(bring: Bring) -> None:
    files = {file.name: file for file in bring.files()}
    plan = plan_of(dataclasses.replace(bring, attributes=None))
    sides = _sides(files, plan)
    _introduce(plan)
    edited = _edit(plan, sides, f"columns {plan.left} {plan.right} {plan.left_id} {plan.right_id}")
    bring.attributes, bring.left_out, bring.types = _chosen(edited, plan, sides)
    chosen = dataclasses.replace(plan, attributes=bring.attributes, left_out=bring.left_out)
    _show_left_out(chosen)
    problem = _problem(edited, bring.attributes)
    row = st.columns([4, 4], vertical_alignment="bottom")
    usual = " and ".join(dict.fromkeys(file.stem for file in sides))[:60]
    bring.name = row[0].text_input("Name of the data set", bring.name or usual, max_chars=60, key="bring name").strip()
    exists = bool(bring.name) and path_of(bring.name).exists()
    mine = exists and str(path_of(bring.name)) == bring.written  # one that came back to change something
    replace = mine or (
        exists
        and row[1].checkbox(
            "Replace the data set of this name",
            key="bring replace",
            disabled=not may(Role.OWNER),
            help="Runs on the old one can still be opened and exported, but not resumed or adapted again.",
        )
    )
    if exists and not replace:
        problem = problem or "There is a data set of this name already. Choose another name, or replace it."
    if not bring.name:
        problem = problem or "Give the data set a name."
    same = mine and has_same_tables(path_of(bring.name), list(files.values()), chosen)
    if mine and not same:
        _warn_of_candidates(path_of(bring.name))
    if show_buttons(bring, problem, "Save the data set"):
        _write(bring, chosen, replace, same)


def _warn_of_candidates(path: Path) -> None:
    """What saving costs, where the tables or ids are other ones than those that were searched."""
    if calls.has_candidates(path) or blocking_job.state(str(path)) is not None:
        st.warning(
            "The tables or their ids are not those that candidates were found for. Once the data set is saved, "
            "candidates must be found again.",
            icon=":material/warning:",
        )


@requires(Role.OPERATOR)
def _write(bring: Bring, plan: Plan, replace: bool, same: bool) -> None:
    """Save; candidates that were found for the same tables are kept."""
    path = path_of(bring.name)
    if replace and str(path) != bring.written:  # it deletes a data set of somebody else
        require(Role.OWNER)
    try:
        with st.spinner("Writing the data set …", show_time=True):
            calls.write_set(bring.paths, bring.options, plan, path, replace=replace, keep_candidates=same)
    except DataFormatError as error:
        st.error(
            "The data set has problems and was not saved. The table says where and what to do.", icon=":material/error:"
        )
        st.dataframe(problem_table(error.problems), hide_index=True, placeholder="–")
        return
    if not same:
        blocking_job.cancel(str(path))  # what it finds would be pairs of other tables
    register(str(path), types=bring.types, title=bring.name)
    bring.note_written(path)
    bring.step = 3
    st.rerun()


def _sides(files: dict[str, BroughtFile], plan: Plan) -> tuple[BroughtFile, BroughtFile]:
    left = files[plan.left or plan.record_pairs or ""]
    return left, files[plan.right] if plan.right else left


def _introduce(plan: Plan) -> None:
    if plan.right is not None:
        st.markdown(
            "Which columns hold the same thing in both tables? Suggested by their names and their content. An "
            "attribute has one name on both sides; the original names are kept."
        )
    elif plan.left is not None:
        st.markdown("Which columns shall be compared when duplicates are searched within this table?")
    else:
        st.markdown("Which attributes shall be compared?")


def _edit(plan: Plan, sides: tuple[BroughtFile, BroughtFile], key: str) -> pd.DataFrame:
    """The table of columns with its corrections."""
    two = plan.right is not None
    base = _rows(plan, sides)
    options = [NONE, *(column.name for column in sides[1].columns if column.name != plan.right_id)]
    types = ", ".join(f"{name}: {words}" for name, words in TYPE_WORDS.items())
    shown = [USE, NAME, *((LEFT, RIGHT) if two else ()), TYPE, WHY, VALUES]
    edited = st.data_editor(
        base,
        key=key,
        hide_index=True,
        column_order=shown,
        disabled=[LEFT, WHY, VALUES],
        column_config={
            USE: st.column_config.CheckboxColumn(),
            NAME: st.column_config.TextColumn("attribute", required=True, max_chars=80),
            LEFT: st.column_config.TextColumn(f"column of {short(sides[0].name, 30)}"),
            RIGHT: st.column_config.SelectboxColumn(
                f"column of {short(sides[1].name, 30)}", options=options, required=True
            ),
            TYPE: st.column_config.SelectboxColumn(
                options=[one.value for one in AttributeType], required=True, width="small", help=types
            ),
            VALUES: st.column_config.TextColumn(width="large"),
        },
    )
    return edited.astype({USE: bool})


def _rows(plan: Plan, sides: tuple[BroughtFile, BroughtFile]) -> pd.DataFrame:
    """A row for each column that can be compared, those left out last."""
    rows = [_row(True, a.name, a.left, a.right, a.reason, sides) for a in plan.attributes]
    if plan.left is None:
        return pd.DataFrame(rows)
    for out in plan.left_out:
        if out.file == sides[0].name:
            right = NONE if plan.right is not None else out.column
            rows.append(_row(False, out.column, out.column, right, out.reason, sides))
    return pd.DataFrame(rows)


def _row(
    use: bool, name: str, left: str, right: str, why: str, sides: tuple[BroughtFile, BroughtFile]
) -> dict[str, object]:
    values = [*sides[0].column(left).values[:500]]
    ours = sides[0].column(left).examples[:2]
    theirs: tuple[str, ...] = ()
    if right != NONE and (sides[0] is not sides[1] or right != left):
        values += [*sides[1].column(right).values[:500]]
        theirs = sides[1].column(right).examples[:1]
    examples = [short(value, _EXAMPLE_CHARS) for value in (*ours, *theirs)]
    return {
        USE: use,
        NAME: name,
        LEFT: left,
        RIGHT: right,
        TYPE: type_of(values).value,
        WHY: why if use else f"left out: {why}",
        VALUES: " · ".join(examples),
    }


def _chosen(
    edited: pd.DataFrame, plan: Plan, sides: tuple[BroughtFile, BroughtFile]
) -> tuple[tuple[Attribute, ...], tuple[LeftOut, ...], dict[str, str]]:
    """Attributes, columns left out, and the types that differ from the inferred ones."""
    used = edited[edited[USE] & (edited[RIGHT] != NONE)]
    attributes = named(
        [Attribute(str(r[NAME]).strip() or r[LEFT], r[LEFT], r[RIGHT], r[WHY]) for r in used.to_dict("records")]
    )
    types = {}
    for attribute, kind in zip(attributes, used[TYPE], strict=True):
        values = [*sides[0].column(attribute.left).values[:500], *sides[1].column(attribute.right).values[:500]]
        if kind != type_of(values).value:
            types[attribute.name] = kind
    return attributes, _left_out(attributes, plan, sides), types


def _left_out(
    attributes: Sequence[Attribute], plan: Plan, sides: tuple[BroughtFile, BroughtFile]
) -> tuple[LeftOut, ...]:
    reasons = {(one.file, one.column): one.reason for one in plan.left_out}
    kept = {(sides[0].name, one.left) for one in attributes} | {(sides[1].name, one.right) for one in attributes}
    ids = {(sides[0].name, plan.left_id), (sides[1].name, plan.right_id)}
    every = [(file.name, column.name) for file in dict.fromkeys(sides) for column in file.columns]
    if plan.left is None:
        every = [(sides[0].name, name) for one in plan.attributes for name in (one.left, one.right)]
    return tuple(LeftOut(*one, reasons.get(one, NOT_CHOSEN)) for one in every if one not in kept and one not in ids)


def _show_left_out(plan: Plan) -> None:
    telling = [one for one in plan.left_out if one.reason not in (NO_COUNTERPART, NOT_CHOSEN)]
    if telling:
        named_ = ", ".join(f"**{literal(one.column, 40)}** ({literal(one.reason, 60)})" for one in telling[:8])
        st.caption(f"Left out by default: {named_}. Ids and answers would be learned instead of what the records say.")
    lonely = [literal(one.column, 40) for one in plan.left_out if one.reason == NO_COUNTERPART]
    if lonely:
        st.caption(f"Without a counterpart: {', '.join(lonely[:12])}.")


def _problem(edited: pd.DataFrame, attributes: Sequence[Attribute]) -> str | None:
    """Why these choices cannot be saved."""
    if not attributes:
        return "Choose at least one attribute to compare."
    open_ = edited[edited[USE] & (edited[RIGHT] == NONE)]
    if len(open_):
        return f"{literal(str(open_[NAME].iloc[0]), 40)} has no counterpart. Choose one, or do not compare it."
    rights = [one.right for one in attributes]
    twice = sorted({one for one in rights if rights.count(one) > 1})
    return f"{literal(twice[0], 40)} is the counterpart of two columns. Choose it once." if twice else None
