"""Places in the queue and expected starts: a simulation by hand, runs like earlier ones, and what is not known."""

import math

import pytest

from riskcore.runs import RunState
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers import queue
from riskcore.runs.readers.queue import QueuePlace, expected_starts, place_of, queue_places, start_words
from riskcore.runs.readers.time_left import estimate_seconds, past_seconds, sizes_of
from tests.runs.conftest import small_config, small_data

INF = math.inf


@pytest.mark.parametrize(
    ("ends", "durations", "starts"),
    [
        ([60], [10, 20, 30], [60, 70, 90]),
        ([60, 10], [100, 20, 5], [10, 60, 80]),
        ([60, INF], [10, INF, 5], [60, 70, INF]),
        ([INF], [10], [INF]),
        ([], [10, 10], [INF, INF]),
        ([60], [], []),
    ],
)
def test_each_starts_when_one_before_it_ends(ends, durations, starts):
    assert expected_starts(ends, durations) == starts


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "start not known yet"),
        (0, "starts in less than a minute"),
        (59, "starts in about 1 minute"),
        (245, "starts in about 4 minutes"),
        (5399, "starts in about 90 minutes"),
        (5400, "starts in about 1.5 hours"),
    ],
)
def test_words(seconds, words):
    assert start_words(seconds) == words
    assert QueuePlace(3, seconds).words == f"place 3 in the queue, {words}"


def test_places_by_runs_like_it(store, data, finished, tmp_path):
    """The first that waits starts when the one at work ends; the others after runs of the same data."""
    config = small_config(data)
    work = store.create(config).id
    store.claim(work)
    alike, unlike, last = (store.create(one).id for one in (config, small_config(small_data(tmp_path / "o")), config))
    for run in (alike, unlike, last):
        store.enqueue(run)
    records = store.list()
    done = [one for one in records if one.state is RunState.DONE]
    seconds = estimate_seconds(config, sizes_of(RunFolder(done[0].folder)), past_seconds(done))
    places = queue_places(store)
    assert list(places) == [alike, unlike, last]
    assert [one.number for one in places.values()] == [1, 2, 3]
    assert places[alike].seconds == pytest.approx(seconds)
    assert places[unlike].seconds == pytest.approx(2 * seconds)
    assert places[last].seconds is None  # nobody knows how long a run on new data takes
    assert place_of(store, work) is None
    store.finish(work, RunState.CANCELLED)
    assert [one.seconds for one in queue_places(store).values()] == [None] * 3  # nobody is at work


def test_the_pace_of_a_run_at_work_counts(store, waiting, monkeypatch):
    store.claim(waiting.id)
    next_one = store.create(waiting.config).id
    store.enqueue(next_one)
    assert place_of(store, next_one).seconds is None
    store.beat(waiting.id, 30.0)
    told = queue.run_progress
    monkeypatch.setattr(queue, "run_progress", lambda *args: told(*args).__class__((), None, 0.25, 90.0))
    assert place_of(store, next_one).seconds == 90.0


def test_no_run_waits(store, finished):
    assert queue_places(store) == {}
