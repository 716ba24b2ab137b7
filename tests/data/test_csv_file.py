import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riskcore.config import DataConfig
from riskcore.data import csv_file
from riskcore.data.csv_file import read_csv
from riskcore.data.problems import ProblemLog


@pytest.fixture
def read(tmp_path):
    def run(content, **settings_):
        path = tmp_path / "file.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        log = ProblemLog()
        file = read_csv(path, path.name, log, DataConfig(**settings_))
        return file, [(problem.kind, problem.row, problem.column) for problem in log.problems]

    return run


def rows_of(file):
    return [tuple(row.values()) for row in file.columns.to_pylist()]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_endings_and_byte_order_marks_are_accepted(read, ending, mark):
    file, problems = read(f"{mark}id,title{ending}1,a{ending}2,b{ending}")
    assert problems == []
    assert file.columns.column_names == ["id", "title"]
    assert rows_of(file) == [("1", "a"), ("2", "b")]
    assert file.rows.tolist() == [2, 3]


def test_blank_lines_are_skipped_and_still_counted(read):
    file, problems = read("\nid,title\n\n1,a\n  \n\n2,b\n\n")
    assert problems == []
    assert file.rows.tolist() == [4, 7]


def test_a_record_of_several_lines_has_the_row_of_its_first(read):
    file, problems = read('id,title\n1,"a\nb\nc"\n2,d\n')
    assert problems == []
    assert rows_of(file) == [("1", "a\nb\nc"), ("2", "d")]
    assert file.rows.tolist() == [2, 5]


def test_ragged_rows_are_named_and_squared(read):
    file, problems = read("id,title,year\n1,a\n2,b,1999\n3,c,2000,x,y\n")
    assert problems == [("ragged_row", 2, None), ("ragged_row", 4, None)]
    assert rows_of(file) == [("1", "a", ""), ("2", "b", "1999"), ("3", "c", "2000")]


def test_one_unclosed_quote_costs_one_row(read):
    file, problems = read('id,title\n1,"never closed\n2,b\n3,c\n')
    assert problems == [("broken_quote", 2, None)]
    assert [row[0] for row in rows_of(file)] == ["1", "2", "3"]
    assert file.rows.tolist() == [2, 3, 4]


def test_an_unclosed_quote_that_meets_another_quote(read):
    file, problems = read('id,title\n1,"never closed\n2,"b"\n3,"text"after\n4,d\n')
    assert problems == [("broken_quote", 2, None), ("broken_quote", 4, None)]
    assert [row[0] for row in rows_of(file)] == ["1", "2", "3", "4"]


def test_quotes_inside_an_unquoted_cell_are_text(read):
    file, problems = read('id,title\n1,a 3.5" disk\n')
    assert problems == []
    assert rows_of(file) == [("1", 'a 3.5" disk')]


def test_quotes_broken_everywhere_do_not_take_for_ever(read, monkeypatch):
    monkeypatch.setattr(csv_file, "_REREAD_CHARS", 10_000)
    _, problems = read("id,title\n" + 'a,",b",",\n' * 2_000)
    assert problems[-1][0] == "broken_quote"
    assert problems[-1][2] == "*"


def test_broken_utf8_is_named_by_row_and_column_and_reading_goes_on(read):
    file, problems = read(b"id,title\n1,caf\xe9\n2,fine\n3,\xff\xfe\n")
    assert problems == [("broken_encoding", 2, "title"), ("broken_encoding", 4, "title")]
    assert rows_of(file)[1] == ("2", "fine")
    assert rows_of(file)[0] == ("1", "caf\ufffd")


def test_a_broken_header_name_is_named_by_number(read):
    _, problems = read(b"id,t\xe9\n1,a\n")
    assert problems == [("broken_encoding", 1, "#2")]


def test_a_character_cut_off_at_the_end_of_the_file(read):
    _, problems = read(b"id,title\n1,caf\xc3")
    assert problems == [("broken_encoding", 2, "title")]


def test_utf16_is_said_once(read):
    file, problems = read("id,title\n1,a\n".encode("utf-16"))
    assert file is None
    assert problems == [("broken_encoding", None, None)]


def test_nul_bytes(read):
    file, problems = read(b"id,title\n1,a\x00b\n2,c\n")
    assert problems == [("nul_byte", 2, "title")]
    assert rows_of(file)[1] == ("2", "c")


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", " \n"])
def test_files_without_a_header(read, content):
    file, problems = read(content)
    assert file is None
    assert [kind for kind, _, _ in problems] == ["empty_file"]


def test_header_names_are_trimmed_and_must_be_there_and_differ(read):
    file, problems = read("id, title ,,title\n1,a,b,c\n")
    assert problems == [("empty_column_name", 1, "#3"), ("duplicate_column", 1, "title")]
    assert file.columns.column_names == ["id", "title"]


def test_a_million_columns_are_one_error(read):
    file, problems = read(",".join(map(str, range(1_000_000))) + "\n1,2\n")
    assert file is None
    assert problems == [("too_many_columns", 1, None)]


def test_too_many_rows(read):
    file, problems = read("id,title\n" + "1,a\n" * 10, max_rows=4)
    assert problems == [("too_many_rows", 6, None)]
    assert len(file.rows) == 4


def test_many_rows_are_read_in_chunks(read, monkeypatch):
    monkeypatch.setattr(csv_file, "_FLUSH_ROWS", 7)
    file, problems = read("id,title\n" + "".join(f"{n},t{n}\n" for n in range(50)))
    assert problems == []
    assert rows_of(file) == [(str(n), f"t{n}") for n in range(50)]


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT, ANY_TEXT), max_size=20))
def test_any_text_survives_a_round_trip(read, cells):
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
    writer.writerows([("id", "title", "year"), *cells])
    file, problems = read(stream.getvalue())
    assert problems == []
    assert rows_of(file) == cells


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_without_an_exception(read, content):
    file, problems = read(content)
    assert file is not None or problems
    if file is not None:
        assert all(0 < row <= 1 + len(content) for row in file.rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(st.sampled_from('a",\n\r \0é'), max_size=60))
def test_any_quoting_is_read_or_refused_without_an_exception(read, content):
    file, _ = read("x,y\n" + content)
    assert file is not None
    assert sorted(set(file.rows.tolist())) == file.rows.tolist()
