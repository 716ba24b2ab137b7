"""The Results screen: what decides, the constraint before it is applied, pairs, entities and files."""

from __future__ import annotations

import io
import itertools
import json

import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest

from pages.parts.results import entity_table, run_results
from pages.parts.results.downloads import FileChoice, file_bytes, file_name, file_rows
from pages.parts.results.run_results import EntityFilter, PairFilter, entity_order, key_of, pair_order, result_of
from riskcore.audit import VerdictLog, decisions, run_result
from riskcore.columns import DECISION_COLUMNS, ENTITY_COLUMNS, ENTITY_ID, MERGED_COLUMNS, RECORD_ID
from riskcore.runs import RunFolder, RunState, RunStore
from riskcore.runs.worker.execute import execute
from tests.data.folders import PAIR_HEADER, TABLE_A, write_folder
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import write_run
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import fake_engine

HOSTILE = "=1+1 <script>window.hacked = true</script> **bold** "


@pytest.fixture(scope="module")
def recorded_once(tmp_path_factory):
    """A run with target, validation and unseen pairs, whose titles begin with a formula and markup."""
    root = tmp_path_factory.mktemp("results")
    store = RunStore(root / "runs")
    target = small_data(root / "b", words=HOSTILE)
    record = store.create(small_config(small_data(root / "a"), target=str(target)), "shops / 2026")
    execute(store, record.id, engine=fake_engine)
    return store.get(record.id)


@pytest.fixture
def shifted(recorded_once, monkeypatch):
    monkeypatch.setenv("RISKCORE_RUNS", str(recorded_once.folder.parent))
    return recorded_once


@pytest.fixture
def judge(shifted):
    """Give a verdict as ann; all are withdrawn after the test."""
    log = VerdictLog(RunStore(shifted.folder.parent))
    yield lambda pair, verdict: log.add(shifted.id, pair, verdict, who="ann")
    for pair in log.current(shifted.id):
        log.undo(shifted.id, pair, who="ann")


def key(record, constraint="free", method="risk"):
    return key_of(record.id, RunFolder(record.folder), method, constraint)


def metrics(app) -> dict[str, str]:
    return {one.label: one.value for one in app.metric}


def control(app, label):
    return next(one for one in app.get("button_group") if one.label == label)


def test_the_counts_are_those_of_the_result(screen, shifted):
    app = screen("results", run=shifted.id)
    expected = run_result(RunFolder(shifted.folder))
    frame, shown = expected.pairs, metrics(app)
    assert shown["Pairs"] == str(len(frame)) == "144"
    assert shown["= Matches"] == str((frame["decision"] == "match").sum())
    assert shown["By label given"] == str((frame["part"] == "validation").sum())
    assert shown["By verdict"] == "0"
    assert shown["By constraint"] == str(len(expected.resolution.dropped))  # people hold some records apart
    assert "The answer of **risk**" in words(app)
    assert "used labels of: source" in words(app)


def test_a_verdict_is_seen_at_once(screen, shifted, judge):
    frame = result_of(key(shifted)).pairs
    pair = frame[(frame["decided_by"] == "model") & (frame["decision"] == "match")]["pair_id"].iloc[0]
    before = metrics(screen("results", run=shifted.id))
    judge(pair, "non-match")
    shown = metrics(screen("results", run=shifted.id))
    assert (before["By verdict"], shown["By verdict"]) == ("0", "1")
    table = screen("results", run=shifted.id, decided_by="verdict").dataframe[-1].value
    assert list(table["pair"]) == [pair]
    assert list(table["decision"]) == ["≠ non-match"]


def test_a_constraint_is_shown_before_it_is_applied(screen, shifted):
    app = screen("results", run=shifted.id)
    free = int(metrics(app)["= Matches"])
    app = checked(control(app, "Constraint").set_value("one-to-one").run())
    expected = run_result(RunFolder(shifted.folder), constraint="one-to-one").resolution
    dropped = app.dataframe[0].value
    assert len(dropped) == len(expected.dropped) > 0
    assert set(dropped["pair"]) == set(expected.dropped["pair_id"])
    assert dropped["reason"].str.contains("one-to-one: .* is kept instead").any()
    assert f"**{len(dropped)} matches** would be dropped" in words(app)
    assert int(metrics(app)["= Matches"]) == free  # nothing is applied yet
    button = next(one for one in app.button if one.label == "Apply one-to-one")
    app = checked(button.click().run())
    assert app.query_params["constraint"] == "one-to-one"
    assert metrics(app)["= Matches"] == str((expected.pairs["decision"] == "match").sum()) != str(free)
    assert metrics(app)["By constraint"] == str(len(dropped))
    assert f"**{len(dropped)} matches** are dropped" in words(app)


