"""Small files that stand for gigabytes: each is refused in one sentence, before the memory is taken."""

from __future__ import annotations

import io
import resource
import subprocess
import sys
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from riskcore.config import DataConfig
from riskcore.data.bring.files import read_file, unpacked
from riskcore.data.problems import DataFormatError

CAP = 2_000_000


def kinds(path, **settings):
    found = read_file(path, config=DataConfig(**{"max_decoded_bytes": CAP, **settings}))
    return [(problem.kind, problem.row) for problem in found.problems]


def repeated(path, text: str, rows: int, compression: str) -> None:
    """A parquet file of one text in all rows, which is there once."""
    codes = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array([text]))
    one_page = {"row_group_size": rows, "data_page_size": 1 << 30, "write_batch_size": rows, "max_rows_per_page": rows}
    bare = {"store_schema": False, "write_statistics": False}
    pq.write_table(pa.table({"id": codes}), path, compression=compression, **one_page, **bare)


@pytest.mark.parametrize(
    ("chars", "compression", "most"),
    [(50_000, "none", 55_000), (2_000, "zstd", 740)],
    ids=["200 GB in 55 kB", "8 GB in 740 bytes"],
)
def test_one_text_in_all_rows_is_refused_by_the_command_with_little_memory(tmp_path, chars, compression, most):
    path = tmp_path / "tiny.parquet"
    repeated(path, "x" * chars, 4_000_000, compression)
    assert path.stat().st_size < most
    code = "import resource as r, sys; r.setrlimit(r.RLIMIT_DATA, (10**9, 10**9)); import riskcore.cli as c; c.main()"
    command = [sys.executable, "-c", code, "data", "check", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.count("too_much_content") == 1
    assert f"at least {4_000_000 * (chars + 8):,} bytes" in done.stdout
    assert "Traceback" not in done.stderr


def test_rows_without_a_value_count_too(tmp_path):
    path = tmp_path / "empty.parquet"
    pq.write_table(pa.table({name: pa.nulls(50_000, pa.string()) for name in "abcdef"}), path)
    assert kinds(path) == [("too_much_content", None)]
    assert kinds(path, max_decoded_bytes=10 * CAP) == []


def test_numbers_and_bytes_of_a_fixed_width_count_as_text(tmp_path):
    path = tmp_path / "wide.parquet"
    pq.write_table(pa.table({"x": pa.array([b"y" * 1_000] * 3_000, pa.binary(1_000))}), path)
    assert kinds(path) == [("too_much_content", None)]
    pq.write_table(pa.table({"x": pa.array(np.zeros(100_000))}), path)
    assert kinds(path) == [("too_much_content", None)]


DELTAS = ("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY")


@pytest.mark.parametrize("encoding", DELTAS)
def test_delta_encodings_are_read_and_counted(tmp_path, encoding):
    path = tmp_path / "delta.parquet"
    texts = ["x" * 2_000 + str(number) for number in range(3_000)]
    table = pa.table({"t": texts, "n": range(3_000)})
    encodings = {"use_dictionary": False, "column_encoding": {"t": encoding, "n": "PLAIN"}}
    pq.write_table(table, path, write_statistics=False, compression="zstd", **encodings)
    assert path.stat().st_size < 60_000
    assert kinds(path) == [("too_much_content", None)]
    found = read_file(path, config=DataConfig(max_decoded_bytes=10 * CAP))
    assert found.problems == ()
    assert found.text is not None
    assert found.text.columns.column("t").to_pylist() == texts
    assert found.text.columns.column("n").to_pylist()[-1] == "2999"


def test_lists_are_not_read_at_all(tmp_path):
    path = tmp_path / "list.parquet"
    many = pa.ListArray.from_arrays(pa.array([0, 1_000_000]), pa.array(np.zeros(1_000_000)))
    pq.write_table(pa.table({"a": ["x"], "many": many, "b": ["y"]}), path)
    found = read_file(path, config=DataConfig(max_decoded_bytes=CAP))
    assert [(problem.kind, problem.column) for problem in found.problems] == [("nested_column", "many")]
    assert found.text is not None
    assert found.text.columns.to_pylist() == [{"a": "x", "b": "y"}]


def test_a_shared_text_of_a_workbook_counts_in_every_cell(tmp_path):
    book = openpyxl.Workbook()
    for _ in range(100):
        book.active.append(["x" * 30_000])
    book.save(tmp_path / "shared.xlsx")
    assert (tmp_path / "shared.xlsx").stat().st_size < 20_000
    assert kinds(tmp_path / "shared.xlsx") == [("too_much_content", None)]


def test_a_cell_far_to_the_right_makes_many(tmp_path):
    book = openpyxl.Workbook()
    for row in range(1, 40):
        book.active.cell(row, 16_384, "x")
    book.save(tmp_path / "far.xlsx")
    assert kinds(tmp_path / "far.xlsx", max_columns=20_000)[-1] == ("too_much_content", None)


def test_a_line_without_an_end_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "line.csv"
    path.write_bytes(b"id,title\n1,a\n2," + b"x" * 40_000 + b"\n")
    assert kinds(path, max_cell_chars=1_000) == [("line_too_long", 3)]
    assert kinds(path, max_cell_chars=30_000) == [("cell_too_long", 3)]


def test_an_open_quote_swallows_no_more_than_a_line_may_have(tmp_path):
    path = tmp_path / "quote.csv"
    path.write_text('id,title\n1,"open\n' + "2,b\n" * 20_000)
    found = read_file(path, config=DataConfig(max_cell_chars=1_000))
    assert [(problem.kind, problem.row) for problem in found.problems] == [("broken_quote", 2)]
    assert found.text is not None
    assert len(found.text) == 20_001


def test_delimiters_alone_count(tmp_path):
    path = tmp_path / "commas.csv"
    path.write_text("\n".join(",".join(f"c{n}" for n in range(400)) if row == 0 else "," * 399 for row in range(900)))
    assert kinds(path) == [("too_much_content", None)]


def bomb(depth: int) -> bytes:
    """Zeros in an archive, or archives in archives."""
    content, name = b"0" * 3_000_000, "zeros.csv"
    for _ in range(depth):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, content)
        content, name = packed.getvalue(), "more.zip"
    return content


@pytest.mark.parametrize(("depth", "reason"), [(1, "impossible compression ratio"), (5, "nested more than 3 deep")])
def test_archives_that_unpack_to_too_much_are_refused(tmp_path, depth, reason):
    path, folder = tmp_path / "bomb.zip", tmp_path / "out"
    path.write_bytes(bomb(depth))
    folder.mkdir()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataFormatError, match=reason):
        unpacked([path], folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
