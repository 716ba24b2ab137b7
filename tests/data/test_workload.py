"""What training is given, in every way a workload can be made; and that it knows nothing of the target's labels."""

import dataclasses

import numpy as np
import pytest

from riskcore.data import build_workload, open_data
from riskcore.data.labels import UNKNOWN
from riskcore.data.pairs import LabelledPairs
from riskcore.data.problems import DataFormatError
from riskcore.data.workload import NO_LABELS, NO_VALIDATION
from riskcore.errors import ConfigError
from tests.data.folders import PAIR_HEADER, TABLE_A, TABLE_B, pairs_of, write_file, write_folder


def other(rows, *names):
    """The table under other names, with other records."""
    return [["id", *names], *([identity, f"other {title}", year] for identity, title, year in rows[1:])]


@pytest.fixture
def source(tmp_path):
    return open_data(write_folder(tmp_path / "source"))


@pytest.fixture
def target(tmp_path):
    tables = {"tableA": other(TABLE_A, "name", "year"), "tableB": other(TABLE_B, "name", "year")}
    return open_data(write_folder(tmp_path / "target", tables))


def test_own_splits(source):
    workload, truth = build_workload(source)
    assert workload.source.ids.tolist() == source.splits["train"].ids.tolist()
    assert workload.validation.labels.tolist() == source.splits["valid"].labels.tolist()
    assert workload.target.ids.tolist() == source.splits["test"].ids.tolist()
    assert truth.labels.tolist() == source.splits["test"].labels.tolist()
    assert truth.unseen is None
    assert [attribute.name for attribute in workload.attributes] == ["title", "year"]


def test_ratio_splits_pool_everything(source):
    workload, truth = build_workload(source, split="1:1:2", seed=1)
    parts = (workload.source, workload.validation, workload.target)
    assert [len(part) for part in parts] == [4, 2, 6]
    assert len({identity for part in parts for identity in part.ids}) == 12
    assert len(truth.labels) == len(workload.target)
    assert build_workload(source, split="1:1:2", seed=1)[0].fingerprint == workload.fingerprint
    assert build_workload(source, split="1:1:2", seed=2)[0].fingerprint != workload.fingerprint


def test_with_a_target_all_of_the_source_is_trained_on(source, target):
    workload, truth = build_workload(source, target, attribute_map={"title": "name"})
    assert len(workload.source) == 12
    assert workload.validation.ids.tolist() == ["a6:b6", "a7:b7"]
    assert workload.target.ids.tolist() == ["a8:b8", "a9:b9", "a10:b10", "a11:b11"]
    assert truth.labels.tolist() == [0, 1, 0, 1]
    assert truth.unseen is not None
    assert len(truth.unseen) == 6
    assert workload.target.left.attributes == workload.source.left.attributes == ("title", "year")
    assert workload.target.record(0)[0]["title"] == "other left title 8"
    assert workload.notices == ()


def test_a_split_with_a_target_is_the_targets_and_its_first_part_is_dropped(source, target):
    workload, truth = build_workload(source, target, attribute_map={"title": "name"}, split="1:1:2")
    assert len(workload.source) == 12
    assert truth.unseen is not None
    parts = (truth.unseen, workload.validation, workload.target)
    assert len({identity for part in parts for identity in part.ids}) == sum(map(len, parts)) == 12


def test_attributes_that_only_the_source_has_are_dropped_and_the_targets_own_are_kept_apart(source, target):
    workload, _ = build_workload(source, target)
    assert [attribute.name for attribute in workload.attributes] == ["year"]
    assert [attribute.name for attribute in workload.target_only] == ["name"]
    assert workload.source.left.attributes == ("year",)
    assert workload.target.right.attributes == workload.validation.left.attributes == ("year", "name")
    assert workload.notices == ("The source's attribute 'title' has no counterpart and is not used.",)


def test_an_own_attribute_of_the_target_gets_another_name_where_a_shared_one_has_it(source, target):
    """The source's year is the target's name, which has a year of its own."""
    workload, _ = build_workload(source, target, attribute_map={"year": "name"}, types={"year_": "code"})
    assert [attribute.name for attribute in workload.attributes] == ["year"]
    assert [(one.name, one.type.value) for one in workload.target_only] == [("year_", "code")]
    left, _ = workload.target.record(0)
    assert (left["year"], left["year_"]) == ("other left title 8", target.splits["test"].record(0)[0]["year"])


