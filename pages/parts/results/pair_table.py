"""The decided pairs: filters kept in the address, one page of the table, and the selected pair with both records."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.frame.glossary import WORDS
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.palette import FLIPPED, VERDICTS
from pages.parts.frame.tables import ColumnConfig, selected_row, table_height
from pages.parts.frame.text import literal, plural, short
from pages.parts.pairs.record_table import records_table
from pages.parts.results.run_results import PairFilter, ResultKey, pair_order, result_of
from riskcore.audit.decisions import BY_CONSTRAINT, BY_LABEL, BY_MODEL, BY_VERDICT, values_of
from riskcore.columns import LEFT, LEFT_ENTITY, PAIR_ID, PART, RIGHT
from riskcore.runs.candidate_files import TARGET

PAGE_SIZE = 50
CELL_CHARS = 160
LONGEST_SEARCH = 200
ANY = "(any)"
DECISIONS = {ANY: None, "= match": "match", "≠ non-match": "non-match"}
DECIDED_BY = (ANY, BY_VERDICT, BY_LABEL, BY_MODEL, BY_CONSTRAINT)
SORTS = {"highest probability first": "probability", "highest risk first": "risk", "order of the data": "row"}


def show_pairs(key: ResultKey) -> None:
    """Filters, one page of pairs, the selected one."""
    wanted = _filter_bar()
    order = pair_order(key, wanted)
    if not len(order):
        st.info("No pairs match these filters. Change or clear them.", icon=":material/filter_alt_off:")
        return
    pages = -(-len(order) // PAGE_SIZE)
    page = min(requested_number("page"), pages)
    rows = result_of(key).pairs.iloc[order[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]]
    values = values_of(key.folder, rows.index.to_numpy())
    st.markdown(f"**{plural(len(order), 'pair')}** · page {page} of {pages:,}")
    attributes = key.folder.attributes()
    state = st.dataframe(
        pair_table(rows, values, attributes),
        key=f"result pairs {key.run} {key.method} {key.constraint} {wanted} {page}",
        hide_index=True,
        height=table_height(len(rows), 560),
        selection_mode=["single-row", "single-cell"],
        on_select="rerun",
        column_config=pair_columns(attributes),
        placeholder="–",
        alt=f"{len(rows)} pairs with their decision, who or what decided, and the values of both records",
    )
    if pages > 1:
        turn("page", pages, page, f"{key.run} {wanted}")
    row = selected_row(state)
    if row is None or row >= len(rows):
        st.caption("Select a row to see both records.")
    else:
        _show_selected(key, rows.iloc[row], values.iloc[row])


def pair_table(rows: pd.DataFrame, values: pd.DataFrame, attributes: list[str]) -> pd.DataFrame:
    """Decided pairs as they are shown: signs and words, then the values of both records."""
    table = pd.DataFrame(
        {
            "decision": [VERDICTS[word].text for word in rows["decision"]],
            "decided by": list(rows["decided_by"]),
            "probability": rows["probability"].to_numpy(dtype=float),
            "risk": rows["risk"].to_numpy(dtype=float),
            "flip": [FLIPPED.text if one is not pd.NA and one else "" for one in rows["flipped"]],
        }
    )
    for place, name in enumerate(attributes):
        for side, prefix in (("left", LEFT), ("right", RIGHT)):
            if prefix + name in values:
                table[f"{side} {name}"] = [shown(value) for value in values[prefix + name]]
        if place == 0:  # the first attribute mostly names the record
            table["reasons"] = [None if one is None else short(str(one), 300) for one in rows["reasons"]]
    return table.assign(part=list(rows[PART]), pair=list(rows[PAIR_ID]))


def pair_columns(attributes: list[str]) -> ColumnConfig:
    value = st.column_config.TextColumn(width=280)
    return {
        "decision": st.column_config.TextColumn(width=100),
        "decided by": st.column_config.TextColumn(width=96),
        "probability": st.column_config.NumberColumn(format="%.2f", width="small", help=WORDS["probability"]),
        "risk": st.column_config.ProgressColumn(
            min_value=0, max_value=1, format="%.2f", width="small", color="red", help=WORDS["risk"]
        ),
        "flip": st.column_config.TextColumn(width=84, help=WORDS["flipped"]),
        "reasons": st.column_config.TextColumn(width=330),
        **{f"{side} {name}": value for name in attributes for side in ("left", "right")},
    }


def shown(value: Any) -> str | None:
    """A value of a record in a table."""
    return None if pd.isna(value) else short(str(value), CELL_CHARS)


def requested_number(name: str) -> int:
    """A page number in the address; 1 where it is none."""
    text = st.query_params.get(name, "1")
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 8 and int(text) > 0 else 1


def turn(name: str, pages: int, page: int, of: str) -> None:
    """Page numbers below a table; the page is kept in the address."""
    key = f"{name} of {of} {page} {pages}"

    def changed() -> None:
        st.query_params[name] = str(st.session_state[key])

    st.pagination(pages, default=page, key=key, on_change=changed)


def _filter_bar() -> PairFilter:
    columns = st.columns([2, 2, 3, 4])
    bound: dict[str, Any] = {"bind": "query-params", "on_change": _first_page}
    decision = columns[0].selectbox("Decision", list(DECISIONS), key="decision", **bound)
    by = columns[1].selectbox("Decided by", DECIDED_BY, key="decided_by", **bound)
    sort = columns[2].selectbox("Order", list(SORTS), key="order", **bound)
    text = columns[3].text_input(
        "Search in pairs",
        max_chars=LONGEST_SEARCH,
        placeholder="part of a value or an id",
        key="find",
        **bound,
    )
    found = (text or "").strip()
    return PairFilter(
        DECISIONS.get(decision or ANY), None if by in (ANY, None) else by, found, SORTS.get(sort, "probability")
    )


def _first_page() -> None:
    st.query_params.pop("page", None)


def _show_selected(key: ResultKey, row: pd.Series, values: pd.Series) -> None:
    with st.container(border=True):
        mark = VERDICTS[row["decision"]]
        st.markdown(
            f"**{mark.text}** by {row['decided_by']} · pair {literal(row[PAIR_ID], 100)} · {row[PART]} pair"
            f"  \n{literal(str(row['reasons'] or ''), 500)}"
        )
        left, right = (
            {name: _text(values.get(prefix + name)) for name in key.folder.attributes()} for prefix in (LEFT, RIGHT)
        )
        st.html(records_table(left, right, key.folder.attributes()))
        links = st.container(horizontal=True, gap="medium")
        with links:
            if row[PART] == TARGET and key.folder.ready:
                st.page_link(
                    SCREENS["pairs"].path,
                    label="Open the pair with its reasons",
                    icon=SCREENS["pairs"].icon,
                    query_params={"run": key.run, "pair": str(row[PAIR_ID])},
                )
            if LEFT_ENTITY in row:
                st.button(
                    "Open the entity of the left record",
                    icon=":material/hub:",
                    on_click=open_entity,
                    args=(row[LEFT_ENTITY],),
                )


def open_entity(entity: str | None) -> None:
    """Put an entity into the address, or take it out."""
    if entity is None:
        st.query_params.pop("entity", None)
    else:
        st.query_params["entity"] = entity
        st.session_state["result part"] = "Entities"


def _text(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)