def test_a_constraint_is_not_applied_to_another_run(screen, runs):
    one, other = (write_run(runs, 40, 2, seed=seed) for seed in (0, 1))
    app = screen("results", run=one.id, constraint="one-to-one", entity="e1")
    assert "There is no entity e1" in words(app)
    app = checked(app.sidebar.selectbox[0].set_value(other.id).run())
    assert app.query_params["run"] == other.id
    assert "constraint" not in app.query_params
    assert "entity" not in app.query_params


@pytest.mark.parametrize("asked", ["nonsense", "free", "../x"])
def test_an_unknown_constraint_is_free(screen, shifted, asked):
    assert metrics(screen("results", run=shifted.id, constraint=asked)) == metrics(screen("results", run=shifted.id))


def test_people_who_contradict_each_other_are_reported(screen, shifted, judge):
    frame = decisions(RunFolder(shifted.folder), values=False)
    given = frame[(frame["decided_by"] == "label given") & (frame["decision"] == "match")].iloc[0]
    other = frame[(frame["ltable_id"] == given["ltable_id"]) & (frame["decided_by"] == "model")].iloc[0]
    judge(other["pair_id"], "match")
    text = words(screen("results", run=shifted.id, constraint="one-to-one"))
    assert "1 contradiction between what people decided" in text
    assert "People gave 2 matches" in text


def test_pairs_are_filtered_and_paged(screen, shifted):
    app = screen("results", run=shifted.id, decision="= match", decided_by="label given")
    table = app.dataframe[-1].value
    frame = decisions(RunFolder(shifted.folder), values=False)
    wanted = frame[(frame["decision"] == "match") & (frame["decided_by"] == "label given")]
    assert set(table["pair"]) == set(wanted["pair_id"])
    assert "truth" not in table
    first, second = (screen("results", run=shifted.id, page=page).dataframe[-1].value for page in ("1", "2"))
    assert len(first) == len(second) == 50
    assert not set(first["pair"]) & set(second["pair"])
    assert list(first["probability"].dropna()) == sorted(first["probability"].dropna(), reverse=True)


def test_the_search_finds_values_and_ids_of_all_parts(shifted):
    frame, folder = result_of(key(shifted)).pairs, RunFolder(shifted.folder)
    values = decisions(folder)
    names = [name for name in values if name.startswith(("left_", "right_")) or name.endswith("_id")]
    for text in ("WINDOW.hacked", frame["pair_id"].iloc[3], frame["pair_id"].iloc[-1], "no such text"):
        found = pair_order(key(shifted), PairFilter(text=text, sort="row"))
        texts = values[names].fillna("").apply("\n".join, axis=1)
        assert list(found) == list(texts.str.contains(text, case=False, regex=False).to_numpy().nonzero()[0])


def test_an_entity_shows_its_records_and_the_merged_one(screen, shifted):
    found = result_of(key(shifted)).resolution.entities
    entity = found[found["records"] > 1][ENTITY_ID].iloc[0]
    app = screen("results", run=shifted.id, entity=entity)
    text = words(app)
    assert f"Entity **{entity}**" in text
    body = "\n".join(str(one.proto.body) for one in app.get("html"))
    table = pd.concat([one.value.astype(str) for one in app.dataframe]).to_csv()
    for record in found[found[ENTITY_ID] == entity][RECORD_ID]:
        assert record in body or record in table
    assert "<script>" not in body
    assert "merged" in body or "merged" in table


def test_an_unknown_entity_is_named(screen, shifted):
    assert "There is no entity nothing" in words(screen("results", run=shifted.id, entity="nothing"))


def test_records_side_by_side_are_escaped():
    records = pd.DataFrame(
        {
            "entity_id": "e1",
            "side": ["left", "right"],
            "record_id": ["1", "<b>"],
            "records": 2,
            "value_t": [HOSTILE, None],
        }
    )
    merged = pd.DataFrame({"entity_id": ["e1"], "records": [2], "sources": ["[]"], "t": [HOSTILE]})
    out = entity_table.entity_html(records, merged, ["value_t"]).split("</style>")[1]
    assert "<script>" not in out
    assert "&lt;script&gt;" in out
    assert "right &lt;b&gt;" in out
    assert "no value" in out
    assert list(entity_table.entity_rows(records, merged, ["value_t"])["record"]) == ["merged", "left 1", "right <b>"]


def test_entities_are_ordered_by_size_and_found_by_text(shifted):
    table = result_of(key(shifted, "one-to-one")).resolution.entities
    first = entity_order(key(shifted, "one-to-one"), EntityFilter(several=False))
    assert len(first) == table[ENTITY_ID].nunique()
    sizes = table["records"].to_numpy()[first]
    assert list(sizes) == sorted(sizes, reverse=True)
    several = entity_order(key(shifted, "one-to-one"), EntityFilter())
    assert (table["records"].to_numpy()[several] > 1).all()
    record = table[RECORD_ID].iloc[-1]
    found = entity_order(key(shifted, "one-to-one"), EntityFilter(several=False, text=record))
    assert table[ENTITY_ID].iloc[-1] in set(table[ENTITY_ID].iloc[found])
    page = entity_table.page_table(table, several)
    assert list(page["entity"]) == list(table[ENTITY_ID].iloc[several])


