"""Exports: csv without formulas, parquet, and a page to print. Record text is not trusted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from riskcore.data.formulas import MAY_RUN, safe_cell
from riskcore.data.html_table import html_table, html_text
from riskcore.errors import RiskcoreError
from riskcore.storage.files import write_parquet, write_text

EXPORT_FORMATS = (".csv", ".parquet", ".html")
_STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; color: #1c2430; }
table { border-collapse: collapse; } caption { text-align: left; font-weight: 600; padding: 0.5rem 0; }
th, td { border: 1px solid #d5dae2; padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; }
th { background: #f2f4f7; } dt { font-weight: 600; } dd { margin: 0 0 0.5rem 0; }
@media print { body { margin: 0; } thead { display: table-header-group; } tr { break-inside: avoid; } }
"""


class ExportError(RiskcoreError):
    """The table cannot be exported."""


def export_frame(frame: pd.DataFrame, path: Path | str, title: str = "Pairs") -> Path:
    """Write the table in the form that the file's ending names, whole or not at all."""
    path = Path(path)
    if path.suffix.lower() not in EXPORT_FORMATS:
        raise ExportError(f"{path.name} has no known ending. Use one of {', '.join(EXPORT_FORMATS)}.")
    if not path.parent.is_dir():
        raise ExportError(f"The folder {path.parent} does not exist. Create it first.")
    if path.suffix.lower() == ".parquet":
        write_parquet(path, pa.Table.from_pandas(frame, preserve_index=False))
    else:
        write_text(path, csv_text(frame) if path.suffix.lower() == ".csv" else html_report(title, {title: frame}))
    return path


def csv_text(frame: pd.DataFrame) -> str:
    """The table as csv; texts that a spreadsheet would run as a formula have an apostrophe in front."""
    return safe_frame(frame).to_csv(index=False, lineterminator="\n")


def safe_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with every text, column names included, as a cell that a spreadsheet shows and does not run."""
    texts = [place for place, kind in enumerate(frame.dtypes) if not pd.api.types.is_numeric_dtype(kind)]
    safe = {place: _safe_column(frame.iloc[:, place]) for place in texts}
    columns = [safe.get(place, frame.iloc[:, place]) for place in range(frame.shape[1])]
    return pd.concat(columns, axis=1).set_axis([safe_cell(name) for name in frame], axis=1) if columns else frame


def html_report(title: str, tables: Mapping[str, pd.DataFrame], facts: Mapping[str, Any] | None = None) -> str:
    """One page without scripts or links: facts first, then each table under its name."""
    parts = [f"<h1>{html_text(title)}</h1>"]
    if facts:
        rows = "".join(f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in facts.items())
        parts.append(f"<dl>{rows}</dl>")
    parts += [html_table(name, frame) for name, frame in tables.items()]
    head = f'<meta charset="utf-8"><title>{html_text(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{"".join(parts)}\n</body></html>\n'


def _safe_column(column: pd.Series) -> pd.Series:
    """The column with its formulas as text. Few cells begin with anything but a letter or a digit or have a separator
    in them, and finding these in the whole column is fast: only they are looked at one by one."""
    values = column.to_numpy(dtype=object, copy=True)
    try:
        odd = pc.match_substring_regex(pa.array(values, pa.large_string(), from_pandas=True), MAY_RUN)
        places = np.flatnonzero(odd.fill_null(False).to_numpy(zero_copy_only=False))
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError):  # not only texts, or not all of them valid
        places = np.arange(len(values))
    for place in places:
        values[place] = safe_cell(values[place])
    return pd.Series(values, index=column.index, dtype=object)
