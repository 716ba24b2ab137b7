"""One folder with more than twenty different faults, each of which must be named with its place, all at once."""

import json

import pytest
from typer.testing import CliRunner

from riskcore.cli import app
from riskcore.config import DataConfig
from tests.data.folders import PAIR_HEADER, TABLE_A, TABLE_B, write_folder

LONG = "x" * (DataConfig().max_cell_chars + 1)


def csv_bytes(rows) -> bytes:
    return "".join(",".join(row) + "\n" for row in rows).encode()


TABLE_A_BYTES = b"".join(
    (
        b"id,title,year,,title,shelf\n",  # row 1: a column without a name, a repeated one, an unshared one
        *(f"a{n},left {n},{1990 + n},,,s\n".encode() for n in range(12)),  # rows 2-13
        b"a12,caf\xe9,2000,,,s\n",  # row 14: broken encoding
        b"a13,nul\x00byte,2000,,,s\n",  # row 15
        b"a14,too few\n",  # row 16
        b"a15,too,many,,,s,fields,here\n",  # row 17
        b'a16,"never closed,2000,,,s\n',  # row 18
        b"a17," + LONG.encode() + b",2000,,,s\n",  # row 19
        b"a3,again,2000,,,s\n",  # row 20: duplicate id
        b",nobody,2000,,,s\n",  # row 21: empty id
        b"a18,\"=cmd|' /C calc'!A0\",2000,,,s\n",  # row 22: formula
        b"a19,NA,2000,,,s\n",  # row 23: reads like missing
        b"a0,last,2000,,,s\n",  # row 24
    )
)
CHANGED = {
    "tableA": TABLE_A_BYTES,
    "tableB": [["id", "title", "year", "empty"], *([*row, ""] for row in TABLE_B[1:])],
    "train": [
        [*PAIR_HEADER, "note"],
        ["a0", "b0", "1", ""],
        ["a99", "b0", "1", ""],  # row 3: unknown left id
        ["a1", "b99", "0", ""],  # row 4: unknown right id
        ["", "b1", "0", ""],  # row 5: empty id
        ["a2", "b2", "yes", ""],  # row 6: bad label
        ["a3", "b3", "", ""],  # row 7: missing label
        ["a0", "b0", "1", ""],  # row 8: duplicate pair
        ["a0", "b0", "0", ""],  # row 9: contradictory pair
    ],
    "valid": [PAIR_HEADER],
    "test": [["ltable_id", "label"], ["a8", "1"]],
}
PLANTED = [
    ("empty_column_name", "tableA.csv", 1, "#4"),
    ("duplicate_column", "tableA.csv", 1, "title"),
    ("unshared_attribute", "tableA.csv", 1, "shelf"),
    ("broken_encoding", "tableA.csv", 14, "title"),
    ("nul_byte", "tableA.csv", 15, "title"),
    ("ragged_row", "tableA.csv", 16, None),
    ("ragged_row", "tableA.csv", 17, None),
    ("broken_quote", "tableA.csv", 18, None),
    ("cell_too_long", "tableA.csv", 19, "title"),
    ("duplicate_id", "tableA.csv", 20, "id"),
    ("empty_id", "tableA.csv", 21, "id"),
    ("formula_cell", "tableA.csv", 22, "title"),
    ("text_like_missing", "tableA.csv", 23, "title"),
    ("duplicate_id", "tableA.csv", 24, "id"),
    ("empty_attribute", "tableB.csv", None, "empty"),
    ("ignored_column", "train.csv", 1, "note"),
    ("unknown_id", "train.csv", 3, "ltable_id"),
    ("unknown_id", "train.csv", 4, "rtable_id"),
    ("empty_id", "train.csv", 5, "ltable_id"),
    ("bad_label", "train.csv", 6, "label"),
    ("missing_label", "train.csv", 7, "label"),
    ("duplicate_pair", "train.csv", 8, None),
    ("duplicate_pair", "train.csv", 9, None),
    ("contradictory_pair", "train.csv", 9, None),
    ("empty_split", "valid.csv", 1, None),
    ("missing_column", "test.csv", 1, "rtable_id"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("faulty") / "set", CHANGED)


def test_there_are_at_least_twenty_kinds():
    assert len({kind for kind, *_ in PLANTED}) >= 20


def test_json_names_each_with_file_row_and_column(folder):
    result = CliRunner().invoke(app, ["data", "check", str(folder), "--json"])
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    found = {(p["kind"], p["file"], p["row"], p["column"]) for p in document["problems"]}
    assert [fault for fault in PLANTED if fault not in found] == []
    extra = {fault for fault in found if fault not in PLANTED}
    assert extra == {("unshared_attribute", "tableB.csv", 1, "empty")}
    assert all(problem["cure"] for problem in document["problems"])


def test_the_text_has_one_line_for_each(folder):
    result = CliRunner().invoke(app, ["data", "check", str(folder)])
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    for kind, file, row, column in PLANTED:
        parts = [f"[{kind}]", file, f"row {row}" if row else "", f"column '{column}'" if column else ""]
        assert any(all(part in line for part in parts) for line in lines), (kind, file, row, column)


def test_a_sound_table_is_not_blamed(folder, tmp_path):
    mended = write_folder(tmp_path / "x", {"tableA": TABLE_A})
    assert CliRunner().invoke(app, ["data", "check", str(mended)]).exit_code == 0
