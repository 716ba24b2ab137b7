"""Every way of bringing a target without labels, and every form of two plain tables."""

from __future__ import annotations

import json

import numpy as np
import pytest

from riskcore.data import open_data
from riskcore.data.labels import UNKNOWN, UNSPLIT
from riskcore.data.uses import UseKind, possible_uses
from tests.data.bring.brought import LEFT, PAIRS, RIGHT, bring, text, workbook, write, zipped
from tests.data.folders import TABLE_A, TABLE_B, write_file, write_folder, write_parquet


def uses(data) -> dict[UseKind, bool]:
    return {one.kind: one.possible for one in possible_uses(data)}


def only(tmp_path, **files):
    """A folder with these files and no other."""
    absent = dict.fromkeys(("train", "valid", "test"), None)
    return write_folder(tmp_path / "x", {**absent, **files})


UNLABELLED = [["ltable_id", "rtable_id"], *([f"a{n}", f"b{n}"] for n in range(12))]


def test_a_folder_with_two_tables_only(tmp_path):
    data = open_data(only(tmp_path))
    assert (len(data.left), len(data.right), dict(data.splits)) == (12, 12, {})
    found = uses(data)
    assert not found[UseKind.CANDIDATES]
    assert not found[UseKind.TARGET]
    assert "riskcore block" in str(possible_uses(data)[0])
    assert data.fingerprint
    assert "0 pairs" in repr(data)


@pytest.mark.parametrize("name", ["test", "pairs"])
def test_tables_and_pairs_without_a_label_column(tmp_path, name):
    data = open_data(only(tmp_path, **{name: UNLABELLED}))
    (split,) = data.splits
    assert split == {"test": "test", "pairs": UNSPLIT}[name]
    assert (data.splits[split].labels == UNKNOWN).all()
    assert len(data) == 12
    found = uses(data)
    assert found[UseKind.TARGET]
    assert not found[UseKind.SOURCE]
    assert not found[UseKind.LABELS]


def test_the_pairs_of_blocking_are_read_beside_validation_labels(tmp_path):
    folder = only(tmp_path, valid=[["ltable_id", "rtable_id", "label"], ["a1", "b1", "1"], ["a1", "b2", "0"]])
    write_parquet(
        folder / "pairs.parquet",
        [[*UNLABELLED[0], "score", "blocked_by"], *([*row, "0.5", "words"] for row in UNLABELLED[2:])],
    )
    data = open_data(folder)
    assert {name: len(pairs) for name, pairs in data.splits.items()} == {"valid": 2, UNSPLIT: 11}
    assert "ignored_column" not in {problem.kind for problem in data.warnings}
    assert uses(data)[UseKind.LABELS]


def test_one_file_of_pairs_without_label_and_split(tmp_path):
    rows = [["left_title", "right_title"], *([f"left {n}", f"right {n}"] for n in range(5))]
    write_file(tmp_path / "pairs.csv", rows)
    for data in (open_data(tmp_path / "pairs.csv"), bring(tmp_path / "set", tmp_path / "pairs.csv")):
        assert list(data.splits) == [UNSPLIT]
        assert len(data) == 5
        assert uses(data)[UseKind.TARGET]
        assert not uses(data)[UseKind.SOURCE]


def check_products(data) -> None:
    """The two tables of `brought`, whatever their form."""
    assert (data.left.attributes, data.right.attributes) == (("Product", "City"), ("Product", "City"))
    assert list(data.left.ids[:2]) == ["p0", "p1"]
    assert list(data.right.ids[:2]) == ["q0", "q1"]
    assert data.right.values["City"][0] == "Köln"


@pytest.mark.parametrize(
    ("delimiter", "encoding"), [(",", "utf-8"), (";", "latin-1"), ("\t", "utf-16"), (";", "utf-8-sig"), ("|", "cp1252")]
)
def test_two_tables_of_any_name(tmp_path, delimiter, encoding):
    left = write(tmp_path / "Unsere Produkte 2026.csv", LEFT, delimiter, encoding)
    right = write(tmp_path / "shop-export.csv", RIGHT, delimiter, encoding)
    check_products(bring(tmp_path / "set", left, right))
    data = open_data(tmp_path / "set")
    check_products(data)
    assert dict(data.splits) == {}
    assert not uses(data)[UseKind.CANDIDATES]
    origin = json.loads((tmp_path / "set" / "columns.json").read_text())
    assert origin["tables"]["tableB"]["columns"] == {"Product": "Item name", "City": "Town"}
    assert origin["tables"]["tableA"]["id"] == "No"


def test_two_workbooks(tmp_path):
    left = workbook(tmp_path / "left.xlsx", {"Sheet1": [list(row) for row in LEFT]})
    right = workbook(tmp_path / "right.xlsx", {"Sheet1": [list(row) for row in RIGHT]})
    check_products(bring(tmp_path / "set", left, right))


def test_a_zip_in_a_zip(tmp_path):
    inner = zipped({"export/shop.csv": text(RIGHT, ";").encode("utf-16")})
    path = tmp_path / "all.zip"
    path.write_bytes(zipped({"products.csv": text(LEFT).encode(), "more/inner.zip": inner}))
    check_products(bring(tmp_path / "set", path))


def test_two_tables_and_pairs_of_any_name(tmp_path):
    left, right = write(tmp_path / "l.csv", LEFT), write(tmp_path / "r.csv", RIGHT, ";")
    pairs = write(tmp_path / "blocked.csv", [["product", "offer"], *PAIRS[1:]], "\t")
    data = bring(tmp_path / "set", pairs, left, right)
    check_products(data)
    assert {name: len(pairs) for name, pairs in data.splits.items()} == {UNSPLIT: 24}
    assert uses(open_data(tmp_path / "set"))[UseKind.TARGET]


def test_one_table_with_duplicates(tmp_path):
    rows = [["name", "town"], *([f"Ann Smith {n // 2}", "Leeds"] for n in range(10))]
    data = bring(tmp_path / "set", write(tmp_path / "people.csv", rows))
    assert data.self_join
    assert open_data(tmp_path / "set").self_join
    assert list(data.left.ids[:3]) == ["1", "2", "3"]  # there is no column of ids: rows are numbered


def test_the_usual_files_are_recognised_by_name(tmp_path):
    folder = write_folder(tmp_path / "x")
    data = bring(tmp_path / "set", *sorted(folder.iterdir()))
    whole = open_data(folder)
    assert data.fingerprint == whole.fingerprint == open_data(tmp_path / "set").fingerprint
    assert all(uses(data).values())


def test_tables_that_only_another_program_named(tmp_path):
    """Known sizes guard against a check that passes on nothing."""
    left = write(tmp_path / "one.csv", [["key", *TABLE_A[0][1:]], *TABLE_A[1:]])
    right = write(tmp_path / "two.csv", [["key", *TABLE_B[0][1:]], *TABLE_B[1:]])
    data = bring(tmp_path / "set", left, right)
    assert data.attributes == ("title", "year")
    assert np.array_equal(data.left.ids, [row[0] for row in TABLE_A[1:]])
