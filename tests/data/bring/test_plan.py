"""What each file is taken for, which columns correspond, and what is left out."""

from __future__ import annotations

import dataclasses

import pytest

from riskcore.data import open_data
from riskcore.data.bring.arrange import arrange, assemble
from riskcore.data.bring.columns import plain_name
from riskcore.data.bring.counterparts import counterparts, name_likeness
from riskcore.data.bring.files import read_brought
from riskcore.data.bring.plan import Attribute, replan, suggest
from riskcore.data.bring.roles import Role, label_text
from riskcore.data.labels import UNSPLIT
from riskcore.data.problems import DataFormatError
from riskcore.errors import ConfigError
from tests.data.bring.brought import LABELLED, LEFT, PAIRS, RIGHT, bring, write


def roles(plan) -> dict[str, Role]:
    return {one.file: one.role for one in plan.roles}


def brought(tmp_path, **files):
    return read_brought([write(tmp_path / f"{name}.csv", rows) for name, rows in files.items()])


@pytest.mark.parametrize(
    ("name", "header", "rows", "role"),
    [
        ("sure", ["id1", "id2", "is_match"], [["p1", "q1", "yes"], ["p2", "q1", "no"]], Role.LABELS),
        ("blocked", ["idLeft", "idRight"], PAIRS[1:], Role.CANDIDATES),
        ("perfectMapping", ["idA", "idB"], [["p1", "q1"], ["p2", "q2"]], Role.MATCHES),
        ("train", ["ltable_id", "rtable_id", "label"], LABELLED[1:], Role.TRAIN),
        ("splink", ["match_probability", "unique_id_l", "unique_id_r"], [["0.5", "p1", "q1"]], Role.SCORES),
        ("zingg", ["Z_CLUSTER", "Z_MINSCORE", "Z_MAXSCORE", "id"], [["1", "0.5", "0.5", "p1"]], Role.SCORES),
        ("dedupe", ["Cluster ID", "confidence_score", "Id"], [["1", "0.5", "p1"]], Role.SCORES),
    ],
)
def test_files_beside_two_tables_are_recognised(tmp_path, name, header, rows, role):
    plan = suggest(brought(tmp_path, **{name: [header, *rows]}, products=LEFT, shop=RIGHT))
    assert roles(plan) == {f"{name}.csv": role, "products.csv": Role.LEFT, "shop.csv": Role.RIGHT}


def test_numbered_columns_of_a_table_are_no_pairs(tmp_path):
    rows = [["name", "phone_1", "phone_2", "town"], ["Ann", "1", "2", "Leeds"], ["Bob", "3", "4", "York"]]
    assert roles(suggest(brought(tmp_path, people=rows))) == {"people.csv": Role.LEFT}


def test_tables_keep_their_sides_by_name_and_a_third_is_not_used(tmp_path):
    plan = suggest(brought(tmp_path, tableB=RIGHT, tableA=LEFT, more=[["name"], ["x"]]))
    assert (plan.left, plan.right, roles(plan)["more.csv"]) == ("tableA.csv", "tableB.csv", Role.UNUSED)


def test_ids_and_answers_are_named_and_left_out(tmp_path):
    header = ["rec_id", "name", "cluster_id", "entity id", "gold", "import key", "Unnamed: 0", "empty", "label"]
    rows = [[f"r{n}", f"Ann {n}", "1", "2", "0", f"k{n}", str(n), "", f"Label {n % 5}"] for n in range(10)]
    plan = suggest(brought(tmp_path, people=[header, *rows]))
    assert plan.left_id == "rec_id"
    assert [one.name for one in plan.attributes] == ["name", "label"]  # a record label is no answer
    reasons = {one.column: one.reason for one in plan.left_out}
    assert set(reasons) == {"cluster_id", "entity id", "gold", "import key", "Unnamed: 0", "empty"}
    assert "answer" in reasons["cluster_id"]
    assert "id" in reasons["import key"]
    assert reasons["Unnamed: 0"] == "it numbers the rows"


def test_counterparts_are_found_by_name_and_by_content(tmp_path):
    left = [["key", "artist", "song", "released", "only here"]]
    right = [["key", "year", "performer", "track title"]]
    for n in range(30):
        left.append([f"a{n}", f"singer {n}", f"song of the sea {n % 7}", str(1980 + n), "x"])
        right.append([f"b{n}", str(1980 + n), f"Singer {n}", f"Song of the sea {n % 7} live"])
    plan = suggest(brought(tmp_path, one=left, two=right))
    assert {one.left: one.right for one in plan.attributes} == {
        "artist": "performer",
        "song": "track title",
        "released": "year",
    }
    assert [one.column for one in plan.left_out] == ["only here"]


def test_names_that_say_nothing_leave_the_content(tmp_path):
    left, right = [["number", "title", "price", "text"]], [["x1", "x2", "x3", "x4"]]
    for n in range(40):
        left.append([f"a{n}", f"black printer model {n}", f"{99 + n}.90", f"prints {n} pages a minute on plain paper"])
        right.append(
            [f"printer black {n % 9}", f"{n + 1} pages on plain paper in a minute", str(n + 1), f"{101 + 2 * n}.5"]
        )
    plan = suggest(brought(tmp_path, one=left, two=right))
    assert (plan.left_id, plan.right_id) == ("number", "x3")
    assert {one.left: one.right for one in plan.attributes} == {"title": "x1", "price": "x4", "text": "x2"}
    assert {one.reason for one in plan.attributes} == {"similar content"}


