import datetime
import decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riskcore.config import DataConfig
from riskcore.data.parquet_file import read_parquet
from riskcore.data.problems import ProblemLog


@pytest.fixture
def read(tmp_path):
    def run(content, **settings_):
        path = tmp_path / "file.parquet"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            pq.write_table(content, path)
        log = ProblemLog()
        file = read_parquet(path, path.name, log, DataConfig(**settings_))
        return file, [(problem.kind, problem.row, problem.column) for problem in log.problems]

    return run


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array(["a", None, ""]), ["a", None, ""]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (pa.array([1, None, -3], pa.int64()), ["1", None, "-3"]),
        (pa.array([1999.0, None, 0.1], pa.float64()), ["1999.0", None, "0.1"]),
        (pa.array([0.1, 1e20], pa.float32()), ["0.1", "1e+20"]),
        (pa.array([True, None, False]), ["1", None, "0"]),
        (pa.array([datetime.date(2020, 1, 31), None]), ["2020-01-31", None]),
        (pa.array([datetime.datetime(2020, 1, 31, 12, 30)]), ["2020-01-31T12:30:00"]),
        (pa.array([decimal.Decimal("12.50")]), ["12.50"]),
        (pa.array(["é".encode(), b"x"], pa.binary()), ["é", "x"]),
        (pa.array([None, None], pa.null()), [None, None]),
    ],
)
def test_each_type_has_its_text(read, values, texts):
    file, problems = read(pa.table({"x": values}))
    assert problems == []
    assert file.columns.column("x").to_pylist() == texts
    assert file.rows.tolist() == list(range(1, len(texts) + 1))


def test_float_nan_is_the_word_nan_which_the_missing_rule_knows(read):
    file, _ = read(pa.table({"x": pa.array([float("nan")])}))
    assert file.columns.column("x").to_pylist() == ["nan"]


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int64()), pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64())]
)
def test_nested_columns_are_refused_and_the_others_read(read, kind):
    file, problems = read(pa.table({"x": pa.array([None], kind), "y": ["a"]}))
    assert problems == [("nested_column", None, "x")]
    assert file.columns.column_names == ["y"]


def test_bytes_that_are_not_utf8(read):
    file, problems = read(pa.table({"x": pa.array([b"ok", b"caf\xe9", None], pa.binary())}))
    assert problems == [("broken_encoding", 2, "x")]
    assert file.columns.column("x").to_pylist() == ["ok", "caf\ufffd", None]


def test_nul_bytes(read):
    _, problems = read(pa.table({"x": ["a", "b\0c", None]}))
    assert problems == [("nul_byte", 2, "x")]


def test_caps(read):
    table = pa.table({name: ["1", "2", "3"] for name in "abcde"})
    assert read(table, max_columns=4)[1] == [("too_many_columns", None, None)]
    assert read(table, max_rows=2)[1] == [("too_many_rows", None, None)]
    assert read(table, max_file_bytes=10)[1] == [("file_too_large", None, None)]


def test_two_columns_of_one_name(read):
    _, problems = read(pa.table([pa.array(["1"]), pa.array(["2"])], names=["x", "x"]))
    assert problems == [("duplicate_column", None, "x")]


def sound_bytes() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": ["1", "2", "3"], "title": ["a", "b", "c"]}), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_what_is_not_parquet_is_one_clear_error(read, content):
    file, problems = read(content)
    assert file is None
    assert problems == [("corrupt_parquet", None, None)]


def test_a_truncated_file_is_one_clear_error(read):
    whole = sound_bytes()
    assert read(whole[: len(whole) // 2])[1] == [("corrupt_parquet", None, None)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(st.data())
def test_a_damaged_file_is_read_or_refused_without_an_exception(read, data):
    content = bytearray(sound_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file, problems = read(bytes(content))
    assert file is not None or problems
