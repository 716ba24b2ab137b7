"""Verdicts from files into the log: nothing twice, nothing under a wrong pair, one clear error for a bad file."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.audit.decisions import decisions
from riskcore.audit.exchange import FORMATS, bring_verdicts, export_verdicts, preview_import, record_import
from riskcore.audit.exchange.bring import PairFinder, pairs_in
from riskcore.audit.verdicts import Brought, Verdict, VerdictError, VerdictLog, unrecorded
from riskcore.data.problems import DataFormatError
from riskcore.runs.store.run_store import RunStore

AT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)


@pytest.fixture
def log(finished):
    return VerdictLog(RunStore(finished.path.parent))


@pytest.fixture
def ids(finished):
    frame = decisions(finished, verdicts={}, reasons=False, values=False)
    return frame["pair_id"].tolist()


def write(tmp_path, text, name="verdicts.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def facts(entries):
    return [(one.pair_id, one.verdict, one.note, one.who, one.at) for one in entries]


@pytest.mark.parametrize("form", FORMATS)
def test_verdicts_of_one_log_come_into_another_once_and_whole(finished, store, ids, log, tmp_path, form):
    run = finished.path.name
    given_there = [
        Verdict("there", ids[0], "match", "#year #two-editions\n=1+1", "Ann", AT),
        Verdict("there", ids[0], "non-match", "", "Bob", AT + timedelta(hours=1)),
        Verdict("there", ids[1], "unsure", "'quoted", "Ann", AT + timedelta(days=1)),
    ]
    path = tmp_path / "verdicts.json" if form in ("label-studio", "argilla") else tmp_path / "verdicts.csv"
    assert export_verdicts(finished, given_there, form, path) == 3
    brought = bring_verdicts(finished, path, who="Carl")
    assert brought.people == {"Ann": 2, "Bob": 1}
    assert preview_import(finished, brought).added == 3
    assert log.entries(run) == []
    assert record_import(finished, brought).added == 3
    assert facts(log.entries(run)) == facts(sorted(given_there, key=lambda one: one.at))
    again = record_import(finished, bring_verdicts(finished, path, form))
    assert (again.added, again.before) == (0, 3)
    assert log.problems(run) == []


def test_a_name_is_for_verdicts_without_one(finished, ids, log, tmp_path):
    path = write(tmp_path, f"pair_id,verdict,who\n{ids[0]},m,Ann\n{ids[1]},n,\n")
    record_import(finished, bring_verdicts(finished, path, who="Carl"))
    assert {one.pair_id: one.who for one in log.entries(finished.path.name)} == {ids[0]: "Ann", ids[1]: "Carl"}


def test_what_a_person_said_since_is_not_overwritten(finished, ids, log, tmp_path):
    run = finished.path.name
    log.add(run, ids[0], "non-match", who="Ann")
    log.add(run, ids[1], "match", who="Ann")
    log.undo(run, ids[1], who="Ann")
    lines = "".join(f"{pair},match,Ann,2026-03-01T12:00:00+00:00\n" for pair in ids[:3])
    path = write(tmp_path, f"pair_id,verdict,who,at\n{lines}")
    counts = record_import(finished, bring_verdicts(finished, path))
    assert (counts.added, counts.older) == (1, 2)
    assert {pair: one.verdict for pair, one in log.current(run).items()} == {ids[0]: "non-match", ids[2]: "match"}


def test_a_verdict_that_was_edited_in_the_exported_file_counts_as_given_now(finished, ids, log, tmp_path):
    run = finished.path.name
    first = log.add(run, ids[0], "non-match", who="Ann")
    path = write(tmp_path, f"pair_id,verdict,who,at\n{ids[0]},match,Ann,{first.at.isoformat()}\n")
    assert record_import(finished, bring_verdicts(finished, path)).added == 1
    assert log.current(run)[ids[0]].verdict == "match"
    assert log.current(run)[ids[0]].at > first.at
    assert record_import(finished, bring_verdicts(finished, path)).added == 0


def test_some_unknown_pairs_are_left_out_and_none_known_is_an_error(finished, ids, log, tmp_path):
    path = write(tmp_path, f"pair_id,verdict\n{ids[0]},m\nzz:1,m\nzz:2,n\n")
    brought = bring_verdicts(finished, path)
    assert brought.unknown == ("zz:1", "zz:2")
    assert record_import(finished, brought).unknown == 2
    assert len(log.entries(finished.path.name)) == 1
    with pytest.raises(DataFormatError) as caught:
        bring_verdicts(finished, write(tmp_path, "pair_id,verdict\nzz:1,m\nzz:2,n\n"))
    assert "row 2, column 'pair_id': The run has no pair 'zz:1'" in str(caught.value)
    assert "'zz:2'" in str(caught.value)


def test_either_order_of_the_records_is_taken_where_it_can_mean_one_pair_only(finished):
    finder = PairFinder(finished)
    frame = decisions(finished, verdicts={}, reasons=False, values=False)
    pair, left, right = frame[["pair_id", "ltable_id", "rtable_id"]].iloc[0]
    assert finder.pair("", left, right) == pair
    assert finder.pair("", right, left) == pair  # no left record has the id of this right one
    finder._left.add(right)
    finder._right.add(left)
    assert finder.pair("", right, left) is None  # it may be another pair, which is no candidate
    finder._self_join = True
    assert finder.pair("", right, left) == pair


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pair_id,verdict,note\nP,match," + "x" * 10_001 + "\n", "The text has 10,001 characters"),
        ("pair_id,verdict,at\nP,match,9999-01-01\n", "The time 9999-01-01 cannot be that of a verdict"),
        ("pair_id,verdict,at\nP,match,0001-01-01T00:00:00+14:00\n", "cannot be that of a verdict"),
        ("pair_id,verdict,who\nP,match," + "x" * 201 + "\n", "Keep 200"),
        ("pair_id,verdict\nP,perhaps\n", "The verdict is 'perhaps'"),
        ("pair_id,verdict\nP,\n", "has no verdict"),
        ("pair_id,verdict\nP,m\nP,n\n", "two different verdicts on"),
        ("pair_id,verdict,who,at\nP,m,A,2026-01-01\nP,n,A,2026-01-01\n", "two different verdicts on 'a"),
        ("", "The file is empty"),
        ("[" * 5000, "not JSON"),
    ],
)
def test_a_bad_file_gives_one_error_and_nothing_is_recorded(finished, ids, log, tmp_path, text, said):
    path = write(tmp_path, text.replace("P", ids[0]))
    with pytest.raises((DataFormatError, VerdictError)) as caught:
        record_import(finished, bring_verdicts(finished, path))
    assert said in str(caught.value)
    assert log.entries(finished.path.name) == []


def test_half_characters_of_json_are_refused(finished, ids, tmp_path):
    result = {"from_name": "verdict", "type": "choices", "value": {"choices": ["match"]}, "meta": {"who": "\ud800"}}
    task = {"data": {"pair_id": ids[0]}, "annotations": [{"result": [result]}]}
    path = write(tmp_path, json.dumps([task]), "tasks.json")
    with pytest.raises(DataFormatError, match="cannot be stored"):
        bring_verdicts(finished, path)


people = st.sampled_from(["Ann", "Bob"])
moments = st.one_of(st.none(), st.integers(0, 5).map(lambda hours: AT + timedelta(hours=hours)))
brought_some = st.lists(
    st.builds(Brought, st.sampled_from(["1", "2"]), st.sampled_from(["match", "unsure"]), st.just(""), people, moments),
    max_size=8,
    unique_by=lambda one: (one.pair_id, one.who, one.at),
)


@settings(max_examples=150)
@given(first=brought_some, second=brought_some)
def test_an_import_repeated_adds_nothing(first, second):
    entries: list[Verdict] = []
    for some in (first, second, second):
        new = unrecorded(entries, some).new
        entries += [
            Verdict("r", one.pair_id, one.verdict, one.note, one.who, one.at or AT + timedelta(days=9)) for one in new
        ]
    assert new == ()


def test_the_pairs_of_a_table_are_found_by_either_id(finished, ids, tmp_path):
    left, right = ids[1].split(":")
    both = write(tmp_path, f"pair_id,ltable_id,rtable_id\n{ids[0]},,\n,{left},{right}\n{ids[0]},,\n", "pairs.csv")
    assert pairs_in(finished, both) == ids[:2]
    with pytest.raises(DataFormatError, match="row 2, column 'pair_id': The run has no pair 'zz'"):
        pairs_in(finished, write(tmp_path, "pair_id\nzz\n"))
    with pytest.raises(DataFormatError, match="There is no column 'pair_id'"):
        pairs_in(finished, write(tmp_path, "id\nzz\n"))
