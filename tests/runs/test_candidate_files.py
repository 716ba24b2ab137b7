"""A run stores every part of its target: validation pairs with their labels, unseen pairs without, and all records."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from riskcore.columns import OTHER_COLUMNS, OTHER_PROBABILITY
from riskcore.config import AdaptConfig, MatcherConfig, RiskConfig, RunConfig, TuneConfig
from riskcore.data import find_sample
from riskcore.runs import RunFolder
from riskcore.runs.candidate_files import (
    has_all_parts,
    is_self_join,
    read_other_fired,
    read_other_pairs,
    read_records,
    write_other_pairs,
)
from riskcore.runs.readers.method_comparison import comparison
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import execute, load_data
from riskcore.training.results import MethodResult
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import fake_engine
from tests.runs.test_formats import RUN, STORED


@pytest.fixture
def shifted(store, tmp_path):
    """A run from one folder to another, whose train part is unseen."""
    config = small_config(small_data(tmp_path / "a"), target=str(small_data(tmp_path / "b", words="x ")))
    run = store.create(config, "shifted")
    execute(store, run.id, engine=fake_engine)
    return RunFolder(run.folder)


def test_the_file_has_validation_and_unseen_pairs(shifted):
    stored = pd.read_parquet(shifted.other_pairs_file)
    methods = [f"{OTHER_PROBABILITY}{method}" for method in ("tradition", "risk", "forest")]
    values = ["left_title", "left_year", "right_title", "right_year"]
    assert list(stored) == [*OTHER_COLUMNS, *values, *methods]
    assert stored["part"].value_counts().to_dict() == {"validation": 48, "unseen": 48}
    known = stored["label"].notna()
    assert (known == (stored["part"] == "validation")).all()  # the unseen pairs have labels in train.csv
    assert stored.loc[~known, methods].notna().all(axis=None)
    assert (stored["pair_id"] == stored["ltable_id"] + ":" + stored["rtable_id"]).all()


def test_the_labels_of_unseen_and_target_pairs_change_nothing_in_it(store, tmp_path):
    source, files = small_data(tmp_path / "a"), []
    for name, part in (("b", None), ("c", "train.csv"), ("d", "test.csv")):
        folder = small_data(tmp_path / name, words="x ")
        if part:
            rows = pd.read_csv(folder / part, dtype=str)
            rows.assign(label=np.roll(rows["label"], 1)).to_csv(folder / part, index=False)
        run = store.create(small_config(source, target=str(folder)), name)
        execute(store, run.id, engine=fake_engine)
        files.append(pq.read_table(RunFolder(run.folder).other_pairs_file))
    assert files[0].equals(files[1])
    assert files[0].equals(files[2])


def test_every_record_is_stored_once(shifted):
    records = read_records(shifted)
    assert records["side"].value_counts().to_dict() == {"left": 12, "right": 12}
    assert list(records) == ["side", "record_id", "value_title", "value_year"]
    assert not is_self_join(shifted)


def test_probabilities_of_trusted_pairs_go_to_their_rows(store, waiting, tmp_path):
    workload, _ = load_data(store.config(waiting.id))
    left_out = {str(workload.validation.ids[3])}
    count = len(workload.validation)
    fewer = MethodResult("risk+", np.zeros(1), None, (), {}, validated=np.arange(count - 1.0))
    taught = MethodResult("forest", np.zeros(1), None, (), {})
    folder = RunFolder(tmp_path / "made")
    write_other_pairs(folder, workload, None, {"risk+": fewer, "forest": taught}, None, left_out)
    found = read_other_pairs(folder, "risk+")
    assert found["probability"].isna().to_numpy().nonzero()[0].tolist() == [3]
    assert found["probability"].dropna().tolist() == list(range(count - 1))
    assert read_other_pairs(folder, "forest")["probability"].isna().all()
    assert read_other_pairs(folder, "another")["probability"].isna().all()
    assert read_other_fired(folder, 3).shape == (count, 3)


def test_an_old_run_has_the_records_of_its_pairs():
    old = RunFolder(STORED / "runs" / RUN)
    assert not has_all_parts(old)
    assert read_other_pairs(old, "risk") is None
    assert set(read_records(old)["side"]) == {"left", "right"}


@pytest.fixture(scope="module")
def labelled(tmp_path_factory) -> RunFolder:
    """A whole run with validation labels, unseen pairs, and risk+."""
    store = RunStore(tmp_path_factory.mktemp("parts") / "runs")
    config = RunConfig(
        source=str(find_sample("bibliography_clean").path), target=str(find_sample("bibliography_scraped").path),
        matcher=MatcherConfig(kind="toy"), tune=TuneConfig(epochs=3), risk=RiskConfig(steps=20),
        adapt=AdaptConfig(iterations=2), train_fraction=0.1, validation_size=200,
        methods=("tradition", "risk", "risk+"),
    )  # fmt: skip
    run = store.create(config, "labels")
    execute(store, run.id)
    return RunFolder(run.folder)


def test_a_whole_run_predicts_all_parts(labelled):
    counts = labelled.run()["counts"]
    for method in ("risk", "risk+"):
        found = read_other_pairs(labelled, method)
        assert found["part"].value_counts().to_dict() == {"unseen": counts["unseen"], "validation": 200}
        assert found["probability"].notna().mean() > 0.95
    fired = read_other_fired(labelled, len(labelled.rules()))
    assert fired.shape == (counts["unseen"] + 200, len(labelled.rules()))
    assert fired.nnz > 0


def test_flipped_means_the_same_in_scores_and_on_compare(labelled):
    """risk+ began with a stacker's labels, so its file said False on every pair that Compare listed as flipped."""
    changes = comparison(labelled)["changes"]
    for method in ("risk", "risk+"):
        scores = pd.read_parquet(labelled.scores_file(method, labelled.iteration(method, None)))
        assert int(scores["flipped"].sum()) == changes[method]["flipped"]
        assert scores.loc[changes[method]["rows"]["flipped"], "flipped"].all()
    assert changes["risk+"]["flipped"] > 0


def test_a_self_join_is_stated(store, tmp_path):
    folder = small_data(tmp_path / "self")
    shutil.copy(folder / "tableA.csv", folder / "tableB.csv")
    for name in ("train", "valid", "test"):
        rows = pd.read_csv(folder / f"{name}.csv", dtype=str)
        rows["rtable_id"] = "a" + rows["rtable_id"].str[1:]
        rows[rows["ltable_id"] != rows["rtable_id"]].assign(label="0").to_csv(folder / f"{name}.csv", index=False)
    rows = pd.read_csv(folder / "train.csv", dtype=str)
    rows.assign(label=["1", *rows["label"][1:]]).to_csv(folder / "train.csv", index=False)
    run = store.create(small_config(folder), "self")
    execute(store, run.id, engine=fake_engine)
    found = RunFolder(run.folder)
    assert is_self_join(found)
    assert found.run()["self_join"] is True
    assert set(read_records(found)["side"]) == {"both"}
