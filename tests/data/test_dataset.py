"""Data sets of both forms and both formats: what is read, what is refused, what identifies them."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riskcore.config import DataConfig
from riskcore.data import inspect_data, open_data
from riskcore.data.labels import UNKNOWN
from riskcore.data.problems import DataFormatError
from tests.data.folders import (
    PAIR_HEADER,
    TABLE_A,
    pairs_of,
    sound_files,
    write_file,
    write_folder,
    write_parquet,
    write_parquet_folder,
)


def found(path, **settings):
    return {(p.kind, p.file, p.row, p.column) for p in inspect_data(path, DataConfig(**settings))[1]}


def test_a_sound_folder(tmp_path):
    data = open_data(write_folder(tmp_path / "set"))
    assert data.name == "set"
    assert data.attributes == ("title", "year")
    assert {name: len(pairs) for name, pairs in data.splits.items()} == {"train": 6, "valid": 2, "test": 4}
    assert data.splits["train"].labels.tolist() == [0, 1, 0, 1, 0, 1]
    assert data.splits["valid"].ids.tolist() == ["a6:b6", "a7:b7"]
    assert data.splits["test"].record(0) == (
        {"title": "left title 8", "year": "1998"},
        {"title": "right title 8", "year": "1998"},
    )
    assert not data.self_join
    assert data.warnings == ()


def test_labels_may_be_absent_or_empty_in_test(tmp_path):
    absent = open_data(write_folder(tmp_path / "x", {"test": [row[:2] for row in pairs_of(8, 4)]}))
    assert absent.splits["test"].labels.tolist() == [UNKNOWN] * 4
    mixed = [PAIR_HEADER, ["a8", "b8", "1.0"], ["a9", "b9", ""], ["a10", "b10", " 0.0 "], ["a11", "b11", "nan"]]
    data = open_data(write_folder(tmp_path / "y", {"test": mixed}))
    assert data.splits["test"].labels.tolist() == [1, UNKNOWN, 0, UNKNOWN]


def test_one_table_is_a_self_join(tmp_path):
    splits = {
        name: [PAIR_HEADER, *([f"a{n}", f"a{n + 1}", str(n % 2)] for n in range(first, first + 2))]
        for name, first in (("train", 0), ("valid", 3), ("test", 6))
    }
    alone = open_data(write_folder(tmp_path / "x", {**splits, "tableB": None}))
    assert alone.self_join
    assert alone.right is alone.left
    twice = open_data(write_folder(tmp_path / "y", {**splits, "tableB": TABLE_A}))
    assert twice.self_join
    assert twice.fingerprint == alone.fingerprint


def test_parquet_and_csv_mix_and_agree(tmp_path):
    plain = open_data(write_folder(tmp_path / "csv"))
    assert open_data(write_parquet_folder(tmp_path / "parquet")).fingerprint == plain.fingerprint
    mixed = write_folder(tmp_path / "mixed", {"tableB": None, "train": None})
    write_parquet(mixed / "tableB.parquet", sound_files()["tableB"])
    write_parquet(mixed / "train.parquet", sound_files()["train"])
    assert open_data(mixed).fingerprint == plain.fingerprint


def test_a_file_as_csv_and_as_parquet_is_ambiguous(tmp_path):
    folder = write_folder(tmp_path / "x")
    write_parquet(folder / "train.parquet", sound_files()["train"])
    assert found(folder) == {("ambiguous_file", "train.csv", None, None)}


def test_a_folder_needs_its_left_table(tmp_path):
    missing = {("missing_file", "tableA.csv", None, None)}
    assert missing <= found(write_folder(tmp_path / "x", {"tableA": None}))
    assert found(tmp_path) == missing


@pytest.mark.parametrize("stem", ["train", "valid", "test"])
def test_any_file_of_pairs_may_be_missing(tmp_path, stem):
    data, problems = inspect_data(write_folder(tmp_path / "x", {stem: None}))
    assert data is not None
    assert not problems
    assert list(data.splits) == [name for name in ("train", "valid", "test") if name != stem]


def test_paths_that_are_no_data_set(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    assert {kind for kind, *_ in found(tmp_path / "nowhere")} == {"path_missing"}
    assert {kind for kind, *_ in found(tmp_path / "notes.txt")} == {"not_a_data_set"}
    assert {kind for kind, *_ in found(tmp_path / "n\0ul")} == {"path_missing"}


def test_a_folder_that_may_not_be_entered(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("riskcore.data.reading.read_folder", refuse)
    assert {kind for kind, *_ in found(tmp_path)} == {"unreadable_file"}


def test_missing_columns(tmp_path):
    changed = {
        "tableA": [["key", "title"], ["1", "a"]],
        "train": [["ltable_id", "label"], ["a0", "1"]],
        "valid": [["ltable_id", "rtable_id"], ["a0", "b0"]],
    }
    assert {
        ("missing_column", "tableA.csv", 1, "id"),
        ("missing_column", "train.csv", 1, "rtable_id"),
        ("missing_column", "valid.csv", 1, "label"),
    } <= found(write_folder(tmp_path / "x", changed))


def test_a_broken_table_does_not_make_every_pair_wrong(tmp_path):
    kinds = {kind for kind, *_ in found(write_folder(tmp_path / "x", {"tableA": "key,title\n1,a\n"}))}
    assert kinds == {"missing_column"}


def test_ids(tmp_path):
    changed = {
        "tableA": [*TABLE_A, ["a3", "again", "2000"], ["", "nobody", "2000"]],
        "train": [PAIR_HEADER, ["a0", "b0", "1"], ["a99", "b1", "0"], ["a2", "", "0"], ["a0.0", "b99", "1"]],
    }
    folder = write_folder(tmp_path / "x", changed)
    assert {
        ("duplicate_id", "tableA.csv", 14, "id"),
        ("empty_id", "tableA.csv", 15, "id"),
        ("unknown_id", "train.csv", 3, "ltable_id"),
        ("empty_id", "train.csv", 4, "rtable_id"),
        ("unknown_id", "train.csv", 5, "ltable_id"),
        ("unknown_id", "train.csv", 5, "rtable_id"),
    } <= found(folder)
    texts = [str(problem) for problem in inspect_data(folder)[1]]
    assert any("'a3' is already used in row 5" in text for text in texts)


def test_labels(tmp_path):
    train = [
        PAIR_HEADER,
        ["a0", "b0", "yes"],
        ["a1", "b1", "2"],
        ["a2", "b2", ""],
        ["a3", "b3", "1"],
        ["a4", "b4", "0"],
    ]
    test = [PAIR_HEADER, ["a8", "b8", "-1"], ["a9", "b9", ""]]
    assert found(write_folder(tmp_path / "x", {"train": train, "test": test})) == {
        ("bad_label", "train.csv", 2, "label"),
        ("bad_label", "train.csv", 3, "label"),
        ("missing_label", "train.csv", 4, "label"),
        ("bad_label", "test.csv", 2, "label"),
    }


def test_empty_tables_and_splits(tmp_path):
    changed = {"tableA": [TABLE_A[0]], "valid": [PAIR_HEADER], "test": ""}
    assert {
        ("empty_file", "tableA.csv", 1, None),
        ("empty_split", "valid.csv", 1, None),
        ("empty_file", "test.csv", None, None),
    } <= found(write_folder(tmp_path / "x", changed))


def test_tables_without_attributes_and_without_shared_ones(tmp_path):
    ids = [[row[0]] for row in TABLE_A]
    assert ("no_attributes", "tableA.csv", 1, None) in found(write_folder(tmp_path / "x", {"tableA": ids}))
    other = [["id", "name", "when"], *TABLE_A[1:]]
    assert ("no_shared_attribute", "tableB.csv", 1, None) in found(write_folder(tmp_path / "y", {"tableA": other}))


def test_errors_of_open_data_name_the_folder_and_every_problem(tmp_path):
    folder = write_folder(tmp_path / "x", {"tableA": None, "valid": [PAIR_HEADER]})
    with pytest.raises(DataFormatError) as caught:
        open_data(folder)
    assert {problem.kind for problem in caught.value.problems} == {"missing_file", "empty_split"}
    assert str(folder / "valid.csv") in str(caught.value)


def test_examples_are_capped(tmp_path):
    train = [PAIR_HEADER, *([f"x{n}", f"b{n % 12}", "1"] for n in range(1_300))]
    problems = inspect_data(write_folder(tmp_path / "x", {"train": train}), DataConfig(examples_per_problem=5))[1]
    lost = [problem for problem in problems if problem.kind == "unknown_id"]
    assert len(lost) == 6
    assert "1,295 more rows" in str(lost[-1])


class TestFingerprint:
    @pytest.fixture
    def base(self, tmp_path):
        return open_data(write_folder(tmp_path / "base")).fingerprint

    def test_is_the_same_in_every_process_and_place(self, base, tmp_path):
        assert open_data(write_folder(tmp_path / "elsewhere")).fingerprint == base
        assert base == "a391476b7f9a249baeab7c7999ad3317874053a44662bd8f634e0d6da94af85a"

    @pytest.mark.parametrize(
        ("stem", "row", "column", "value"),
        [("tableA", 1, 1, "Left title 0"), ("tableB", 3, 2, ""), ("train", 1, 2, "1"), ("test", 1, 2, "")],
    )
    def test_changes_with_a_value_or_label(self, base, tmp_path, stem, row, column, value):
        files = {name: [list(cells) for cells in rows] for name, rows in sound_files().items()}
        files[stem][row][column] = value
        assert open_data(write_folder(tmp_path / "x", files)).fingerprint != base

    def test_changes_when_text_moves_to_the_next_cell(self, tmp_path):
        one = [["id", "title", "year"], *([f"a{n}", "ab", "c"] for n in range(12))]
        two = [["id", "title", "year"], *([f"a{n}", "a", "bc"] for n in range(12))]
        prints = {
            open_data(write_folder(tmp_path / str(n), {"tableA": t})).fingerprint for n, t in enumerate((one, two))
        }
        assert len(prints) == 2

    def test_changes_with_order_and_splits(self, base, tmp_path):
        files = sound_files()
        turned = {"train": [files["train"][0], *files["train"][:0:-1]]}
        moved = {"valid": [*files["valid"], files["test"][-1]], "test": files["test"][:-1]}
        prints = {open_data(write_folder(tmp_path / str(n), c)).fingerprint for n, c in enumerate((turned, moved))}
        assert len({base, *prints}) == 3

    def test_does_not_change_with_the_way_of_writing(self, base, tmp_path):
        folder = write_folder(tmp_path / "x")
        for path in folder.iterdir():
            text = path.read_text()
            write_file(path, "\ufeff" + text.replace("\r\n", "\n").replace("\n", "\n\n"))
        assert open_data(folder).fingerprint == base


HEADER = ["id", "left_title", "right_title", "left_year", "right_year", "label", "split"]
RECORDS = [
    [f"p{n}", f"t{n % 3}", f"u{n}", "1999", "2000", str(n % 2), ("train", "valid", "test")[n // 4]] for n in range(12)
]


class TestPairFile:
    def write(self, tmp_path, rows, suffix="csv"):
        path = tmp_path / f"pairs.{suffix}"
        (write_file if suffix == "csv" else write_parquet)(path, rows)
        return path

    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    def test_a_sound_file(self, tmp_path, suffix):
        data = open_data(self.write(tmp_path, [HEADER, *RECORDS], suffix))
        assert data.name == "pairs"
        assert data.attributes == ("title", "year")
        assert data.splits["valid"].ids.tolist() == ["p4", "p5", "p6", "p7"]
        assert data.splits["valid"].record(0) == ({"title": "t1", "year": "1999"}, {"title": "u4", "year": "2000"})
        assert (len(data.left), len(data.right)) == (3, 12)  # equal records are kept once

    def test_formats_agree(self, tmp_path):
        files = [self.write(tmp_path, [HEADER, *RECORDS], suffix) for suffix in ("csv", "parquet")]
        assert len({open_data(path).fingerprint for path in files}) == 1

    def test_only_attributes_are_needed(self, tmp_path):
        data = open_data(self.write(tmp_path, [["left_a", "right_a"], ["x", "y"], ["x", "z"]]))
        assert list(data.splits) == ["all"]
        assert data.splits["all"].ids.tolist() == ["1", "2"]
        assert data.splits["all"].labels.tolist() == [UNKNOWN, UNKNOWN]

    def test_record_ids_are_no_attribute(self, tmp_path):
        rows = [["left_id", "right_id", "left_a", "right_a"], ["1", "7", "x", "y"], ["1", "8", "x", "y"]]
        data = open_data(self.write(tmp_path, rows))
        assert data.attributes == ("a",)
        assert data.splits["all"].ids.tolist() == ["1:7", "1:8"]
        assert data.right.ids.tolist() == ["7", "8"]

    def test_a_record_id_with_two_contents(self, tmp_path):
        rows = [
            ["left_id", "right_id", "left_a", "right_a"],
            ["1", "7", "x", "y"],
            ["1", "8", "z", "y"],
            ["", "9", "a", "b"],
        ]
        path = self.write(tmp_path, rows)
        assert ("inconsistent_record", "pairs.csv", 3, "left_id") in found(path)
        assert ("empty_id", "pairs.csv", 4, "left_id") in found(path)

    def test_faults(self, tmp_path):
        rows = [list(row) for row in (HEADER, *RECORDS)]
        rows[1][0] = ""
        rows[3][0] = "p1"
        rows[4][5] = "maybe"
        rows[5][6] = "dev"
        rows[6][5] = ""
        assert found(self.write(tmp_path, rows)) == {
            ("empty_id", "pairs.csv", 2, "id"),
            ("duplicate_id", "pairs.csv", 4, "id"),
            ("bad_label", "pairs.csv", 5, "label"),
            ("unknown_split", "pairs.csv", 6, "split"),
            ("missing_label", "pairs.csv", 7, "label"),
        }

    def test_columns(self, tmp_path):
        rows = [["left_a", "left_b", "right_b", "right_c", "colour"], ["1", "2", "3", "4", "5"]]
        assert found(self.write(tmp_path, rows)) == {
            ("unshared_attribute", "pairs.csv", 1, "left_a"),
            ("unshared_attribute", "pairs.csv", 1, "right_c"),
            ("ignored_column", "pairs.csv", 1, "colour"),
        }

    def test_no_sides(self, tmp_path):
        assert found(self.write(tmp_path, [["ltable_id", "rtable_id", "label"], ["1", "2", "0"]])) >= {
            ("missing_column", "pairs.csv", 1, "left_<attribute>"),
            ("missing_column", "pairs.csv", 1, "right_<attribute>"),
        }

    def test_no_pairs(self, tmp_path):
        assert found(self.write(tmp_path, [HEADER])) == {("empty_split", "pairs.csv", 1, None)}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(st.data())
def test_any_damage_is_reported_and_never_an_exception(tmp_path, data):
    folder = write_folder(tmp_path / "damaged")
    for stem in data.draw(st.sets(st.sampled_from(sorted(sound_files())), min_size=1)):
        path = folder / f"{stem}.csv"
        content = path.read_bytes()
        start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(content))] * 2)))
        junk = data.draw(
            st.one_of(st.binary(max_size=8), st.sampled_from([b'"', b"\n", b",", b"a0,b0,1\n", b"\r\n\r\n"]))
        )
        path.write_bytes(content[:start] + junk + content[stop:])
    data_set, problems = inspect_data(folder)
    assert (data_set is None) == any(problem.severity == "error" for problem in problems)
    assert all(str(problem).isprintable() for problem in problems)
    if data_set is not None:
        assert data_set.fingerprint
