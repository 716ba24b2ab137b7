"""Frames give the data set that files give, or every problem at once."""

import pandas as pd
import pytest

import riskcore as rc
from tests.api.conftest import SCRIPT


@pytest.mark.parametrize("name", ["bibliography_clean", "bibliography_scraped", "products"])
def test_the_same_data_as_from_files(name):
    read = rc.sample(name)
    folder = read.origin
    left, right = (pd.read_csv(f"{folder}/{table}.csv") for table in ("tableA", "tableB"))
    parts = [pd.read_csv(f"{folder}/{split}.csv").assign(split=split) for split in ("train", "valid", "test")]
    made = rc.from_frames(left.astype(object), right.astype(object), pd.concat(parts))
    assert [list(pairs.ids) for pairs in made.splits.values()] == [list(pairs.ids) for pairs in read.splits.values()]
    as_text = [pd.read_csv(f"{folder}/{table}.csv", dtype=str) for table in ("tableA", "tableB")]
    assert rc.from_frames(*as_text, pd.concat(parts)).fingerprint == read.fingerprint


def test_whole_numbers_with_gaps_have_no_point_zero():
    left = pd.DataFrame({"id": [1.0, 2.0], "year": [1999.0, None], "price": [10.0, 20.5]})
    data = rc.from_frames(left, None, pd.DataFrame({"ltable_id": [1.0], "rtable_id": [2]}))
    assert list(data.left.ids) == ["1", "2"]
    assert data.left.values["year"][0] == "1999"
    assert list(data.left.values["price"]) == ["10.0", "20.5"]
    whole = pd.DataFrame({"id": [1, 2], "price": [10.0, 20.0]})  # no gap: these were floats from the start
    pairs = pd.DataFrame({"ltable_id": [1], "rtable_id": [2]})
    assert list(rc.from_frames(whole, None, pairs).left.values["price"]) == ["10.0", "20.0"]


def test_ids_may_be_the_index_and_columns_may_have_other_names(source):
    pairs = source.pairs.rename(columns={"ltable_id": "one", "rtable_id": "other"})
    by_index = rc.from_frames(
        source.left.set_index("id"), source.right.set_index("id"), pairs, left_id="one", right_id="other"
    )
    renamed = [frame.rename(columns={"id": "key"}) for frame in (source.left, source.right)]
    by_name = rc.from_frames(*renamed, source.pairs, id="key")
    assert by_index.fingerprint == by_name.fingerprint == rc.from_frames(*source).fingerprint


def test_other_content_has_another_origin(source, target):
    one, same, other = (rc.from_frames(*frames, name="mine").origin for frames in (source, source, target))
    assert one.startswith("frames:mine-")
    assert one == same != other


def test_one_frame_is_a_self_join(source):
    pairs = pd.DataFrame({"ltable_id": ["a0", "a1"], "rtable_id": ["a1", "a2"]})
    data = rc.from_frames(source.left, pairs=pairs)
    assert data.self_join
    assert list(data.splits) == ["test"]


def test_pairs_without_a_split_are_the_target(source):
    assert {name: len(pairs) for name, pairs in rc.from_frames(*source).splits.items()} == {"test": 150}
    pairs = source.pairs.assign(split=["valid"] * 30 + [None] * 120)
    assert {name: len(part) for name, part in rc.from_frames(*source[:2], pairs).splits.items()} == {
        "valid": 30,
        "test": 120,
    }


def test_all_problems_at_once_with_the_rows_of_the_frame():
    left = pd.DataFrame({"id": [1, 1, None], "title": ["a\0", ["list"], "c"]})
    right = pd.DataFrame({"title": ["\ud800", 3]})  # ids are the index: 0 and 1
    pairs = pd.DataFrame({"ltable_id": [1, 5], "rtable_id": [0, 1], "label": [2, None], "split": ["train", "tset"]})
    with pytest.raises(rc.DataFormatError) as raised:
        rc.from_frames(left, right, pairs)
    found = {(one.kind, one.file, one.row, one.column) for one in raised.value.problems}
    assert found == {
        ("nul_byte", "left", 0, "title"),
        ("nested_column", "left", 1, "title"),
        ("duplicate_id", "left", 1, "id"),
        ("empty_id", "left", 2, "id"),
        ("broken_encoding", "right", 0, "title"),
        ("bad_label", "pairs", 0, "label"),
        ("unknown_id", "pairs", 1, "ltable_id"),
        ("unknown_split", "pairs", 1, "split"),
    }


@pytest.mark.parametrize(
    ("left", "pairs", "says"),
    [
        (None, None, "not a pandas DataFrame"),
        (pd.DataFrame({"id": [1], "title": ["x"]}), None, "There are no pairs"),
        (pd.DataFrame({"id": [1], "title": ["x"]}), pd.DataFrame({"a": [1]}), "no column 'ltable_id'"),
        (pd.DataFrame({"id": [1]}), pd.DataFrame({"ltable_id": [1], "rtable_id": [1]}), "ids and nothing else"),
        (pd.DataFrame({"id": [], "title": []}), pd.DataFrame({"ltable_id": [1], "rtable_id": [1]}), "no record"),
    ],
)
def test_what_is_no_data(left, pairs, says):
    with pytest.raises(rc.DataFormatError, match=says):
        rc.from_frames(left, None, pairs)


def test_a_data_set_shows_itself_without_markup(source):
    data = rc.from_frames(*source, name=SCRIPT)
    assert "150 pairs" in repr(data)
    assert "<script>" not in data._repr_html_()
    assert "&lt;script&gt;" in data._repr_html_()


@pytest.mark.parametrize("names", [{"left_id": "rtable_id"}, {"left_id": "label"}, {"right_id": "split"}])
def test_columns_of_ids_that_cannot_be_are_named(source, names):
    with pytest.raises(rc.DataFormatError, match="Name two columns of ids"):
        rc.from_frames(*source, **names)


def test_columns_of_several_levels_are_named(source):
    with pytest.raises(rc.DataFormatError, match="left: Its columns have several levels"):
        rc.from_frames(pd.concat({"a": source.left}, axis=1), source.right, source.pairs)
