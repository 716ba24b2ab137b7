"""Data sets on screen: types and counterparts, folders, what is possible, renaming and deleting."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

from pages.parts.data import known_sets as registry
from pages.parts.data.set_view import _guess, map_problem
from pages.parts.runs import run_start
from riskcore.data import find_sample
from riskcore.runs import RunStore
from tests.pages.conftest import checked, words


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


@pytest.mark.parametrize("path", ["/nowhere/at/all", "relative/nothing"])
def test_a_folder_that_is_not_there_is_named(screen, path):
    app = screen("data_sets")
    next(field for field in app.text_input if field.label == "Folder, or file of pairs").set_value(path)
    app = checked(next(button for button in app.button if button.label == "Open").click().run())
    assert "There is no file or folder at" in words(app)


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
