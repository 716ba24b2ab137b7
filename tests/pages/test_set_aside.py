"""Files that break their reader, as the screens meet them; and data sets that are deleted with all that was kept."""

from __future__ import annotations

import stat

import pytest

from pages.parts.data import belongings
from pages.parts.data import known_sets as registry
from riskcore.sandbox import quarantine
from riskcore.sandbox.process import SANDBOX
from tests.pages.conftest import words
from tests.pages.test_bring import TWO, press, saved, sent
from tests.sandbox.heavy import write_heavy


@pytest.fixture
def heavy(tmp_path, monkeypatch):
    """A file that needs more than the server gives."""
    monkeypatch.setenv("RISKCORE_READ_GB", "0.3")
    write_heavy(tmp_path / "heavy.parquet")
    return tmp_path / "heavy.parquet"


def test_an_upload_that_takes_too_much_is_named_set_aside_and_deleted(screen, places, heavy, monkeypatch):
    app = sent(screen, [*TWO, (heavy.name, heavy.read_bytes())])
    assert "heavy.parquet needs more than 0.3 GB of memory to read" in words(app).replace("\\", "")
    assert "semicolon" in words(app)  # the others are read
    assert [path.name for path in (places / "data" / ".brought").glob("*/*")] == ["Ours 2026.csv", "shop.csv"]
    app = press(app, "Next")
    assert app.selectbox(key="role shop.csv").value == "right table"

    app = screen("data_sets")
    assert "1 file set aside" in words(app)
    assert "needs more than 0.3 GB" in words(app).replace("\\", "")
    app = press(app, "Delete")
    assert "set aside" not in words(app)
    assert not list((places / "data" / ".quarantine").iterdir())


def test_a_set_that_takes_too_much_is_not_read_again_until_a_person_says_so(screen, places, heavy, monkeypatch):
    registry.register(str(heavy))
    app = screen("data_sets", set=str(heavy))
    assert "cannot be used yet" in words(app)
    assert "needs more than 0.3 GB" in app.dataframe[0].value["problem"][0]
    asked = SANDBOX.run
    monkeypatch.setattr(SANDBOX, "run", lambda task, *rest, **more: pytest.fail(f"{task} {rest}"))
    assert "cannot be used yet" in words(screen("data_sets", set=str(heavy)))
    monkeypatch.setattr(SANDBOX, "run", asked)
    monkeypatch.setenv("RISKCORE_READ_GB", "2")
    heavy.unlink()
    write_heavy(heavy, rows=200)
    quarantine.take(heavy, "for a reason")
    app = press(screen("data_sets", set=str(heavy)), "Try again")
    assert "cannot be used yet" not in words(app)


def test_a_set_is_deleted_with_the_uploads_it_was_made_of(screen, places):
    saved(sent(screen, TWO), "Ours and shop")
    [path] = [path for path, one in registry.known_sets().items() if one.title == "Ours and shop"]
    kept = [one for one in (places / "data").rglob("*") if one.suffix in (".csv", ".parquet")]
    assert len(kept) >= 4
    for one in (places / "data" / ".brought").glob("*/*.csv"):
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
    for folder in (places / "data", places / "data" / ".brought", registry.path_of("Ours and shop")):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    registry.remove(path)
    assert not [one for one in (places / "data").rglob("*") if one.suffix in (".csv", ".parquet")]


def test_a_deletion_that_was_killed_is_finished_at_the_next_start(screen, places, monkeypatch):
    saved(sent(screen, TWO), "Ours and shop")
    [path] = [path for path, one in registry.known_sets().items() if one.title == "Ours and shop"]

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(registry, "delete_path", killed)
    with pytest.raises(KeyboardInterrupt):
        registry.remove(path)
    assert list((places / "data").glob(".deleted-*/tableA.parquet"))
    belongings._finished.clear()
    assert path not in registry.known_sets()
    assert not [one for one in (places / "data").rglob("*") if one.suffix in (".csv", ".parquet")]


def test_a_search_for_candidates_goes_with_its_set(places, monkeypatch):
    folder = places / "data" / belongings.BLOCKING / "one"
    folder.mkdir(parents=True)
    belongings.note(folder, str(places / "data" / "set"))
    belongings.remove_belongings(str(places / "data" / "other"))
    assert folder.exists()
    belongings.remove_belongings(str(places / "data" / "set"))
    assert not folder.exists()
