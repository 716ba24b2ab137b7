import numpy as np
import pandas as pd
import pytest

from riskcore.config import DataConfig
from riskcore.data.problems import ProblemLog
from riskcore.data.tables import read_text_file
from riskcore.data.text_file import missing_columns


@pytest.fixture
def read(tmp_path):
    def run(text, **settings):
        path = tmp_path / "tableA.csv"
        path.write_text(text, encoding="utf-8")
        log = ProblemLog()
        return read_text_file(path, log, DataConfig(**settings)), log.problems

    return run


def values_of(file, column="title"):
    values = file.values([column], DataConfig())[column]
    return [None if pd.isna(value) else value for value in values]


@pytest.mark.parametrize("word", ["", "  ", "null", " NULL ", "NaN", "n/a", "N.A.", "#N/A", "<na>", "Unknown", "unk."])
def test_empty_cells_and_missing_words_are_missing(read, word):
    file, _ = read(f"id,title\n1,{word}\n2,x\n")
    assert values_of(file) == [None, "x"]


@pytest.mark.parametrize(
    "word", ["NA", "None", "none", "-", "0", "nullable", "null and void", "NAN bread", "[unknown]"]
)
def test_everything_else_is_text_as_it_stands(read, word):
    file, _ = read(f"id,title\n1,{word}\n")
    assert values_of(file) == [word]


def test_spaces_and_numbers_are_kept_as_written(read):
    file, _ = read("id,title\n1,  a  \n2,1987.0\n3,007\n4,1e5\n")
    assert values_of(file) == ["  a  ", "1987.0", "007", "1e5"]
    assert file.values(["title"], DataConfig()).dtypes.tolist() == [pd.StringDtype(na_value=np.nan)]


def test_missing_words_are_a_setting(read):
    file, _ = read("id,title\n1,null\n2,keine Angabe\n")
    config = DataConfig(missing_words=("keine angabe",))
    assert file.values(["title"], config)["title"].isna().tolist() == [False, True]


def test_ids_are_trimmed_and_never_missing_by_a_word(read):
    file, _ = read("id,title\n null ,a\nNaN,b\n ,c\n")
    assert file.ids("id").tolist() == ["null", "NaN", ""]


def test_cells_that_are_too_long_are_named_and_taken_out(read):
    file, problems = read(f"id,title\n1,{'x' * 11}\n2,{'y' * 10}\n", max_cell_chars=10)
    assert [(p.kind, p.row, p.column) for p in problems] == [("cell_too_long", 2, "title")]
    assert "11 characters" in str(problems[0])
    assert values_of(file) == [None, "y" * 10]


def test_a_cell_of_ten_megabytes(read):
    file, problems = read(f'id,title\n1,"{"x" * 10_000_000}"\n2,y\n')
    assert [(p.kind, p.row) for p in problems] == [("cell_too_long", 2)]
    assert len(str(problems[0])) < 300
    assert len(file) == 2


def test_files_over_the_size_cap_are_not_read(read):
    file, problems = read("id,title\n1,abc\n", max_file_bytes=5)
    assert file is None
    assert [p.kind for p in problems] == ["file_too_large"]


def test_a_folder_in_the_place_of_a_file(tmp_path):
    (tmp_path / "tableA.csv").mkdir()
    log = ProblemLog()
    assert read_text_file(tmp_path / "tableA.csv", log, DataConfig()) is None
    assert [p.kind for p in log.problems] == ["unreadable_file"]


def test_a_file_that_may_not_be_read(read, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("riskcore.data.tables.read_csv", refuse)
    file, problems = read("id,title\n1,a\n")
    assert file is None
    assert str(problems[0]) == "tableA.csv: The file cannot be read: Permission denied. Check its permissions."


def test_a_missing_column_lists_what_is_there(read):
    file, _ = read("id;title\n1;a\n")
    log = ProblemLog()
    assert missing_columns(file, ("id",), log)
    assert "'id;title'" in str(log.problems[0])
    assert "comma" in str(log.problems[0])
