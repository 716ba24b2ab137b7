"""The estimate on the screen: a draw, blind verdicts, and a meter that follows them."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from riskcore.audit import VerdictLog
from riskcore.audit.estimate.runs import audited_pairs
from riskcore.runs import RunFolder, RunStore
from riskcore.runs.example import RUN, install_example
from tests.pages.conftest import checked, words


@pytest.fixture
def example(runs):
    return install_example(RunStore(runs))


def press(app, label: str):
    return checked(next(button for button in app.button if button.label == label).click().run())


def test_from_a_draw_to_an_estimate(screen, runs, example):
    app = screen("audit", run=RUN, part="Estimate")
    assert "How good are these labels?" in words(app)
    app = press(app, "Draw 100 pairs")
    text = words(app)
    assert "The first estimate is shown after 20 verdicts" in text
    for told in ("labelled", "probability", "Risk of the label"):
        assert told not in text
    folder, log = RunFolder(example.folder), VerdictLog(RunStore(runs))
    pairs = audited_pairs(folder)
    truth = pq.read_table(folder.truth_file).column("label").to_pylist()
    for pair, row in list(zip(pairs["pair_id"], pairs["row"], strict=True))[1:]:
        log.add(RUN, pair, "match" if truth[row] else "non-match", who="ann")
    app = press(screen("audit", run=RUN, part="Estimate"), "= Match" if truth[pairs["row"][0]] else "≠ Non-match")
    text = words(app)
    assert "All 100 drawn pairs are judged" in text
    assert "From 100 verdicts" in text or "you may stop here" in text
    shown = {metric.label: float(metric.value.removesuffix(" %")) for metric in app.metric}
    true_f1 = 100 * folder.results()["methods"]["risk+"]["f1"]
    assert abs(shown["F1"] - true_f1) < 8
