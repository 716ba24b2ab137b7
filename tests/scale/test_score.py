"""Scoring at size: the answers of `apply`, whatever the parts, the processes, the input and the interruptions."""

from __future__ import annotations

import dataclasses
import gc
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from riskcore.apply.inputs import read_new
from riskcore.apply.records import Records
from riskcore.apply.scoring import score_pairs
from riskcore.config import ScaleConfig
from riskcore.data import find_sample
from riskcore.errors import ConfigError, RiskcoreError, StorageError
from riskcore.runs.bundle.read import open_bundle
from riskcore.runs.folder import RunFolder
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.known import find_scored
from riskcore.scale.parts import PartScorer
from riskcore.scale.score import Scored, score
from riskcore.scale.scorer import PreparedTables
from tests.apply.finished import QUICK, finished, shifted
from tests.apply.test_other_shapes import one_table

PARTS = ScaleConfig(part_pairs=1_000, reasons=50)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """From one data set to another: candidates do not compete."""
    return finished(tmp_path_factory.mktemp("runs"), shifted())


@pytest.fixture(scope="module")
def competing(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Within one data set: candidates compete."""
    config = dataclasses.replace(QUICK, source=str(find_sample("products").path), methods=("tradition", "risk+"))
    return finished(tmp_path_factory.mktemp("runs"), config)


@pytest.fixture(scope="module")
def one_sided(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Within one table, where candidates compete too."""
    root = tmp_path_factory.mktemp("runs")
    config = dataclasses.replace(QUICK, source=str(one_table(root / "data")), methods=("tradition", "risk+"))
    return finished(root / "runs", config)


def target_of(run: RunFolder) -> Path:
    config = run.run()["config"]
    return Path(config["target"] or config["source"])


def all_pairs(run: RunFolder, file: Path, **formats: object) -> Path:
    """The ids of all pairs of the run's target, whatever their split."""
    pairs = pd.concat([pd.read_csv(target_of(run) / f"{name}.csv", dtype=str) for name in ("train", "valid", "test")])
    ids = pairs[["ltable_id", "rtable_id"]]
    if file.suffix == ".parquet":
        ids.to_parquet(file, index=False)
    else:
        ids.to_csv(file, index=False, **formats)  # type: ignore[call-overload]
    return file


def stored(done: Scored | Path) -> pd.DataFrame:
    path = done if isinstance(done, Path) else done.folder.path
    return pq.read_table(path / "pairs").to_pandas()


def applied(run: RunFolder, pairs: Path, method: str | None = None) -> pd.DataFrame:
    bundle = open_bundle(run)
    return score_pairs(bundle, read_new(pairs, Records(bundle)), method).frame()


def assert_answers(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    """The same labels everywhere; the same probability and risk where they are exact, and a larger risk elsewhere."""
    assert found["ltable_id"].tolist() == wanted["ltable_id"].tolist()
    assert found["rtable_id"].tolist() == wanted["rtable_id"].tolist()
    assert ((found["label"] == 1) == (wanted["decision"] == "match")).all()
    exact = ~found["bound"]
    np.testing.assert_allclose(found["probability"][exact], wanted["probability"][exact], rtol=0, atol=1e-6)
    np.testing.assert_allclose(found["risk"][exact], wanted["risk"][exact], rtol=0, atol=1e-6)
    assert (found["risk"] >= wanted["risk"] - 1e-6).all()
    assert ((found["probability"] - 0.5).abs() <= (wanted["probability"] - 0.5).abs() + 1e-6).all()


@pytest.mark.parametrize("name", ["clean", "competing", "one_sided"])
@pytest.mark.parametrize("spare", [True, False])
def test_the_answers_of_apply(name: str, spare: bool, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    run: RunFolder = request.getfixturevalue(name)
    pairs = all_pairs(run, tmp_path / "pairs.parquet")
    done = score(run, tmp_path / "out", pairs, config=dataclasses.replace(PARTS, spare=spare, spared_risk=0.3))
    found, wanted = stored(done), applied(run, pairs)
    assert_answers(found, wanted)
    assert done.facts["pairs"] == len(wanted)
    assert done.facts["matches"] == (wanted["decision"] == "match").sum()
    assert done.facts["spared"] == found["bound"].sum()
    assert done.facts["unasked"] == (found["asked"] == 0).sum()
    assert found["bound"].any() == spare
    assert not (done.folder.path / "gathered").exists()


@pytest.mark.parametrize("method", ["tradition", "risk"])
def test_a_matcher_that_answers_itself_is_asked_about_every_pair(clean: RunFolder, tmp_path: Path, method: str) -> None:
    pairs = all_pairs(clean, tmp_path / "pairs.parquet")
    done = score(clean, tmp_path / "out", pairs, method=method, config=PARTS)
    found = stored(done)
    assert not found["bound"].any()
    assert_answers(found, applied(clean, pairs, method))


def test_the_riskiest_pairs_have_reasons(clean: RunFolder, tmp_path: Path) -> None:
    pairs = all_pairs(clean, tmp_path / "pairs.parquet")
    done = score(clean, tmp_path / "out", pairs, config=dataclasses.replace(PARTS, spare=False))
    riskiest, wanted = pd.read_parquet(done.folder.riskiest_file), applied(clean, pairs)
    expected = wanted.sort_values("risk", ascending=False, kind="stable").head(50)
    np.testing.assert_allclose(riskiest["risk"], expected["risk"], atol=1e-6)
    both = riskiest.merge(wanted, on=["ltable_id", "rtable_id"], suffixes=("", "_applied"))
    assert len(both) == 50
    assert (both["reasons"] == both["reasons_applied"]).all()
    whole = stored(done)
    again = whole.iloc[(riskiest["part"] * 1_000 + riskiest["place"]).to_numpy()]
    assert again["ltable_id"].tolist() == riskiest["ltable_id"].tolist()


def test_every_way_to_name_the_same_pairs(clean: RunFolder, tmp_path: Path) -> None:
    target = target_of(clean)
    ids = all_pairs(clean, tmp_path / "pairs.parquet")
    wanted = stored(score(clean, tmp_path / "ids", ids, config=PARTS))
    left, right = (pd.read_csv(target / f"{name}.csv", dtype=str) for name in ("tableA", "tableB"))
    semicolons = all_pairs(clean, tmp_path / "semicolons.csv", sep=";")
    tables = score(clean, tmp_path / "1", semicolons, target / "tableA.csv", target / "tableB.csv", config=PARTS)
    whole = pd.read_parquet(ids).merge(left.add_prefix("left_"), left_on="ltable_id", right_on="left_id")
    whole = whole.merge(right.add_prefix("right_"), left_on="rtable_id", right_on="right_id")
    whole = pd.read_parquet(ids).merge(whole)
    whole.drop(columns=["ltable_id", "rtable_id"]).to_csv(tmp_path / "values.csv", index=False)
    values = score(clean, tmp_path / "2", tmp_path / "values.csv", config=PARTS)
    folder = tmp_path / "folder"
    folder.mkdir()
    left.to_parquet(folder / "tableA.parquet", index=False)
    right.to_csv(folder / "tableB.csv", index=False)
    (folder / "pairs.parquet").write_bytes(ids.read_bytes())
    for done in (tables, values, score(clean, tmp_path / "3", folder, config=PARTS)):
        pd.testing.assert_frame_equal(stored(done), wanted)
        assert done.facts["records"] == {"left": len(left), "right": len(right)}


def test_candidates_are_found_where_there_are_no_pairs(clean: RunFolder, tmp_path: Path) -> None:
    target = target_of(clean)
    left = pd.read_csv(target / "tableA.csv", dtype=str).head(60)
    left.assign(id="new" + left["id"]).to_csv(tmp_path / "tableA.csv", index=False)
    done = score(clean, tmp_path / "out", None, tmp_path / "tableA.csv", target / "tableB.csv", top=2, config=PARTS)
    found = stored(done)
    assert 60 < len(found) == done.facts["pairs"]
    assert found["ltable_id"].str.startswith("new").all()
    file = tmp_path / "found.parquet"
    found[["ltable_id", "rtable_id"]].to_parquet(file, index=False)
    again = score(clean, tmp_path / "again", file, tmp_path / "tableA.csv", target / "tableB.csv", config=PARTS)
    pd.testing.assert_frame_equal(stored(again), found)


def test_interrupted_at_every_part_the_bytes_are_the_same(
    competing: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = all_pairs(competing, tmp_path / "pairs.parquet")
    whole = score(competing, tmp_path / "whole", pairs, config=PARTS)
    for name in ("gather", "finish"):
        monkeypatch.setattr(PartScorer, name, stopping_once(getattr(PartScorer, name)))
    stops = 0
    while True:
        try:
            resumed = score(competing, tmp_path / "resumed", pairs, config=PARTS)
            break
        except KeyboardInterrupt:
            stops += 1
            with pytest.raises(StorageError, match="Not all pairs"):
                ScoredFolder(tmp_path / "resumed").facts()
    assert stops == 2 * whole.facts["parts"]
    assert bytes_of(resumed.folder) == bytes_of(whole.folder)


def stopping_once(work: Callable[..., int]) -> Callable[..., int]:
    """The same, but the process is interrupted after each part, the first time."""
    done: set[int] = set()

    def wrapped(scorer: PartScorer, part: int, *rest: np.ndarray) -> int:
        pairs = work(scorer, part, *rest)
        if part not in done:
            done.add(part)
            raise KeyboardInterrupt
        return pairs

    return wrapped


def bytes_of(folder: ScoredFolder) -> dict[str, bytes]:
    """All files but those that tell how long it took."""
    own = ("measured.json", "score.lock")
    files = [file for file in sorted(folder.path.rglob("*")) if file.is_file() and file.name not in own]
    return {str(file.relative_to(folder.path)): file.read_bytes() for file in files}


def test_prepared_tables_hold_ids_as_texts_side_by_side(clean: RunFolder) -> None:
    bundle = open_bundle(clean)
    left, right = bundle.tables
    prepared = PreparedTables.of(bundle, left, right)
    assert (len(prepared.left), len(prepared.right)) == (len(left), len(right))
    assert prepared.left_ids.to_pylist() == left.ids.tolist()
    assert prepared.right_ids.to_pylist() == right.ids.tolist()
    assert set(prepared.left.ids) == {""}
    assert gc.isenabled()


def test_the_command_with_two_processes(competing: RunFolder, tmp_path: Path) -> None:
    pairs = all_pairs(competing, tmp_path / "pairs.csv")
    alone = score(competing, tmp_path / "alone", pairs, config=PARTS)
    command = [sys.executable, "-m", "riskcore", "score", str(competing.path), str(pairs), "--json", "--processes", "2"]
    command += ["--out", str(tmp_path / "two"), "--part-pairs", "1000", "--reasons", "50"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told["pairs"] == alone.facts["pairs"]
    assert told["measured"]["processes"] == 2
    assert told["measured"]["peak_mb"] > 0
    assert bytes_of(ScoredFolder(tmp_path / "two")) == bytes_of(alone.folder)
    assert find_scored(competing.path.parent, told["set"]).folder.path == tmp_path / "two"


def test_what_is_complete_is_not_done_again(clean: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = all_pairs(clean, tmp_path / "pairs.parquet")
    first = score(clean, tmp_path / "out", pairs, config=PARTS)
    monkeypatch.setattr(PartScorer, "gather", None)
    again = score(clean, tmp_path / "out", pairs, config=PARTS)
    assert again.facts == first.facts
    with pytest.raises(StorageError, match="other pairs, of another run or with other settings"):
        score(clean, tmp_path / "out", pairs, config=dataclasses.replace(PARTS, spare=False))


def bad_folder(root: Path) -> Path:
    (root / "other").mkdir()
    (root / "other" / "thesis.tex").write_text("mine")
    return root / "other"


def test_errors_name_the_cause_and_the_cure(clean: RunFolder, tmp_path: Path) -> None:
    ids = all_pairs(clean, tmp_path / "pairs.csv")
    ids.write_text(ids.read_text() + "nobody,b1\n")
    (tmp_path / "odd.csv").write_text("left,right\n1,2\n")
    table = target_of(clean) / "tableA.csv"
    cases: list[tuple[dict[str, object], str]] = [
        ({"pairs": ids}, r"'nobody' \(row 3,001\)"),
        ({"pairs": tmp_path / "odd.csv"}, "no column ltable_id"),
        ({"pairs": tmp_path / "missing.csv"}, "nothing at"),
        ({"pairs": None}, "Give a file of pairs or two tables"),
        ({"pairs": None, "left": table}, "has two tables"),
        ({"pairs": tmp_path / "nothing"}, "nothing at"),
    ]
    for place, (given, message) in enumerate(cases):
        with pytest.raises(ConfigError, match=message):
            score(clean, tmp_path / f"out{place}", config=PARTS, **given)  # type: ignore[arg-type]
    with pytest.raises(RiskcoreError, match="holds other files"):
        score(clean, bad_folder(tmp_path), all_pairs(clean, tmp_path / "p.parquet"), config=PARTS)
    assert (tmp_path / "other" / "thesis.tex").read_text() == "mine"
