"""The result as files: csv, parquet and workbooks, with names that say what is in them."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest

from riskcore.audit import ExportError, VerdictLog, decisions, export_result, result, result_files, run_result
from riskcore.audit.verify import verify_run
from riskcore.columns import DECISION_COLUMNS, ENTITY_COLUMNS, MERGED_COLUMNS
from riskcore.errors import ConfigError
from riskcore.runs import RunFolder
from riskcore.runs.worker.execute import execute
from riskcore.storage.files import write_json
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import fake_engine
from tests.runs.test_formats import RUN, STORED


@pytest.fixture
def shifted(store, tmp_path):
    """A run with all parts, whose records begin with a formula."""
    target = small_data(tmp_path / "b", words="=1+1 ")
    run = store.create(small_config(small_data(tmp_path / "a"), target=str(target)), "Shop / 2026: =A1")
    execute(store, run.id, engine=fake_engine)
    return RunFolder(run.folder)


@pytest.fixture
def out(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_the_name_says_run_method_constraint_and_filter(shifted, out, monkeypatch):
    monkeypatch.chdir(out)
    done = export_result(shifted, matches_only=True, constraint="one-to-one", clusters=True, merged=True)
    rest = f"Shop-2026-A1-{shifted.path.name}-risk-one-to-one.csv"
    assert {name: path.name for name, path in done.files.items()} == {
        "pairs": f"matches-{rest}",
        "entities": f"entities-{rest}",
        "merged": f"merged-{rest}",
    }
    assert sorted(path.name for path in out.iterdir()) == sorted(path.name for path in done.files.values())


def test_csv_has_every_pair_and_no_formula(shifted, out):
    done = export_result(shifted, out / "all.csv", all_columns=True)
    rows = rows_of(done.files["pairs"])
    assert len(rows) == done.rows["pairs"] == 144
    assert list(rows[0])[: len(DECISION_COLUMNS)] == list(DECISION_COLUMNS)
    assert all(row["left_title"].startswith("'=1+1 ") for row in rows)
    assert list(rows_of(export_result(shifted, out / "narrow.csv").files["pairs"])[0]) == list(DECISION_COLUMNS)


def test_what_is_exported_is_what_was_decided(shifted, out):
    found = decisions(shifted)
    export_result(shifted, out / "all.parquet", all_columns=True)
    stored = pd.read_parquet(out / "all.parquet")
    assert list(stored) == list(found)
    for name in found:
        same = (stored[name].to_numpy(dtype=object) == found[name].to_numpy(dtype=object)) | stored[name].isna()
        assert same.all(), name
        np.testing.assert_array_equal(stored[name].isna(), found[name].isna())


def test_chunks_make_one_file(shifted, out, monkeypatch):
    whole = {
        form: export_result(shifted, out / f"whole.{form}", all_columns=True) for form in ("csv", "parquet", "xlsx")
    }
    monkeypatch.setattr(result, "CHUNK", 7)
    for form, before in whole.items():
        pieces = export_result(shifted, out / f"pieces.{form}", all_columns=True).files["pairs"]
        read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "xlsx": pd.read_excel}[form]
        pd.testing.assert_frame_equal(read(pieces), read(before.files["pairs"]))


def test_a_workbook_has_a_sheet_for_each_table(shifted, out):
    done = export_result(shifted, out / "all.xlsx", clusters=True, merged=True, all_columns=True, constraint="auto")
    book = openpyxl.load_workbook(out / "all.xlsx")
    assert book.sheetnames == ["Pairs", "Entities", "Merged", "About"]
    assert list(done.files) == ["pairs"]
    tables = {name: list(book[name].values) for name in book.sheetnames}
    assert tables["Entities"][0][: len(ENTITY_COLUMNS)] == ENTITY_COLUMNS
    assert tables["Merged"][0] == (*MERGED_COLUMNS, "title", "year")
    assert {name: len(tables[name.capitalize()]) - 1 for name in done.rows} == done.rows
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert not [cell.coordinate for cell in cells if cell.data_type == "f"]
    facts = dict(tables["About"][1:])
    assert facts["run"] == shifted.path.name
    assert facts["labels_used_in_words"] == "risk used labels of: source. No label of the target was used."
    assert facts["counts: pairs"] == 144
    assert {"version", "exported", "constraint", "suggested_because", "contradictions", "left_out"} <= set(facts)


def test_every_record_has_one_entity(shifted, out):
    export_result(shifted, out / "r.parquet", clusters=True, merged=True)
    entities, merged = (pd.read_parquet(out / f"r-{name}.parquet") for name in ("entities", "merged"))
    assert len(entities) == 24
    assert not entities.duplicated(["side", "record_id"]).any()
    assert set(merged["entity_id"]) == set(entities["entity_id"])
    assert sum(len(json.loads(one)) for one in merged["sources"]) == 24
    pairs = pd.read_parquet(out / "r.parquet")
    matched = pairs[pairs["decision"] == "match"]
    assert (matched["ltable_entity"] == matched["rtable_entity"]).all()
    about = json.loads(pq.read_schema(out / "r.parquet").metadata[b"riskcore"])
    assert about["rows"] == {"pairs": 144, "entities": 24, "merged": len(merged)}


def test_without_entities_no_match_is_dropped(shifted, out):
    """The pairs alone are the decisions as they are; a person's non-match may drop matches from an entity only."""
    done = export_result(shifted, out / "p.csv")
    assert "entities" not in done.about["counts"]
    assert not [row for row in rows_of(out / "p.csv") if row["decided_by"] == "constraint"]