def test_the_result_is_computed_once(shifted, monkeypatch):
    one = result_of(key(shifted))
    monkeypatch.setattr(run_results, "run_result", lambda *_, **__: pytest.fail("computed again"))
    assert result_of(key(shifted)) is one


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_have_what_their_names_say(shifted, kind):
    wanted = key(shifted, "one-to-one")
    choice = FileChoice(kind, matches_only=True, all_columns=True)
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[kind]
    tables = {name: read(io.BytesIO(file_bytes(wanted, (name,), choice))) for name in ("pairs", "entities", "merged")}
    assert {name: len(table) for name, table in tables.items()} == file_rows(result_of(wanted), choice)
    assert set(tables["pairs"]["decision"]) == {"match"}
    assert "truth" not in tables["pairs"]
    assert {"left_title", "right_title", "ltable_entity"} <= set(tables["pairs"])
    assert (tables["entities"]["records"] > 1).all()
    assert list(tables["entities"])[:4] == list(ENTITY_COLUMNS)
    assert list(tables["merged"])[:3] == list(MERGED_COLUMNS)
    rest = f"shops-2026-{shifted.id}-risk-one-to-one.{kind}"
    assert file_name(wanted, ("pairs",), choice) == f"matches-{rest}"
    assert file_name(wanted, ("entities",), choice) == f"entities-matched-{rest}"
    if kind == "csv":
        assert tables["entities"]["title"].str.startswith("'=").all()


def test_all_rows_and_the_truth_come_only_if_asked_for(shifted):
    choice = FileChoice("parquet", matches_only=False, truth=True)
    data = io.BytesIO(file_bytes(key(shifted), ("pairs",), choice))
    table = pd.read_parquet(data)
    expected = decisions(RunFolder(shifted.folder), values=False, truth=True)
    assert list(table["truth"].astype("Int64")) == list(expected["truth"])
    assert table["truth"].notna().any()
    assert len(table) == 144
    assert set(DECISION_COLUMNS) <= set(table)
    about = json.loads(pq.read_metadata(data).metadata[b"riskcore"])
    assert about["truth_included"] is True
    assert file_name(key(shifted), ("pairs",), choice).startswith("pairs-all-with-truth-shops-2026-")


def test_a_workbook_has_a_sheet_for_each_table(shifted):
    tables = ("pairs", "entities", "merged")
    book = openpyxl.load_workbook(io.BytesIO(file_bytes(key(shifted), tables, FileChoice("xlsx"))))
    assert book.sheetnames == ["Pairs", "Entities", "Merged", "About"]
    assert file_name(key(shifted), tables, FileChoice("xlsx")).startswith("result-matches-shops-2026-")


def test_the_buttons_offer_the_files(screen, shifted):
    app = screen("results", run=shifted.id)
    labels = [one.proto.label for one in app.get("download_button")]
    assert [label.split(" · ")[0] for label in labels] == ["Pairs", "Entities", "Merged records", "Dossier"]
    app = checked(control(app, "Format").set_value("xlsx").run())
    assert [one.proto.label.split(" · ")[0] for one in app.get("download_button")] == ["Workbook", "Dossier"]


def test_one_table_has_no_sides_to_constrain(screen, runs, tmp_path):
    ids = [row[0] for row in TABLE_A[1:]]
    pairs = [[*pair, str(int(place % 5 == 0))] for place, pair in enumerate(itertools.combinations(ids, 2))]
    splits = {name: [PAIR_HEADER, *pairs[start::3]] for start, name in enumerate(("train", "valid", "test"))}
    data = write_folder(tmp_path / "one", {"tableA": TABLE_A, **splits})
    (data / "tableB.csv").unlink()
    store = RunStore(runs)
    record = store.create(small_config(data), "one table")
    execute(store, record.id, engine=fake_engine)
    app = screen("results", run=record.id, constraint="one-to-one")
    assert "Both records of a pair come from one table" in words(app)
    assert "Constraint" not in {one.label for one in app.get("button_group")}
    entities = result_of(key(record)).resolution.entities
    assert set(entities["side"]) == {"both"}
    several = entities[entities["records"] > 1][ENTITY_ID].iloc[0]
    assert f"Entity **{several}**" in words(screen("results", run=record.id, entity=several))


def test_an_older_run_has_a_result_too(screen, done):
    text = words(screen("results", run=done.id))
    assert "its result has the target pairs only" in text
    assert "Pairs and entities" in text


def test_a_run_at_work_has_no_result_yet(screen, runs):
    record = write_run(runs, 40, 2, state=RunState.RUNNING)
    RunFolder(record.folder).results_file.unlink()
    assert "It has a result once it is done" in words(screen("results", run=record.id))
