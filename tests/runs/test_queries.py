"""Paged reads against the same question asked of the whole table in memory."""

import itertools
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from riskcore.errors import ConfigError, StorageError
from riskcore.rules.rule import Condition
from riskcore.runs import PairQuery, all_pairs, pair_history, query_pairs
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.orders import correction_gain
from riskcore.runs.readers.queries import place_of
from riskcore.runs.worker.execute import execute
from riskcore.storage.files import write_bytes, write_json, write_parquet
from riskcore.storage.parquet import take_rows
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import RULES, fake_engine, fired_by_hand

ALIKE, UNLIKE = Condition("title", "jaccard", ">", 0.4), Condition("title", "jaccard", "<=", 0.4)
FAR, CLOSE = Condition("year", "closeness", "<=", 0.5), Condition("year", "closeness", ">", 0.5)


@pytest.fixture
def everything(finished):
    """All pairs of the last iteration with what filters look at, worked out in memory."""
    scores = pq.read_table(finished.scores_file("risk", 4)).to_pandas()
    pairs = pq.read_table(finished.pairs_file).to_pandas()
    table = scores.merge(pairs, on=["row", "pair_id"])
    table["truth"] = pq.read_table(finished.truth_file).to_pandas()["label"]
    labels = np.array([pq.read_table(finished.scores_file("risk", n)).to_pandas()["label"] for n in range(5)])
    table["was_flipped"] = (labels[1:] != labels[:-1]).any(axis=0)
    table["moved"] = labels[-1] != labels[0]
    table["back"] = table["was_flipped"] & (labels[-1] == labels[0])
    metrics = pq.read_table(finished.metrics_file).to_pandas()
    table["overlap"], table["closeness"] = metrics["title.jaccard"], metrics["year.closeness"]
    fired = fired_by_hand(metrics.to_numpy()).toarray()
    for number in range(len(RULES)):
        table[f"rule{number}"] = fired[:, number]
    return table


def ids(frame):
    return frame["pair_id"].tolist()


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ({}, lambda t: t["row"] >= 0),
        ({"label": 1}, lambda t: t["label"] == 1),
        ({"label": 0}, lambda t: t["label"] == 0),
        ({"flipped": True}, lambda t: t["moved"]),
        ({"flipped": False}, lambda t: ~t["moved"]),
        ({"flipped_back": True}, lambda t: t["back"]),
        ({"pairs": ("a3:b3", "a0:b2", "nowhere")}, lambda t: t["pair_id"].isin(["a3:b3", "a0:b2"])),
        ({"pairs": ()}, lambda t: t["row"] < 0),
        ({"rule": 0}, lambda t: t["rule0"]),
        ({"rule": 2}, lambda t: t["rule2"]),
        ({"rule": 99}, lambda t: t["row"] < 0),
        ({"attribute": "year"}, lambda t: t["rule2"]),
        ({"attribute": "title"}, lambda t: t["rule0"] | t["rule1"] | t["rule2"]),
        ({"attribute": "nothing"}, lambda t: t["row"] < 0),
        ({"risk_min": 0.5, "risk_max": 0.7}, lambda t: t["risk"].between(0.5, 0.7)),
        ({"probability_min": 0.3, "probability_max": 0.6}, lambda t: t["probability"].between(0.3, 0.6)),
        ({"mu_min": 0.3, "mu_max": 0.6}, lambda t: t["mu"].between(0.3, 0.6)),
        ({"kind": (FAR,)}, lambda t: t["closeness"] <= 0.5),
        ({"kind": (CLOSE,)}, lambda t: t["closeness"] > 0.5),
        (
            {"kind": (UNLIKE, CLOSE), "label": 1},
            lambda t: t["overlap"].le(0.4) & t["closeness"].gt(0.5) & t["label"].eq(1),
        ),
        ({"kind": (UNLIKE, ALIKE)}, lambda t: t["row"] < 0),
        ({"text": "TITLE 11"}, lambda t: t["left_title"].str.endswith(" 11") | t["right_title"].str.endswith(" 11")),
        ({"text": "a3:b"}, lambda t: t["pair_id"].str.startswith("a3:b")),
        ({"text": "%"}, lambda t: t["row"] < 0),
        ({"wrong": True}, lambda t: t["label"] != t["truth"]),
        ({"wrong": False}, lambda t: t["label"] == t["truth"]),
        ({"label": 1, "rule": 0, "flipped": True}, lambda t: (t["label"] == 1) & t["rule0"] & t["moved"]),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "rows",
)
def test_filters(finished, everything, query, kept):
    wanted = everything[kept(everything)].sort_values(["risk", "row"], ascending=[False, True])
    page = query_pairs(finished, PairQuery(**query))
    assert page.total == len(wanted)
    assert ids(page.rows) == ids(wanted)[:50]


