"""Tomorrow's records on the Results screen: a file goes in, a process scores it, the answers come out."""

from __future__ import annotations

import pytest

from pages.parts.results.tomorrow import _file_name
from riskcore.apply import jobs
from riskcore.apply.__main__ import work
from riskcore.apply.jobs import jobs_of
from riskcore.runs import RunFolder
from tests.apply.test_new_records import first_titles, new_frame, run
from tests.pages.conftest import checked, words

__all__ = ["run"]


@pytest.fixture
def open_results(run, screen, monkeypatch):
    """The screen of a run that has a bundle; no process is started, so that a test decides when it works."""
    monkeypatch.setenv("RISKCORE_RUNS", str(run.path.parent))
    monkeypatch.setattr(jobs, "_spawn", lambda job: None)
    yield lambda **address: screen("results", run=run.path.name, **address)
    for job in jobs_of(run):
        job.remove()


def send(app, name, content):
    next(one for one in app.file_uploader if one.label == "New records").set_value((name, content, "text/csv"))
    return checked(next(one for one in app.button if one.label == "Score new records").click().run())


def content(run, column="name"):
    return new_frame(first_titles(run, "left"), column).to_csv(index=False).encode()


def test_a_file_is_scored_and_can_be_downloaded(open_results, run):
    app = send(open_results(), "new *shop*.csv", content(run))
    (job,) = jobs_of(run)
    assert job.going_on
    assert (job.asked.method, job.asked.side, job.asked.kind, job.asked.matches_only) == ("risk", "right", "csv", False)
    assert any(one.label == "Stop" for one in app.button)
    assert work(job)
    app = open_results()
    text = words(app)
    assert r"new \*shop\*" in text
    assert "2 new records" in text
    labels = [one.label for one in app.get("download_button")]
    assert f"Answers · {job.about['counts']['rows']} rows" in labels
    assert _file_name(job) == f"pairs-of-new--shop--{run.path.name}-risk.csv"
    checked(next(one for one in app.button if one.label == "Remove").click().run())
    assert jobs_of(run) == []


def test_a_missing_column_is_said(open_results, run):
    send(open_results(), "new.csv", content(run, "colour"))
    assert not work(jobs_of(run)[0])
    text = words(open_results())
    assert "was not scored" in text
    assert "lack a column that the run's records have: 'name'" in text


def test_no_file_is_a_message(open_results):
    app = open_results()
    app = checked(next(one for one in app.button if one.label == "Score new records").click().run())
    assert "There is no file to score" in words(app)


def test_runs_and_methods_that_cannot_are_said_to(screen, done, open_results, run, monkeypatch):
    assert "needs the columns name, year" in words(open_results(method="tradition"))
    monkeypatch.setenv("RISKCORE_RUNS", str(RunFolder(done.folder).path.parent))
    assert "cannot score new records" in words(screen("results", run=done.id))
