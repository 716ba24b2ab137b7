"""The bar of `apply`: on the run's own target it gives the run's answers, whatever they were made by."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from riskcore.apply.apply import apply_to_file
from riskcore.apply.inputs import read_new
from riskcore.apply.records import Records
from riskcore.apply.scoring import score_pairs
from riskcore.config import MatcherConfig, RunConfig
from riskcore.data import find_sample, open_data
from riskcore.errors import ConfigError
from riskcore.runs.bundle.read import open_bundle
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.run_record import RunFailedError
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker import execute as worker
from riskcore.training import ensemble, risk_plus
from riskcore.training.stacker import Stacker
from tests.apply.finished import QUICK, assert_same_answers, finished, shifted

METHODS = ("tradition", "risk", "risk+", "supervised")


def applied(folder: RunFolder, new: Path | str, method: str) -> pd.DataFrame:
    bundle = open_bundle(folder)
    return score_pairs(bundle, read_new(Path(new), Records(bundle)), method).frame()


def target_of(folder: RunFolder) -> str:
    config = folder.run()["config"]
    return config["target"] or config["source"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return finished(tmp_path_factory.mktemp("runs"), shifted(methods=METHODS))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_that_answers_by_a_matcher_or_a_stacker(run: RunFolder, method: str) -> None:
    found = applied(run, target_of(run), method)
    assert_same_answers(run, found, method)
    assert_same_answers(run, found, method, "unseen")
    facts = open_bundle(run).facts
    assert facts["answer"] == "risk+"
    assert facts["methods"]["risk+"]["stacked"]
    assert facts["spaces"][0]["leads"]


def test_the_command_in_a_fresh_process(run: RunFolder, tmp_path: Path) -> None:
    out = tmp_path / "answers.parquet"
    command = [sys.executable, "-m", "riskcore", "apply", str(run.path), target_of(run), "--out", str(out), "--json"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    document = json.loads(told.stdout)
    assert (document["method"], document["kept_iteration"]) == ("risk+", run.kept("risk+"))
    assert document["counts"]["new records"] == 0
    assert document["counts"]["pairs"] == 3_000
    assert_same_answers(run, pd.read_parquet(out), "risk+")


def test_a_part_of_the_pairs_has_the_same_answers(run: RunFolder) -> None:
    """Competitors and leads come from all records of the run, not from those that happen to be given."""
    bundle = open_bundle(run)
    pairs = read_new(Path(target_of(run)), Records(bundle))
    some = np.random.default_rng(0).choice(len(pairs), 200, replace=False)
    whole, part = (score_pairs(bundle, one, "risk+").answers for one in (pairs, pairs.take(some)))
    is_target = np.isin(pairs.ids[some], pd.read_parquet(run.pairs_file, columns=["pair_id"])["pair_id"])
    assert 10 < is_target.sum() < 190
    np.testing.assert_allclose(part.probability[is_target], whole.probability[some][is_target], rtol=0, atol=1e-9)


def test_a_neural_matcher(tmp_path: Path) -> None:
    config = shifted(matcher=MatcherConfig(kind="sif"), train_fraction=0.04, validation_size=40)
    config = dataclasses.replace(config, tune=dataclasses.replace(config.tune, epochs=1))
    folder = finished(tmp_path, config)
    for method in config.methods:
        assert_same_answers(folder, applied(folder, target_of(folder), method), method)


def test_within_one_data_set_candidates_compete(tmp_path: Path) -> None:
    config = dataclasses.replace(QUICK, source=str(find_sample("products").path), methods=("tradition", "risk+"))
    folder = finished(tmp_path, config)
    bundle = open_bundle(folder)
    competing = [name for name, one in bundle.facts["methods"].items() if (one["ranking"] or {})["competition"]]
    assert competing
    known = bundle.known_pairs(competing[0], *bundle.tables)
    assert known is not None
    assert len(known.pairs) == 3_000  # validation, target, and source pairs, which are of the same tables
    for method in config.methods:
        assert_same_answers(folder, applied(folder, target_of(folder), method), method)


def test_without_validation_labels_iteration_0_answers(tmp_path: Path) -> None:
    folder = finished(tmp_path, shifted(validation_size=0))
    for method in ("risk", "risk+"):
        found = applied(folder, target_of(folder), method)
        assert_same_answers(folder, found, method)
        assert set(found["iteration"]) == {0}
        assert open_bundle(folder).facts["methods"][method]["weights"] == "start"


def test_the_starting_matcher_where_stacking_is_no_help(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ensemble, "fit_stacker", lambda inputs, *_: Stacker(1.0, np.full(inputs.shape[1], -0.5)))
    folder = finished(tmp_path, shifted(methods=("tradition", "risk+")))
    assert folder.method_results("risk+")["lacked"] == [risk_plus.NO_BETTER]
    assert not open_bundle(folder).facts["methods"]["risk+"]["stacked"]
    assert_same_answers(folder, applied(folder, target_of(folder), "risk+"), "risk+")


def narrow_source(folder: Path) -> Path:
    """The clean bibliography with its titles alone, under another name."""
    clean = find_sample("bibliography_clean").path
    folder.mkdir()
    for name in ("tableA", "tableB"):
        table = pd.read_csv(clean / f"{name}.csv", dtype=str)[["id", "title"]].rename(columns={"title": "heading"})
        table.to_csv(folder / f"{name}.csv", index=False)
    for name in ("train", "valid", "test"):
        (folder / f"{name}.csv").write_bytes((clean / f"{name}.csv").read_bytes())
    return folder


def test_attributes_of_the_target_alone_and_mapped_names(tmp_path: Path) -> None:
    source = narrow_source(tmp_path / "narrow")
    folder = finished(tmp_path / "runs", shifted(source=str(source), attribute_map=("heading=title",)))
    facts = open_bundle(folder).facts
    assert [(one["name"], one["column"]) for one in facts["attributes"]][:2] == [
        ("heading", "title"),
        ("authors", "authors"),
    ]
    assert [one["kind"] for one in facts["learners"] or ()][-1] == "target rules"
    found = applied(folder, target_of(folder), "risk+")
    assert_same_answers(folder, found, "risk+")
    assert "left_heading" in found


def test_scores_of_another_matcher(tmp_path: Path) -> None:
    config = shifted()
    scraped = open_data(config.target or "")
    parts = [*open_data(config.source).splits.values(), *scraped.splits.values()]
    ids, labels = (np.concatenate([getattr(part, name) for part in parts]) for name in ("ids", "labels"))
    guess = np.clip(0.7 * labels + 0.3 * np.random.default_rng(0).random(len(ids)), 0, 1)
    frame = pd.DataFrame({"id": ids, "probability": guess}).drop_duplicates("id")
    frame.to_csv(tmp_path / "scores.csv", index=False)
    scores = MatcherConfig(kind="external", scores=str(tmp_path / "scores.csv"))
    folder = finished(tmp_path / "runs", dataclasses.replace(config, matcher=scores))
    (tmp_path / "scores.csv").unlink()  # the bundle has them
    assert_same_answers(folder, applied(folder, target_of(folder), "risk+"), "risk+")
    new = pd.read_csv(Path(target_of(folder)) / "tableB.csv", dtype=str).head(2).assign(id=["n0", "n1"])
    new.to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(ConfigError, match="new records need scores too"):
        applied(folder, tmp_path / "new.csv", "risk+")
    bundle = open_bundle(folder)
    pairs = read_new(tmp_path / "new.csv", Records(bundle))
    scored = pd.DataFrame({"id": pairs.ids, "probability": np.linspace(0.1, 0.9, len(pairs))})
    scored.to_csv(tmp_path / "scores.csv", index=False)
    out = tmp_path / "out.parquet"
    apply_to_file(folder, tmp_path / "new.csv", out, method="tradition", scores=tmp_path / "scores.csv")
    np.testing.assert_allclose(pd.read_parquet(out)["probability"], scored["probability"])


def test_a_resumed_run_has_the_same_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config: RunConfig = shifted(methods=("tradition", "risk+"))
    plain = finished(tmp_path / "plain", config)
    store = RunStore(tmp_path / "stopped")
    run = store.create(config, "tomorrow")
    real = worker.write_other_pairs

    def fails(*_: object) -> None:
        raise ValueError("stopped")

    monkeypatch.setattr(worker, "write_other_pairs", fails)
    with pytest.raises(RunFailedError):
        worker.execute(store, run.id)
    monkeypatch.setattr(worker, "write_other_pairs", real)
    monkeypatch.setattr(ensemble.Ensemble, "_predict", None)  # what was fitted is not fitted again
    store.requeue(run.id)
    worker.execute(store, run.id)
    folder = RunFolder(run.folder)
    for file in ("learners.safetensors", "matchers/risk+.safetensors", "rules.json", "words.parquet"):
        assert (folder.bundle / file).read_bytes() == (plain.bundle / file).read_bytes()
    one, other = (open_bundle(some).facts["methods"] for some in (plain, folder))
    assert one == other