def test_limits_are_inclusive(finished, everything):
    for column in ("risk", "probability", "mu"):
        value = float(everything[column].iloc[7])
        limits = {f"{column}_min": value, f"{column}_max": value}
        wanted = everything[everything[column] == value]
        assert sorted(ids(query_pairs(finished, PairQuery(**limits)).rows)) == sorted(ids(wanted))


def test_the_two_sides_of_a_metric_leave_out_what_is_missing(finished, everything):
    sides = [set(ids(query_pairs(finished, PairQuery(kind=(one,))).rows)) for one in (FAR, CLOSE)]
    missing = set(ids(everything[everything["closeness"].isna()]))
    assert missing
    assert not sides[0] & sides[1]
    assert sides[0] | sides[1] == set(ids(everything)) - missing


def test_a_cut_next_to_a_value_divides_as_rules_do(finished, everything):
    """In float32 the cut would round onto the value, and both sides would change place."""
    value = float(np.float32(everything["overlap"].iloc[3]))
    for cut in (value, np.nextafter(value, 0), np.nextafter(value, 1)):
        for side in ("<=", ">"):
            condition = Condition("title", "jaccard", side, float(cut))
            wanted = everything[condition.holds(everything["overlap"].to_numpy())]
            found = query_pairs(finished, PairQuery(kind=(condition,))).rows
            assert sorted(ids(found)) == sorted(ids(wanted))


def test_a_kind_of_another_run_is_a_clear_error(finished):
    with pytest.raises(ConfigError, match=r"'price.gap': run .* has no such metric"):
        query_pairs(finished, PairQuery(kind=(ALIKE, Condition("price", "gap", ">", 1.0))))


def test_a_query_stays_a_key():
    assert hash(PairQuery(kind=[ALIKE, FAR])) == hash(PairQuery(kind=(ALIKE, FAR)))
    assert PairQuery(kind=(ALIKE,)) != PairQuery(kind=(UNLIKE,))


def test_the_leading_reason_filters(finished, everything):
    with pytest.raises(StorageError, match="cannot be filtered by their leading reason"):
        query_pairs(finished, PairQuery(reason="title"))
    write_leading(finished, "risk", 4, everything["row"], lambda row: row % 3 > 0)
    found = query_pairs(finished, PairQuery(reason="title"))
    assert sorted(ids(found.rows)) == sorted(ids(everything[everything["row"] % 3 > 0]))
    assert query_pairs(finished, PairQuery(reason="'; DROP TABLE s; --")).total == 0


def test_reasons_are_those_of_the_iteration_asked(finished, everything):
    """The first iteration of risk is explained by the starting matcher's reasons; those between by none."""
    write_leading(finished, "risk", 4, everything["row"], lambda row: row % 3 > 0)
    write_leading(finished, "tradition", None, everything["row"], lambda row: row % 5 == 0)
    first = query_pairs(finished, PairQuery(iteration=0, reason="title"))
    assert sorted(first.rows["row"]) == [row for row in everything["row"] if row % 5 == 0]
    with pytest.raises(StorageError, match="choose the kept iteration"):
        query_pairs(finished, PairQuery(iteration=2, reason="title"))


def write_leading(folder, method, iteration, rows, is_title):
    leading = ["title" if is_title(row) else "year" for row in rows]
    sheet = pa.table({"row": pa.array(rows, pa.int32()), "leading": pa.array(leading).dictionary_encode()})
    folder.sheets_file(method).parent.mkdir(exist_ok=True)
    write_parquet(folder.sheets_file(method), sheet)
    write_json(folder.sheet_facts_file(method), {"iteration": iteration})


@pytest.mark.parametrize(
    ("sort", "descending"), list(itertools.product(["risk", "probability", "row", "pair_id"], [0, 1]))
)
def test_order(finished, everything, sort, descending):
    page = query_pairs(finished, PairQuery(sort=sort, descending=bool(descending)))
    wanted = everything.sort_values([sort, "row"], ascending=[not descending, True])
    assert ids(page.rows) == ids(wanted)


