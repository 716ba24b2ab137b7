"""Labels in a file apart."""

import numpy as np
import pytest

from riskcore.data import open_data
from riskcore.data.label_file import read_label_file
from riskcore.data.problems import DataFormatError
from tests.data.folders import write_file, write_folder


@pytest.fixture
def data(tmp_path):
    return open_data(write_folder(tmp_path / "set"))


def read(tmp_path, data, rows):
    write_file(tmp_path / "labels.csv", rows)
    return read_label_file(tmp_path / "labels.csv", data)


def test_words_and_numbers_are_labels_and_the_unsure_are_left_out(tmp_path, data):
    rows = [["ltable_id", "rtable_id", "label"]]
    rows += [["a1", "b1", "match"], ["a2", "b2", "0"], ["a3", "b3", "Unsure"], ["a4", "b4", ""], ["a5", "b1", "M"]]
    found = read(tmp_path, data, rows)
    assert found.ids.tolist() == [
        "a1:b1",
        "a2:b2",
        "a5:b1",
    ]  # the last is no candidate, and a pair of records all the same
    assert found.labels.tolist() == [1, 0, 1]
    assert found.inclusion is None
    assert found.weights.tolist() == [1, 1, 1]


def test_work_lists_are_labels_too(tmp_path, data):
    rows = [["pair_id", "ltable_id", "rtable_id", "verdict", "inclusion_probability"]]
    rows += [["a1:b1", "a1", "b1", "match", "0.25"], ["a2:b2", "a2", "b2", "non-match", "1"]]
    found = read(tmp_path, data, rows)
    assert found.inclusion is not None
    assert found.inclusion.tolist() == [0.25, 1.0]
    np.testing.assert_allclose(found.weights, [1.6, 0.4])


def test_pair_ids_where_records_have_none(tmp_path):
    write_file(tmp_path / "pairs.csv", [["id", "left_t", "right_t"], ["p", "x", "y"], ["q", "u", "v"]])
    found = read(tmp_path, open_data(tmp_path / "pairs.csv"), [["pair_id", "label"], ["q", "1"]])
    assert (found.ids.tolist(), found.left_rows.tolist(), found.labels.tolist()) == (["q"], [1], [1])


def test_every_problem_is_told_at_once(tmp_path, data):
    rows = [["ltable_id", "rtable_id", "label", "inclusion_probability"]]
    rows += [["a1", "b1", "maybe", "1"], ["zz", "b1", "1", "1"], ["a2", "b2", "1", "0"], ["a3", "b3", "1", "1"]]
    rows += [["a3", "b3", "0", "1"]]
    with pytest.raises(DataFormatError) as caught:
        read(tmp_path, data, rows)
    text = str(caught.value)
    for expected in (
        "labels.csv, row 2, column 'label': The label is 'maybe'.",
        "labels.csv, row 3, column 'ltable_id': tableA has no record 'zz'.",
        "labels.csv, row 4, column 'inclusion_probability': The inclusion probability is '0'.",
        "labels.csv, row 6, column 'label': The pair 'a3:b3' has another label in row 5.",
    ):
        assert expected in text


def test_a_missing_column_is_named(tmp_path, data):
    with pytest.raises(DataFormatError, match="no column 'rtable_id'"):
        read(tmp_path, data, [["ltable_id", "label"], ["a1", "1"]])


def test_a_missing_file_is_named(tmp_path, data):
    with pytest.raises(DataFormatError, match="no such file"):
        read_label_file(tmp_path / "nothing.csv", data)


def test_within_one_table_a_pair_has_no_order(tmp_path):
    pairs = [["ltable_id", "rtable_id", "label"], ["a1", "a2", ""], ["a3", "a4", ""]]
    data = open_data(write_folder(tmp_path / "one", {"tableB": None, "train": None, "valid": None, "test": pairs}))
    found = read(tmp_path, data, [["ltable_id", "rtable_id", "label"], ["a2", "a1", "1"], ["a4", "a3", "0"]])
    assert found.ids.tolist() == ["a1:a2", "a3:a4"]  # the candidates themselves
    with pytest.raises(DataFormatError, match="has another label"):
        read(tmp_path, data, [["ltable_id", "rtable_id", "label"], ["a5", "a6", "1"], ["a6", "a5", "0"]])


def test_an_apostrophe_against_formulas_is_no_part_of_an_id(tmp_path):
    write_file(
        tmp_path / "pairs.csv",
        [["left_id", "right_id", "left_t", "right_t"], ["-5", "=7", "x", "y"], ["a;=1", "b", "x", "y"]],
    )
    data = open_data(tmp_path / "pairs.csv")
    found = read(tmp_path, data, [["ltable_id", "rtable_id", "label"], ["'-5", "'=7", "m"], ["a;'=1", "b", "n"]])
    assert found.ids.tolist() == ["-5:=7", "a;=1:b"]
