"""Work lists for people: what is in them, how far everyone is, and two processes that make them at once."""

from __future__ import annotations

import json
import multiprocessing

import pytest
from typer.testing import CliRunner

from riskcore import cli
from riskcore.audit.agreement import adjudication_note, current_by_person
from riskcore.audit.assigned import (
    AssignmentError,
    assign,
    close_list,
    find_list,
    for_person,
    lists_of,
    target_pairs,
)
from riskcore.audit.assignment_sources import SOURCES, choose_pairs, choose_tasks
from riskcore.audit.draws import draw_pairs, drawn_pairs
from riskcore.audit.estimate import draw_audit
from riskcore.audit.estimate.runs import audited_pairs, labels_and_risk
from riskcore.audit.verdicts import VerdictLog
from riskcore.errors import StorageError
from riskcore.runs import RunFolder
from riskcore.storage.files import write_json


@pytest.fixture
def log(store):
    return VerdictLog(store)


@pytest.fixture
def run(finished):
    return finished.path.name


def test_a_list_is_kept_with_the_run_and_closed(finished):
    first, second, *_ = target_pairs(finished)
    made = assign(
        finished, " Ann's ", ["Ann", " Bob", "Ann"], [second, first, second], blind=True, source="s", who="me"
    )
    assert (made.number, made.name, made.to, made.pairs, made.open) == (
        1,
        "Ann's",
        ("Ann", "Bob"),
        (second, first),
        True,
    )
    assign(finished, "2", ["Bob"], [first])
    assert [one.name for one in lists_of(finished)] == ["Ann's", "2"]
    assert lists_of(finished)[0] == made
    assert find_list(finished, "1") == made
    assert find_list(finished, "2").name == "2"
    closed = close_list(finished, "Ann's", "Eve")
    assert (closed.open, closed.closed_by) == (False, "Eve")
    assert close_list(finished, "1", "Bob") == closed == find_list(finished, "Ann's")  # once


def test_what_cannot_be_assigned_is_refused(finished):
    pair = target_pairs(finished)[0]
    assign(finished, "one", ["Ann"], [pair])
    for name, to, pairs, said in (
        (" ", ["Ann"], [pair], "needs a name"),
        ("two", [" "], [pair], "1 to 20 people"),
        ("two", ["x" * 201], [pair], "at most 200"),
        ("two", ["Ann"], [], "There are 0 pairs"),
        ("two", ["Ann"], [pair, "zz"], "no target pair 'zz'"),
        ("one", ["Bob"], [pair], "already"),
    ):
        with pytest.raises(AssignmentError, match=said):
            assign(finished, name, to, pairs)
    with pytest.raises(AssignmentError, match=r"has no work list 'nine'\. It has: 'one'"):
        find_list(finished, "nine")
    write_json(finished.lists / "list-0001.json", {"number": 1})
    with pytest.raises(StorageError, match="not a work list"):
        lists_of(finished)


def test_progress_follows_from_the_log(finished, log, run):
    pairs = target_pairs(finished)[:3]
    made = assign(finished, "three", ["Ann", "Bob"], pairs)
    log.add(run, pairs[1], "match", who="Ann")
    log.add(run, pairs[0], "unsure", who="Bob")
    log.undo(run, pairs[0], who="Bob")
    entries = log.entries(run)
    assert made.progress(entries) == {"Ann": 1, "Bob": 0}
    assert for_person(lists_of(finished), entries, "Ann") == {1: [pairs[0], pairs[2]]}
    assert for_person(lists_of(finished), entries, "Eve") == {}
    close_list(finished, "1")
    assert for_person(lists_of(finished), entries, "Ann") == {}


def test_a_conflict_is_done_once_it_is_decided(finished, log, run):
    pair = target_pairs(finished)[0]
    log.add(run, pair, "match", who="Ann")
    log.add(run, pair, "non-match", who="Bob")
    assert choose_pairs(finished, "conflicts", log.entries(run), ["Bob"]) == [pair]
    made = assign(finished, "conflicts", ["Bob"], [pair], decides=True)
    assert made.left(current_by_person(log.entries(run)), "Bob") == [pair]  # his own verdict decides nothing
    log.add(run, pair, "match", note=adjudication_note(), who="Bob")
    assert made.progress(log.entries(run)) == {"Bob": 1}
    assert choose_pairs(finished, "conflicts", log.entries(run), ["Bob"]) == []


def test_the_riskiest_are_divided(finished, log, run):
    _, risk = labels_and_risk(finished)
    by_risk = [pair for _, _, pair in sorted(zip(-risk, range(len(risk)), target_pairs(finished), strict=True))]
    log.add(run, by_risk[0], "match", who="Eve")
    first = choose_pairs(finished, "riskiest", log.entries(run), ["Ann"], 5)
    assert first == by_risk[1:6]
    assign(finished, "Ann's", ["Ann"], first)
    assert choose_pairs(finished, "riskiest", log.entries(run), ["Bob"], 5) == by_risk[6:11]
    close_list(finished, "Ann's")
    assert choose_pairs(finished, "riskiest", log.entries(run), ["Bob"], 5) == by_risk[1:6]