def test_an_attribute_of_one_table_of_the_target_is_named_and_left_out(tmp_path, source):
    files = {"tableA": with_extra(TABLE_A, [str(n) for n in range(12)]), "tableB": TABLE_B}
    files |= {"train": pairs_of(0, 6), "valid": pairs_of(6, 2), "test": pairs_of(8, 4)}
    for name in ("tableA", "tableB"):
        files[name] = [files[name][0], *([row[0], f"other {row[1]}", *row[2:]] for row in files[name][1:])]
    workload, _ = build_workload(source, open_data(write_folder(tmp_path / "t", files)))
    assert workload.target_only == ()
    assert workload.notices == ("The target's attribute 'shelf' is in one of its tables only and is not used.",)


def test_nothing_shared_is_an_error(source, tmp_path):
    tables = {"tableA": other(TABLE_A, "x", "y"), "tableB": other(TABLE_B, "x", "y")}
    target = open_data(write_folder(tmp_path / "other", tables))
    with pytest.raises(DataFormatError, match="share no attribute"):
        build_workload(source, target)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"author": "name"}, "'author', which the source does not have"),
        ({"title": "label"}, "'label', which the target does not have"),
        ({"title": "name", "year": "name"}, "same counterpart"),
    ],
)
def test_maps_that_cannot_be(source, target, given, says):
    with pytest.raises(ConfigError, match=says):
        build_workload(source, target, attribute_map=given)


def test_a_map_without_a_target(source):
    with pytest.raises(ConfigError, match="needs a target"):
        build_workload(source, attribute_map={"title": "name"})


def test_a_name_that_the_map_gives_away_is_not_used_twice(source, target):
    workload, _ = build_workload(source, target, attribute_map={"title": "year"})
    assert [attribute.name for attribute in workload.attributes] == ["title"]


def test_training_fraction_and_validation_size(source):
    workload, _ = build_workload(source, train_fraction=0.34, validation_size=1)
    assert sorted(workload.source.labels.tolist()) == [0, 1]
    assert len(workload.validation) == 1
    nothing, _ = build_workload(source, validation_size=0)
    assert len(nothing.validation) == 0
    with pytest.raises(ConfigError, match="validation size"):
        build_workload(source, validation_size=3)


def test_types_come_from_the_source_and_can_be_overridden(source, target):
    workload, _ = build_workload(source, target, types={"year": "code"})
    assert workload.attributes[0].type == "code"
    with pytest.raises(ConfigError, match="colour"):
        build_workload(source, types={"colour": "name"})


def with_labels(data, change):
    splits = dict(data.splits)
    splits["test"] = dataclasses.replace(splits["test"], labels=change(splits["test"].labels))
    return dataclasses.replace(data, splits=splits)


@pytest.mark.parametrize("with_target", [False, True])
@pytest.mark.parametrize("change", [np.flip, lambda labels: 1 - labels, lambda labels: np.full_like(labels, UNKNOWN)])
def test_the_targets_labels_leave_no_trace_in_the_workload(source, target, with_target, change):
    given = (source, target) if with_target else (source, None)
    blind = (source, with_labels(target, change)) if with_target else (with_labels(source, change), None)
    plain, truth = build_workload(*given)
    shuffled, other_truth = build_workload(*blind)
    assert shuffled.fingerprint == plain.fingerprint
    assert shuffled.attributes == plain.attributes
    assert shuffled.notices == plain.notices
    assert_same_pairs(shuffled.source, plain.source)
    assert_same_pairs(shuffled.validation, plain.validation)
    assert_same_pairs(shuffled.target, plain.target)
    assert truth.labels.tolist() != other_truth.labels.tolist()


def assert_same_pairs(one, two):
    assert type(one) is type(two)
    for field in one._per_pair():
        mine, theirs = getattr(one, field), getattr(two, field)
        assert (mine is None) == (theirs is None)
        assert mine is None or mine.tolist() == theirs.tolist()
    assert one.left.values.equals(two.left.values)
    assert one.right.values.equals(two.right.values)


def test_the_target_of_a_workload_has_no_labels(source):
    workload, _ = build_workload(source)
    assert not isinstance(workload.target, LabelledPairs)
    assert not hasattr(workload.target, "labels")


