"""New records: columns under the target's names, candidates among the run's records, and clear errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from riskcore.apply.apply import apply_frames, apply_to_file
from riskcore.apply.candidates import candidates_of
from riskcore.apply.records import Records
from riskcore.audit.export import ExportError
from riskcore.columns import APPLIED_COLUMNS
from riskcore.config import AdaptConfig, MatcherConfig, RunConfig, TuneConfig
from riskcore.data.frames import table_from_frame
from riskcore.data.problems import DataFormatError
from riskcore.errors import ConfigError, StorageError
from riskcore.runs.bundle.read import open_bundle
from riskcore.runs.folder import RunFolder
from tests.apply.finished import finished
from tests.data.folders import PAIR_HEADER, write_folder
from tests.runs.conftest import small_data

TITLES = [f"{one} {other} handbook {number}" for number, (one, other) in enumerate(
    (one, other) for one in ("query", "index", "join", "cache", "graph") for other in ("stream", "view", "lock", "page")
)]  # fmt: skip
QUICK = RunConfig(
    matcher=MatcherConfig(kind="toy"),
    methods=("tradition", "risk"),
    tune=TuneConfig(epochs=1),
    adapt=AdaptConfig(iterations=0, base_learner_trees=2, stacking_folds=2),
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Two small tables; the target calls the source's titles names."""
    folder = tmp_path_factory.mktemp("tables")
    source, target = small_data(folder / "source"), small_data(folder / "target", words="the ")
    for name in ("tableA", "tableB"):
        file = target / f"{name}.csv"
        file.write_text(file.read_text(encoding="utf-8").replace("title", "name", 1), encoding="utf-8")
    config = {"source": str(source), "target": str(target), "attribute_map": ("title=name",)}
    return finished(folder / "runs", RunConfig(**{**vars(QUICK), **config}))


