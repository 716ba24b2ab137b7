"""The run's own answers again where its data has another shape: one table, a file of pairs, metrics in the matcher."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pandas as pd
import pytest

from riskcore.config import MatcherConfig
from riskcore.data import find_sample
from riskcore.runs.bundle.read import open_bundle
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import read_json
from tests.apply.finished import QUICK, assert_same_answers, finished
from tests.apply.test_own_target import applied

PAIRS = 300  # of each split
METHODS = ("tradition", "risk+")


def tables() -> tuple[pd.DataFrame, pd.DataFrame, dict[str, pd.DataFrame]]:
    folder = find_sample("products").path
    left, right = (pd.read_csv(folder / f"{name}.csv", dtype=str) for name in ("tableA", "tableB"))
    splits = ("train", "valid", "test")
    return left, right, {name: pd.read_csv(folder / f"{name}.csv", dtype=str).head(PAIRS) for name in splits}


def one_table(folder: Path) -> Path:
    """Both tables of products as one."""
    left, right, splits = tables()
    folder.mkdir()
    both = pd.concat([left.assign(id="a" + left["id"]), right.assign(id="b" + right["id"])], ignore_index=True)
    both.to_csv(folder / "tableA.csv", index=False)
    for name, pairs in splits.items():
        named = pairs.assign(ltable_id="a" + pairs["ltable_id"], rtable_id="b" + pairs["rtable_id"])
        named.to_csv(folder / f"{name}.csv", index=False)
    return folder


def pair_file(file: Path, with_ids: bool) -> Path:
    left, right, splits = tables()
    pairs = pd.concat([some.assign(split=name) for name, some in splits.items()], ignore_index=True)
    whole = pairs.merge(left.add_prefix("left_"), left_on="ltable_id", right_on="left_id")
    whole = whole.merge(right.add_prefix("right_"), left_on="rtable_id", right_on="right_id")
    dropped = ["ltable_id", "rtable_id", *([] if with_ids else ["left_id", "right_id"])]
    whole.drop(columns=dropped).to_csv(file, index=False)
    return file


@pytest.mark.parametrize("shape", ["one table", "pairs with ids", "pairs without ids"])
def test_the_same_answers(tmp_path: Path, shape: str) -> None:
    if shape == "one table":
        data = one_table(tmp_path / "data")
    else:
        data = pair_file(tmp_path / "data.csv", with_ids=shape == "pairs with ids")
    matcher = MatcherConfig(kind="toy", wide=True)
    config = dataclasses.replace(QUICK, source=str(data), matcher=matcher, methods=METHODS)
    folder = finished(tmp_path / "runs", config)
    assert open_bundle(folder).facts["self_join"] == (shape == "one table")
    for method in METHODS:
        assert_same_answers(folder, applied(folder, data, method), method)


def unlabelled(folder: Path) -> tuple[Path, Path]:
    """Products with candidate pairs that have no label, and a file of labels drawn with unequal chances."""
    left, right, splits = tables()
    folder.mkdir()
    left.to_csv(folder / "tableA.csv", index=False)
    right.to_csv(folder / "tableB.csv", index=False)
    pairs = pd.concat(splits.values(), ignore_index=True)
    pairs.drop(columns="label").to_csv(folder / "pairs.csv", index=False)
    drawn = pairs.groupby("label").head(50)
    chance = drawn["label"].map({"0": 0.1, "1": 0.5})
    labels = folder.parent / "labels.csv"
    drawn.assign(inclusion_probability=chance).to_csv(labels, index=False)
    return folder, labels


def test_a_target_without_a_source_learned_from_a_hundred_labels(tmp_path: Path) -> None:
    data, labels = unlabelled(tmp_path / "data")
    similarity = MatcherConfig(kind="similarity")
    config = dataclasses.replace(QUICK, target=str(data), labels=str(labels), matcher=similarity)
    folder = finished(tmp_path / "runs", config)
    for method in config.methods:
        assert_same_answers(folder, applied(folder, data, method), method)
    assert labels_used(folder)["risk+"] == ["training", "validation"]
    new = pd.read_csv(data / "tableB.csv", dtype=str).head(3).assign(id=["n0", "n1", "n2"])
    new.to_csv(tmp_path / "new.csv", index=False)
    found = applied(folder, tmp_path / "new.csv", "risk+")
    assert set(found["rtable_id"]) == {"n0", "n1", "n2"}
    assert found["probability"].between(0, 1).all()


def labels_used(folder: RunFolder) -> dict[str, list[str]]:
    """Of each method by the bundle, which must agree with the results."""
    found = {name: one["labels_used"] for name, one in open_bundle(folder).facts["methods"].items()}
    results = read_json(folder.results_file)["methods"]
    assert found == {name: results[name]["labels_used"] for name in found}
    return found


def test_labels_that_only_validate_are_not_said_to_teach(tmp_path: Path) -> None:
    data, labels = unlabelled(tmp_path / "data")
    pd.read_csv(labels, dtype=str).groupby("label").head(1).to_csv(labels, index=False)
    similarity = MatcherConfig(kind="similarity")
    config = dataclasses.replace(QUICK, target=str(data), labels=str(labels), matcher=similarity)
    folder = finished(tmp_path / "runs", config)
    assert folder.run()["counts"]["source"] == 0
    used = {name for names in labels_used(folder).values() for name in names}
    assert used <= {"validation"}
    ranked = read_json(folder.results_file)["methods"]["risk"]["ranked"]["labels_used"]
    assert set(ranked) <= {"validation"}