def test_the_fingerprint_knows_what_training_sees(source):
    plain = build_workload(source)[0].fingerprint
    flipped = dataclasses.replace(source.splits["train"], labels=1 - source.splits["train"].labels)
    other = dataclasses.replace(source, splits={**source.splits, "train": flipped})
    assert build_workload(other)[0].fingerprint != plain
    assert build_workload(source, types={"year": "code"})[0].fingerprint != plain
    assert build_workload(source, validation_size=1)[0].fingerprint != plain


def test_a_source_with_an_unlabelled_part_leaves_it_out_and_says_so(tmp_path, target):
    plain = open_data(write_folder(tmp_path / "x", {"test": [row[:2] for row in pairs_of(8, 4)]}))
    workload, _ = build_workload(plain, target, attribute_map={"title": "name"})
    assert len(workload.source) == 8
    assert "4 training pairs have no label" in workload.notices[0]
    assert set(workload.source.labels.tolist()) == {0, 1}


def test_a_target_that_is_the_source_is_refused(tmp_path, source):
    copy = open_data(write_folder(tmp_path / "copy"))
    for target in (source, copy):
        with pytest.raises(ConfigError, match="Leave the target out"):
            build_workload(source, target)


@pytest.mark.parametrize("swapped", [False, True])
def test_source_pairs_that_the_target_has_too_are_left_out(tmp_path, source, swapped):
    (left, right), spare = (TABLE_A, TABLE_B), ["x", "another", "2000"]
    tables = [left[0], spare, *left[7:10]], [right[0], spare, *right[7:10]]  # pairs 6, 7 and 8 of the source
    if swapped:
        tables = tables[1], tables[0]
    prefix = "ba" if swapped else "ab"
    pairs = {"train": "x", "valid": "6", "test": "78"}
    files = {
        part: [
            PAIR_HEADER,
            *([f"{prefix[0]}{n}", f"{prefix[1]}{n}", "1"] if n != "x" else ["x", "x", "0"] for n in rows),
        ]
        for part, rows in pairs.items()
    }
    target = open_data(write_folder(tmp_path / "t", {"tableA": tables[0], "tableB": tables[1], **files}))
    workload, _ = build_workload(source, target)
    assert workload.source.ids.tolist() == [f"a{n}:b{n}" for n in range(12) if n not in (6, 7, 8)]
    assert workload.notices == ("3 training pairs are also pairs of the target and are left out.",)


def with_extra(rows, values):
    """The table with one more column, which the other data set does not have."""
    return [[*rows[0], "shelf"], *([*row, value] for row, value in zip(rows[1:], values, strict=True))]


def test_shared_pairs_are_left_out_although_an_attribute_is_dropped(tmp_path, source):
    spare, numbers = ["x", "another", "2000"], "0123"
    tables = [[table[0], spare, *table[7:10]] for table in (TABLE_A, TABLE_B)]
    files = {"train": [PAIR_HEADER, ["x", "x", "0"]], "valid": pairs_of(6, 1), "test": pairs_of(7, 2)}
    files |= {name: with_extra(table, numbers) for name, table in zip(("tableA", "tableB"), tables, strict=True)}
    workload, _ = build_workload(source, open_data(write_folder(tmp_path / "t", files)))
    assert workload.source.ids.tolist() == [f"a{n}:b{n}" for n in range(12) if n not in (6, 7, 8)]
    assert workload.notices == ("3 training pairs are also pairs of the target and are left out.",)
    assert [attribute.name for attribute in workload.target_only] == ["shelf"]


def test_records_that_differ_only_in_a_dropped_attribute_are_not_taken_for_shared(tmp_path, source):
    """Both tables hold every record twice, on two shelves: which of them the source means cannot be known."""
    files = {"train": [PAIR_HEADER, ["a0", "b0", "0"]], "valid": pairs_of(6, 1), "test": pairs_of(7, 2)}
    for name, table in (("tableA", TABLE_A), ("tableB", TABLE_B)):
        twice = [table[0], *table[1:], *([f"again {row[0]}", *row[1:]] for row in table[1:])]
        files[name] = with_extra(twice, [str(n) for n in range(len(twice) - 1)])
    workload, _ = build_workload(source, open_data(write_folder(tmp_path / "t", files)))
    assert len(workload.source) == 12


