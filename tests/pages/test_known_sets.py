"""The registry of data sets: whole, locked, and never replaced when it is damaged."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pages.parts.data import known_sets as registry
from riskcore.errors import ConfigError, StorageError


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The registry's file in an empty data folder."""
    monkeypatch.setattr(registry, "data_root", lambda: tmp_path / "data")
    return tmp_path / "data" / "registered.json"


def test_what_is_registered_is_known(file):
    registry.register("/data/one", types={"year": "number"})
    registry.register("/data/one", maps={"/data/two": {"author": "authors"}})
    known = registry.known_sets()["/data/one"]
    assert (known.types, known.maps) == ({"year": "number"}, {"/data/two": {"author": "authors"}})


def test_registrations_at_the_same_moment_are_all_kept(file, monkeypatch):
    """Each reads the file, changes it and writes it back: without a lock the last one wins."""
    read = registry._read

    def slowly():
        found = read()
        time.sleep(0.02)
        return found

    monkeypatch.setattr(registry, "_read", slowly)
    paths = [f"/data/{number}" for number in range(12)]
    with ThreadPoolExecutor(6) as people:
        list(people.map(registry.register, paths))
    assert set(json.loads(file.read_text())) == set(paths)
    assert [one.name for one in file.parent.iterdir() if one.name.endswith(".part")] == []


@pytest.mark.parametrize(
    "content",
    [
        '{"/data/one": {"types"',
        "[1, 2]",
        '{"/data/one": 3}',
        '{"/data/one": {"types": [1]}}',
        '{"/data/one": {"title": [1]}}',
        '{"/data/one": {"maps": {"/data/two": 5}}}',
        "\x00",
    ],
)
def test_a_damaged_registry_is_reported_and_kept(file, content):
    file.parent.mkdir()
    file.write_text(content)
    for ask in (registry.known_sets, lambda: registry.register("/data/two")):
        with pytest.raises(StorageError, match=r"registered\.json .*move it away and register"):
            ask()
    assert file.read_text() == content


def test_fields_of_another_version_are_kept(file):
    file.parent.mkdir()
    file.write_text('{"/data/one": {"title": "One", "colour": "red", "types": {}}}')
    registry.register("/data/one", types={"year": "number"})
    assert json.loads(file.read_text()) == {"/data/one": {"title": "One", "colour": "red", "types": {"year": "number"}}}
    assert registry.known_sets()["/data/one"].title == "One"


def test_sets_are_renamed_and_deleted(file):
    home = file.parent
    own, other = home / "mine", home.parent / "elsewhere"
    for folder in (own, other):
        folder.mkdir(parents=True)
        (folder / "tableA.csv").write_text("id,name\n1,x\n")
        registry.register(str(folder))
    registry.rename(str(own), " Mine, again ")
    assert registry.known_sets()[str(own)].title == "Mine, again"
    with pytest.raises(ConfigError, match="needs a name"):
        registry.rename(str(own), " ")
    for folder in (own, other):
        registry.remove(str(folder))
        assert str(folder) not in registry.known_sets()
    assert not own.exists()
    assert other.exists()  # only forgotten: the data folder does not hold it
    assert [path.name for path in home.iterdir() if "deleted" in path.name] == []


def test_a_name_means_the_set_that_is_shown_under_it(file):
    home = file.parent
    assert registry.path_of("Our Shop") == home / "our_shop"
    (home / "our_shop").mkdir(parents=True)
    (home / "our_shop" / "tableA.csv").write_text("id,name\n1,x\n")
    assert registry.path_of("our shop") == home / "our_shop"
    registry.rename(str(home / "our_shop"), "Their shop")
    assert registry.path_of("Their shop") == home / "our_shop"
    assert registry.path_of("Our shop") == home / "our_shop-2"  # the old name is free again
    assert registry.path_of("客户 2026") == home / "客户_2026"
    registry.rename(str(home / "our_shop"), "???")
    assert registry.path_of("../../up") == home / "up"
    with pytest.raises(ConfigError, match="letters and digits"):
        registry.path_of("!!!")
