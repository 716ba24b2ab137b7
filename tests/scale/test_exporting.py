"""Exports of scored pairs: complete, without formulas, and in a process of their own for the screens."""

from __future__ import annotations

import time

import pandas as pd
import pytest

from riskcore.errors import ConfigError
from riskcore.scale.export_jobs import AskedExport, ExportJob, exports_of, start_export
from riskcore.scale.exporting import EXPORT_COLUMNS, export_pairs, work
from riskcore.scale.queries import ScoredQuery
from riskcore.storage.files import write_json
from tests.scale.made_up import all_pairs, write_scored


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = write_scored(tmp_path_factory.mktemp("scored") / "set")
    return folder, all_pairs(folder, 3)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_all_pairs_in_their_order(made, tmp_path, kind):
    folder, pairs = made
    told = []
    file = tmp_path / f"all.{kind}"
    assert export_pairs(folder, file, on_progress=lambda *one: told.append(one)) == len(pairs)
    found = pd.read_csv(file) if kind == "csv" else pd.read_parquet(file)
    assert tuple(found) == EXPORT_COLUMNS
    assert found["risk"].tolist() == pairs["risk"].tolist()
    assert found["ltable_id"].tolist() == pairs["ltable_id"].tolist()
    assert (found["decision"] == "match").tolist() == (pairs["label"] == 1).tolist()
    assert "l\\:3:r0" in set(found["pair_id"]) or "l\\:3:r1" in set(found["pair_id"])
    assert told[-1] == (len(pairs), 1.0)


def test_some_pairs_with_both_records(made, tmp_path):
    folder, pairs = made
    query = ScoredQuery(label=1, risk_min=0.2, text="1")
    count = export_pairs(folder, tmp_path / "some.parquet", query, values=True)
    found = pd.read_parquet(tmp_path / "some.parquet")
    assert 0 < count == len(found) < len(pairs)
    assert (found["decision"] == "match").all()
    assert (found["risk"] >= 0.2).all()
    left, _ = folder.tables()
    titles = dict(zip(left.ids, left.values["title"], strict=True))
    assert found["left_title"].tolist() == [titles[one] for one in found["ltable_id"]]
    assert {"right_title", "left_the year"} <= set(found)


def test_csv_has_no_formulas(made, tmp_path):
    folder, _ = made
    export_pairs(folder, tmp_path / "all.csv", values=True)
    found = pd.read_csv(tmp_path / "all.csv")
    assert "'=1+1" in set(found["left_title"])
    assert "=1+1" not in set(found["left_title"])
    export_pairs(folder, tmp_path / "all.parquet", values=True)
    assert "=1+1" in set(pd.read_parquet(tmp_path / "all.parquet")["left_title"])


def test_an_unknown_ending(made, tmp_path):
    with pytest.raises(ConfigError, match="known ending"):
        export_pairs(made[0], tmp_path / "all.xlsx")
    assert not list(tmp_path.iterdir())


def test_a_job_of_the_screens(tmp_path):
    folder = write_scored(tmp_path / "set", 120, 2)
    job = start_export(folder, AskedExport("csv", False, {"label": 1}, "matches"))
    until = time.monotonic() + 60
    while job.going_on and time.monotonic() < until:
        time.sleep(0.05)
    assert job.error is None
    assert job.pairs == folder.facts()["matches"] == len(pd.read_csv(job.file))
    assert [one.folder for one in exports_of(folder)] == [job.folder]
    job.remove()
    assert exports_of(folder) == []


def test_a_job_that_fails_and_one_that_is_stopped(tmp_path):
    folder = write_scored(tmp_path / "set", 120, 2)
    for number, filters in enumerate(({"asking": "nothing"}, {})):
        job = ExportJob(folder.path / "exports" / f"job-{number}")
        asked = {"kind": "csv", "values": False, "filters": filters, "words": ""}
        write_json(job.folder / "job.json", {"asked": asked, "started": "2026-01-01T00:00:00+00:00"})
        if not filters:
            job.cancel()
        assert not work(job)
        assert not job.file.exists()
        assert not job.going_on
        assert ("stopped" if not filters else "no such choice") in (job.error or "")
