"""A target without labels: the form offers a draft, and screens say that it is one."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

from pages.parts.data import known_sets as registry
from pages.parts.runs import run_start
from pages.parts.runs.form_data import NO_SOURCE, OWN_TEST, facts_of
from pages.parts.runs.run_form import planned_sizes
from riskcore.audit.labels import draft_config, is_draft
from riskcore.config import RunConfig
from riskcore.data import find_sample
from riskcore.runs import RunStore
from riskcore.runs.worker.execute import execute
from tests.pages.conftest import checked, words
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import fake_engine


@pytest.fixture
def started(monkeypatch):
    found = []
    monkeypatch.setattr(run_start, "start", lambda store, run: found.append(run))
    return found


@pytest.fixture
def tables(places):
    """The tables of the products with their pairs, without any label, as the data set `shop`."""
    folder = bring(places / "data" / "shop")
    pairs = pd.concat([pd.read_csv(find_sample("products").path / f"{name}.csv") for name in ("valid", "test")])
    pairs.drop(columns="label").to_csv(folder / "pairs.csv", index=False)
    return str(folder)


def bring(folder):
    folder.mkdir(parents=True)
    for name in ("tableA.csv", "tableB.csv"):
        shutil.copy(find_sample("products").path / name, folder)
    return folder


def labels_of(app):
    return [button.label for button in app.button]


def press(app, label):
    return checked(next(button for button in app.button if button.label == label).click().run())


def test_tables_without_labels_are_ranked_for_labelling(screen, tables, started, runs):
    app = screen("fine_tuning", target=tables)
    assert app.selectbox(key="form source").value == NO_SOURCE
    assert app.selectbox(key="form target").value == tables
    assert "no labels to adapt by" in words(app)
    assert "Start" not in labels_of(app)
    app = press(app, "Rank and label")
    record = RunStore(runs).get(started[0])
    assert record.config == draft_config(record.config)
    assert (record.config.source, record.config.target, record.config.matcher.kind) == ("", tables, "similarity")
    assert "target" not in app.query_params
    assert "Cancel" in labels_of(app)


def test_with_a_source_one_may_also_start_without_labels(screen, tables, started, runs):
    app = screen("fine_tuning", target=tables)
    app = checked(app.selectbox(key="form source").set_value(str(find_sample("products").path)).run())
    assert "Rank and label" in labels_of(app)
    press(app, "Start without labels")
    assert not is_draft(RunStore(runs).get(started[0]).config)


def test_a_target_with_labels_needs_no_draft_nor_source(screen, started, runs):
    app = screen("fine_tuning", target=str(find_sample("products").path))
    assert "Rank and label" not in labels_of(app)
    press(app, "Start")
    config = RunStore(runs).get(started[0]).config
    assert (config.source, config.matcher.kind, config.methods) == ("", "similarity", RunConfig().methods)


def test_tables_without_pairs_are_not_offered(screen, places):
    folder = str(bring(places / "data" / "bare"))
    app = screen("fine_tuning", target=folder)
    assert "has no candidate pairs yet, so it cannot be the target" in words(app)
    assert "Not offered, as they have no candidate pairs yet: bare" in words(app)
    assert "bare" not in app.selectbox(key="form target").options


@pytest.mark.parametrize("asked", ["/nowhere", "../../etc", "<script>"])
def test_a_target_that_is_not_known_is_reported(screen, asked):
    app = screen("fine_tuning", target=asked)
    assert "is no known data set" in words(app)
    assert "Estimated time" in words(app)


def test_a_source_without_labels_is_refused_with_a_way_out(screen, tables):
    app = screen("fine_tuning")
    app = checked(app.selectbox(key="form source").set_value(tables).run())
    assert "It cannot be a source: none of its pairs has a label." in words(app)
    app = checked(app.selectbox(key="form target").set_value(OWN_TEST).run())
    assert "no training pairs of its own" in words(app)
    assert not {"Start", "Rank and label"} & set(labels_of(app))


def test_sizes_are_known_without_splits(tables):
    sample = str(find_sample("products").path)
    sizes = planned_sizes(RunConfig(target=tables))
    assert (sizes.source, sizes.validation, sizes.target) == (0, 0, 1200)
    sizes = planned_sizes(RunConfig(source=sample, target=tables))
    assert (sizes.source, sizes.validation, sizes.target) == (3000, 0, 1200)
    sizes = planned_sizes(RunConfig(source=sample))
    assert (sizes.source, sizes.validation, sizes.target) == (1800, 600, 600)
    assert facts_of("", sample, None).labelled


def test_labels_without_splits_need_a_ratio(screen, places):
    folder = bring(places / "data" / "labelled")
    shutil.copy(find_sample("products").path / "test.csv", folder / "pairs.csv")
    registry.register(str(folder))
    app = screen("fine_tuning", target=str(folder))
    assert "none is left to decide" in words(app)
    app.text_input(key="form split").set_value("2:2:6")
    assert "Start" in labels_of(checked(app.run()))


@pytest.fixture
def draft(runs, places):
    target = str(small_data(places / "b", words="other "))
    config = small_config(small_data(places / "a"), target=target, validation_size=0)
    record = RunStore(runs).create(draft_config(config), "shops")
    execute(RunStore(runs), record.id, engine=fake_engine)
    return RunStore(runs).get(record.id)


@pytest.mark.parametrize("name", ["fine_tuning", "pairs", "results", "rules", "compare"])
def test_screens_say_that_it_is_a_draft(screen, draft, name):
    app = screen(name, run=draft.id)
    assert "A draft: ranked, not adapted." in words(app)
    assert bool([error for error in app.error if "A draft" in str(error.value)]) is (name == "results")
    (link,) = [one for one in app.get("page_link") if "Label 100 pairs" in one.proto.label]
    assert "draw=100" in link.proto.query_string
    assert "draft" in app.sidebar.selectbox[0].options[0]


def test_the_list_of_runs_shows_a_draft(screen, draft):
    app = screen("overview")
    assert any("draft" in str(element.value) for element in app.markdown)
    assert "Label" in [link.proto.label for link in app.get("page_link")]


def test_attributes_can_be_left_out(screen, tables, started, runs):
    """As a column that holds the entity's identity should be."""
    app = screen("fine_tuning", target=tables)
    name = app.multiselect(key="form leave out").options[0]
    app = checked(app.multiselect(key="form leave out").set_value([name]).run())
    press(app, next(label for label in labels_of(app) if label.startswith("Rank")))
    (run,) = started
    assert RunStore(runs).config(run).data.leave_out == (name,)
