"""Row groups that are kept: the same rows as a fresh reader gives, of the file as it is now, in bounded memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from riskcore.storage import row_groups
from riskcore.storage.row_groups import RowGroups


def write(file, first=0):
    table = pa.table({"number": np.arange(1_000) + first, "text": [f"r{n + first}" for n in range(1_000)]})
    pq.write_table(table, file, row_group_size=64)
    return table


@pytest.fixture
def file(tmp_path):
    write(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_any_rows_in_any_order(file):
    kept, chance = RowGroups(), np.random.default_rng(0)
    table = pq.read_table(file)
    for size in (0, 1, 5, 300, 1_000, 2_000):
        rows = chance.integers(0, 1_000, size)  # some of them twice
        for columns in (None, ["text"], ["text", "number"]):
            found = kept.take(file, rows, columns)
            wanted = table.take(pa.array(rows, pa.int64()))
            assert found.equals(wanted if columns is None else wanted.select(columns))


def test_what_was_decoded_is_not_decoded_again(file, monkeypatch):
    kept = RowGroups()
    first = kept.take(file, np.array([1, 500, 999]), None)
    monkeypatch.setattr(row_groups.pq, "ParquetFile", lambda *a, **k: pytest.fail("the file was opened again"))
    assert kept.take(file, np.array([1, 500, 999]), None).equals(first)


def test_a_file_that_was_replaced_is_read_anew(file):
    kept = RowGroups()
    kept.take(file, np.array([3]), None)
    write(file.with_name("new"), first=5_000)
    file.with_name("new").replace(file)
    assert kept.take(file, np.array([3]), ["number"]).column("number").to_pylist() == [5_003]


def test_memory_is_bounded_and_an_export_drives_nothing_out(file):
    one = pq.ParquetFile(file).read_row_group(0).nbytes
    kept = RowGroups(most_bytes=4 * one)
    for row in (0, 64, 128, 192, 256, 320):
        kept.take(file, np.array([row]), None)
    assert len(kept._kept) <= 4
    assert kept._held == sum(table.nbytes for table in kept._kept.values()) <= 4 * one
    before = list(kept._kept)
    assert kept.take(file, np.arange(1_000), None).num_rows == 1_000
    assert sorted(before) == sorted(kept._kept)
