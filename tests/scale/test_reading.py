"""Pages, places and figures of scored pairs, against pandas on all of them at once."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from riskcore.errors import ConfigError, StorageError
from riskcore.pair_ids import pair_id
from riskcore.scale import queries
from riskcore.scale.queries import ScoredQuery, count_pairs, place_in_order, places_of_page
from riskcore.scale.reading import (
    BARS,
    ScoredPairNotFoundError,
    count_kinds,
    histogram,
    position_of,
    read_page,
    read_pair,
)
from tests.scale.made_up import REASONS, all_pairs, write_scored

QUERIES = [
    ScoredQuery(),
    ScoredQuery(descending=False),
    ScoredQuery(sort="probability"),
    ScoredQuery(sort="probability", descending=False, label=0),
    ScoredQuery(label=1, risk_min=0.1, risk_max=0.35),
    ScoredQuery(probability_min=0.25, probability_max=0.75, asking="unasked"),
    ScoredQuery(asking="bound"),
    ScoredQuery(asking="exact", label=1),
    ScoredQuery(asking="asked", risk_min=0.45, risk_max=0.45),
    ScoredQuery(text="MÜLLER number 1"),
    ScoredQuery(text="l1", label=0),
    ScoredQuery(text="no such value"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = write_scored(tmp_path_factory.mktemp("scored") / "set")
    return folder, all_pairs(folder, 3)


def expected(folder, pairs: pd.DataFrame, query: ScoredQuery) -> pd.DataFrame:
    """The pairs that meet the filters, in their order."""
    keep = np.ones(len(pairs), dtype=bool)
    if query.label is not None:
        keep &= pairs["label"] == query.label
    for name, low, high in (
        ("risk", query.risk_min, query.risk_max),
        ("probability", query.probability_min, query.probability_max),
    ):
        keep &= pairs[name].between(-1 if low is None else low, 2 if high is None else high)
    if query.asking is not None:
        tests = {"exact": ~pairs["bound"], "bound": pairs["bound"], "asked": pairs["asked"] > 0}
        keep &= tests.get(query.asking, pairs["asked"] == 0)
    if query.text:
        keep &= _containing(folder, pairs, query.text.lower())
    found = pairs[keep]
    return found.sort_values(query.sort, ascending=not query.descending, kind="stable").reset_index(drop=True)


def _containing(folder, pairs: pd.DataFrame, wanted: str) -> np.ndarray:
    keep = np.zeros(len(pairs), dtype=bool)
    for table, rows in zip(folder.tables(), ("left_row", "right_row"), strict=True):
        texts = [table.ids, *(table.text(name) for name in table.attributes)]
        has = np.array([any(wanted in str(one).lower() for one in row if one) for row in zip(*texts, strict=True)])
        keep |= has[pairs[rows].to_numpy()]
    return keep


@pytest.mark.parametrize("query", QUERIES, ids=[str(one.filters) + one.sort for one in QUERIES])
@pytest.mark.parametrize("sorted_at_once", [200_000, 7])
def test_pages_have_the_pairs_in_their_order(made, query, sorted_at_once, monkeypatch):
    monkeypatch.setattr(queries, "SORTED_AT_ONCE", sorted_at_once)
    monkeypatch.setattr(queries, "BUCKETS", 5)  # many pairs in each, as where there are many millions
    queries._counted.cache_clear()
    folder, pairs = made
    wanted = expected(folder, pairs, query)
    assert count_pairs(folder, query) == len(wanted)
    for offset in (0, 3, len(wanted) // 2, max(0, len(wanted) - 4), len(wanted) + 5):
        places = places_of_page(folder, query, offset, 9)
        assert places == [tuple(one) for one in wanted[["part", "place"]].to_numpy()[offset : offset + 9].tolist()]
    queries._counted.cache_clear()


@pytest.mark.parametrize("query", QUERIES[:6], ids=[str(one.filters) + one.sort for one in QUERIES[:6]])
def test_a_pair_knows_its_place(made, query):
    folder, pairs = made
    wanted = expected(folder, pairs, query)
    for number in (0, 1, len(wanted) // 3, len(wanted) - 1):
        row = wanted.iloc[number]
        assert place_in_order(folder, query, (int(row["part"]), int(row["place"]))) == number
        found = position_of(folder, query, pair_id(row["ltable_id"], row["rtable_id"]))
        beside = [
            pair_id(*wanted.loc[at, ["ltable_id", "rtable_id"]]) if 0 <= at < len(wanted) else None
            for at in (number - 1, number + 1)
        ]
        assert (found.number, found.total, found.previous, found.next) == (number + 1, len(wanted), *beside)


def test_a_pair_that_is_left_out_has_no_place(made):
    folder, pairs = made
    row = pairs[pairs["label"] == 0].iloc[0]
    first = expected(folder, pairs, ScoredQuery(label=1)).iloc[0]
    found = position_of(folder, ScoredQuery(label=1), pair_id(row["ltable_id"], row["rtable_id"]))
    assert found.number is None
    assert found.next == pair_id(first["ltable_id"], first["rtable_id"])


def test_rows_have_records_and_reasons(made):
    folder, pairs = made
    left, right = folder.tables()
    page = read_page(folder, ScoredQuery(page_size=REASONS + 20))
    wanted = expected(folder, pairs, ScoredQuery())
    assert page.pages == -(-len(pairs) // (REASONS + 20))
    assert page.rows["reasons"].notna().sum() == REASONS
    for number, row in page.rows.iterrows():
        one = wanted.iloc[number]
        assert row["risk"] == one["risk"]
        assert row["left_row"] == one["left_row"]
        assert row["left_title"] == left.values["title"][one["left_row"]]
        assert row["right_title"] == right.values["title"][one["right_row"]]
        year = right.text("the year")[one["right_row"]]
        assert row["right_the year"] == year or (year is None and pd.isna(row["right_the year"]))


def test_the_first_pages_are_the_same_from_the_file_of_the_riskiest(made):
    folder, _ = made
    fast = read_page(folder, ScoredQuery(page_size=10)).rows
    slow = read_page(folder, ScoredQuery(page_size=10, risk_max=1.0)).rows  # a filter that leaves nothing out
    pd.testing.assert_frame_equal(fast, slow[fast.columns], check_dtype=False)


def test_a_page_beyond_the_last_is_the_last(made):
    folder, pairs = made
    page = read_page(folder, ScoredQuery(page=10_000, page_size=60))
    assert page.page == page.pages == -(-len(pairs) // 60)
    assert len(page.rows) == len(pairs) % 60


def test_a_pair_with_its_records_and_other_candidates(made):
    folder, pairs = made
    row = pairs[(pairs["ltable_id"] == "l:3")].iloc[0]
    found = read_pair(folder, pair_id(row["ltable_id"], row["rtable_id"]))
    assert found.scores["risk"] == row["risk"]
    others = found.others[found.others["side"] == "left"]
    same = pairs[(pairs["left_row"] == row["left_row"]) & (pairs["right_row"] != row["right_row"])]
    wanted = same.sort_values("probability", ascending=False)["rtable_id"].head(5)
    assert list(others["rtable_id"]) == list(wanted)


@pytest.mark.parametrize("pair", ["l1:none", "nothing", "", "l1:r1:r2", "'; DROP TABLE pairs; --:r1"])
def test_a_pair_that_is_not_there(made, pair):
    with pytest.raises(ScoredPairNotFoundError):
        read_pair(made[0], pair)


def test_search_by_the_id_of_a_pair(made):
    folder, pairs = made
    row = pairs.iloc[77]
    found = read_page(folder, ScoredQuery(text=pair_id(row["ltable_id"], row["rtable_id"])))
    assert found.total == 1
    assert found.rows["left_row"][0] == row["left_row"]


@pytest.mark.parametrize("text", ["'", '"', "%", "_", "\\", "<script>", "=1+1"])
def test_search_takes_every_character_as_it_is(made, text):
    folder, pairs = made
    query = ScoredQuery(text=text)
    assert read_page(folder, query).total == len(expected(folder, pairs, query))


def test_figures_count_every_pair(made):
    folder, pairs = made
    for query in QUERIES:
        wanted = expected(folder, pairs, query)
        kinds = count_kinds(folder, query)
        assert (kinds["pairs"], kinds["matches"]) == (len(wanted), wanted["label"].sum())
        assert (kinds["bound"], kinds["unasked"]) == (wanted["bound"].sum(), (wanted["asked"] == 0).sum())
        assert kinds["expected_wrong"] == pytest.approx(wanted["risk"].sum())
        for value in ("risk", "probability"):
            found = histogram(folder, query, value)
            for label in (0, 1):
                some = wanted.loc[wanted["label"] == label, value]
                bars = np.minimum(np.floor(some * BARS).astype(int), BARS - 1)
                counts = np.bincount(bars, minlength=BARS)
                assert found.loc[found["label"] == label, "pairs"].tolist() == counts.tolist()


def test_one_table(tmp_path):
    folder = write_scored(tmp_path / "one", 300, 2, self_join=True)
    pairs = all_pairs(folder, 2)
    row = pairs[pairs["left_row"] != pairs["right_row"]].iloc[5]
    there = set(zip(pairs["left_row"], pairs["right_row"], strict=True))
    turned = pair_id(row["rtable_id"], row["ltable_id"])
    found = read_pair(folder, turned)
    if (row["right_row"], row["left_row"]) not in there:
        assert found.scores["left_row"] == row["left_row"]  # found although the records are the other way round
    assert found.others["side"].isin(["left", "right"]).all()


def test_a_set_without_pairs(tmp_path):
    folder = write_scored(tmp_path / "empty", 1, 1)
    about = folder.facts()
    folder.riskiest_file.unlink()
    folder.about_file.write_text(json.dumps({**about, "pairs": 0, "parts": 0, "matches": 0}))
    assert read_page(folder, ScoredQuery()).total == 0
    assert len(read_page(folder, ScoredQuery(label=1)).rows) == 0


def test_a_new_set_in_the_same_folder_is_read_anew(tmp_path):
    folder = write_scored(tmp_path / "again", 100, 1)
    assert read_page(folder, ScoredQuery(label=1, page_size=1)).total == folder.facts()["matches"]
    folder = write_scored(tmp_path / "again", 200, 1)
    assert read_page(folder, ScoredQuery(label=1, page_size=1)).total == folder.facts()["matches"]


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    folder = write_scored(tmp_path / "broken", 100, 2)
    folder.pairs_file(1).write_bytes(b"not parquet")
    with pytest.raises(StorageError, match="part-000001"):
        read_page(folder, ScoredQuery(label=1))


@pytest.mark.parametrize("wrong", [{"sort": "label"}, {"asking": "x"}, {"page": 0}, {"page_size": 0}])
def test_questions_that_make_no_sense(wrong):
    with pytest.raises(ConfigError):
        dataclasses.replace(ScoredQuery(), **wrong)
