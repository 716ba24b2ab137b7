"""Where runs, data and the screens are, in a checkout and in an installation."""

from pathlib import Path

import pytest

from riskcore import paths

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """The package as a wheel lays it out, and a home of its own."""
    for name in ("RISKCORE_RUNS", "RISKCORE_DATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    package = tmp_path / "site-packages" / "riskcore"
    (package / "_app").mkdir(parents=True)
    return package


def test_a_checkout_keeps_everything_in_its_folders(monkeypatch):
    for name in ("RISKCORE_RUNS", "RISKCORE_DATA"):
        monkeypatch.delenv(name, raising=False)
    assert paths.app_folder() == ROOT
    assert paths.runs_root() == Path.cwd() / "runs"
    assert paths.data_root() == Path.cwd() / "data"


def test_an_installation_keeps_runs_and_data_with_the_user(wheel, tmp_path):
    assert paths.app_folder(wheel) == wheel / "_app"
    runs, data = paths.default_runs(wheel), paths.default_data(wheel)
    assert runs.is_relative_to(tmp_path / "home")
    assert data.is_relative_to(tmp_path / "home")
    assert (runs.name, data.name, runs.parent) == ("runs", "data", data.parent)


def test_the_environment_decides_first(monkeypatch, tmp_path):
    monkeypatch.setenv("RISKCORE_RUNS", str(tmp_path / "ours"))
    monkeypatch.setenv("RISKCORE_DATA", "shared")
    assert paths.runs_root() == tmp_path / "ours"
    assert paths.data_root() == Path.cwd() / "shared"


def test_a_process_started_from_a_checkout_finds_it(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    assert paths.child_environment()["PYTHONPATH"].split(":") == [str(ROOT), "elsewhere"]


def test_a_process_started_from_an_installation_needs_no_path(monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(paths, "installed", lambda: True)
    assert "PYTHONPATH" not in paths.child_environment()