def test_a_ratio_split_adapts_to_every_unlabelled_pair(tmp_path):
    rows = [["left_a", "right_a", "label"], *([f"x{n}", f"y{n}", str(n % 2) if n < 20 else ""] for n in range(50))]
    write_file(tmp_path / "pairs.csv", rows)
    workload, truth = build_workload(open_data(tmp_path / "pairs.csv"), split="2:2:6")
    assert [len(part) for part in (workload.source, workload.validation, workload.target)] == [4, 4, 42]
    assert (truth.labels == UNKNOWN).sum() == 30
    assert workload.notices == ()


def test_a_file_of_pairs_without_splits_needs_a_ratio(tmp_path):
    rows = [["left_a", "right_a", "label"], *([f"x{n}", f"y{n}", str(n % 2)] for n in range(20))]
    write_file(tmp_path / "pairs.csv", rows)
    data = open_data(tmp_path / "pairs.csv")
    with pytest.raises(ConfigError, match="2:2:6"):
        build_workload(data)
    workload, _ = build_workload(data, split="2:2:6")
    assert [len(part) for part in (workload.source, workload.validation, workload.target)] == [4, 4, 12]


def test_a_file_of_pairs_may_lack_what_is_not_needed(tmp_path, source):
    rows = [["left_title", "right_title", "label", "split"], ["x", "y", "", "test"], ["u", "v", "1", "valid"]]
    write_file(tmp_path / "pairs.csv", rows)
    target = open_data(tmp_path / "pairs.csv")
    workload, truth = build_workload(source, target)
    assert (len(workload.validation), len(workload.target)) == (1, 1)
    assert truth.unseen is not None
    assert len(truth.unseen) == 0
    alone, _ = build_workload(target)  # one label, one half: nothing to learn from, and one pair to check
    assert (len(alone.source), len(alone.validation), len(alone.target)) == (0, 1, 1)


def test_a_self_join_stays_one(tmp_path):
    splits = {
        name: [PAIR_HEADER, *([f"a{n}", f"a{n + 1}", str(n % 2)] for n in range(first, first + 2))]
        for name, first in (("train", 0), ("valid", 3), ("test", 6))
    }
    data = open_data(write_folder(tmp_path / "x", {**splits, "tableB": None}))
    workload, _ = build_workload(data)
    assert workload.source.left is workload.source.right


