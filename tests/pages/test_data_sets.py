"""Data sets on screen: types and counterparts, folders, what is possible, renaming and deleting."""

from __future__ import annotations

import os
import shutil

import pandas as pd
import pytest

from pages.parts.data import known_sets as registry
from pages.parts.data.set_view import _guess, map_problem
from pages.parts.frame.text import short
from pages.parts.runs import run_start
from riskcore.data import find_sample
from riskcore.runs import RunStore
from tests.pages.conftest import SIGN_IN, checked, claims_of, words


def test_corrected_types_go_into_the_next_run(screen, runs, monkeypatch):
    monkeypatch.setattr(run_start, "start", lambda store, run: None)
    sample = str(find_sample("bibliography_clean").path)
    registry.register(sample, types={"venue": "text"})
    app = screen("fine_tuning")
    app = checked(app.selectbox(key="form source").set_value(sample).run())
    checked(next(button for button in app.button if button.label == "Start").click().run())
    (record,) = RunStore(runs).list()
    assert record.config.types == ("venue=text",)


def test_counterparts_are_guessed_by_name_and_checked():
    theirs = ["title", "writers", "published_year"]
    assert _guess("title", theirs, {}) == "title"
    assert _guess("writer", theirs, {}) == "writers"
    assert _guess("price", theirs, {}) == "(not used)"
    assert map_problem({"author": "writers"}) is None
    assert "No attribute is mapped" in map_problem({})
    assert "is mapped twice" in map_problem({"author": "writers", "editor": "writers"})


def open_by_path(app, path: str):
    next(field for field in app.text_input if field.label == "Folder, or file of pairs").set_value(path)
    return checked(next(button for button in app.button if button.label == "Open").click().run())


@pytest.fixture
def shared(places, monkeypatch):
    """A folder that may be opened, with a data set in it."""
    shutil.copytree(find_sample("products").path, places / "shared" / "products")
    monkeypatch.setenv("RISKCORE_OPEN_PATHS", f"/nowhere{os.pathsep}{places / 'shared'}")
    return places / "shared"


def test_nothing_is_opened_by_path_unless_a_setting_allows_it(screen):
    assert "Folder, or file of pairs" not in [field.label for field in screen("data_sets").text_input]


def test_a_folder_that_a_setting_names_can_be_opened(screen, shared):
    app = open_by_path(screen("data_sets"), str(shared / "products"))
    assert str(shared / "products") in registry.known_sets()
    assert "cannot be opened" not in words(app)


def test_a_refusal_does_not_tell_whether_there_is_something(screen, shared, places):
    (places / "secret").mkdir()
    (shared / "link").symlink_to(places / "secret")
    (shared / "trap").mkdir()
    (shared / "trap" / "tableA.csv").symlink_to("/etc/hostname")
    said = set()
    asked = [places / "secret", places / "nothing", shared / "nothing", shared / "link", shared / "trap"]
    for path in (
        *map(str, asked),
        "/etc/hostname",
        f"{shared}/../secret",
        "~root",
        "~nobody-here",
        "a\0b",
        "x" * 5_000,
    ):
        text = open_by_path(screen("data_sets"), path).code[0].value
        assert text.startswith(short(path, 200))
        said.add(text.removeprefix(short(path, 200)))
    assert len(said) == 1
    assert not any(str(path) in registry.known_sets() for path in asked)


def test_nothing_is_opened_by_path_where_people_sign_in(screen, shared, secrets_file):
    access = '[access]\neveryone = true\ndefault_role = "owner"\n'
    secrets_file.write_text(f"{SIGN_IN}\n{access}", encoding="utf-8")
    app = screen("data_sets", user=claims_of("ada@example.org"))
    assert app.selectbox
    assert "Folder, or file of pairs" not in [field.label for field in app.text_input]


def test_what_is_possible_is_said_before_a_run(screen, places):
    folder = places / "data" / "bare"
    folder.mkdir(parents=True)
    for stem in ("tableA", "tableB"):
        shutil.copy(find_sample("products").path / f"{stem}.csv", folder)
    text = words(screen("data_sets", set=str(folder)))
    assert "no candidate pairs to decide yet" in text
    assert "It cannot be a source" in text
    assert "Find candidates" in text
    assert "Adapt a matcher to it" not in text
    assert "3,000 labelled pairs" in words(screen("data_sets"))


def test_a_set_is_deleted_with_its_files(screen, places):
    folder = places / "data" / "mine"
    shutil.copytree(find_sample("products").path, folder)
    app = screen("data_sets", set=str(folder))
    app.text_input(key=f"title {folder}").set_value("Our products")
    app = checked(next(button for button in app.button if button.label == "Rename").click().run())
    assert registry.known_sets()[str(folder)].title == "Our products"
    app = checked(next(button for button in app.button if button.label == "Delete permanently").click().run())
    assert not folder.exists()
    assert str(folder) not in registry.known_sets()
    assert "Delete permanently" not in words(screen("data_sets"))  # samples stay


def test_the_target_of_the_next_run_is_taken_along(screen, places):
    sample = str(find_sample("bibliography_scraped").path)
    app = screen("data_sets", set=sample)
    app = checked(next(button for button in app.button if button.label == "Adapt a matcher to it").click().run())
    assert app.selectbox(key="form target").value == sample
    assert "Start" in [button.label for button in app.button]


def test_data_that_cannot_be_used_starts_no_run(screen, places):
    folder = places / "data" / "bare"
    folder.mkdir(parents=True)
    for stem in ("tableA", "tableB", "train"):
        shutil.copy(find_sample("products").path / f"{stem}.csv", folder)
    app = screen("fine_tuning")
    app = checked(app.selectbox(key="form target").set_value(str(folder)).run())
    assert "none is left to decide" in words(app)
    assert not {"Start", "Rank and label"} & {button.label for button in app.button}
    (folder / "train.csv").rename(folder / "pairs.csv")
    pairs = pd.read_csv(folder / "pairs.csv").drop(columns="label")
    pairs.to_csv(folder / "pairs.csv", index=False)
    app = checked(app.selectbox(key="form source").set_value(str(folder)).run())
    assert "none of its pairs has a label" in words(app)
