"""Audits of a run: draws in its folder, estimates from verdicts, and the commands."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from riskcore import cli
from riskcore.audit import VerdictLog
from riskcore.audit.assignment_sources import choose_pairs
from riskcore.audit.draws import draw_pairs, drawn_pairs
from riskcore.audit.estimate import audits_of, draw_audit, estimate_run
from riskcore.audit.estimate.runs import audited_pairs, labels_and_risk, read_audited, used_as_labels
from riskcore.audit.verdicts import bulk_note
from riskcore.errors import ConfigError, StorageError
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import execute
from tests.audit.test_labels import is_match, judge
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import fake_engine


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A finished run, made once."""
    place = tmp_path_factory.mktemp("made")
    store = RunStore(place / "runs")
    run = store.create(small_config(small_data(place / "data")), "small")
    execute(store, run.id, engine=fake_engine)
    return place / "runs", run.id


@pytest.fixture
def store(made, tmp_path):
    shutil.copytree(made[0], tmp_path / "runs")
    return RunStore(tmp_path / "runs")


@pytest.fixture
def finished(made, store, tmp_path):
    return RunFolder(tmp_path / "runs" / made[1])


def ids_of(folder):
    return read_pair_ids(folder.pairs_file).column("pair_id").to_pylist()


def true_f1(folder, method=None, left_out=()):
    label, _ = labels_and_risk(folder, method)
    rows = [
        (one, is_match(pair) == "match")
        for one, pair in zip(label, ids_of(folder), strict=True)
        if pair not in left_out
    ]
    tp = sum(bool(one) and truth for one, truth in rows)
    return 2 * tp / sum(int(one) + truth for one, truth in rows)


def test_draws_are_kept_and_never_repeat(finished):
    first, second = draw_audit(finished, 20, seed=3), draw_audit(finished, 28)
    assert audits_of(finished) == [first, second]
    assert (first.number, first.size, first.seed, first.left, second.left) == (1, 20, 3, 48, 28)
    pairs = audited_pairs(finished)
    assert pairs["pair_id"].is_unique
    assert pairs["audit"].tolist() == [1] * 20 + [2] * 28
    assert set(audited_pairs(finished, 2)["audit"]) == {2}
    with pytest.raises(ConfigError, match="0 are left"):
        draw_audit(finished, 1)


def test_an_estimate_needs_a_draw(finished):
    with pytest.raises(StorageError, match="--draw 100"):
        estimate_run(finished)


@pytest.mark.parametrize("method", [None, "tradition", "forest"])
def test_all_pairs_judged_give_the_f1_of_any_method(store, finished, method):
    draw_audit(finished, 48)
    judge(store, finished, audited_pairs(finished)["pair_id"], is_match)
    found = estimate_run(finished, method)
    assert (found.f1.low, found.f1.value, found.f1.high) == pytest.approx((true_f1(finished, method),) * 3)
    assert found.verdicts == 48
    assert found.check.f1 == pytest.approx((true_f1(finished, method), 0))
    assert found.method == (method or "risk")


def test_verdicts_outside_the_draw_change_nothing(store, finished):
    draw_audit(finished, 20, seed=1)
    drawn = audited_pairs(finished)["pair_id"].tolist()
    judge(store, finished, drawn[:15], is_match)
    before = estimate_run(finished)
    assert (before.verdicts, before.open, before.known) == (15, 5, 0)
    outside = [pair for pair in ids_of(finished) if pair not in drawn]
    judge(store, finished, outside, lambda pair: "match")
    assert estimate_run(finished) == before
    judge(store, finished, drawn[15:16], lambda pair: "unsure")
    assert estimate_run(finished).unsure == 1


def test_verdicts_given_out_of_turn_wait_until_their_draw_reaches_them(store, finished):
    draw_audit(finished, 20, seed=1)
    drawn = audited_pairs(finished)["pair_id"].tolist()
    nothing = estimate_run(finished)
    judge(store, finished, drawn[5:12], lambda pair: "unsure" if pair == drawn[6] else is_match(pair))
    found = estimate_run(finished)
    assert (found.verdicts, found.unsure, found.waiting, found.open) == (0, 0, 7, 13)
    assert (found.f1, found.strata, found.check) == (nothing.f1, nothing.strata, nothing.check)
    judge(store, finished, drawn[:5], is_match)
    found = estimate_run(finished)
    assert (found.verdicts, found.unsure, found.waiting, found.open) == (11, 1, 0, 8)
    draw_audit(finished, 20, seed=2)  # an open end of one draw does not hold up another
    judge(store, finished, audited_pairs(finished, 2)["pair_id"], is_match)
    assert (estimate_run(finished).verdicts, estimate_run(finished).waiting) == (31, 0)
    VerdictLog(store).undo(finished.path.name, drawn[0], who="me")
    assert (estimate_run(finished).verdicts, estimate_run(finished).waiting) == (20, 11)


def test_errors_that_someone_looked_for_do_not_sway_the_estimate(store, finished):
    draw_audit(finished, 40, seed=1)
    drawn, (label, _) = audited_pairs(finished), labels_and_risk(finished)
    wrong = [p for p, row in zip(drawn["pair_id"], drawn["row"], strict=True) if label[row] != (is_match(p) == "match")]
    judge(store, finished, drawn["pair_id"][:10], is_match)
    before = estimate_run(finished)
    judge(store, finished, [pair for pair in wrong if pair in drawn["pair_id"].tolist()[11:]], is_match)
    after = estimate_run(finished)
    assert after.waiting > 0
    assert (after.f1, after.recall, after.precision) == (before.f1, before.recall, before.precision)


