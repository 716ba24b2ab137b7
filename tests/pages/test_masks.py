"""Masked attributes: no value reaches the browser before it is revealed, and what was revealed is recorded."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from riskcore.audit import VerdictLog
from riskcore.audit.disclosure import disclosure_of
from riskcore.audit.draws import draw_pairs
from riskcore.audit.estimate import draw_audit
from riskcore.runs import PairQuery, RunFolder, RunStore, query_pairs
from riskcore.runs.masks import read_masks, write_masks
from riskcore.storage.files import write_parquet
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import write_run

SECRET = "Sesame"  # begins every value of the masked attribute


@pytest.fixture
def run(runs):
    record = write_run(runs, 60, 3)
    folder = RunFolder(record.folder)
    pairs = pd.read_parquet(folder.pairs_file)
    for side in ("left", "right"):
        pairs[f"{side}_authors"] = [f"{SECRET}{side}{row}" for row in pairs["row"]]
    write_parquet(folder.pairs_file, pa.Table.from_pandas(pairs, preserve_index=False))
    return record


@pytest.fixture
def log(runs):
    return VerdictLog(RunStore(runs))


def payload(app) -> str:
    """Everything that the screen sends to the browser."""

    def below(node):
        yield str(getattr(node, "proto", ""))
        for child in getattr(node, "children", {}).values():
            yield from below(child)

    return "".join(below(app._tree))


def press(app, label: str):
    return checked(next(button for button in app.button if button.label == label).click().run())


def first_pairs(record, count: int = 3) -> list[str]:
    return list(query_pairs(RunFolder(record.folder), PairQuery()).rows["pair_id"][:count])


def test_without_masks_the_values_are_sent(screen, run):
    """Otherwise the tests below would find nothing, and say nothing."""
    first, *_ = first_pairs(run)
    assert payload(screen("pairs", run=run.id)).count(SECRET) >= 100
    assert SECRET in payload(screen("pairs", run=run.id, pair=first))


@pytest.mark.parametrize("sort", ["risk", "random"])
def test_neither_list_nor_cards_send_masked_values(screen, run, sort):
    app = screen("pairs", run=run.id, mask="authors", sort=sort)
    assert SECRET not in payload(app)
    app = press(app, "Open the first pair")
    for _ in range(8):
        assert SECRET not in payload(app)
        assert "▒▒▒▒ hidden" in words(app)
        app = press(app, "Next")


def test_open_expanders_of_the_card_send_none_either(screen, run):
    app = screen("pairs", run=run.id, mask="authors", pair=first_pairs(run)[0])
    for key in ("rules that fired", "all numbers", "lower the risk"):
        app.session_state[key] = True
    text = payload(checked(app.run()))
    assert "rc-rule" in text
    assert "value at risk without it" in text or "share of" in text
    assert SECRET not in text


def test_a_reveal_is_for_one_pair_and_is_recorded(screen, run, log):
    first, second, third = first_pairs(run)
    app = press(screen("pairs", run=run.id, mask="authors,year", pair=first), "Reveal authors")
    text = words(app)
    assert SECRET in text
    assert "▒▒▒▒ hidden" in text  # the year
    app = press(app, "= Match")
    assert app.query_params["pair"] == second
    assert SECRET not in payload(app)
    app = press(app, "≠ Non-match")
    assert app.query_params["pair"] == third
    app = press(press(app, "Reveal all"), "? Unsure")
    given = {pair: disclosure_of(one.note) for pair, one in log.current(run.id).items()}
    assert {one.masked for one in given.values()} == {("authors", "year")}
    assert [given[pair].revealed for pair in (first, second, third)] == [("authors",), (), ("authors", "year")]
    text = words(screen("audit", run=run.id, part="Reviewers"))
    assert "**67 %** of 3 verdicts needed a reveal; 50 % of the masked values were disclosed" in text


@pytest.mark.parametrize("tab", ["Label", "Estimate", "Reviewers"])
def test_the_tabs_send_none(screen, run, log, tab):
    folder = RunFolder(run.folder)
    write_masks(folder, ["authors"])
    draw_pairs(folder, 10)
    draw_audit(folder, 20)
    for pair in first_pairs(run):
        log.add(run.id, pair, "match", who="ann")
    app = screen("audit", run=run.id, part=tab)
    if tab == "Reviewers":
        app.toggle(key="second review").set_value(True)
        app = checked(app.run())
    assert SECRET not in payload(app)
    app = press(app, "Reveal authors")
    assert SECRET in payload(app)
    press(app, "= Match")
    (entry,) = [one for one in log.entries(run.id) if one.who == "analyst"]
    assert disclosure_of(entry.note).revealed == ("authors",)


def test_the_default_of_the_run(screen, run):
    folder = RunFolder(run.folder)
    app = screen("pairs", run=run.id)
    app.multiselect(key=f"masks {run.id}").set_value(["year"])
    app = press(checked(app.run()), "Make it the default of this run")
    assert read_masks(folder) == ("year",)
    assert "Masked: year" in words(screen("pairs", run=run.id))
    assert "Masked: year" not in words(screen("pairs", run=run.id, mask=""))  # a choice of one's own
    write_masks(folder, ["gone", "title"])
    assert read_masks(folder) == ("title",)
