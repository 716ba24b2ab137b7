"""A run's folder states its format: today's and that of version 0.1 are read alike, and a later one is refused."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from riskcore.columns import HISTORY_COLUMNS, RULE_COLUMNS, SCORE_COLUMNS, SUMMARY_COLUMNS
from riskcore.config import RunConfig
from riskcore.errors import StorageError
from riskcore.runs import (
    PairQuery,
    RunFailedError,
    RunFolder,
    RunStore,
    explain_detail,
    pair_detail,
    pair_history,
    query_pairs,
    rule_table,
    summary,
)
from riskcore.runs.formats import FORMAT, read_pair_ids
from riskcore.runs.readers.method_comparison import comparison
from riskcore.runs.worker.execute import execute
from riskcore.storage.files import write_json
from tests.runs.fake_engine import fake_engine

STORED = Path(__file__).parent.parent / "fixtures" / "store_0_1"
RUN = "20261118-001653-6e22"
PAIRS = 48


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """A run of version 0.1, whose store is upgraded when something asks it."""
    place = tmp_path_factory.mktemp("old") / "runs"
    shutil.copytree(STORED / "runs", place)
    return RunFolder(place / RUN)


def stored_scores(folder, method, iteration):
    return pq.read_table(folder.scores_file(method, iteration)).to_pandas()


def test_new_runs_state_their_format(finished):
    assert finished.run()["format"] == json.loads(finished.run_file.read_text())["format"] == FORMAT == 3


@pytest.mark.parametrize("number", [FORMAT + 1, "4", 0])
def test_another_format_is_refused_in_one_sentence(finished, number):
    write_json(finished.run_file, {**finished.run(), "format": number})
    for ask in (finished.run, finished.rules, finished.model, finished.comparison, lambda: summary(finished)):
        with pytest.raises(StorageError, match=r"format .* by a newer version of Riskcore, .*: update Riskcore"):
            ask()


@pytest.mark.parametrize("content", ["[]", "null", "3"])
def test_a_description_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "run.json").write_text(content, encoding="utf-8")
    with pytest.raises(StorageError, match="does not hold a run's description"):
        RunFolder(tmp_path).run()


def test_settings_of_version_0_1_have_todays_names(old):
    found = old.run()
    assert (found["format"], found["code"], found["versions"]["numpy"]) == (1, "", "2.4.6")
    assert RunConfig.from_dict(found["config"]).rule.non_match_impurity == 0.1
    assert set(found["config"]["adapt"]) == set(dataclasses.asdict(RunConfig())["adapt"])


def test_the_store_reads_settings_of_version_0_1(tmp_path):
    shutil.copy(STORED / "runs" / "riskcore.sqlite", tmp_path)
    config = RunStore(tmp_path).get(RUN).config
    assert (config.matcher.kind, config.tune.epochs) == ("toy", 60)
    assert config.methods == ("tradition", "risk", "risk+", "forest")


@pytest.mark.parametrize("method", ["risk", "risk+"])
def test_scores_of_version_0_1(old, method):
    kept = old.kept(method)
    assert kept is not None
    page = query_pairs(old, PairQuery(method=method, page_size=100)).rows
    stored = stored_scores(old, method, kept).set_index("pair_id").loc[page["pair_id"]]
    assert set(SCORE_COLUMNS) < set(page)
    assert page["flipped"].tolist() == stored["changed"].tolist()
    np.testing.assert_array_equal(page["var_non_match"], stored["var_unmatch"])
    flipped = query_pairs(old, PairQuery(method=method, flipped=True)).rows
    assert len(flipped) == stored["changed"].sum()


@pytest.mark.parametrize("method", ["risk", "risk+"])
def test_one_pair_of_version_0_1(old, method):
    riskiest = query_pairs(old, PairQuery(method=method, page_size=1)).rows.iloc[0]
    detail = pair_detail(old, riskiest["pair_id"], method)
    assert detail.scores == {name: riskiest[name] for name in SCORE_COLUMNS}
    assert {*detail.left, *detail.right} == {"name", "brand", "price"}
    explained = explain_detail(old, detail, method)
    assert explained.risk == pytest.approx(riskiest["risk"])
    assert all(" unmatch" not in rule.text for rule in old.rules().rules)
    history = pair_history(old, riskiest["pair_id"], method)
    assert list(history) == list(HISTORY_COLUMNS)
    assert history["iteration"].tolist() == old.iterations(method)


@pytest.mark.parametrize("method", ["risk", "risk+"])
def test_rules_of_version_0_1(old, method):
    table = rule_table(old, method)
    assert list(table) == list(RULE_COLUMNS)
    assert set(table["outcome"]) == {"match", "non-match"}
    assert table["text"].tolist() == list(old.model(method).rules)
    written = json.loads(old.rules_file.read_text())
    assert table["source_support"].tolist() == [row["support"] for row in written]
    weights = [row["weight"] for row in json.loads(old.model_file(method, old.kept(method)).read_text())["rules"]]
    np.testing.assert_allclose(table["weight"], weights)
    assert table["validation_purity"].notna().any()


def test_summary_and_results_of_version_0_1(old):
    rows = summary(old)
    assert list(rows) == list(SUMMARY_COLUMNS)
    assert all(used == ["source", "validation"] for used in rows["labels_used"])
    assert old.results()["methods"]["risk+"]["best_iteration"] == old.kept("risk+")


def test_the_comparison_of_version_0_1(old, tmp_path):
    left = comparison(old)
    assert set(left["methods"]) == {"tradition", "risk", "risk+", "forest"}
    assert all(row["lacked"] == [] for row in left["methods"].values())
    assert set(left["reliability"]) == set(left["methods"])
    shutil.copytree(old.path, tmp_path / RUN)
    (tmp_path / RUN / "comparison.json").unlink()
    again = comparison(RunFolder(tmp_path / RUN))
    assert again["changes"]["risk+"]["flipped"] == left["changes"]["risk+"]["flipped"]
    assert set(left["budgets"]) == {"tradition"}  # it ranked the labels of iteration 0 only
    assert set(again["budgets"]) == {"tradition", "risk", "risk+"}
    for curves in again["budgets"].values():
        assert {one["ranking"] for one in curves} >= {"risk", "learnrisk", "confidence", "static rules"}


def test_record_ids_of_version_0_1_are_those_in_the_pairs_id(old, finished):
    for folder in (old, finished):
        ids = read_pair_ids(folder.pairs_file).to_pylist()
        assert ids
        assert all(one["pair_id"] == f"{one['ltable_id']}:{one['rtable_id']}" for one in ids)


def test_a_run_of_version_0_1_is_not_resumed(tmp_path, monkeypatch):
    shutil.copytree(STORED, tmp_path / "store")
    monkeypatch.chdir(tmp_path / "store")
    store = RunStore(tmp_path / "store" / "runs")
    store.requeue(RUN)
    with pytest.raises(RunFailedError, match=r"Riskcore's code has changed.*Start a new run"):
        execute(store, RUN, engine=fake_engine)


def test_a_run_with_two_pairs_of_one_id_is_refused(tmp_path):
    """As version 0.2 recorded (a, b:c) and (a:b, c)."""
    file = tmp_path / "pairs.parquet"
    columns = {"pair_id": ["a:b:c", "a:b:c"], "ltable_id": ["a", "a:b"], "rtable_id": ["b:c", "c"]}
    pq.write_table(pa.table(columns), file)
    with pytest.raises(StorageError, match="a verdict on one would count for the other"):
        read_pair_ids(file)


def test_the_same_pair_twice_is_no_such_case(tmp_path):
    file = tmp_path / "pairs.parquet"
    pq.write_table(pa.table({"pair_id": ["a:b", "a:b"], "ltable_id": ["a", "a"], "rtable_id": ["b", "b"]}), file)
    assert len(read_pair_ids(file)) == 2