def test_verdicts_on_many_pairs_at_once_count_nowhere(store, finished):
    log, run, ids = VerdictLog(store), finished.path.name, ids_of(finished)
    log.add_many(run, ids[:10], "match", bulk_note(3, "match"), who="me")
    draw_audit(finished, 48)  # they are drawn like all others
    drawn = audited_pairs(finished)["pair_id"].tolist()
    judge(store, finished, [pair for pair in drawn if pair not in ids[:10]], is_match)
    found = estimate_run(finished)
    assert (found.known, found.open, found.verdicts + found.waiting) == (0, 10, 38)
    assert set(choose_pairs(finished, "audit", log.entries(run), ["me"])) == set(ids[:10])
    judge(store, finished, ids[:10], is_match)
    assert (estimate_run(finished).verdicts, estimate_run(finished).open) == (48, 0)
    assert estimate_run(finished).f1.value == pytest.approx(true_f1(finished))


def test_verdicts_from_before_the_first_draw_are_a_stratum_of_their_own(store, finished):
    draw_pairs(finished, 10, seed=2)  # for labelling, not for measuring
    early = drawn_pairs(finished)["pair_id"].tolist()
    judge(store, finished, early, is_match)
    draw_audit(finished, 38)
    assert not set(audited_pairs(finished)["pair_id"]) & set(early)
    judge(store, finished, audited_pairs(finished)["pair_id"], is_match)
    found = estimate_run(finished)
    assert (found.known, found.verdicts) == (10, 38)
    assert found.f1.value == pytest.approx(true_f1(finished))
    VerdictLog(store).add(finished.path.name, early[0], "unsure", who="me")
    assert estimate_run(finished) == found  # known as it was when the strata were made


def test_pairs_used_as_labels_leave_the_audit(finished, monkeypatch):
    from riskcore.audit.estimate import runs

    used = set(ids_of(finished)[:7])
    monkeypatch.setattr(runs, "used_as_labels", lambda folder: used)
    draw_audit(finished, 41)
    assert not set(audited_pairs(finished)["pair_id"]) & used
    assert (read_audited(finished).strata.of_pair == -1).sum() == 7
    assert estimate_run(finished, verdicts={}).left_out == 7


def test_labels_that_a_run_was_given_are_known(finished, monkeypatch):
    from riskcore.audit.estimate import runs

    validation = used_as_labels(finished)
    assert len(validation) == 48  # the validation pairs of the small data
    assert not validation & set(ids_of(finished))
    given = pd.DataFrame({"ltable_id": ["a1", "a2"], "rtable_id": ["b1", "b2"], "label": ["match", ""]})
    monkeypatch.setattr(runs, "given_labels", lambda folder: given)
    assert used_as_labels(finished) == validation | {"a1:b1"}


def test_the_digest_tells_labels_apart(finished):
    draw_audit(finished, 10)
    digests = {estimate_run(finished, method, {}).labels_digest for method in ("risk", "tradition")}
    same = np.array_equal(labels_and_risk(finished, "risk")[0], labels_and_risk(finished, "tradition")[0])
    assert len(digests) == (1 if same else 2)
    assert estimate_run(finished, "risk", {}).labels_digest in digests


def invoke(*arguments):
    return CliRunner().invoke(cli.app, [str(one) for one in arguments])


def test_the_commands(store, finished, tmp_path):
    run, runs, file = finished.path.name, ("--runs", finished.path.parent), tmp_path / "list.csv"
    drawn = invoke("audit", "estimate", run, "--draw", 30, "--out", file, *runs)
    assert drawn.exit_code == 0, drawn.output
    assert "30 pairs of audit 1" in drawn.output
    frame = pd.read_csv(file, dtype=str)
    assert not {"label", "risk", "probability"} & set(frame.columns)
    frame["verdict"] = [is_match(pair) for pair in frame["pair_id"]]
    frame.loc[0, "verdict"] = "unsure"
    frame.to_csv(file, index=False)
    assert invoke("audit", "import", run, file, *runs).exit_code == 0
    shown = invoke("audit", "estimate", run, *runs)
    assert shown.exit_code == 0, shown.output
    assert "29 verdicts" in shown.output
    assert "1 pair unsure" in shown.output
    document = json.loads(invoke("audit", "estimate", run, "--method", "tradition", "--json", *runs).stdout)
    assert (document["verdicts"], document["method"]) == (29, "tradition")
    assert document["f1"]["low"] <= document["f1"]["value"] <= document["f1"]["high"]
    again = invoke("audit", "estimate", run, "--draw", 5, "--out", file, "--seed", 4, "--json", *runs)
    assert json.loads(again.stdout)["draw"] == 2


def test_a_draw_needs_a_file(finished):
    refused = invoke("audit", "estimate", finished.path.name, "--draw", 5, "--runs", finished.path.parent)
    assert refused.exit_code == 2
    assert "belong together" in refused.output


def test_bench_audit(finished, tmp_path):
    found = invoke("bench", "audit", "--runs", finished.path, "--audits", 10, "--methods", "tradition", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["rows"] == []  # 48 pairs are fewer than 100 verdicts
    assert invoke("bench", "audit", "--runs", tmp_path / "nothing").exit_code == 2
