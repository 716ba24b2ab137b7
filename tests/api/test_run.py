"""A finished run as frames: their columns, the kept iteration, and nothing of a record read as markup."""

import pandas as pd
import pytest

import riskcore as rc
from riskcore import columns
from riskcore.audit import VerdictLog
from riskcore.errors import ConfigError
from riskcore.runs import PairNotFoundError, RunNotFoundError, RunStore


def test_scores_are_those_of_the_kept_iteration(run):
    scores = run.scores()
    assert list(scores) == list(columns.PUBLIC_SCORE_COLUMNS)
    assert scores.equals(run.scores("risk", run.kept()))
    assert not scores.equals(run.scores("risk", 1 if run.kept() != 1 else 2))


def test_methods_without_iterations_have_a_risk_but_no_risk_model(run):
    scores = run.scores("forest")
    assert list(scores) == list(columns.PUBLIC_SCORE_COLUMNS)
    assert scores["risk"].between(0, 1).all()
    assert scores["var_match"].isna().all()
    assert set(scores["label"]) == {0, 1}
    assert run.kept("forest") is None
    with pytest.raises(ConfigError, match="has no risk model"):
        run.top(method="forest")
    with pytest.raises(ConfigError, match="no iterations"):
        run.scores("forest", 1)
    with pytest.raises(ConfigError, match="no method 'magic'"):
        run.scores("magic")


def test_top_is_sorted_by_risk_and_has_both_records(run):
    top = run.top(10)
    assert list(top) == [
        *columns.PUBLIC_SCORE_COLUMNS,
        "left_title",
        "left_year",
        "right_title",
        "right_year",
        columns.TRUTH,
        columns.WRONG,
        columns.VERDICT,
    ]
    assert len(top) == 10
    assert top["risk"].is_monotonic_decreasing
    assert top["risk"].max() == run.scores()["risk"].max()
    assert set(run.top(label=1)["label"]) == {1}
    assert len(run.top(20_000)) == len(run.scores())


def test_top_knows_verdicts(run):
    pair = run.top(1)["pair_id"][0]
    log = VerdictLog(RunStore(run.folder.parent))
    log.add(run.id, pair, "match", who="Ada")
    assert run.top(1)["verdict"][0] == "match"
    log.undo(run.id, pair, who="Ada")
    assert run.top(1)["verdict"][0] is None


def test_labels_are_the_final_decisions(run, target):
    labels = run.labels()
    assert list(labels) == list(columns.LABEL_COLUMNS)
    assert list(labels["ltable_id"] + ":" + labels["rtable_id"]) == list(labels["pair_id"])
    assert list(labels["pair_id"]) == list(target.pair_ids[60:])
    assert ((labels["probability"] >= 0.5) == (labels["label"] == 1)).all()


def test_compare(run):
    found = run.compare()
    assert list(found) == list(columns.COMPARE_COLUMNS)
    assert list(found["method"]) == run.methods == ["tradition", "risk", "forest"]
    assert found["f1"].between(0, 1).all()
    assert found.set_index("method")["kept_iteration"]["risk"] == run.kept()


def test_rules(run):
    rules = run.rules()
    assert list(rules) == list(columns.RULE_COLUMNS)
    assert rules["weight"].is_monotonic_decreasing


def test_explain(run):
    pair = run.top(1)
    found = run.explain(pair["pair_id"][0])
    assert (found.label, found.truth) == (pair["label"][0], pair["truth"][0])
    assert found.risk == pytest.approx(pair["risk"][0])
    assert list(found.records) == list(columns.RECORD_COLUMNS)
    assert list(found.reasons) == list(columns.REASON_COLUMNS)
    assert "the matcher" in set(found.reasons["reason"])
    assert found.reasons["mu_share"].sum() == pytest.approx(found.mu)
    assert list(found.history) == list(columns.HISTORY_COLUMNS)
    with pytest.raises(PairNotFoundError, match="no target pair 'a0:nobody'"):
        run.explain("a0:nobody")


def test_record_text_is_never_markup(run, target):
    hostile = run.top(1, text="<script>")["pair_id"][0]
    shown = [run, run.explain(hostile)]
    for one in shown:
        assert "<script>" not in one._repr_html_()
        assert "&lt;script&gt;" in one._repr_html_()
        assert repr(one)


def test_load_by_folder_and_by_id(run):
    for again in (rc.load(run.folder), rc.load(str(run.folder)), rc.load(run.id, runs=run.folder.parent)):
        assert again.id == run.id
        pd.testing.assert_frame_equal(again.labels(), run.labels())
    with pytest.raises(RunNotFoundError, match="no run 'nothing'"):
        rc.load("nothing", runs=run.folder.parent)


def test_a_folder_that_was_copied_away_from_its_store(run, tmp_path):
    import shutil

    shutil.copytree(run.folder, tmp_path / "copy")
    again = rc.load(tmp_path / "copy")
    assert again.top(3)["verdict"].isna().all()
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_a_label_is_1_or_0(run):
    with pytest.raises(ConfigError, match="label is 'match'; it must be 1"):
        run.top(label="match")


def test_loaded_by_the_folder_that_one_is_in(run, monkeypatch):
    monkeypatch.chdir(run.folder)
    here = rc.load(".")
    assert (here.id, here.folder) == (run.id, run.folder)
    pair = here.top(1)["pair_id"][0]
    log = VerdictLog(RunStore(run.folder.parent))
    log.add(run.id, pair, "unsure", who="Ann")
    assert here.top(1)["verdict"][0] == "unsure"
    log.undo(run.id, pair, who="Ann")


def test_the_result(run, target, tmp_path):
    found = run.decisions()
    assert list(found)[: len(columns.DECISION_COLUMNS)] == list(columns.DECISION_COLUMNS)
    assert set(found["pair_id"]) == set(target.pair_ids)
    by_people = found[found["part"] == "validation"].set_index("pair_id")
    assert (by_people["decision"] == "match").tolist() == (target.truth[by_people.index] == 1).tolist()
    resolution = run.clusters(constraint="one-to-one")
    assert list(resolution.entities)[:4] == list(columns.ENTITY_COLUMNS)
    assert len(resolution.entities) == 100
    assert run.suggest_constraint()[0] == "one-to-one"
    done = run.export(tmp_path / "r.xlsx", clusters=True, merged=True, constraint="auto")
    assert done.about["constraint"] == "one-to-one"
    assert [path.name for path in tmp_path.iterdir()] == ["r.xlsx"]


def test_labels_of_a_method_are_flipped_from_the_starting_matcher(run):
    labels, start = run.labels("forest"), run.labels("tradition")
    assert (labels["flipped"] == (labels["label"] != start["label"])).all()
