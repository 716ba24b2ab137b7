"""The entities of a result: a page of them, and one with its records side by side and the merged record."""

from __future__ import annotations

import html
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts.frame.tables import selected_row, table_height
from pages.parts.frame.text import literal, plural
from pages.parts.pairs.record_table import LONG_VALUE
from pages.parts.results.pair_table import LONGEST_SEARCH, open_entity, requested_number, shown, turn
from pages.parts.results.run_results import EntityFilter, ResultKey, entity_order, result_of
from riskcore.audit.merged import attribute_column, merged_records
from riskcore.audit.resolve import Resolution
from riskcore.columns import ENTITY_ID, LEFT_ENTITY, PAIR_ID, RECORD_ID, SIDE, VALUE
from riskcore.data.problems import visible

PAGE_SIZE = 50
SIDE_BY_SIDE = 6  # records; more are a table with a row for each
MOST_RECORDS = 500  # of one entity that are shown
STYLE = """<style>
.rc-entity{overflow-x:auto}
.rc-entity table{border-collapse:collapse;width:100%;font-size:.92rem;line-height:1.5}
.rc-entity th{text-align:left;padding:.35rem .7rem;font-size:.82rem;font-weight:600;opacity:.8;white-space:nowrap}
.rc-entity td{padding:.45rem .7rem;vertical-align:top;min-width:9rem;overflow-wrap:anywhere;unicode-bidi:isolate;
 border-top:1px solid color-mix(in srgb,currentColor 14%,transparent)}
.rc-entity td:first-child{min-width:6rem;font-size:.85rem;opacity:.8;font-weight:600}
.rc-entity .rc-merged{background:color-mix(in srgb,#2f7fc1 9%,transparent)}
.rc-entity .rc-missing{opacity:.75;font-style:italic}
</style>"""


def show_entities(key: ResultKey) -> None:
    """The entity in the address, or a page of entities."""
    found = result_of(key).resolution
    assert found is not None  # the page shows this only where there are entities
    asked = st.query_params.get("entity")
    if asked is None:
        _show_page(key, found)
        return
    records = found.entities[found.entities[ENTITY_ID] == asked]
    if records.empty:
        st.warning(
            f"There is no entity {literal(asked, 40)} in this result. Under another constraint there may be.",
            icon=":material/warning:",
        )
        open_entity(None)
        _show_page(key, found)
    else:
        _show_entity(key, found, records)