def test_what_to_do_without_validation_pairs(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text(
        "id,left_name,right_name,label,split\n1,a b,a b,1,train\n2,a b,c d,0,train\n3,c d,c d,,test\n", encoding="utf-8"
    )
    workload, _ = build_workload(open_data(file))
    assert not len(workload.validation)
    assert NO_VALIDATION in workload.notices
    assert not len(build_workload(open_data(file), validation_size=0)[0].validation)


@pytest.mark.parametrize("part", ["train", "valid"])
@pytest.mark.parametrize("swapped", [False, True])
def test_target_pairs_with_the_content_of_a_labelled_pair_stay_and_are_known(tmp_path, part, swapped):
    """Ids differ, contents do not: a method may know such a label without having learned to match."""
    labelled = {"train": 2, "valid": 6}[part]
    left, right = [list(row) for row in TABLE_A], [list(row) for row in TABLE_B]
    twin = [left[1 + labelled][1:], right[1 + labelled][1:]]
    left[1 + 9][1:], right[1 + 9][1:] = reversed(twin) if swapped else twin  # a9:b9 is a pair of the target
    left[1 + 10][1:] = left[1 + labelled][1:]  # one equal record is not enough
    workload, truth = build_workload(open_data(write_folder(tmp_path / "t", {"tableA": left, "tableB": right})))
    assert workload.target.ids.tolist() == ["a8:b8", "a9:b9", "a10:b10", "a11:b11"]
    assert truth.twins.tolist() == [False, True, False, False]


def test_twins_are_those_of_the_labelled_pairs_that_are_used(tmp_path):
    left, right = (
        [*TABLE_A[:10], ["a9", *TABLE_A[7][1:]], *TABLE_A[11:]],
        [*TABLE_B[:10], ["b9", *TABLE_B[7][1:]], *TABLE_B[11:]],
    )
    data = open_data(write_folder(tmp_path / "t", {"tableA": left, "tableB": right}))
    assert build_workload(data)[1].twins.sum() == 1
    assert build_workload(data, validation_size=0)[1].twins.sum() == 0


def labels_over(data, pairs, inclusion=None):
    """Labelled pairs of a data set: (left id, right id, label)."""
    left, right = (
        np.array([table.row_of[one[side]] for one in pairs]) for side, table in enumerate((data.left, data.right))
    )
    ids = np.array([f"{a}:{b}" for a, b, _ in pairs], dtype=object)
    labels = np.array([label for _, _, label in pairs], dtype=np.int8)
    return LabelledPairs(data.left, data.right, left, right, ids, labels, inclusion)


@pytest.fixture
def unlabelled(tmp_path):
    """Twelve pairs without splits or labels."""
    rows = [["left_id", "right_id", "left_title", "right_title"]]
    rows += [[f"a{n}", f"b{n}", f"left {n}", f"right {n}"] for n in range(12)]
    write_file(tmp_path / "pairs.csv", rows)
    return open_data(tmp_path / "pairs.csv")


def test_labels_from_a_file_validate_and_leave_the_target(source, unlabelled):
    inclusion = np.array([0.5, 0.125])
    labels = labels_over(unlabelled, [("a3", "b3", 1), ("a5", "b5", 0)], inclusion)
    workload, _ = build_workload(source, unlabelled, labels=labels)
    assert workload.validation.ids.tolist() == ["a3:b3", "a5:b5"]
    assert workload.validation.labels.tolist() == [1, 0]
    assert workload.validation.weights.tolist() == [0.4, 1.6]  # 2 and 8 pairs, 5 in the mean
    assert len(workload.target) == 10
    assert not {"a3:b3", "a5:b5"} & set(workload.target.ids)
    same, _ = build_workload(source, unlabelled, labels=dataclasses.replace(labels, inclusion=None))
    assert same.fingerprint != workload.fingerprint  # weights take part in what is learned


def test_labels_beside_validation_pairs_of_unknown_origin_count_alike(source, target):
    pair = target.splits["test"]
    label = labels_over(
        target, [(pair.left.ids[pair.left_rows[0]], pair.right.ids[pair.right_rows[0]], 1)], np.array([0.1])
    )
    before, _ = build_workload(source, target)
    after, _ = build_workload(source, target, labels=label)
    assert len(after.validation) == len(before.validation) + 1
    assert set(after.validation.weights) == {1.0}
    assert len(after.target) == len(before.target) - 1


def test_a_target_without_any_label_is_a_target(source, unlabelled):
    workload, truth = build_workload(source, unlabelled)
    assert (len(workload.validation), len(workload.target)) == (0, 12)
    assert NO_VALIDATION in workload.notices
    assert (truth.labels == UNKNOWN).all()


def test_without_a_source_half_of_the_labels_teach(unlabelled):
    pairs = [(f"a{n}", f"b{n}", n % 2) for n in range(8)]
    workload, _ = build_workload(None, unlabelled, labels=labels_over(unlabelled, pairs, np.full(8, 0.5)))
    assert (len(workload.source), len(workload.validation), len(workload.target)) == (4, 4, 4)
    assert sorted([*workload.source.ids, *workload.validation.ids]) == sorted(f"a{n}:b{n}" for n in range(8))
    assert workload.source.labels.sum() == workload.validation.labels.sum() == 2
    again, _ = build_workload(None, unlabelled, labels=labels_over(unlabelled, pairs, np.full(8, 0.5)), seed=1)
    assert set(again.source.ids) != set(workload.source.ids)


def test_without_source_and_labels_there_is_a_target_only(unlabelled):
    workload, _ = build_workload(None, unlabelled)
    assert (len(workload.source), len(workload.validation), len(workload.target)) == (0, 0, 12)
    assert workload.notices == (NO_LABELS,)
    with pytest.raises(ConfigError, match="needs data"):
        build_workload(None)


def test_labelled_pairs_without_a_split_validate_the_others(tmp_path, source):
    rows = [["left_title", "right_title", "label"], ["x", "y", ""], ["u", "v", "1"], ["w", "z", "0"]]
    write_file(tmp_path / "pairs.csv", rows)
    workload, _ = build_workload(source, open_data(tmp_path / "pairs.csv"))
    assert workload.validation.labels.tolist() == [1, 0]
    assert len(workload.target) == 1
