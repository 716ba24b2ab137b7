"""A run on a sample of its target: the sample's files, and all pairs scored with what it answers with."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import f1_score
from typer.testing import CliRunner

from riskcore.audit.draws import draw_pairs, inclusion_of
from riskcore.audit.labels import labels_of
from riskcore.cli import app
from riskcore.config import RunConfig
from riskcore.runs.bundle.read import open_bundle
from riskcore.runs.folder import RunFolder
from riskcore.runs.sample_files import read_sample, sample_sentence
from riskcore.runs.store.run_record import RunError
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker import large_target
from riskcore.runs.worker.execute import load_data
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.score import score
from riskcore.scale.whole_target import scored_labels
from riskcore.storage.checksums import check_folder
from tests.apply.finished import finished, shifted

SAMPLE = 200


def sampled() -> RunConfig:
    config = shifted(methods=("tradition", "risk+"))
    return dataclasses.replace(config, adapt=dataclasses.replace(config.adapt, target_sample=SAMPLE))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """The run in its store; tests only read it."""
    return finished(tmp_path_factory.mktemp("sampled"), sampled())


def test_the_run_is_about_the_sample(run: RunFolder) -> None:
    about, (workload, truth) = run.run(), load_data(sampled())
    found = read_sample(run)
    assert found is not None
    rows, inclusion, _ = found
    pairs = pq.read_table(run.pairs_file, columns=["pair_id"]).column(0).to_pylist()
    assert pairs == workload.target.ids[rows].tolist()
    assert pq.read_table(run.truth_file).column("label").to_pylist() == truth.labels[rows].tolist()
    assert len(pq.read_table(run.final_file)) == SAMPLE
    assert about["counts"]["target"] == SAMPLE
    assert about["sample"]["pairs"] == len(workload.target)
    assert about["sample"]["smallest_inclusion"] == inclusion.min()
    assert any(f"sample of {SAMPLE} of the target's {len(workload.target)} pairs" in one for one in about["notices"])
    assert truth.unseen is not None
    assert about["counts"]["unseen"] == SAMPLE < len(truth.unseen)
    assert open_bundle(run).facts["sampled"] is True
    assert not check_folder(run.path).damaged
    assert not check_folder(run.path).missing


def test_results_tell_of_all_pairs(run: RunFolder) -> None:
    results, (workload, truth) = run.results(), load_data(sampled())
    assert results is not None
    whole = results["target"]
    assert whole is not None
    labels = scored_labels(ScoredFolder(run.path / whole["scored"]))
    assert (len(labels), whole["pairs"], whole["sample"]) == (len(workload.target), len(workload.target), SAMPLE)
    assert whole["f1"] == pytest.approx(f1_score(truth.labels, labels))
    assert whole["matches"] == labels.sum()
    assert whole["match_rate"] == pytest.approx(labels.mean())
    assert (whole["method"], whole["labelled"]) == ("risk+", len(labels))
    assert {"sample", "report", "all pairs"} <= set(results["seconds"])


def test_all_pairs_are_scored_in_order_as_score_does_it(run: RunFolder, tmp_path: Path) -> None:
    workload, _ = load_data(sampled())
    ids = pq.read_table(run.target_pairs_file)
    assert ids.column("ltable_id").to_pylist() == workload.target.left.ids[workload.target.left_rows].tolist()
    assert ids.column("rtable_id").to_pylist() == workload.target.right.ids[workload.target.right_rows].tolist()
    again = score(run, tmp_path / "again", run.target_pairs_file).folder
    there = ScoredFolder(run.scored_target)
    assert there.facts()["parts"] == again.facts()["parts"]
    for part in range(again.facts()["parts"]):
        assert there.pairs_file(part).read_bytes() == again.pairs_file(part).read_bytes()


def test_what_was_drawn_is_read_back(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resumed run has the sample that it began with, and refuses other data, also among pairs that were not drawn."""
    config, (workload, truth) = sampled(), load_data(sampled())
    monkeypatch.setattr(large_target, "_draw", None)
    known = read_sample(run)
    assert known is not None
    found = large_target.large_target(run, workload, truth, config, lambda done, total: None, lambda: False)
    assert found is not None
    assert np.array_equal(found.workload.target.ids, workload.target.ids[known[0]])
    assert found.workload.fingerprint == run.run()["fingerprint"]
    labels = truth.labels.copy()
    undrawn = np.setdiff1d(np.arange(len(labels)), known[0])[0]
    labels[undrawn] = 1 - labels[undrawn]
    with pytest.raises(RunError, match="the data has changed"):
        large_target.large_target(
            run, workload, dataclasses.replace(truth, labels=labels), config, lambda *_: None, lambda: False
        )


def test_labels_of_a_sample_stand_for_pairs_of_the_whole_target(run: RunFolder, tmp_path: Path) -> None:
    """A pair had to be in the sample, and then to be drawn from it."""
    folder = RunFolder(shutil.copytree(run.path, tmp_path / run.path.name))
    draw_pairs(folder, 20, seed=3)
    drawn, sample = inclusion_of(folder), read_sample(folder)
    assert drawn is not None
    assert sample is not None
    found = labels_of(folder, {}).set_index("pair_id")["inclusion_probability"].loc[drawn["pair_id"]]
    np.testing.assert_allclose(found, drawn["inclusion_probability"] * sample[1])


def test_the_command_line_tells_of_the_sample(run: RunFolder) -> None:
    assert (
        sample_sentence(run)
        == f"on a sample of {SAMPLE} of 600 target pairs; all of them are scored in scored/all of its folder"
    )
    shown = CliRunner().invoke(app, ["runs", "show", run.path.name, "--runs", str(run.path.parent)])
    assert shown.exit_code == 0
    words = " ".join(shown.output.split())
    assert f"on a sample of {SAMPLE} of 600 target pairs" in words
    assert "Of all, risk+ says" in words
    as_json = CliRunner().invoke(app, ["runs", "show", run.path.name, "--runs", str(run.path.parent), "--json"])
    assert json.loads(as_json.stdout)["results"]["target"]["pairs"] == 600


def test_a_run_on_its_whole_target_has_no_sample(tmp_path: Path) -> None:
    config = shifted(methods=("tradition",))
    workload, truth = load_data(config)
    folder = RunFolder(RunStore(tmp_path).create(config, "whole").folder)
    found = large_target.large_target(folder, workload, truth, config, lambda *_: None, lambda: False)
    assert found is None
    assert read_sample(folder) is None
    assert sample_sentence(folder) == ""