@pytest.fixture(scope="module")
def duplicates(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """One table with itself."""
    folder = tmp_path_factory.mktemp("duplicates")
    table = [["id", "title"], *([f"r{n}", title] for n, title in enumerate([*TITLES, *TITLES]))]
    pairs = [[f"r{n}", f"r{n + 20 - step}", str(int(step == 0))] for n in range(20) for step in (0, 1, 2)]
    splits = {"train": pairs[::3] + pairs[1::6], "valid": pairs[2::3][:8] + pairs[3::6][:6], "test": pairs[4::6]}
    tables = {"tableA": table, "tableB": table} | {name: [PAIR_HEADER, *rows] for name, rows in splits.items()}
    source = write_folder(folder / "data", tables)
    return finished(folder / "runs", RunConfig(**{**vars(QUICK), "source": str(source)}))


def new_frame(names: list[str], column: str = "name") -> pd.DataFrame:
    return pd.DataFrame({"id": [f"n{n}" for n in range(len(names))], column: names, "year": "2001"})


def first_titles(run: RunFolder, side: str) -> list[str]:
    records = pd.read_parquet(run.bundle / "records.parquet")
    return records.loc[records["side"] == side, "value_title"].tolist()[:2]


def test_new_records_find_their_counterparts_on_the_other_side(run: RunFolder) -> None:
    for side, other in (("right", "left"), ("left", "right")):
        found = apply_frames(run, new_frame(first_titles(run, other)), side=side, top=2)
        assert tuple(found)[: len(APPLIED_COLUMNS)] == APPLIED_COLUMNS
        assert list(found)[len(APPLIED_COLUMNS) :] == ["left_title", "left_year", "right_title", "right_year"]
        own, theirs = ("rtable_id", "ltable_id") if side == "right" else ("ltable_id", "rtable_id")
        assert set(found[own]) == {"n0", "n1"}
        assert found.groupby(own)[theirs].nunique().between(1, 4).all()
        same = found[found["left_title"] == found["right_title"]]
        assert set(same[own]) == {"n0", "n1"}
        assert found["probability"].between(0, 1).all()
        assert found["risk"].between(0, 1).all()
        assert found["reasons"].notna().all()


def test_the_names_of_the_run_do_too(run: RunFolder) -> None:
    titles = first_titles(run, "left")
    one, other = (apply_frames(run, new_frame(titles, column)) for column in ("name", "title"))
    pd.testing.assert_frame_equal(one, other)


def test_missing_columns_are_named_all_at_once(run: RunFolder) -> None:
    with pytest.raises(ConfigError, match=r"columns that the run's records have: 'name', 'year'\. There are: 'colour'"):
        apply_frames(run, pd.DataFrame({"id": ["n0"], "colour": ["red"]}))


def test_a_record_of_the_run_is_not_added_and_a_changed_one_is(run: RunFolder) -> None:
    records = Records(open_bundle(run))
    known = records.bundle.tables[1]
    row = known.values.iloc[0]
    frame = pd.DataFrame({"id": [known.ids[0]] * 2, "name": [row["title"], "another"], "year": [row["year"]] * 2})
    same, changed = (table_from_frame("new", frame.iloc[[place]]) for place in (0, 1))
    assert records.add_right(same).tolist() == [0]
    assert records.right is known
    assert records.add_right(changed).tolist() == [len(known)]
    assert len(records.right) == len(known) + 1
    assert records.left is records.bundle.tables[0]


def test_a_self_join_has_candidates_among_all_records_and_the_new_ones(duplicates: RunFolder) -> None:
    records = Records(open_bundle(duplicates))
    fresh = pd.DataFrame({"id": ["n0", "n1", "r0"], "title": ["solar panel survey", "solar panel surveys", TITLES[0]]})
    pairs = candidates_of(records, table_from_frame("new", fresh), top=2)
    found = set(pairs.ids)
    assert {"n0:n1", "r0:r20"} <= found  # the new ones with each other; a record of the run with its duplicate
    assert (pairs.left_rows < pairs.right_rows).all()
    assert len(found) == len(pairs)
    assert pairs.left is pairs.right


def test_pairs_of_frames_and_pairs_of_ids(run: RunFolder, tmp_path: Path) -> None:
    titles = first_titles(run, "left")
    pairs = pd.DataFrame({"ltable_id": ["n0", "n1"], "rtable_id": ["n0", "n0"]})
    found = apply_frames(run, new_frame(titles), new_frame(titles[:1]), pairs)
    assert found["pair_id"].tolist() == ["n0:n0", "n1:n0"]
    assert found["left_title"].tolist() == titles
    assert found["right_title"].tolist() == titles[:1] * 2
    own = pd.read_parquet(run.pairs_file)[["ltable_id", "rtable_id"]].head(5)
    own.to_csv(tmp_path / "ids.csv", index=False)
    done = apply_to_file(run, tmp_path / "ids.csv", tmp_path / "out.parquet")
    assert (done.rows, done.about["counts"]["new records"]) == (5, 0)
    between = apply_frames(run, new_frame(titles), new_frame(titles))
    assert {"n0:n0", "n1:n1"} <= set(between["pair_id"])
    for name in ("tableA", "tableB"):
        (tmp_path / "tables").mkdir(exist_ok=True)
        new_frame(titles).assign(id=["a", "b"] if name == "tableA" else ["c", "d"]).to_csv(
            tmp_path / "tables" / f"{name}.csv", index=False
        )
    found = pd.read_parquet(apply_to_file(run, tmp_path / "tables", tmp_path / "out.parquet").path)
    assert {"a:c", "b:d"} <= set(found["pair_id"])


def test_files_by_ending_without_formulas(run: RunFolder, tmp_path: Path) -> None:
    new_frame(["=1+1 the the", *first_titles(run, "left")]).to_csv(tmp_path / "new.csv", index=False)
    done = {
        kind: apply_to_file(run, tmp_path / "new.csv", tmp_path / f"out.{kind}") for kind in ("csv", "parquet", "xlsx")
    }
    texts, plain = pd.read_csv(done["csv"].path), pd.read_parquet(done["parquet"].path)
    assert list(texts) == list(plain)
    assert plain["right_title"].str.startswith("=1+1").any()
    assert not texts["right_title"].str.startswith("=").any()
    sheets = pd.read_excel(done["xlsx"].path, sheet_name=None)
    assert list(sheets) == ["Pairs", "About"]
    assert len(sheets["Pairs"]) == len(plain) == done["csv"].rows
    only = apply_to_file(run, tmp_path / "new.csv", tmp_path / "matches.csv", matches_only=True)
    assert only.rows == only.about["counts"]["matches"] == int((plain["decision"] == "match").sum())


def test_bad_input_is_said_before_anything_is_written(run: RunFolder, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    (tmp_path / "new.csv").write_text("key,name,year\nn0,a,2001\n")
    (tmp_path / "new.pdf").write_text("id,name\n")
    for new, options, error, words in (
        ("new.csv", {}, DataFormatError, "id"),
        ("new.csv", {"id_column": "code"}, ConfigError, "no column 'code' for the ids"),
        ("new.csv", {"id_column": "key", "side": "above"}, ConfigError, "on the left or on the right"),
        ("new.csv", {"method": "forest"}, ConfigError, "It can apply: tradition, risk"),
        ("new.csv", {"scores": tmp_path / "none.csv"}, ConfigError, "a matcher of its own"),
        ("new.pdf", {}, DataFormatError, "no table that can be read"),
        ("nothing.csv", {}, ConfigError, "There is nothing at"),
    ):
        with pytest.raises(error, match=words):
            apply_to_file(run, tmp_path / new, out, **options)
    with pytest.raises(ExportError, match="known ending"):
        apply_to_file(run, tmp_path / "new.csv", tmp_path / "out.pdf")
    with pytest.raises(ExportError, match="Create it first"):
        apply_to_file(run, tmp_path / "new.csv", tmp_path / "none" / "out.csv")
    assert not out.exists()
    assert apply_to_file(run, tmp_path / "new.csv", out, id_column="key").rows > 0


@pytest.mark.parametrize("form", ["semicolons", "latin-1", "xlsx", "zip", "no ids"])
def test_new_records_in_any_form(run: RunFolder, tmp_path: Path, form: str) -> None:
    frame, file, options = new_frame([*first_titles(run, "left"), "die käuflichen bücher"]), tmp_path / "new.csv", {}
    if form == "semicolons":
        frame.to_csv(file, index=False, sep=";")
    elif form == "latin-1":
        frame.to_csv(file, index=False, encoding="latin-1")
    elif form == "xlsx":
        file = tmp_path / "new.xlsx"
        frame.to_excel(file, index=False)
    elif form == "zip":
        file = tmp_path / "new.zip"
        frame.to_csv(file, index=False, compression={"method": "zip", "archive_name": "inside.csv"})
    else:
        frame, options = frame.drop(columns="id"), {"id_column": "none"}
        frame.to_csv(file, index=False)
    done = apply_to_file(run, file, tmp_path / "out.parquet", **options)
    found = pd.read_parquet(done.path)
    assert done.about["counts"]["new records"] == 3
    assert set(found["rtable_id"]) >= ({"1", "2"} if form == "no ids" else {"n0", "n1"})
    expected = apply_frames(run, new_frame(frame["name"].tolist()))
    np.testing.assert_allclose(np.sort(found["probability"]), np.sort(expected["probability"]))


def test_a_run_without_a_bundle_and_one_of_a_later_format(run: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is not done"):
        open_bundle(RunFolder(tmp_path))
    later = tmp_path / "later"
    (later / "bundle").mkdir(parents=True)
    text = (run.bundle / "bundle.json").read_text(encoding="utf-8").replace('"format": 1', '"format": 2', 1)
    (later / "bundle" / "bundle.json").write_text(text, encoding="utf-8")
    with pytest.raises(StorageError, match=r"has format 2, and this version of Riskcore reads format 1"):
        open_bundle(RunFolder(later))


def test_no_candidates_give_an_empty_table(run: RunFolder, tmp_path: Path) -> None:
    frame = apply_frames(run, new_frame(["zzzzzz"]).assign(year="9"))
    assert len(frame) == 0 or np.isfinite(frame["probability"]).all()
    bundle = open_bundle(run)
    assert not [file for file in bundle.path.rglob("*") if file.suffix in (".pkl", ".pickle", ".joblib")]
