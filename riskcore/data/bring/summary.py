"""A brought file without its records: how it was read, its problems, a preview and a sample of each column.

Screens suggest and ask by this much, and it does not grow with the file.
"""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pyarrow.compute as pc

from riskcore.data.bring.columns import ColumnFacts
from riskcore.data.bring.files import BroughtFile
from riskcore.data.text_file import TextFile

PREVIEW_ROWS = 20
CELL_CHARS = 300
SAMPLE_CHARS = 4_000_000  # of all columns together


def summarised(file: BroughtFile) -> BroughtFile:
    """The file as its summary; `columns` and `records` are those of the whole."""
    if file.text is None:
        return file
    facts, head = file.columns, file.text.columns.slice(0, PREVIEW_ROWS)
    room = SAMPLE_CHARS // max(len(facts), 1)
    columns = {name: pc.utf8_slice_codeunits(head.column(name), 0, CELL_CHARS) for name in head.column_names}
    text = TextFile(file.text.name, pa.table(columns), file.text.rows[:PREVIEW_ROWS])
    return dataclasses.replace(file, text=text, facts=tuple(_thinned(one, room) for one in facts), count=len(file.text))


def _thinned(facts: ColumnFacts, room: int) -> ColumnFacts:
    """The facts with values cut short, and as many of them as there is room for."""
    values = facts.values
    for place, value in enumerate(values):
        if len(value) > CELL_CHARS:
            values[place] = value[:CELL_CHARS]
    step = max(1, -(-sum(map(len, values)) // max(room, 1)))
    return dataclasses.replace(facts, values=values[::step])
