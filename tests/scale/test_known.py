"""Which scored sets a project has."""

from __future__ import annotations

import pytest

from riskcore.errors import ConfigError, StorageError
from riskcore.scale.known import find_scored, forget_scored, known_scored, register_scored, scored_of_run
from tests.scale.made_up import write_scored


def test_own_and_registered_sets(tmp_path):
    runs = tmp_path / "runs"
    assert known_scored(runs) == []
    own = write_scored(runs / "scored" / "one", 50, 1)
    elsewhere = write_scored(tmp_path / "elsewhere" / "one", 60, 1)
    assert register_scored(runs, elsewhere.path) == "one-2"
    assert register_scored(runs, elsewhere.path) == "one-2"  # once is enough
    assert register_scored(runs, own.path) == "one"
    assert [one.name for one in known_scored(runs)] == ["one", "one-2"]
    assert find_scored(runs, "one-2").folder.path == elsewhere.path
    assert len(scored_of_run(runs, own.facts()["run"])) == 2
    assert forget_scored(runs, "one-2") == elsewhere.path
    assert elsewhere.is_complete
    assert [one.name for one in known_scored(runs)] == ["one"]
    with pytest.raises(ConfigError, match="Delete or move"):
        forget_scored(runs, "one")


def test_sets_that_cannot_be_opened(tmp_path):
    runs = tmp_path / "runs"
    unfinished = write_scored(runs / "scored" / "half", 50, 1)
    unfinished.about_file.rename(unfinished.plan_file)
    gone = write_scored(tmp_path / "gone", 50, 1)
    register_scored(runs, gone.path)
    gone.about_file.unlink()
    found = {one.name: one for one in known_scored(runs)}
    assert found["half"].facts is None
    assert "goes on" in found["half"].problem
    assert found["gone"].facts is None
    with pytest.raises(StorageError, match="no scored set"):
        find_scored(runs, "../half")
    with pytest.raises(StorageError):
        register_scored(runs, tmp_path)


def test_a_damaged_list_is_reported(tmp_path):
    (tmp_path / "scored").mkdir()
    (tmp_path / "scored" / "registered.json").write_text('{"a": 1}')
    with pytest.raises(StorageError, match="not a list of scored sets"):
        known_scored(tmp_path)