def test_verdicts_decide(shifted, out, store):
    pair = decisions(shifted).query("decision == 'match'")["pair_id"].iloc[0]
    VerdictLog(store).add(shifted.path.name, pair, "non-match", who="=Eve")
    export_result(shifted, out / "p.csv")
    row = next(row for row in rows_of(out / "p.csv") if row["pair_id"] == pair)
    assert (row["decision"], row["decided_by"]) == ("non-match", "verdict")


def test_it_states_the_head_of_the_verdict_log(shifted, out, store):
    assert export_result(shifted, out / "p.csv").about["verdict_log"] == {"entries": 0, "head": ""}
    log, run = VerdictLog(store), shifted.path.name
    for pair in decisions(shifted)["pair_id"].iloc[:3]:
        last = log.add(run, pair, "match", who="ann")
    export_result(shifted, out / "p.parquet")
    about = json.loads(pq.read_schema(out / "p.parquet").metadata[b"riskcore"])
    assert about["verdict_log"] == {"entries": 3, "head": last.digest}
    log.undo(run, last.pair_id, "ann")
    assert verify_run(shifted, store, last.digest).intact  # a head that was kept still tells, whatever came later


def test_the_truth_is_left_out_unless_it_is_asked_for(shifted, out):
    export_result(shifted, out / "p.csv", all_columns=True, clusters=True)
    assert "truth" not in rows_of(out / "p.csv")[0]
    done = export_result(shifted, out / "p.csv", truth=True)
    assert done.about["truth_included"]
    assert {row["truth"] for row in rows_of(out / "p.csv")} == {"0", "1", ""}


def test_further_columns_join_in(shifted, out):
    pair = decisions(shifted)["pair_id"].iloc[3]
    extra = pd.DataFrame({"pair_id": [pair, "no such"], "their_score": [0.25, 1.0], "note": ["=x", 3]})
    for given in (extra, extra.set_index("pair_id")):
        export_result(shifted, out / "p.csv", extra=given)
        rows = rows_of(out / "p.csv")
        assert len(rows) == 144
        assert [(row["pair_id"], row["note"]) for row in rows if row["their_score"]] == [(pair, "'=x")]
    with pytest.raises(ConfigError, match="more than once"):
        export_result(shifted, out / "p.csv", extra=pd.concat([extra, extra]))
    with pytest.raises(ConfigError, match="probability"):
        export_result(shifted, out / "p.csv", extra=extra.rename(columns={"note": "probability"}))
    export_result(shifted, out / "p.parquet", extra=extra)
    assert pd.read_parquet(out / "p.parquet")["note"].dropna().tolist() == ["=x"]


def test_characters_that_a_workbook_cannot_hold(out):
    frame = pd.DataFrame({"a": ["\x0bbell", None, "\u202ex"], "n": [1, np.nan, 2.5]})
    result_files.write_workbook(out / "x.xlsx", {"One": [frame]})
    assert list(openpyxl.load_workbook(out / "x.xlsx")["One"].values) == [
        ("a", "n"),
        ("\\x0bbell", 1),
        (None, None),
        ("\u202ex", 2.5),
    ]


def test_what_cannot_be_exported(shifted, out, monkeypatch):
    with pytest.raises(ExportError, match="csv, parquet, xlsx"):
        export_result(shifted, out / "p.html")
    with pytest.raises(ExportError, match=r"does not end in \.xlsx"):
        export_result(shifted, out / "p.csv", format="xlsx")
    with pytest.raises(ExportError, match="Create it first"):
        export_result(shifted, out / "none" / "p.csv")
    with pytest.raises(ConfigError, match="is not a constraint"):
        export_result(shifted, out / "p.csv", constraint="some")
    monkeypatch.setattr(result_files, "MOST_ROWS", 10)
    with pytest.raises(ExportError, match="choose csv or parquet"):
        export_result(shifted, out / "p.xlsx")
    assert list(out.iterdir()) == []


def test_an_old_run_says_what_it_lacks(out, tmp_path):
    stored = shutil.copytree(STORED / "runs", tmp_path / "stored")  # its store is upgraded when something asks it
    done = export_result(RunFolder(stored / RUN), out / "p.csv", verdicts={})
    assert "the target pairs only" in done.about["left_out"][0]
    assert done.rows["pairs"] == 48


def test_the_kept_iteration_is_named(finished):
    document = finished.results()
    document["methods"]["risk"]["best_iteration"] = 2
    write_json(finished.results_file, document)
    assert run_result(finished).about["kept_iteration"] == 2
