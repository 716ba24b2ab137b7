import itertools

import numpy as np
import pyarrow.parquet as pq
import pytest

from riskcore.errors import StorageError
from riskcore.risk import explain_pairs
from riskcore.runs import (
    PairNotFoundError,
    RunFolder,
    RunNotFoundError,
    explain_detail,
    explain_with,
    pair_detail,
    pair_history,
    rule_table,
    summary,
)
from tests.runs.fake_engine import RULES, fake_evidence, fired_by_hand


def test_a_pair_with_everything_known_of_it(finished):
    metrics = pq.read_table(finished.metrics_file).to_pandas()
    fired = fired_by_hand(metrics.to_numpy()).toarray()
    for row in (0, 7, 21):
        pair = pq.read_table(finished.pairs_file).to_pandas().iloc[row]
        detail = pair_detail(finished, pair["pair_id"])
        assert detail.row == row
        assert detail.left == {"title": pair["left_title"], "year": pair["left_year"]}
        assert detail.right["title"] == pair["right_title"]
        assert detail.fired == np.flatnonzero(fired[row]).tolist()
        expected = [None if np.isnan(value) else value for value in metrics.iloc[row].tolist()]
        assert list(detail.metrics.values()) == expected
        left, right = pair["pair_id"].split(":")
        assert detail.truth == int(left[1:] == right[1:])


def test_the_explanation_is_that_of_the_risk_model(finished):
    detail = pair_detail(finished, "a0:b2", iteration=2)
    fired = fired_by_hand(pq.read_table(finished.metrics_file).to_pandas().to_numpy())[[detail.row]]
    model = finished.model("risk", 2)
    wanted = explain_pairs(model, np.array([detail.scores["probability"]]), fired).of(0)
    assert explain_detail(finished, detail, iteration=2) == wanted
    assert wanted.risk == pytest.approx(detail.scores["risk"])
    muted = model.with_rules(muted=[model.rules[number] for number in detail.fired])
    assert explain_with(muted, detail).mu == pytest.approx(detail.scores["probability"])


def test_history_follows_a_pair(finished):
    history = pair_history(finished, "a0:b2")
    assert history["iteration"].tolist() == [0, 1, 2, 3, 4]
    labels = history["label"].tolist()
    assert history["from_label"].tolist() == [labels[0], *labels[:-1]]
    assert history["flipped"].tolist() == [label != labels[0] for label in labels]
    turns = [False, *(a != b for a, b in itertools.pairwise(labels))]
    assert history["flips"].tolist() == np.cumsum(turns).tolist()


def test_an_unknown_pair_is_named(finished):
    with pytest.raises(PairNotFoundError, match="no target pair 'a99:b99'"):
        pair_detail(finished, "a99:b99")


def test_the_rule_table_counts_what_rules_met(finished):
    table = rule_table(finished, iteration=1)
    fired = fired_by_hand(pq.read_table(finished.metrics_file).to_pandas().to_numpy()).toarray()
    label = pq.read_table(finished.scores_file("risk", 1)).column("label").to_numpy()
    truth = pq.read_table(finished.truth_file).column("label").to_numpy()
    assert table["text"].tolist() == [rule.text for rule in RULES]
    assert table["target_fired"].tolist() == fired.sum(axis=0).tolist()
    for number, rule in enumerate(RULES):
        outcome = int(rule.outcome == "match")
        assert table["conflicts"][number] == (label[fired[:, number]] != outcome).sum()
        assert table["target_purity"][number] == pytest.approx((truth[fired[:, number]] == outcome).mean())
    assert table["source_purity"].tolist() == [0.95, 0.98, 0.9]
    assert table["weight"].tolist() == [0.1] * 3


def test_the_summary_has_a_row_per_iteration(finished):
    rows = summary(finished)
    assert rows["iteration"].tolist() == [0, 1, 2, 3, 4]
    truth = pq.read_table(finished.truth_file).column("label").to_numpy()
    labels = [pq.read_table(finished.scores_file("risk", n)).column("label").to_numpy() for n in range(5)]
    first = labels[0]
    for n, label in enumerate(labels):
        tp = ((label == 1) & (truth == 1)).sum()
        assert rows["f1"][n] == pytest.approx(2 * tp / (label.sum() + truth.sum()))
        assert rows["flips"][n] == (label != labels[max(n - 1, 0)]).sum()
        assert rows["fixed"][n] == ((first != truth) & (label == truth)).sum()
        assert rows["broken"][n] == ((first == truth) & (label != truth)).sum()
        assert rows["mispredicted"][n] == (label != truth).sum()


def test_a_folder_that_is_not_there_or_not_far_enough(tmp_path, waiting):
    with pytest.raises(RunNotFoundError):
        RunFolder(tmp_path / "nowhere").run()
    folder = RunFolder(waiting.folder)
    assert (folder.results(), folder.iterations(), folder.methods(), folder.ready) == (None, [], [], False)
    assert summary(folder).empty
    with pytest.raises(StorageError, match="first iteration"):
        folder.model()
    with pytest.raises(StorageError, match=r"no run\.json yet"):
        folder.run()


def test_the_rule_table_knows_the_record_on_validation_pairs(finished):
    from riskcore.config import RunConfig
    from riskcore.data import build_workload, open_data

    config = RunConfig.from_dict(finished.run()["config"])
    options = {
        "split": config.split,
        "validation_size": config.validation_size,
        "train_fraction": config.train_fraction,
    }
    target = open_data(config.target) if config.target else None
    workload, _ = build_workload(open_data(config.source), target, seed=config.seed, **options)
    part = fake_evidence(workload, config.seed).validation
    table, fired = rule_table(finished), part.fired.toarray()
    for number, rule in enumerate(RULES):
        met = part.labels[fired[:, number]]
        assert table["validation_fired"][number] == len(met)
        assert table["validation_purity"][number] == pytest.approx((met == (rule.outcome == "match")).mean())
