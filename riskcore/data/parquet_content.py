"""The single-valued columns of a parquet file, read within a budget.

A value that is repeated takes a few bits in the file, whatever its length. So text is read as codes of distinct values,
its size is counted from these, and what does not fit is never written out. In the delta encodings, where a value says
what it adds to the one before, there are no codes: such a file is read in pieces, of so few rows that they fit even if
each value is as long as all of the file's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from riskcore.data.text_file import Budget

_PLAIN_TEXT = 24  # bytes of a number, a date or a boolean as text, at most
_BYTES, _FIXED = "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"  # physical types whose values may be of any length
_PIECE_ROWS = 65_536
_NO_CODES = "Not yet implemented"  # what pyarrow says of delta encodings that are to be read as codes


def read_columns(path: Path, most_bytes: int) -> list[pa.ChunkedArray]:
    """All columns in their order. Those of lists, structs or maps are not read: they are empty. Raises
    `TooMuchContentError` where the text of the others, or the file unpacked, has more bytes."""
    with pq.ParquetFile(path) as source:
        schema, wanted = source.schema_arrow, _single(source.schema_arrow)
        leaves = [source.schema.column(place) for place in wanted]
        groups = [source.metadata.row_group(number) for number in range(source.metadata.num_row_groups)]
        Budget(most_bytes).take(0, sum(group.total_byte_size for group in groups))
        rows = sum(group.num_rows for group in groups)
        plain = sum(leaf.physical_type not in (_BYTES, _FIXED) for leaf in leaves)
        fixed = sum(leaf.length for leaf in leaves if leaf.physical_type == _FIXED)
    codes = [leaf.path for leaf in leaves if leaf.physical_type == _BYTES]

    def begun() -> Budget:
        budget = Budget(most_bytes)
        budget.take(rows * len(leaves), rows * (plain * _PLAIN_TEXT + fixed))
        return budget

    try:
        with pq.ParquetFile(path, read_dictionary=codes) as source:
            parts = list(_as_codes(source, wanted, begun()))
    except (pa.ArrowNotImplementedError, OSError) as error:
        if _NO_CODES not in str(error):
            raise
        with pq.ParquetFile(path) as source:
            parts = list(_in_pieces(source, wanted, begun()))
    read = iter(pa.concat_tables(parts).columns if parts else ())
    return [
        next(read, _nothing(field.type)) if not pa.types.is_nested(field.type) else _nothing(field.type)
        for field in schema
    ]


def _nothing(kind: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([], type=kind)


def _single(schema: pa.Schema) -> list[int]:
    """Where the columns of single values are among the leaves of all columns."""
    found, place = [], 0
    for field in schema:
        if not pa.types.is_nested(field.type):
            found.append(place)
        place += _count_leaves(field.type)
    return found


def _count_leaves(kind: pa.DataType) -> int:
    if not pa.types.is_nested(kind):
        return 1
    return sum(_count_leaves(kind.field(number).type) for number in range(kind.num_fields))


def _as_codes(source: pq.ParquetFile, columns: list[int], budget: Budget) -> Iterator[pa.Table]:
    for number in range(source.metadata.num_row_groups):
        group = source.reader.read_row_group(number, column_indices=columns, use_threads=True)
        budget.take(0, sum(_text_bytes(column) for column in group.columns))
        yield group


def _text_bytes(column: pa.ChunkedArray) -> int:
    """How long the column is once its codes are written out; 0 for a column that has none."""
    if not pa.types.is_dictionary(column.type):
        return 0
    lengths = (pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks)
    return sum(pc.sum(pc.cast(one, pa.int64())).as_py() or 0 for one in lengths)


def _in_pieces(source: pq.ParquetFile, columns: list[int], budget: Budget) -> Iterator[pa.Table]:
    for number in range(source.metadata.num_row_groups):
        longest = max(source.metadata.row_group(number).total_byte_size, 1)
        rows = min(max(budget.left // longest, 1), _PIECE_ROWS)
        held: list[pa.RecordBatch] = []
        for piece in source.reader.iter_batches(rows, row_groups=[number], column_indices=columns, use_threads=False):
            budget.take(0, piece.nbytes)
            held.append(piece)
            if len(held) * rows >= _PIECE_ROWS:
                yield pa.Table.from_batches(held).combine_chunks()
                held = []
        if held:
            yield pa.Table.from_batches(held).combine_chunks()
