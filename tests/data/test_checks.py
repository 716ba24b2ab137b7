"""Warnings, by small examples and against a loop over all pairs."""

from collections import defaultdict

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riskcore.config import DataConfig
from riskcore.data import inspect_data, open_data
from riskcore.data.overlap import record_codes
from riskcore.data.problems import DataFormatError
from tests.data.folders import PAIR_HEADER, pairs_of, sound_files, write_folder


def warned(path, kind=None):
    data, problems = inspect_data(path)
    assert data is not None
    assert data.warnings == tuple(problems)
    return {(p.kind, p.file, p.row, p.column) for p in problems if kind in (None, p.kind)}


def with_title(tmp_path, *titles):
    rows = [["id", "title", "year"], *([f"a{n}", f"t{n}", "1999"] for n in range(12))]
    for number, title in enumerate(titles, start=1):
        rows[number][1] = title
    return write_folder(tmp_path / "x", {"tableA": rows})


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+cmd", "-blue", "@SUM(A1)", "+1 555 0100 x", "-2+3", "\t=1", "- blue", "＝1+1", ";=1+1", "a;=1", " =x"],
)
def test_formula_like_cells(tmp_path, cell):
    assert warned(with_title(tmp_path, cell)) == {("formula_cell", "tableA.csv", 2, "title")}


@pytest.mark.parametrize("cell", ["-5", "+3.2", "-1,000.50", "-.5", "+1e-5", "-12%", "- 7", "-$5.00", "-", "--", "a=b"])
def test_numbers_and_dashes_are_no_formulas(tmp_path, cell):
    assert warned(with_title(tmp_path, cell)) == set()


def test_words_that_read_like_missing_are_counted_per_column(tmp_path):
    problems = inspect_data(with_title(tmp_path, "x", "NA", "none", " None "))[1]
    assert [(p.kind, p.row, p.column, p.count) for p in problems] == [("text_like_missing", 3, "title", 3)]
    assert "NA or None or none" in str(problems[0])


def test_a_column_without_a_value(tmp_path):
    folder = write_folder(tmp_path / "x", {"tableB": [[*row[:2], ""] for row in sound_files()["tableB"]]})
    (folder / "tableB.csv").write_text((folder / "tableB.csv").read_text().replace("id,title,", "id,title,year"))
    assert warned(folder) == {("empty_attribute", "tableB.csv", None, "year")}


def test_unshared_attributes(tmp_path):
    rows = [["id", "title", "when"], *sound_files()["tableA"][1:]]
    assert warned(write_folder(tmp_path / "x", {"tableA": rows})) == {
        ("unshared_attribute", "tableA.csv", 1, "when"),
        ("unshared_attribute", "tableB.csv", 1, "year"),
    }


def test_a_split_with_one_class(tmp_path):
    valid = [PAIR_HEADER, ["a6", "b6", "1"], ["a7", "b7", "1"]]
    assert warned(write_folder(tmp_path / "x", {"valid": valid})) == {("one_class_split", "valid.csv", None, "label")}


def test_a_split_without_labels_has_no_class_to_lack(tmp_path):
    assert warned(write_folder(tmp_path / "x", {"test": [row[:2] for row in pairs_of(8, 4)]})) == set()


def test_pairs_that_repeat_and_contradict(tmp_path):
    train = [*pairs_of(0, 6), ["a0", "b0", "0"], ["a1", "b1", "0"]]
    assert warned(write_folder(tmp_path / "x", {"train": train})) == {
        ("duplicate_pair", "train.csv", 8, None),
        ("duplicate_pair", "train.csv", 9, None),
        ("contradictory_pair", "train.csv", 9, None),
    }


def test_the_same_pair_in_two_splits(tmp_path):
    test = [*pairs_of(8, 4), ["a0", "b0", "0"]]
    assert warned(write_folder(tmp_path / "x", {"test": test})) == {("pair_in_two_splits", "test.csv", 6, None)}


def test_the_same_content_in_two_splits_and_with_two_labels(tmp_path):
    copies = {name: [list(row) for row in sound_files()[name]] for name in ("tableA", "tableB")}
    copies["tableA"][7][1:] = copies["tableA"][1][1:]  # a6 is a0
    copies["tableB"][7][1:] = copies["tableB"][1][1:]  # b6 is b0
    assert warned(write_folder(tmp_path / "x", copies)) == {("content_crosses_splits", "valid.csv", 2, None)}
    opposite = {**copies, "valid": [PAIR_HEADER, ["a6", "b6", "1"], ["a7", "b7", "0"]]}
    assert warned(write_folder(tmp_path / "y", opposite), "contradictory_pair") == {
        ("contradictory_pair", "valid.csv", 2, None)
    }


def self_join(tmp_path, train):
    splits = {"valid": [PAIR_HEADER, ["a6", "a7", "1"], ["a7", "a8", "0"]], "test": [PAIR_HEADER, ["a9", "a10", ""]]}
    return write_folder(tmp_path / "x", {"tableB": None, "train": train, **splits})


def test_in_a_self_join_both_directions_are_one_pair(tmp_path):
    train = [PAIR_HEADER, ["a0", "a1", "1"], ["a1", "a0", "1"], ["a2", "a3", "0"]]
    assert warned(self_join(tmp_path, train)) == {("duplicate_pair", "train.csv", 3, None)}


