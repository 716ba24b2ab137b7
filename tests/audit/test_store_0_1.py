"""A store that version 0.1.0 wrote: whatever the code becomes, every run and every verdict in it stays readable."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from riskcore.audit import VerdictLog
from riskcore.runs import PairQuery, RunFolder, RunStore, query_pairs, summary

STORED = Path(__file__).parent.parent / "fixtures" / "store_0_1"
EXPECTED = json.loads((STORED / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def log(tmp_path):
    """The log of a copy: opening a store may write to it."""
    shutil.copytree(STORED / "runs", tmp_path / "runs")
    return VerdictLog(RunStore(tmp_path / "runs"))


def test_every_entry_is_there_as_it_was_written(log):
    found = [
        {
            "run": one.run,
            "number": one.number,
            "pair_id": one.pair_id,
            "verdict": one.verdict,
            "who": one.who,
            "note": one.note,
            "at": one.at.timestamp(),
            "digest": one.digest,
        }
        for run in EXPECTED["runs"]
        for one in log.entries(run)
    ]
    words = {"unmatch": "non-match"}  # what version 0.1 called it; the entries themselves stay as they were written
    assert found == [{**one, "verdict": words.get(one["verdict"], one["verdict"])} for one in EXPECTED["verdicts"]]
    assert len(found) == 40


@pytest.mark.parametrize("run", EXPECTED["runs"])
def test_each_run_keeps_its_state_events_and_chain(log, run):
    expected, record = EXPECTED["runs"][run], log.store.get(run)
    assert (record.name, record.state.value) == (expected["name"], expected["state"])
    assert len(log.store.events(run)) == expected["events"]
    assert log.problems(run) == []
    assert {pair: one.number for pair, one in log.current(run).items()} == expected["standing"]


def test_the_finished_run_can_be_read(log):
    record = next(one for one in log.store.list() if one.state.value == "done")
    folder = RunFolder(record.folder)
    page = query_pairs(folder, PairQuery(), log.current(record.id))
    assert page.total == 48
    assert page.rows["verdict"].notna().sum() == 20
    assert set(summary(folder)["method"]) == {"risk", "risk+"}
    assert not Path(record.config.source).is_absolute()


@pytest.mark.parametrize("run", EXPECTED["runs"])
def test_new_verdicts_go_on_from_the_last_one(log, run):
    before = log.entries(run)
    added = log.add(run, "12:34", "non-match", "after the upgrade", "Ada")
    assert log.undo(run, "12:34", "Ada").verdict == "withdrawn"
    assert added.number == len(before) + 1
    assert log.entries(run)[: len(before)] == before
    assert log.problems(run) == []
