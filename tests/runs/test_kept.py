"""The kept iteration: what a run answers is what every reader shows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from riskcore import cli
from riskcore.config import AdaptConfig, MatcherConfig, RiskConfig, RunConfig, TuneConfig
from riskcore.data import find_sample
from riskcore.evaluation.truth_scorer import TruthScorer
from riskcore.risk import prior_model
from riskcore.runs import PairQuery, RunFolder, pair_detail, query_pairs, rule_table, summary
from riskcore.runs.readers.method_comparison import comparison
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import execute
from riskcore.runs.worker.score_writer import ScoreWriter
from riskcore.storage.files import write_json
from riskcore.training.results import IterationScores
from tests.runs.fake_engine import METRICS, RULES, fired_by_hand

SENTENCE = "iteration 0, the matcher before adaptation, is kept"


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory) -> RunFolder:
    """A whole run without a validation label."""
    store = RunStore(tmp_path_factory.mktemp("kept") / "runs")
    config = RunConfig(
        source=str(find_sample("bibliography_clean").path), target=str(find_sample("bibliography_scraped").path),
        matcher=MatcherConfig(kind="toy"), tune=TuneConfig(epochs=3), risk=RiskConfig(steps=20),
        adapt=AdaptConfig(iterations=2), train_fraction=0.1, validation_size=0,
        methods=("tradition", "risk", "risk+", "self-training"),
    )  # fmt: skip
    run = store.create(config, "no labels")
    execute(store, run.id)
    return RunFolder(run.folder)


def test_without_validation_labels_every_reader_gets_iteration_0(unlabelled):
    assert unlabelled.iterations("risk") == [0, 1, 2]  # worked through, to be seen
    told, final = unlabelled.results()["methods"], pd.read_parquet(unlabelled.final_file)
    last = query_pairs(unlabelled, PairQuery(iteration=2, sort="row", descending=False, page_size=500)).rows
    assert last["flipped"].any()
    for method in ("risk", "risk+", "self-training"):
        assert (told[method]["best_iteration"], told[method]["labels_used"]) == (0, ["source"])
        assert SENTENCE in told[method]["lacked"][0]
        np.testing.assert_array_equal(final[method], final["tradition"])
    for method in ("risk", "risk+"):
        assert unlabelled.kept(method) == unlabelled.iteration(method, None) == 0
        page = query_pairs(unlabelled, PairQuery(method=method, sort="row", descending=False, page_size=500)).rows
        np.testing.assert_array_equal(page["probability"], final["tradition"][: len(page)])
        assert not page["flipped"].any()
        assert comparison(unlabelled)["changes"][method]["flipped"] == 0
    pair = str(last["pair_id"][0])
    assert pair_detail(unlabelled, pair).scores == pair_detail(unlabelled, pair, iteration=0).scores
    pd.testing.assert_frame_equal(rule_table(unlabelled), rule_table(unlabelled, iteration=0))


def test_rankings_and_iterations_name_the_labels_they_used(unlabelled):
    for method, curves in comparison(unlabelled)["budgets"].items():
        used = {one["ranking"]: one["labels_used"] for one in curves}
        assert used["risk"] == ["source"], method
    assert summary(unlabelled)["labels_used"].tolist() == 4 * [["source"]]


def test_the_command_line_says_why(unlabelled):
    def call(*arguments: str) -> str:
        runs = ["--runs", str(unlabelled.path.parent)]
        result = CliRunner().invoke(cli.app, [*arguments, *runs])
        assert result.exit_code == 0, result.output
        return " ".join(result.stdout.split())

    why = f"risk: There are no validation labels of both classes to choose an iteration by, so {SENTENCE}."
    for command in (("runs", "show"), ("compare",)):
        assert why in call(*command, unlabelled.path.name)
    shown = json.loads(call("top", unlabelled.path.name, "--n", "5", "--json"))["pairs"]
    assert [one["flipped"] for one in shown] == 5 * [False]


def test_readers_take_the_kept_iteration_unless_told(finished):
    document = finished.results()
    assert (finished.kept("risk"), finished.iteration("risk", None)) == (None, 4)  # it does not say: the latest
    document["methods"]["risk"]["best_iteration"] = 1
    write_json(finished.results_file, document)
    assert (finished.kept("risk"), finished.iteration("risk", None), finished.iteration("risk", 3)) == (1, 1, 3)
    assert finished.model("risk").to_json() == finished.model("risk", 1).to_json()
    page, first = (query_pairs(finished, PairQuery(iteration=at)).rows for at in (None, 1))
    pd.testing.assert_frame_equal(page, first)


def test_an_answer_that_is_the_matchers_own_has_changed_nothing(tmp_path):
    """A risk+ run that fell back was shown as its last round, which is not what it answered."""
    values = np.random.default_rng(0).random((30, len(METRICS)))
    model = prior_model([rule.key for rule in RULES], np.array([0.95, 0.02, 0.1]), np.array([40, 50, 20]))
    writer = ScoreWriter(RunFolder(tmp_path), np.arange(30).astype(str), TruthScorer(np.full(30, -1)))
    for iteration, p in enumerate((np.full(30, 0.9), np.full(30, 0.2), np.full(30, 0.4))):
        scores = model.score(p, fired_by_hand(values))
        writer.write(IterationScores("risk+", iteration, scores, model, {}, fallback=iteration == 2))
    rounds, answer = (pd.read_parquet(RunFolder(tmp_path).scores_file("risk+", at)) for at in (1, 2))
    assert rounds["flipped"].all()
    assert not answer["flipped"].any()
    assert (answer["probability"] == 0.4).all()
