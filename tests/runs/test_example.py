"""The finished example: it fits, says nothing of the machine it was made on, and opens among the runs of any store."""

from __future__ import annotations

import zipfile

import pytest

from pages.parts.tour.stops import tour_stops
from riskcore.errors import StorageError
from riskcore.runs import PairQuery, RunFolder, RunState, RunStore, query_pairs
from riskcore.runs.example import FILE, MOST_BYTES, NAME, RUN, install_example, sample_config
from riskcore.runs.readers.pair_sheet import pair_sheet


def test_the_example_fits_and_is_of_no_machine() -> None:
    assert FILE.stat().st_size <= MOST_BYTES
    with zipfile.ZipFile(FILE) as archive:
        assert not [name for name in archive.namelist() if name.startswith(("/", "..", "bundle", "checkpoint"))]
        texts = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".json")]
    for text in texts:
        assert "/tmp" not in text
        assert "/home" not in text
        assert str(FILE.parent) not in text


def test_it_is_installed_once_with_paths_of_this_machine(tmp_path) -> None:
    store = RunStore(tmp_path / "runs")
    record = install_example(store)
    assert (record.id, record.name, record.state) == (RUN, NAME, RunState.DONE)
    assert install_example(store) == record
    config = sample_config()
    assert (record.config.source, record.config.target) == (config.source, config.target)
    folder = RunFolder(record.folder)
    assert folder.run()["config"]["source"] == config.source
    assert folder.methods() == ["risk", "risk+"]
    assert query_pairs(folder, PairQuery(method="risk+")).total == 600
    assert pair_sheet(folder, "risk+", 0) is not None
    assert store.events(RUN)
    store.delete(RUN)
    assert install_example(store).state is RunState.DONE


def test_a_missing_file_is_an_error_with_a_cure(tmp_path) -> None:
    with pytest.raises(StorageError, match="run the sample yourself"):
        install_example(RunStore(tmp_path / "runs"), tmp_path / "none.zip")


def test_the_tour_shows_a_mistake_that_was_repaired(tmp_path) -> None:
    folder = RunFolder(install_example(RunStore(tmp_path / "runs")).folder)
    stops = tour_stops(folder, RUN)
    assert [stop.screen for stop in stops] == ["pairs", "pairs", "fine_tuning", "pairs", "compare"]
    pair = stops[0].address["pair"]
    pages = [query_pairs(folder, PairQuery(iteration=at, text=pair)).rows for at in (0, folder.kept("risk"))]
    before, after = (rows[rows["pair_id"] == pair].iloc[0] for rows in pages)
    assert before["wrong"]
    assert not after["wrong"]
    assert after["flipped"]
    assert all(len(stop.sentence) < 320 for stop in stops)


def test_a_new_server_keeps_the_example_to_its_owner(tmp_path):
    store = RunStore(tmp_path / "runs")
    install_example(store)
    found = [store.root, store.root / "example", *store.root.glob("riskcore.sqlite*")]
    assert len(found) >= 3
    assert [path for path in found if path.stat().st_mode & 0o077] == []
