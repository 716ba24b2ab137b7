"""What the worker leaves for the Compare screen, against the same counted from the run's files by hand."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from riskcore.evaluation import compare_labels, responsibilities
from riskcore.runs import RunFolder
from riskcore.runs.evidence_files import read_fired
from riskcore.runs.readers.label_rankings import shared_input
from riskcore.runs.readers.method_comparison import compare_methods, comparison
from riskcore.runs.worker.execute import execute
from riskcore.storage.files import write_text
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import fake_engine


def answers_of(folder):
    final = pq.read_table(folder.final_file).to_pandas()
    return {name: final[name].to_numpy() for name in final.columns[2:]}


def truth_of(folder):
    return pq.read_table(folder.truth_file).to_pandas()["label"].to_numpy()


def test_the_worker_leaves_every_method_of_the_run(finished):
    document = json.loads(finished.comparison_file.read_text())
    told = finished.results()["methods"]
    assert list(document["methods"]) == list(told)
    assert set(document["changes"]) == set(told) - {"tradition"}
    for method, row in document["methods"].items():
        assert row["f1"] == pytest.approx(told[method]["f1"])
        assert row["labels_used"] == told[method]["labels_used"]
        assert row["tp"] + row["fp"] + row["fn"] + row["tn"] == 48


def test_an_older_run_is_worked_out_when_it_is_looked_at(finished):
    left = comparison(finished)
    finished.comparison_file.unlink()
    found = comparison(finished)
    usual = {"risk", "confidence", "static rules", "trust score", "random order"}
    for method, curves in left["budgets"].items():
        has_model = {"learnrisk"} if method == "tradition" else set()  # the fake engine names no kept iteration
        assert {curve["ranking"] for curve in curves} == usual | has_model
        left["budgets"][method] = [curve for curve in curves if curve["ranking"] != "trust score"]  # needs the source
    assert found == left


def test_changes_are_those_of_the_answers(finished):
    answers, truth = answers_of(finished), truth_of(finished)
    change = comparison(finished)["changes"]["risk"]
    before, after = answers["tradition"] >= 0.5, answers["risk"] >= 0.5
    assert change["flipped"] == int((before != after).sum())
    assert change["fixed"] == int(((before != truth) & (after == truth)).sum())
    assert sorted(change["rows"]["broken"]) == np.flatnonzero((before == truth) & (after != truth)).tolist()
    moved = np.abs(answers["risk"] - answers["tradition"])[change["rows"]["flipped"]]
    assert (np.diff(moved) <= 0).all()


def test_credit_is_given_by_the_weights_of_the_iteration_that_was_kept(finished):
    """The last iteration's weights were used once, though an earlier iteration's matcher had given the answers."""
    muted = finished.model("risk", 2).with_rules(muted=[finished.model("risk", 2).rules[0]])
    write_text(finished.model_file("risk", 2), muted.to_json())
    told = {"risk": {"best_iteration": 2}}
    assert finished.kept("risk", told["risk"]) == 2
    assert finished.kept("risk", {}) is None
    kept = compare_methods(finished, told, {})["changes"]["risk"]["responsible"]
    last = compare_methods(finished, {}, {})["changes"]["risk"]["responsible"]
    assert (kept["iteration"], last["iteration"]) == (2, 4)
    assert 0 in {one["rule"] for one in last["flipped"]}
    assert 0 not in {one["rule"] for one in kept["flipped"]}


def test_credit_is_that_of_all_pairs(finished):
    """Only flipped pairs are read; the others have no part in it."""
    answers, truth, rules = answers_of(finished), truth_of(finished), finished.rules()
    before, after = ((answers[name] >= 0.5).astype(np.int8) for name in ("tradition", "risk"))
    fired = read_fired(finished, len(truth), len(rules))
    outcomes = np.array([rule.outcome == "match" for rule in rules.rules], dtype=np.int8)
    weights = finished.model("risk", 4).effective_weight
    by_hand = responsibilities(truth, before, after, fired, outcomes, weights)
    found = comparison(finished)["changes"]["risk"]["responsible"]
    assert [one["rule"] for one in found["fixed"]] == [one.rule for one in by_hand.by_fixed()]
    assert [one["credit"] for one in found["broken"]] == pytest.approx([one.broken for one in by_hand.by_broken()])
    assert found["unexplained"] == by_hand.unexplained


def test_some_rows_of_the_firing_matrix(finished):
    whole = read_fired(finished, 48, 3).toarray()
    rows = np.array([3, 4, 17, 47])
    assert (read_fired(finished, 48, 3, rows).toarray() == whole[rows]).all()
    assert read_fired(finished, 48, 3, rows[:0]).shape == (0, 3)


def test_without_labels_nothing_is_right_or_wrong(store, tmp_path):
    run = store.create(small_config(small_data(tmp_path / "unlabelled", labelled=False)))
    execute(store, run.id, engine=fake_engine)
    document = comparison(RunFolder(run.folder))
    answers = answers_of(RunFolder(run.folder))
    change = document["changes"]["risk"]
    plain = compare_labels(None, answers["tradition"] >= 0.5, answers["risk"] >= 0.5)
    assert change["flipped"] == len(plain.flipped) > 0
    assert change["fixed"] is change["broken"] is change["p_value"] is change["rows"]["fixed"] is None
    assert change["responsible"]["flipped"]
    assert document["methods"]["risk"]["f1"] is None
    assert document["budgets"] == {}


def test_a_run_without_risk_has_no_review_queue(store, data):
    run = store.create(small_config(data, methods=("tradition", "forest")))
    execute(store, run.id, engine=fake_engine)
    folder = RunFolder(run.folder)
    assert shared_input(folder, None) is None
    assert comparison(folder)["budgets"] == {}
    assert comparison(folder)["changes"]["forest"]["responsible"] is None
