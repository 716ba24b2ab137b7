"""Flips on Compare: step by step, counted again from the run's files, and the rules responsible, all in words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pages.parts.compare.flip_table import NEGATIVES, POSITIVES, shown_flips, step_words
from riskcore.evaluation import FlipCell, FlipRow, FlipTable
from riskcore.runs import RunFolder
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import write_run

TITLE = "Flips, step by step"


def shown_table(app) -> pd.DataFrame:
    (table,) = [one.value for one in app.dataframe if "supporting pairs" in one.value]
    return table


def counted(record, method: str, start: int) -> tuple[str, str, str]:
    """False negatives and false positives that a step flips, and what it broke, from the files themselves."""
    folder = RunFolder(record.folder)
    truth = pd.read_parquet(folder.truth_file)["label"].to_numpy()
    before, after = (pd.read_parquet(folder.scores_file(method, at))["label"].to_numpy() for at in (start, start + 1))
    moved = before != after
    cells = []
    for label in (0, 1):
        wrong = (before == label) & (truth != label)
        cells.append(f"{(wrong & moved).sum()} of {wrong.sum()} ({100 * (wrong & moved).sum() / wrong.sum():.0f} %)")
    right = before == truth
    return cells[0], cells[1], f"broke **{(right & moved).sum()}** of {right.sum()} correct labels"


def test_compare_shows_the_flips_of_the_first_step(screen, done):
    app = screen("compare", run=done.id)
    text = words(app)
    assert TITLE in text
    negatives, positives, broken = counted(done, "risk", 0)
    total = shown_table(app).iloc[-1]
    assert (total["supporting pairs"], total[NEGATIVES], total[POSITIVES]) == ("any number", negatives, positives)
    assert broken in text
    assert "Labels used: target, for scoring only." in text


def test_another_method_and_step_are_chosen(screen, done):
    app = screen("compare", run=done.id)
    next(one for one in app.get("button_group") if one.label == "Iterations of").set_value("risk+")
    app.selectbox(key="step").set_value("iteration 1 to 2")
    total = shown_table(checked(app.run())).iloc[-1]
    assert (total[NEGATIVES], total[POSITIVES]) == counted(done, "risk+", 1)[:2]


def test_without_truth_or_a_second_iteration_there_are_none(screen, runs):
    for options in ({"truth": False}, {"iterations": 1}):
        record = write_run(runs, 60, **{"iterations": 3, **options})
        text = words(screen("compare", run=record.id))
        assert TITLE not in text
        assert "Something unexpected" not in text


def table_of(flipped: int, broken: int, wrong: int = 4) -> FlipTable:
    none = FlipCell(0, 0)
    rows = (FlipRow(0, 100, FlipCell(wrong, flipped), none), FlipRow(100, None, none, none))
    return FlipTable(rows, FlipRow(0, None, FlipCell(wrong, flipped), none), FlipCell(10, broken), FlipCell(20, 0))


def test_a_step_in_words():
    assert step_words(table_of(3, 1)) == "This step fixed **3** of 4 wrong labels. It broke **1** of 30 correct labels."
    assert step_words(table_of(0, 0, wrong=0)).startswith("All labels were correct before this step")


def test_groups_in_words():
    shown = shown_flips(table_of(3, 1))
    assert list(shown["supporting pairs"]) == ["fewer than 100", "100 or more", "any number"]
    assert shown[NEGATIVES].tolist()[0] == "3 of 4 (75 %)"
    assert shown[POSITIVES].isna().all()
    middle = FlipTable((FlipRow(10, 100, FlipCell(1, 0), FlipCell(1, 1)),), *_rest())
    assert shown_flips(middle).iloc[0].tolist() == ["10 to 99", "0 of 1 (0 %)", "1 of 1 (100 %)"]


def _rest() -> tuple[FlipRow, FlipCell, FlipCell]:
    none = FlipCell(0, 0)
    return FlipRow(0, None, none, none), none, none


def test_numbers_of_the_table_add_up(screen, runs):
    """The groups together are the last row."""
    record = write_run(runs, 400, 2)
    table = shown_table(screen("compare", run=record.id))
    for column in (NEGATIVES, POSITIVES):
        pairs = [np.array(cell.split(" (")[0].split(" of "), dtype=int) for cell in table[column].dropna()]
        assert (sum(pairs[:-1]) == pairs[-1]).all()


def test_responsible_rules_are_in_words_with_the_label_they_indicate(screen, done):
    tables = [one.value for one in screen("compare", run=done.id).dataframe if "credit" in one.value]
    assert tables
    for table in tables:
        assert set(table["label"]) <= {"= match", "≠ non-match"}
        assert not table["rule"].str.contains("->", regex=False).any()
        assert (table["credit"] > 0).all()