def test_wide_tables_are_matched_by_name(tmp_path):
    names = [f"field {n}" for n in range(200)]
    left = [["id", *names], *([str(n), *["x"] * 200] for n in range(3))]
    right = [["id", *(f"other {n}" for n in range(100)), *names[:100]], *([str(n), *["x"] * 200] for n in range(3))]
    plan = suggest(brought(tmp_path, one=left, two=right))
    assert {one.left for one in plan.attributes if one.left == one.right} == set(names[:100])


def test_names_are_compared_however_they_are_written():
    assert plain_name("Cluster ID") == plain_name("clusterId") == "cluster_id"
    assert name_likeness("First Name", "first_name") == 1
    assert name_likeness("zip", "postal code") > name_likeness("zip", "city")
    assert counterparts((), ()) == ()


def test_labels_apart_become_validation_labels_and_leave_the_candidates(tmp_path):
    files = brought(tmp_path, products=LEFT, shop=RIGHT, candidates=PAIRS, judged=LABELLED[:5])
    data = arrange(files, suggest(files), tmp_path / "set")
    assert {name: len(pairs) for name, pairs in data.splits.items()} == {"valid": 4, UNSPLIT: 20}
    assert open_data(tmp_path / "set").fingerprint == data.fingerprint


def test_known_matches_are_kept_apart(tmp_path):
    data = bring(
        tmp_path / "set",
        write(tmp_path / "l.csv", LEFT),
        write(tmp_path / "r.csv", RIGHT),
        write(tmp_path / "gold.csv", [["l_id", "r_id"], ["p1", "q1"]]),
    )
    assert dict(data.splits) == {}
    assert (tmp_path / "set" / "known_matches.parquet").is_file()


def test_labels_in_words_and_ids_written_as_floats(tmp_path):
    left = [["id", "name"], *([str(n), f"name {n}"] for n in range(5))]
    pairs = [["left_id", "right_id", "match"], ["1.0", "2.0", "True"], ["3.0", "4.0", "non-match"], ["0.0", "4.0", ""]]
    files = brought(tmp_path, people=left, pairs=pairs)
    data = arrange(files, suggest(files), tmp_path / "set")
    assert data.splits[UNSPLIT].labels.tolist() == [1, 0, -1]
    assert [label_text(text) for text in ("yes", " N ", "", None, "maybe")] == ["1", "0", None, None, "maybe"]


def test_choices_can_be_corrected(tmp_path):
    files = brought(tmp_path, products=LEFT, shop=RIGHT)
    plan = suggest(files)
    swapped = [
        dataclasses.replace(one, role={Role.LEFT: Role.RIGHT, Role.RIGHT: Role.LEFT}[one.role]) for one in plan.roles
    ]
    other = replan(files, swapped, (None, "No"))
    assert (other.left, other.left_id, other.right_id) == ("shop.csv", None, "No")
    chosen = dataclasses.replace(other, attributes=(Attribute("place", "Town", "City"),))
    data = arrange(files, chosen, tmp_path / "set")
    assert data.attributes == ("place",)
    assert list(data.left.ids[:2]) == ["1", "2"]


def test_what_is_wrong_is_told_by_the_brought_files_and_leaves_nothing(tmp_path):
    left = [*LEFT, ["p1", "again", "Köln"]]
    files = brought(tmp_path, products=left, shop=RIGHT, pairs=[*PAIRS, ["p99", "q1"]])
    plan = replan(files, suggest(files).roles, ("No", "sku_id"))
    with pytest.raises(DataFormatError) as told:
        arrange(files, plan, tmp_path / "home" / "set")
    places = {(problem.kind, problem.file, problem.row) for problem in told.value.problems}
    assert places == {("duplicate_id", "products.csv", 14), ("unknown_id", "pairs.csv", 26)}
    assert not (tmp_path / "home").exists() or not list((tmp_path / "home").iterdir())
    good = brought(tmp_path, products=LEFT, shop=RIGHT)
    arrange(good, suggest(good), tmp_path / "home" / "set")  # the name is free


def test_a_set_is_replaced_only_when_asked(tmp_path):
    files = brought(tmp_path, products=LEFT, shop=RIGHT)
    arrange(files, suggest(files), tmp_path / "set")
    with pytest.raises(ConfigError, match="exists already"):
        arrange(files, suggest(files), tmp_path / "set")
    one = brought(tmp_path, people=LEFT)
    arrange(one, suggest(one), tmp_path / "set", replace=True)
    assert open_data(tmp_path / "set").self_join
    assert [path.name for path in tmp_path.glob(".set*")] == []


def test_a_plan_without_a_table_or_attribute_says_what_to_choose(tmp_path):
    files = brought(tmp_path, products=LEFT, shop=RIGHT)
    plan = suggest(files)
    nothing = dataclasses.replace(plan, attributes=())
    assert [problem.kind for problem in assemble(files, nothing).errors] == ["no_shared_attribute"]
    unused = [dataclasses.replace(one, role=Role.UNUSED) for one in plan.roles]
    assert [problem.kind for problem in assemble(files, replan(files, unused)).errors] == ["missing_file"]
