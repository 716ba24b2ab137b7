"""Saved filters: shared, replaced by name, capped, and safe against writers at the same time."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from riskcore.errors import ConfigError, StorageError
from riskcore.runs import RunFolder
from riskcore.runs.saved_filters import MAX_NAME, MOST, remove_filter, save_filter, saved_filters


def test_saved_replaced_and_removed(tmp_path):
    folder = RunFolder(tmp_path)
    assert saved_filters(folder) == []
    save_filter(folder, " risky  matches ", {"label": "= match", "risk": [0.5, 1.0]}, "ann")
    save_filter(folder, "Year", {"rule": "5"}, "bob")
    save_filter(folder, "Year", {"rule": "6"}, "ann")
    year, risky = sorted(saved_filters(folder), key=lambda one: one.name)
    assert (risky.name, risky.values, risky.who) == ("risky matches", {"label": "= match", "risk": [0.5, 1.0]}, "ann")
    assert (year.values, year.who, year.at[:2]) == ({"rule": "6"}, "ann", "20")
    remove_filter(folder, "Year")
    remove_filter(folder, "never there")
    assert [one.name for one in saved_filters(folder)] == ["risky matches"]


def test_refused(tmp_path):
    folder = RunFolder(tmp_path)
    for name in ("", "  ", "x" * (MAX_NAME + 1)):
        with pytest.raises(ConfigError, match="needs a name"):
            save_filter(folder, name, {"rule": "1"})
    with pytest.raises(ConfigError, match="too long"):
        save_filter(folder, "long", {"text": "x" * 5000})
    for number in range(MOST):
        save_filter(folder, f"no. {number}", {"rule": str(number)})
    with pytest.raises(ConfigError, match="at most 50"):
        save_filter(folder, "one more", {"rule": "1"})
    save_filter(folder, "no. 7", {"rule": "replaced"})
    assert len(saved_filters(folder)) == MOST
    folder.filters_file.write_text("{")
    with pytest.raises(StorageError, match="Remove the file"):
        saved_filters(folder)


def _save_some(path: str, who: str) -> None:
    for number in range(10):
        save_filter(RunFolder(path), f"{who} {number}", {"rule": str(number)}, who)


def test_two_processes_lose_nothing(tmp_path):
    with ProcessPoolExecutor(2, get_context("fork")) as processes:
        list(processes.map(_save_some, [str(tmp_path)] * 2, ["ann", "bob"]))
    assert len(saved_filters(RunFolder(tmp_path))) == 20
