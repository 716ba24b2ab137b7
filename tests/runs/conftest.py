"""Small runs, finished or ready to start, made with the fake engine."""

from __future__ import annotations

import pytest

from riskcore.config import AdaptConfig, MatcherConfig, RunConfig, TuneConfig
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import execute
from tests.data.folders import PAIR_HEADER, TABLE_A, TABLE_B, write_folder
from tests.runs.fake_engine import fake_engine


def small_data(folder, labelled=True, words=""):
    """144 pairs of two small tables; a third of them are the target's. Titles begin with `words`."""
    pairs = [
        [left[0], right[0], str(int(left[0][1:] == right[0][1:]))] for left in TABLE_A[1:] for right in TABLE_B[1:]
    ]
    test = pairs[2::3] if labelled else [[*pair[:2], ""] for pair in pairs[2::3]]
    splits = {"train": pairs[::3], "valid": pairs[1::3], "test": test}
    tables = {
        name: [rows[0], *([identity, words + title, year] for identity, title, year in rows[1:])]
        for name, rows in (("tableA", TABLE_A), ("tableB", TABLE_B))
    }
    return write_folder(folder, tables | {name: [PAIR_HEADER, *rows] for name, rows in splits.items()})


def small_config(source, **changes):
    changes.setdefault("methods", ("tradition", "risk", "forest"))
    changes.setdefault("adapt", AdaptConfig(iterations=4))
    return RunConfig(source=str(source), matcher=MatcherConfig(kind="toy"), tune=TuneConfig(epochs=3), **changes)


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


@pytest.fixture
def data(tmp_path):
    return small_data(tmp_path / "data")


@pytest.fixture
def waiting(store, data):
    """A run that waits for a worker."""
    return store.create(small_config(data), "small")


@pytest.fixture
def finished(store, waiting):
    """A run that is done, and its folder."""
    execute(store, waiting.id, engine=fake_engine)
    return RunFolder(waiting.folder)
