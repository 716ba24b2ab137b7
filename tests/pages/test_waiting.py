"""Runs that wait for their turn say their place and expected start, can be cancelled, and are started by a visit."""

from __future__ import annotations

import dataclasses
import os

import pytest

from riskcore.runs import RunState, RunStore
from riskcore.runs.worker import jobs
from riskcore.runs.worker.slots import SLOTS_VARIABLE
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import write_run


@pytest.fixture
def full(monkeypatch):
    """No slot is free on this machine, whatever its cores."""
    monkeypatch.setenv(SLOTS_VARIABLE, "0")


@pytest.fixture
def waiting(runs):
    """Three runs that wait for one at work: on the data of a finished run, on unknown data, and on known data."""
    done = write_run(runs, 40, 2)
    write_run(runs, 40, 2, state=RunState.RUNNING)
    unknown = dataclasses.replace(done.config, source=str(runs / "elsewhere"))
    store = RunStore(runs)
    found = [store.create(config, "of the queue").id for config in (done.config, unknown, done.config)]
    for run in found:
        store.enqueue(run)
    return found


def shown(app) -> str:
    return "\n".join([words(app), *(str(bar.proto.text) for bar in app.get("progress"))])


def test_the_overview_says_the_places(screen, waiting, full):
    text = words(screen("overview"))
    assert "place 1 in the queue, starts in" in text
    assert "place 2 in the queue, starts in" in text
    assert "place 3 in the queue, start not known yet" in text


def test_the_view_of_a_run_says_its_place(screen, waiting, full):
    app = screen("fine_tuning", run=waiting[2])
    assert "Waiting: place 3 in the queue, start not known yet" in shown(app)
    assert "place 1 in the queue, starts in" in shown(app)  # among the other active runs
    assert "Waiting: place 1 in the queue, starts in" in shown(screen("fine_tuning", run=waiting[0]))


def test_a_waiting_run_is_cancelled_and_the_others_move_up(screen, runs, waiting, full):
    app = screen("fine_tuning", run=waiting[0])
    checked(next(button for button in app.button if button.label == "Cancel").click().run())
    assert RunStore(runs).get(waiting[0]).state is RunState.CANCELLED
    assert "place 1 in the queue" in shown(screen("fine_tuning", run=waiting[1]))


@pytest.mark.parametrize("name", ["overview", "fine_tuning"])
def test_a_visit_starts_what_a_killed_process_left(screen, runs, waiting, monkeypatch, name):
    """One slot is free, so the first starts, not the one that is looked at."""
    started = []

    def spawn(store, run, *options):
        started.append((run, options))
        store.spawned(run, os.getpid())

    monkeypatch.setattr(jobs, "spawn", spawn)
    monkeypatch.setenv(SLOTS_VARIABLE, "2")
    text = shown(screen(name, run=waiting[1]))
    assert started == [(waiting[0], ("--next",))]
    assert "place 1 in the queue" in text
    assert "place 3 in the queue" not in text


def test_a_run_whose_worker_is_starting_says_so(screen, runs, waiting, full):
    RunStore(runs).spawned(waiting[0], os.getpid())
    assert "Waiting for the worker to start" in shown(screen("fine_tuning", run=waiting[0]))
