"""The decision on every candidate pair: who made it, and that it is the kept iteration's."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from riskcore.audit import VerdictLog
from riskcore.audit.decisions import answer_of, decisions, left_out, values_of
from riskcore.columns import DECISION_COLUMNS
from riskcore.config import AdaptConfig, MatcherConfig, RiskConfig, RunConfig, TuneConfig
from riskcore.data import find_sample
from riskcore.errors import ConfigError, StorageError
from riskcore.risk.explain import MATCHER, explain_pairs
from riskcore.rules.sentences import rule_sentence
from riskcore.runs import RunFolder
from riskcore.runs.evidence_files import read_fired
from riskcore.runs.readers.method_comparison import comparison
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import execute
from riskcore.storage.files import write_json, write_parquet
from tests.runs.test_formats import RUN, STORED


def toy_run(root, **changes) -> RunFolder:
    store = RunStore(root / "runs")
    config = RunConfig(
        source=str(find_sample("bibliography_clean").path), target=str(find_sample("bibliography_scraped").path),
        matcher=MatcherConfig(kind="toy"), tune=TuneConfig(epochs=3), risk=RiskConfig(steps=20),
        adapt=AdaptConfig(iterations=2), train_fraction=0.1, methods=("tradition", "risk", "risk+", "forest"),
        **changes,
    )  # fmt: skip
    run = store.create(config, "toy, of course")
    execute(store, run.id)
    return RunFolder(run.folder)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory) -> RunFolder:
    return toy_run(tmp_path_factory.mktemp("labelled"), validation_size=200)


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory) -> RunFolder:
    return toy_run(tmp_path_factory.mktemp("unlabelled"), validation_size=0)


def test_every_candidate_pair_has_a_decision(labelled):
    found = decisions(labelled)
    counts = labelled.run()["counts"]
    assert list(found)[: len(DECISION_COLUMNS)] == list(DECISION_COLUMNS)
    assert list(found)[len(DECISION_COLUMNS) :] == [
        f"{side}_{name}" for side in ("left", "right") for name in labelled.attributes()
    ]
    assert found["part"].value_counts().to_dict() == {
        "target": counts["target"],
        "validation": 200,
        "unseen": counts["unseen"],
    }
    assert found["pair_id"].is_unique
    assert set(found["method"]) == {"risk+"}
    assert set(found["decided_by"]) == {"label given", "model"}
    assert ((found["decided_by"] == "label given") == (found["part"] == "validation")).all()
    assert found["reasons"].notna().all()
    assert left_out(labelled, found) == []


@pytest.mark.parametrize("method", ["risk", "risk+", "forest", "tradition"])
def test_the_model_decides_by_its_answer(labelled, method):
    final = pd.read_parquet(labelled.final_file)
    found = decisions(labelled, method, values=False).head(len(final))
    np.testing.assert_array_equal(found["probability"], final[method])
    np.testing.assert_array_equal(found["decision"] == "match", final[method] >= 0.5)
    assert found["iteration"].isna().all() == (method in ("forest", "tradition"))


@pytest.mark.parametrize("method", ["risk", "risk+"])
def test_without_validation_labels_it_is_iteration_0_exactly(unlabelled, method):
    final = pd.read_parquet(unlabelled.final_file)
    found = decisions(unlabelled, method, values=False)
    target = found[found["part"] == "target"]
    np.testing.assert_array_equal(target["probability"], final["tradition"])
    first = pd.read_parquet(unlabelled.scores_file("risk", 0))
    np.testing.assert_array_equal(target["probability"], first["probability"])
    np.testing.assert_array_equal(target["decision"] == "match", first["label"] == 1)
    before = decisions(unlabelled, "tradition", values=False)
    for name in ("pair_id", "decision", "probability", "decided_by"):  # the unseen pairs too
        np.testing.assert_array_equal(found[name], before[name])
    assert not found["flipped"].any()
    assert set(found["iteration"]) == {0}
    assert answer_of(unlabelled, method).labels_used == ("source",)
    assert "No label of the target was used" in answer_of(unlabelled, method).sentence


@pytest.mark.parametrize("method", ["risk", "risk+"])
def test_flipped_is_what_the_screens_list(labelled, method):
    """An export said False on every pair of risk+ that Compare listed as flipped."""
    found, change = decisions(labelled, method, values=False), comparison(labelled)["changes"][method]
    target = found[found["part"] == "target"]
    assert int(target["flipped"].sum()) == change["flipped"] > 0
    assert target["flipped"].loc[change["rows"]["flipped"]].all()


def test_flipped_of_a_run_that_stored_it_otherwise(labelled, tmp_path):
    """Files of version 0.2 have False there."""
    import shutil

    copy = RunFolder(tmp_path / labelled.path.name)
    shutil.copytree(labelled.path, copy.path)
    file = copy.scores_file("risk+", copy.iteration("risk+", None))
    write_parquet(file, pa.Table.from_pandas(pd.read_parquet(file).assign(flipped=False)))
    pd.testing.assert_series_equal(decisions(copy, verdicts={})["flipped"], decisions(labelled, verdicts={})["flipped"])


def test_verdicts_override_labels_and_labels_the_model(labelled):
    log, run = VerdictLog(RunStore(labelled.path.parent)), labelled.path.name
    before = decisions(labelled, verdicts={}, values=False).set_index("pair_id")
    of_part = {part: list(rows.index) for part, rows in before.groupby("part")}
    changed = [of_part["target"][0], of_part["validation"][0], of_part["unseen"][0]]
    other = {"match": "non-match", "non-match": "match"}
    for pair in changed:
        log.add(run, pair, before.loc[pair, "decision"], who="early")
        log.add(run, pair, other[before.loc[pair, "decision"]], who="late")
    unsure, unsure_label = of_part["target"][1], of_part["validation"][1]
    log.add(run, unsure, "unsure", who="late")
    log.add(run, unsure_label, "unsure", who="late")
    found = decisions(labelled, values=False).set_index("pair_id")
    for pair in changed:
        assert found.loc[pair, "decision"] == other[before.loc[pair, "decision"]]
        assert found.loc[pair, "decided_by"] == "verdict"
        assert "by late on" in found.loc[pair, "reasons"]
    for pair, by in ((unsure, "model"), (unsure_label, "label given")):
        row = found.loc[pair]
        assert (row["decision"], row["decided_by"], row["verdict"]) == (before.loc[pair, "decision"], by, "unsure")
        assert "unsure by late" in row["reasons"]
    rest = found.index.difference([*changed, unsure, unsure_label])
    pd.testing.assert_frame_equal(found.loc[rest], before.loc[rest])


def test_the_truth_is_there_only_if_it_is_asked_for(labelled):
    assert "truth" not in decisions(labelled)
    found = decisions(labelled, truth=True, values=False)
    truth = pd.read_parquet(labelled.truth_file)["label"]
    assert found["truth"].head(len(truth)).tolist() == truth.tolist()
    assert found.loc[found["part"] != "target", "truth"].isna().all()


@pytest.mark.parametrize("method", ["risk", "risk+"])
def test_reasons_are_the_heaviest_agreeing_rules(labelled, method):
    """Against the balance of each pair, one by one."""
    found = decisions(labelled, method, verdicts={}, values=False)
    rules, model = labelled.rules().rules, labelled.model(method)
    rows = np.arange(0, 600, 7)
    fired = read_fired(labelled, 600, len(rules))[rows]
    balance = explain_pairs(model, found["probability"].to_numpy()[rows], fired)
    for place, row in enumerate(rows):
        label = found["decision"].iat[row]
        of_pair = np.flatnonzero((balance.pair == place) & (balance.column != MATCHER))
        agreeing = [at for at in of_pair if rules[balance.column[at]].outcome == label and balance.weight[at] >= 0.0005]
        share = {
            at: balance.weight[at] * (balance.mean[at] if label == "match" else 1 - balance.mean[at]) for at in agreeing
        }
        best = sorted(agreeing, key=lambda at: -share[at])[:2]
        texts = [rule_sentence(rules[balance.column[at]]) for at in best]
        expected = "; ".join(texts) or f"{method} gives {found['probability'].iat[row]:.2f}"
        assert found["reasons"].iat[row] == expected


def test_values_come_in_the_order_asked(labelled):
    frame = decisions(labelled)
    places = frame.index.to_numpy()[[2000, 3, 700, 0]]
    names = [name for name in frame if name.startswith(("left_", "right_"))]
    pd.testing.assert_frame_equal(values_of(labelled, places), frame.loc[places, names])


def test_an_old_run_has_its_target_pairs_and_says_so():
    old = RunFolder(STORED / "runs" / RUN)
    found = decisions(old, verdicts={})
    assert set(found["part"]) == {"target"}
    assert "the target pairs only" in left_out(old, found)[0]


def test_a_run_without_results_and_a_method_that_is_not_there(finished):
    with pytest.raises(ConfigError, match="It has: tradition, risk, forest"):
        decisions(finished, "risk+")
    assert answer_of(finished).method == "risk"
    finished.results_file.unlink()
    with pytest.raises(StorageError, match="is not done"):
        decisions(finished)


def test_the_kept_iteration_decides(finished):
    document = json.loads(finished.results_file.read_text())
    document["methods"]["risk"]["best_iteration"] = 1
    write_json(finished.results_file, document)
    found, kept = decisions(finished, values=False), pd.read_parquet(finished.scores_file("risk", 1))
    np.testing.assert_array_equal(found["probability"].head(len(kept)), kept["probability"])
    np.testing.assert_array_equal(found["flipped"].head(len(kept)).astype(bool), kept["flipped"])
    assert set(found["iteration"]) == {1}


def test_pairs_that_no_one_can_decide_are_left_out(finished):
    """The fake engine gives no probability of validation pairs; these have labels. Without labels, they are out."""
    found = decisions(finished, values=False)
    assert (found.loc[found["part"] == "validation", "decided_by"] == "label given").all()
    stored = pd.read_parquet(finished.other_pairs_file)
    unlabelled = stored.assign(label=pd.array([pd.NA] * len(stored), "Int8"))
    write_parquet(finished.other_pairs_file, pa.Table.from_pandas(unlabelled))
    found = decisions(finished, values=False)
    assert set(found["part"]) == {"target"}
    assert f"{len(stored)} of the target's other pairs are left out" in left_out(finished, found)[0]
