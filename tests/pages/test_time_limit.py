"""A query that takes too long on a screen: one sentence instead of a screen that never comes."""

from __future__ import annotations

import pytest

from pages.parts.runs import run_files
from riskcore.storage.parquet import frame, searching
from riskcore.storage.time_limit import VARIABLE
from tests.pages.conftest import words
from tests.runs.test_time_limit import FOREVER


@pytest.fixture
def slow(monkeypatch):
    """The queue's query never ends by itself."""

    def never(*_):
        with searching() as connection:
            frame(connection, FOREVER)

    monkeypatch.setattr(run_files, "query_pairs", never)
    monkeypatch.setenv(VARIABLE, "0.3")


def test_a_screen_says_that_its_query_took_too_long(screen, done, slow):
    app = screen("pairs", run=done.id)
    assert any("The query took longer than 0.3 seconds and was stopped" in one.value for one in app.code)
    assert "RISKCORE_QUERY_SECONDS" in words(app)


def test_a_limit_that_cannot_be_used_is_said_on_the_screen(screen, done, monkeypatch):
    monkeypatch.setenv(VARIABLE, "soon")
    app = screen("pairs", run=done.id)
    assert any("RISKCORE_QUERY_SECONDS is 'soon'" in one.value for one in app.code)
