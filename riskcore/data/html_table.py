"""A table as HTML: for reports, and for objects that show themselves in a notebook. Record text is not trusted."""

from __future__ import annotations

import html
from typing import Any

import pandas as pd

from riskcore.data.problems import visible


def html_table(caption: str, frame: pd.DataFrame) -> str:
    """The frame without its index, under a caption."""
    header = "".join(f'<th scope="col">{html_text(column)}</th>' for column in frame.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html_text(value)}</td>" for value in row) + "</tr>\n"
        for row in frame.itertuples(index=False, name=None)
    )
    return (
        f"<table><caption>{html_text(caption)}</caption><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>"
    )


def html_text(value: Any) -> str:
    """The value as text between tags: markup is escaped, invisible characters are written out."""
    if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)):
        return ""
    return html.escape(visible(f"{value:.4g}" if isinstance(value, float) else str(value)))