def test_a_record_with_itself(tmp_path):
    train = [PAIR_HEADER, ["a0", "a1", "0"], ["a2", "a2", "1"]]
    assert warned(self_join(tmp_path, train)) == {("self_pair", "train.csv", 3, None)}


@given(st.lists(st.lists(st.sampled_from([None, "", "a", "b"]), min_size=3, max_size=3), max_size=12))
def test_records_have_one_code_exactly_when_all_values_agree(rows):
    values = pd.DataFrame(rows, columns=list("xyz")).astype("str").where(lambda frame: frame.notna())
    codes = record_codes(values).tolist()
    assert all((codes[i] == codes[j]) == (rows[i] == rows[j]) for i in range(len(rows)) for j in range(len(rows)))


PAIR = st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from("01"))
SPLIT = st.lists(PAIR, min_size=1, max_size=8)


def expected(splits, content):
    """The same warnings by a plain loop: kind, split, position."""
    found, seen = set(), defaultdict(list)
    for name, pairs in splits.items():
        for place, (left, right, label) in enumerate(pairs):
            ids, alike = (left, right), (content[left], content[right])
            earlier_ids = [name for key, name, _ in seen[alike] if key == ids]
            if name in earlier_ids:
                found.add(("duplicate_pair", name, place))
            if seen[alike] and seen[alike][0][2] != label:
                found.add(("contradictory_pair", name, place))
            if earlier_ids and earlier_ids[0] != name:
                found.add(("pair_in_two_splits", name, place))
            elif seen[alike] and seen[alike][0][1] != name:
                found.add(("content_crosses_splits", name, place))
            seen[alike].append((ids, name, label))
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(SPLIT, SPLIT, SPLIT)
def test_pair_checks_agree_with_a_plain_loop(tmp_path, train, valid, test):
    content = ["x", "y", "x", "z"]  # records 0 and 2 are the same
    table = [["id", "t"], *([str(n), text] for n, text in enumerate(content))]
    splits = {"train": train, "valid": valid, "test": test}
    files = {name: [PAIR_HEADER, *([str(a), str(b), label] for a, b, label in pairs)] for name, pairs in splits.items()}
    other = [*table, ["other", "so that it is no self-join"]]
    folder = write_folder(tmp_path / "x", {"tableA": table, "tableB": other, **files})
    kinds = ("duplicate_pair", "contradictory_pair", "pair_in_two_splits", "content_crosses_splits")
    found = {(kind, file.split(".")[0], row - 2) for kind, file, row, _ in warned(folder) if kind in kinds}
    assert found == expected(splits, content)


def identified(folder, wrong=0, pairs=60):
    """A data set with a column that holds the entity's identity, but for a few pairs."""
    a = [["id", "title", "entity"], *([f"a{n}", f"left {n}", f"e{n}"] for n in range(pairs))]
    b = [["id", "title", "entity"], *([f"b{n}", f"right {n}", f"e{n}"] for n in range(pairs))]
    train = [["ltable_id", "rtable_id", "label"]]
    for n in range(pairs):
        label = 1 if n % 2 else 0
        train.append([f"a{n}", f"b{n if n % 2 else (n + 2) % pairs}", str(1 - label if n < wrong else label)])
    return write_folder(folder, {"tableA": a, "tableB": b, "train": train, "valid": None, "test": None})


def test_a_column_that_holds_the_identity_is_reported(tmp_path):
    data = open_data(identified(tmp_path / "leaky"))
    (found,) = [problem for problem in data.warnings if problem.kind == "identity_column"]
    assert found.column == "entity"
    assert "30 of 30 matches and in 0 of 30 non-matches" in found.message
    assert "data.leave_out=entity" in found.cure


def test_a_column_that_is_left_out_is_not_read(tmp_path):
    data = open_data(identified(tmp_path / "leaky"), DataConfig(leave_out=("entity",)))
    assert data.attributes == ("title",)
    assert "identity_column" not in {problem.kind for problem in data.warnings}


def test_a_good_attribute_is_no_leak(tmp_path):
    data = open_data(identified(tmp_path / "honest", wrong=4))
    assert "identity_column" not in {problem.kind for problem in data.warnings}


@pytest.mark.parametrize(("file", "wrong", "right"), [("test", "Label", "label"), ("train", " LABEL", "label")])
def test_a_label_under_another_name_is_an_error(tmp_path, file, wrong, right):
    pairs = [row if place else [*row[:2], wrong] for place, row in enumerate(pairs_of(0, 4))]
    with pytest.raises(DataFormatError) as error:
        open_data(write_folder(tmp_path / "data", {file: pairs}))
    (found,) = [problem for problem in error.value.problems if problem.kind == "misspelt_column"]
    assert found.cure == f"Rename it to {right}."
    assert str(found.file).endswith(f"{file}.csv")
    assert found.row == 1


def test_pairs_whose_ids_hold_colons_are_told_apart(tmp_path):
    a = [["id", "title"], ["a", "one"], ["a:b", "two"]]
    b = [["id", "title"], ["b:c", "one"], ["c", "two"]]
    test = [["ltable_id", "rtable_id"], ["a", "b:c"], ["a:b", "c"]]
    changed = {"tableA": a, "tableB": b, "test": test, "train": None, "valid": None}
    data = open_data(write_folder(tmp_path / "data", changed))
    assert data.splits["test"].ids.tolist() == [r"a:b\:c", r"a\:b:c"]