def _show_page(key: ResultKey, found: Resolution) -> None:
    counts = result_of(key).about["counts"]
    columns = st.columns([4, 4], vertical_alignment="bottom")
    several = columns[0].toggle("Only entities of several records", value=True, key="several")
    text = columns[1].text_input(
        "Search in entities", max_chars=LONGEST_SEARCH, placeholder="part of a value or an id", key="find_entity"
    )
    order = entity_order(key, EntityFilter(several, (text or "").strip()))
    st.markdown(
        f"**{plural(len(order), 'entity', 'entities')}** of {counts['entities']:,} · {counts['records']:,} records · "
        f"the largest has {plural(counts['largest entity'], 'record')}"
    )
    if not len(order):
        st.info("No entities match these filters. Change or clear them.", icon=":material/filter_alt_off:")
        return
    pages = -(-len(order) // PAGE_SIZE)
    page = min(requested_number("entity_page"), pages)
    table = page_table(found.entities, order[(page - 1) * PAGE_SIZE : page * PAGE_SIZE])
    ids = list(table["entity"])
    name = f"entities {key.run} {key.method} {key.constraint} {several} {text} {page}"

    def opened() -> None:
        row = selected_row(st.session_state[name])
        if row is not None and row < len(ids):
            open_entity(ids[row])

    st.dataframe(
        table,
        key=name,
        hide_index=True,
        height=table_height(len(table), 560),
        selection_mode=["single-row", "single-cell"],
        on_select=opened,
        column_config={"records": st.column_config.NumberColumn(width="small")},
        placeholder="–",
        alt="entities with the number of their records and the merged record",
    )
    if pages > 1:
        turn("entity_page", pages, page, f"{key.run} {several} {text}")
    st.caption("The values are those of the merged record. Select an entity to see its records.")


def page_table(entities: pd.DataFrame, first: Any) -> pd.DataFrame:
    """Some entities, each as its merged record; `first` are the places of their first records."""
    size = entities["records"].to_numpy()[first]
    rows = [at for start, count in zip(first, size, strict=True) for at in range(start, start + count)]
    merged = merged_records(entities.iloc[rows])
    named = {attribute_column(name): name.removeprefix(VALUE) for name in entities if name.startswith(VALUE)}
    table = pd.DataFrame({"entity": merged[ENTITY_ID], "records": merged["records"]})
    for column, name in named.items():
        table[name if name not in table else column] = [shown(value) for value in merged[column]]
    return table


def _show_entity(key: ResultKey, found: Resolution, records: pd.DataFrame) -> None:
    entity = str(records[ENTITY_ID].iloc[0])
    st.button("All entities", icon=":material/list:", on_click=open_entity, args=(None,))
    st.markdown(f"Entity **{entity}** · {plural(len(records), 'record')}")
    some = records.head(MOST_RECORDS)
    merged = merged_records(records)
    names = [name for name in records if name.startswith(VALUE)]
    if len(some) <= SIDE_BY_SIDE:
        st.html(entity_html(some, merged, names))
    else:
        st.dataframe(
            entity_rows(some, merged, names),
            hide_index=True,
            height=table_height(len(some) + 1, 480),
            placeholder="–",
            alt="the records of this entity below the merged record",
        )
    if len(records) > len(some):
        st.caption(f"The first {len(some)} of {len(records):,} records. The download has all of them.")
    st.caption("Merged: per attribute the most frequent value, of equally frequent ones the longest.")
    _show_matches(found, entity)


def _show_matches(found: Resolution, entity: str) -> None:
    """The matches that join the entity's records."""
    pairs = found.pairs
    joined = pairs[(pairs[LEFT_ENTITY] == entity) & (pairs["decision"] == "match")].head(MOST_RECORDS)
    if joined.empty:
        st.caption("No match joins this record to another.")
        return
    table = pd.DataFrame(
        {
            "match": list(joined[PAIR_ID]),
            "decided by": list(joined["decided_by"]),
            "probability": joined["probability"].to_numpy(dtype=float),
            "reasons": [shown(one) for one in joined["reasons"]],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        height=table_height(len(table), 300),
        column_config={"probability": st.column_config.NumberColumn(format="%.2f", width="small")},
        placeholder="–",
        alt="the matches that join the records of this entity",
    )


def entity_rows(records: pd.DataFrame, merged: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """A row per record below the merged record."""
    first = {"record": "merged", **{_bare(name): shown(merged[attribute_column(name)].iloc[0]) for name in names}}
    rows = [
        {"record": _title(record), **{_bare(name): shown(record[name]) for name in names}}
        for _, record in records.iterrows()
    ]
    return pd.DataFrame([first, *rows])


def entity_html(records: pd.DataFrame, merged: pd.DataFrame, names: list[str]) -> str:
    """Records side by side, an attribute per line, the merged record last. Everything is escaped here."""
    titles = [_title(record) for _, record in records.iterrows()]
    head = "".join(f"<th>{html.escape(visible(title[:80]))}</th>" for title in ("", *titles))
    lines = []
    for name in names:
        cells = "".join(f'<td dir="auto">{_cell(value)}</td>' for value in records[name])
        last = f'<td dir="auto" class="rc-merged">{_cell(merged[attribute_column(name)].iloc[0])}</td>'
        lines.append(f"<tr><td>{html.escape(visible(_bare(name)[:80]))}</td>{cells}{last}</tr>")
    body = f'<thead><tr>{head}<th class="rc-merged">merged record</th></tr></thead><tbody>{"".join(lines)}</tbody>'
    return f'{STYLE}<div class="rc-entity"><table>{body}</table></div>'


def _title(record: pd.Series) -> str:
    return str(record[RECORD_ID]) if record[SIDE] == "both" else f"{record[SIDE]} {record[RECORD_ID]}"


def _bare(name: str) -> str:
    return name.removeprefix(VALUE)


def _cell(value: Any) -> str:
    if value is None or pd.isna(value):
        return '<span class="rc-missing">no value</span>'
    text = str(value)
    rest = len(text) - LONG_VALUE
    more = f' <span class="rc-missing">… {rest:,} more characters</span>' if rest > 0 else ""
    return html.escape(visible(text[:LONG_VALUE])) + more