def test_order_by_expected_gain(finished, everything):
    """Against correcting one label of each kind in a list of labels with as many errors as the risks sum to."""
    wanted = everything.assign(gain=everything["risk"] * everything["label"].map(gains_by_hand(everything)))
    wanted = wanted.sort_values(["gain", "row"], ascending=[False, True])
    query = PairQuery(sort="gain")
    assert ids(query_pairs(finished, query).rows) == ids(wanted)
    assert ids(wanted) != ids(everything.sort_values(["risk", "row"], ascending=[False, True]))
    row = int(wanted["row"].iloc[17])
    assert place_of(finished, query, row) == 18
    some = query_pairs(finished, PairQuery(sort="gain", label=1)).rows
    assert ids(some) == ids(wanted[wanted["label"] == 1])
    gain = correction_gain(finished, "risk")
    assert gain.of(1, 0.5) == pytest.approx(0.5 * gain.wrong_match)
    assert gain.of(0, 0.5) == pytest.approx(0.5 * gain.wrong_non_match)


def gains_by_hand(table):
    """F1 as a ratio of counts: 2 right / (labelled + true), with one error of a kind, and without it."""
    matches = int((table["label"] == 1).sum())
    positives, negatives = (float(table.loc[table["label"] == label, "risk"].sum()) for label in (1, 0))
    right = matches - positives
    now = 2 * right / (matches + right + negatives)
    missed = 2 * (right + 1) / ((matches + 1) + (right + negatives)) - now
    wrong = 2 * right / ((matches - 1) + (right + negatives)) - now
    return {0: missed, 1: wrong}


def test_random_order_is_the_same_for_everyone(finished, everything, tmp_path):
    query = PairQuery(sort="random")
    order = ids(query_pairs(finished, query).rows)
    assert sorted(order) == sorted(ids(everything))
    assert order != ids(everything)
    assert ids(query_pairs(finished, PairQuery(sort="random", iteration=1)).rows) == order
    assert place_of(finished, query, int(everything.set_index("pair_id")["row"][order[5]])) == 6
    matches = set(ids(everything[everything["label"] == 1]))
    assert ids(query_pairs(finished, PairQuery(sort="random", label=1)).rows) == [
        one for one in order if one in matches
    ]
    other = RunFolder(shutil.copytree(finished.path, tmp_path / "it's another"))
    assert ids(query_pairs(other, query).rows) != order


def test_pages_cover_everything_once(finished, everything):
    pages = [query_pairs(finished, PairQuery(page=number, page_size=7)) for number in range(1, 8)]
    assert {(page.total, page.pages) for page in pages} == {(48, 7)}
    assert sorted(pair for page in pages for pair in ids(page.rows)) == sorted(ids(everything))
    beyond = query_pairs(finished, PairQuery(page=99, page_size=7))
    assert (beyond.page, ids(beyond.rows)) == (7, ids(pages[-1].rows))


def test_flipped_is_what_the_filter_asks_for(finished):
    """The column once was about the iteration before: False on most rows that the screen lists as flipped."""
    rows = query_pairs(finished, PairQuery(flipped=True)).rows
    assert len(rows)
    assert rows["flipped"].all()
    assert (rows["from_label"] == rows["label"]).any()  # flipped earlier than in the last iteration
    assert not query_pairs(finished, PairQuery(flipped=False)).rows["flipped"].any()


def test_scores_of_version_0_1_are_read_alike(finished):
    asked = [PairQuery(), PairQuery(flipped=True), PairQuery(flipped_back=True, sort="flips")]
    found, history = [query_pairs(finished, query) for query in asked], pair_history(finished, "a0:b2")
    for iteration in finished.iterations("risk"):
        file = finished.scores_file("risk", iteration)
        scores = pq.read_table(file).to_pandas()
        as_then = {"flipped": scores["label"] != scores["from_label"], "changed": scores["flipped"]}
        then = scores.assign(**as_then).rename(columns={"var_non_match": "var_unmatch"})
        write_parquet(file, pa.Table.from_pandas(then, preserve_index=False))
    for query, page in zip(asked, found, strict=True):
        pd.testing.assert_frame_equal(query_pairs(finished, query).rows, page.rows, check_dtype=False)
    pd.testing.assert_frame_equal(pair_history(finished, "a0:b2"), history)


