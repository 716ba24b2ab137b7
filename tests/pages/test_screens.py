"""Every screen in its empty, its normal and its failed state."""

from __future__ import annotations

import pytest

from pages.parts.frame.navigation import SCREENS
from riskcore.runs import RunFolder, RunState, RunStore
from tests.pages.conftest import words
from tests.pages.synthetic_run import write_run

NEED_RUNS = ("pairs", "rules", "compare", "audit", "results")
UNEXPECTED = "Something unexpected"


@pytest.mark.parametrize("name", SCREENS)
def test_an_empty_screen_says_what_to_do(screen, name):
    app = screen(name)
    text = words(app)
    assert SCREENS[name].title in text
    assert UNEXPECTED not in text
    if name in NEED_RUNS:
        assert "There are no runs yet. Run the sample on the Overview" in text


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_shows_a_finished_run(screen, done, name):
    text = words(screen(name, run=done.id))
    assert UNEXPECTED not in text
    said = {
        "overview": "made up",
        "data_sets": "Every row was read",
        "fine_tuning": "running time",
        "pairs": "**120 pairs**",
        "rules": "**8 rules** of 8",
        "compare": "Fixed and broken labels",
        "scored": "There are no scored sets yet",
        "audit": "Label some pairs",
        "results": "Pairs and entities",
        "help": "Two records that may or may not refer",
    }
    assert said[name] in text


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_shows_a_run_without_labels(screen, runs, name):
    record = write_run(runs, 60, 3, truth=False)
    text = words(screen(name, run=record.id))
    assert UNEXPECTED not in text
    if name == "compare":
        assert "the methods cannot be scored" in text


@pytest.mark.parametrize("name", NEED_RUNS)
def test_a_run_that_failed_early_says_why(screen, runs, name):
    store = RunStore(runs)
    record = store.create(_config(runs))
    store.claim(record.id)
    store.finish(record.id, RunState.FAILED, "The disk is full. Make room and resume.", 3.0)
    text = words(screen(name, run=record.id))
    assert UNEXPECTED not in text
    assert "The disk is full. Make room and resume." in text


@pytest.mark.parametrize("name", NEED_RUNS)
def test_a_damaged_run_says_what_is_wrong(screen, done, name):
    folder = RunFolder(done.folder)
    for file in (*folder.path.glob("scores/*.parquet"), folder.rules_file):
        file.write_bytes(b"not what it was")
    text = words(screen(name, run=done.id, part="Verdicts"))  # of Label & audit; the others have no such parts
    assert "Traceback" not in text
    assert "what to do" in text or UNEXPECTED in text


def test_fine_tuning_shows_a_failure_and_offers_to_resume(screen, runs):
    record = write_run(runs, 40, 2, state=RunState.FAILED)
    app = screen("fine_tuning", run=record.id)
    assert "The disk is full" in words(app)
    assert "Resume" in [button.label for button in app.button]


def test_fine_tuning_shows_a_run_at_work(screen, runs):
    record = write_run(runs, 40, 2, state=RunState.RUNNING)
    app = screen("fine_tuning", run=record.id)
    assert "Cancel" in [button.label for button in app.button]
    assert UNEXPECTED not in words(app)


def test_an_unknown_run_is_named_and_another_shown(screen, done):
    text = words(screen("pairs", run="../../etc/passwd"))
    assert "There is no run" in text
    assert "**120 pairs**" in text


def _config(runs):
    from riskcore.config import RunConfig

    return RunConfig(source=str(runs / "source"))
