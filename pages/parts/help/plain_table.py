"""Tables of a few rows that are read from top to bottom: plain HTML, so that no text is cut."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

import streamlit as st

from pages.parts.frame.style import QUIET

STYLE = f"""<style>
.rc-plain{{border-collapse:collapse;width:100%;line-height:1.5}}
.rc-plain th{{text-align:left;font-size:.85rem;font-weight:600;opacity:{QUIET};padding:.35rem 1rem .35rem 0}}
.rc-plain td{{padding:.5rem 1rem .5rem 0;vertical-align:top;
 border-top:1px solid color-mix(in srgb,currentColor 14%,transparent)}}
.rc-plain td:first-child{{white-space:nowrap;font-weight:600}}
.rc-plain kbd{{font:inherit;font-size:.9rem;padding:.05rem .45rem;margin-right:.3rem;border-radius:5px;
 border:1px solid color-mix(in srgb,currentColor 35%,transparent)}}
.rc-plain code{{font-size:.88rem;overflow-wrap:anywhere}}
</style>"""


class Html(str):
    """A cell that is HTML already; all other cells are escaped."""


def plain_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The table as HTML."""
    titles = "".join(f'<th scope="col">{html.escape(title)}</th>' for title in head)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return f'{STYLE}<table class="rc-plain"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    st.html(plain_table(head, rows))


def _cell(value: str) -> str:
    return value if isinstance(value, Html) else html.escape(value)