def test_a_page_has_records_truth_and_verdicts_beside_the_scores(finished, everything):
    page = query_pairs(finished, PairQuery(), {"a0:b2": "unsure"}).rows
    wanted = everything.set_index("pair_id").loc[page["pair_id"]].reset_index()
    for column in ("left_title", "right_year", "probability", "risk", "truth", "flipped"):
        assert page[column].tolist() == wanted[column].tolist()
    assert page["wrong"].tolist() == (wanted["label"] != wanted["truth"]).tolist()
    assert page.set_index("pair_id")["verdict"].dropna().to_dict() == {"a0:b2": "unsure"}


def test_none_but_the_pairs_of_a_list(finished, everything):
    some = everything["pair_id"].iloc[[5, 2, 9]].tolist()
    query = PairQuery("risk", pairs=(*some, "zz"))
    found = query_pairs(finished, query)
    assert (set(found.rows["pair_id"]), found.total) == (set(some), 3)
    row = int(found.rows["row"].iloc[1])
    assert place_of(finished, query, row) == 2
    assert query_pairs(finished, PairQuery("risk", pairs=())).total == 0


def test_verdicts_filter(finished):
    class Verdict:
        verdict = "match"

    verdicts = {"a0:b2": Verdict(), "a1:b2": "non-match", "not there": "match"}
    assert ids(query_pairs(finished, PairQuery(verdict="match"), verdicts).rows) == ["a0:b2"]
    unjudged = query_pairs(finished, PairQuery(verdict="none"), verdicts)
    assert unjudged.total == 46
    assert query_pairs(finished, PairQuery(verdict="unsure"), verdicts).total == 0
    assert query_pairs(finished, PairQuery(verdict="match")).total == 0


def test_an_earlier_iteration(finished):
    first = query_pairs(finished, PairQuery(iteration=0))
    assert not first.rows["flipped"].any()
    with pytest.raises(StorageError, match=r"no iteration 9\. It has iterations 0 to 4"):
        query_pairs(finished, PairQuery(iteration=9))
    with pytest.raises(StorageError, match="has no iterations"):
        query_pairs(finished, PairQuery(method="forest"))


@pytest.mark.parametrize("wrong", [{"sort": "risk; DROP TABLE runs"}, {"page": 0}, {"page_size": 0}])
def test_questions_that_make_no_sense(wrong):
    with pytest.raises(ConfigError):
        PairQuery(**wrong)


def test_without_labels_nothing_is_right_or_wrong(store, tmp_path):
    run = store.create(small_config(small_data(tmp_path / "unlabelled", labelled=False)))
    execute(store, run.id, engine=fake_engine)
    folder = RunFolder(run.folder)
    assert not folder.has_truth
    page = query_pairs(folder, PairQuery()).rows
    assert not {"truth", "wrong"} & set(page)
    with pytest.raises(StorageError, match="no known labels"):
        query_pairs(folder, PairQuery(wrong=True))


def test_hostile_names_are_only_names(tmp_path):
    from riskcore.storage.parquet import quoted, scan, searching

    column, folder = 'a"; DROP TABLE x; --', tmp_path / "it's a folder"
    folder.mkdir()
    pd.DataFrame({column: ["kept"]}).to_parquet(folder / "t.parquet")
    with searching() as connection:
        found = connection.execute(f"SELECT {quoted(column)} FROM {scan(folder / 't.parquet')}").df()
    assert found.iloc[0, 0] == "kept"


def test_rows_are_taken_in_the_order_asked(tmp_path):
    table = pd.DataFrame({"row": np.arange(1000), "text": [f"r{n}" for n in range(1000)]})
    table.to_parquet(tmp_path / "t.parquet", row_group_size=64)
    rows = np.random.default_rng(0).integers(1000, size=40)
    assert take_rows(tmp_path / "t.parquet", rows, ["text"]).column("text").to_pylist() == [f"r{n}" for n in rows]
    assert take_rows(tmp_path / "t.parquet", []).num_rows == 0


def test_a_broken_file_is_one_clear_error(finished):
    write_bytes(finished.scores_file("risk", 4), b"PAR1 this is not")
    with pytest.raises(StorageError, match="cannot be read"):
        query_pairs(finished, PairQuery())


def test_the_place_of_a_pair_is_its_place_in_the_order(finished):
    query = PairQuery(label=1)
    ordered = all_pairs(finished, query)["row"].tolist()
    assert len(ordered) > 3
    assert [place_of(finished, query, row) for row in ordered] == list(range(1, len(ordered) + 1))
    everyone = all_pairs(finished, PairQuery())["row"]
    left_out = next(row for row in everyone if row not in ordered)
    assert place_of(finished, query, left_out) is None