def test_drawn_pairs_and_second_reviews(finished, log, run):
    assert choose_pairs(finished, "drawn", [], ["Ann"]) == choose_pairs(finished, "audit", [], ["Ann"]) == []
    draw_pairs(finished, 4)
    draw_audit(finished, 10)
    drawn = drawn_pairs(finished)["pair_id"].tolist()
    log.add(run, drawn[0], "match", who="Ann")
    entries = log.entries(run)
    assert choose_pairs(finished, "drawn", entries, ["Bob"]) == drawn[1:]
    audited = audited_pairs(finished)["pair_id"].tolist()
    assert choose_pairs(finished, "audit", entries, ["Bob"], 3) == [one for one in audited if one != drawn[0]][:3]
    assert choose_pairs(finished, "second-review", entries, ["Bob"]) == [drawn[0]]
    assert choose_pairs(finished, "second-review", entries, ["Bob", "Ann"]) == []
    with pytest.raises(AssignmentError, match="no source of pairs"):
        choose_pairs(finished, "any", entries, ["Bob"])
    assert all(SOURCES[name].blind for name in ("drawn", "audit", "second-review"))


def test_tasks_are_what_is_left(finished, log, run):
    pairs = target_pairs(finished)[:3]
    assign(finished, "three", ["Ann", "Bob"], pairs, blind=True)
    for who in ("Ann", "Bob"):
        log.add(run, pairs[0], "match", who=who)
    log.add(run, pairs[1], "match", who="Ann")
    assert choose_tasks(finished, "three", log.entries(run), 10) == (pairs[1:], True)
    assert choose_tasks(finished, "riskiest", log.entries(run), 2)[1] is False
    with pytest.raises(AssignmentError, match="Draw pairs on the tab Label"):
        choose_tasks(finished, "drawn", log.entries(run), 10)


def _assign_some(path, who, pair):
    for number in range(6):
        assign(RunFolder(path), f"{who} {number}", [who], [pair])


def test_two_processes_make_lists_at_once(finished):
    pair, context = target_pairs(finished)[0], multiprocessing.get_context("fork")
    workers = [context.Process(target=_assign_some, args=(finished.path, who, pair)) for who in ("Ann", "Bob")]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
        assert one.exitcode == 0
    found = lists_of(finished)
    assert [one.number for one in found] == list(range(1, 13))
    assert {one.name for one in found} == {f"{who} {number}" for who in ("Ann", "Bob") for number in range(6)}


def call(*arguments, code=0):
    result = CliRunner().invoke(cli.app, ["audit", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output


def test_the_commands(finished, log, run, tmp_path):
    path = finished.path
    pairs = target_pairs(finished)
    (tmp_path / "pairs.csv").write_text("pair_id\n" + "\n".join(pairs[:2]) + "\n")
    made = json.loads(
        call("assign", path, "--name", "mine", "--to", "Ann", "--pairs", tmp_path / "pairs.csv", "--json")
    )
    assert (made["number"], made["pairs"], made["judged"], made["blind"]) == (1, 2, {"Ann": 0}, False)
    said = call("assign", path, "--name", "risky", "--to", "Bob", "--to", "Eve", "--riskiest", 5, "--blind")
    assert "Work list 2, 'risky': 5 pairs for Bob, Eve." in said
    assert "give one of" in call("assign", path, "--name", "x", "--to", "Bob", code=2)
    assert "Draw pairs" in call("assign", path, "--name", "x", "--to", "Bob", "--from", "drawn", code=2)
    log.add(run, pairs[0], "match", "#year", who="Ann")
    shown = json.loads(call("lists", path, "--close", "risky", "--who", "Ann", "--json"))["lists"]
    assert [(one["name"], one["judged"], one["closed_by"]) for one in shown] == [
        ("mine", {"Ann": 1}, ""), ("risky", {"Bob": 0, "Eve": 0}, "Ann"),
    ]  # fmt: skip
    assert "Ann 1 of 2" in call("lists", path)
    tasks, verdicts = tmp_path / "tasks.json", tmp_path / "verdicts.csv"
    call("export", path, "--format", "label-studio", "--what", "tasks", "--pairs", "mine", "--out", tasks)
    assert [one["data"]["pair_id"] for one in json.loads(tasks.read_text())] == [pairs[1]]
    assert "predictions" in json.loads(tasks.read_text())[0]
    call("export", path, "--format", "label-studio", "--what", "tasks", "--blind", "--n", 2, "--out", tasks)
    assert ["predictions" in one for one in json.loads(tasks.read_text())] == [False, False]
    counts = json.loads(call("export", path, "--format", "zingg", "--out", verdicts, "--json"))
    assert (counts["what"], counts["count"]) == ("verdicts", 1)
    assert counts["head"] == log.entries(run)[-1].digest
    assert "'labels' cannot be written" in call(
        "export", path, "--format", "csv", "--what", "labels", "--out", verdicts, code=2
    )
    added = json.loads(call("import", path, verdicts, "--json"))
    assert (added["added"], added["before"], added["older"], added["unknown"]) == (0, 1, 0, 0)
    verdicts.write_text(f"pair_id,verdict,who\n{pairs[1]},m,\nzz,m,\n")
    said = call("import", path, verdicts, "--who", "Bob")
    assert "1 verdict recorded." in said
    assert "1 pair left out, which the run does not have: zz" in said
    assert log.current(run, "Bob")[pairs[1]].verdict == "match"
