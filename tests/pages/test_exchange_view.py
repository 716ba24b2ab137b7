"""The tab Export: files for other tools, and verdicts from them, which are shown before they are recorded."""

from __future__ import annotations

import json

import pytest

from pages.parts.audit.exchange_view import TOOLS, _file_bytes, preview_words
from riskcore.audit import VerdictLog
from riskcore.audit.assigned import target_pairs
from riskcore.audit.exchange import FORMATS, BroughtVerdicts, ImportCounts
from riskcore.audit.exchange.files import decoded
from riskcore.audit.verdicts import Brought
from riskcore.runs import RunFolder, RunStore
from tests.pages.conftest import checked, words
from tests.pages.test_labelling import labels_of, press


@pytest.fixture
def log(runs):
    return VerdictLog(RunStore(runs))


@pytest.fixture
def folder(done):
    return RunFolder(done.folder)


def upload(app, name, content):
    app.file_uploader[0].set_value([(name, content.encode(), "text/plain")])
    return press(app, "Look at it")


def test_a_file_is_shown_before_it_is_recorded(screen, done, folder, log):
    first, second, *_ = target_pairs(folder)
    log.add(done.id, second, "match", who="Bob")
    content = f"pair_id,verdict,note,who\n{first},m,#year <b>,Ann\n{second},m,,Bob\n{second},n,,\nzz:1,m,,Ann\n"
    app = upload(screen("audit", run=done.id, part="Export"), "theirs.csv", content)
    text = words(app)
    assert (
        "has 3 verdicts by Ann, Bob and analyst. 1 recorded before. 1 pair unknown to this run: zz:1."
        in text.replace("\\", "")
    )
    assert len(log.entries(done.id)) == 1
    app = press(app, "Record 2 verdicts")
    assert "2 verdicts recorded." in words(app)
    assert [(one.pair_id, one.note, one.who) for one in log.entries(done.id)[1:]] == [
        (first, "#year <b>", "Ann"), (second, "", "analyst"),
    ]  # fmt: skip
    app = upload(app, "theirs.csv", content)
    assert next(one for one in app.button if one.label == "Record 0 verdicts").disabled
    app = press(app, "Discard")
    assert "Look at it" in labels_of(app)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "pair_id,verdict\nzz,m\n", "The run has no pair 'zz'"),
        ("a.json", "[" * 3000, "not JSON"),
        ("a.csv", "a,b\n1,2\n", "none of the known formats"),
        ("a.xlsx", "not a workbook", "workbook"),
        ("a.parquet", "PAR1", "parquet"),
        ("../../etc/x.csv", "", "empty"),
    ],
)
def test_a_hostile_file_gives_one_message(screen, done, log, name, content, said):
    app = upload(screen("audit", run=done.id, part="Export"), name, content)
    assert said in words(app)
    assert log.entries(done.id) == []
    assert "Look at it" in labels_of(app)


def test_nothing_chosen_is_said(screen, done):
    assert "Choose a file with verdicts first" in words(
        press(screen("audit", run=done.id, part="Export"), "Look at it")
    )


def test_every_tool_gets_its_file(done, folder, log, runs):
    assert tuple(TOOLS) == FORMATS
    pair = target_pairs(folder)[0]
    log.add(done.id, pair, "unsure", "#year", who="Ann")
    for tool, (_, ending, _) in TOOLS.items():
        content = _file_bytes(done.id, folder, tool, ending, [], True, "verdicts")
        assert [(one.pair_id, one.verdict, one.note, one.who) for one in decoded(content, "x")] == [
            (pair, "unsure", "#year", "Ann")
        ]
    (task,) = json.loads(_file_bytes(done.id, folder, "argilla", "json", [pair], True, "tasks"))
    assert (task["suggestions"], task["responses"]) == ({}, {})


def test_pairs_to_judge_can_be_chosen(screen, done):
    app = screen("audit", run=done.id, part="Export")
    assert "There are no verdicts to write yet." in words(app)
    app.selectbox(key="exchange what").set_value("tasks")
    app = checked(app.run())
    assert "100 pairs, with what the model says of them." in words(app)
    app.selectbox(key="exchange pairs").set_value("drawn")
    assert "Draw pairs on the tab Label" in words(checked(app.run()))


def test_many_people_are_counted():
    found = BroughtVerdicts("x", tuple(Brought("1", "match", who=str(number)) for number in range(9)))
    assert preview_words(found, ImportCounts(9, 0, 0, 0)) == "9 verdicts by 0, 1, 2, 3, 4 and 4 others."
