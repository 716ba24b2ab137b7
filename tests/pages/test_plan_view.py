"""The tab Plan: a slider, what to expect by ranking, and what was found so far."""

from __future__ import annotations

from pages.parts.audit.plan_chart import plan_chart, plan_rows, plan_words
from riskcore.audit import VerdictLog
from riskcore.audit.estimate import plan_review
from riskcore.runs import RunFolder, RunStore
from riskcore.runs.example import RUN, install_example
from riskcore.runs.formats import read_pair_ids
from tests.pages.conftest import checked, words


def test_the_plan_of_a_run(screen, runs):
    record = install_example(RunStore(runs))
    app = screen("audit", run=RUN, part="Plan")
    text = words(app)
    assert "What will the next reviews find?" in text
    assert "In the next **100 reviews**, the riskiest first" in text
    assert "There are no verdicts yet" in text
    assert "expected from the risk" in text
    app = checked(app.slider[0].set_value(50).run())
    assert "In the next **50 reviews**" in words(app)
    folder = RunFolder(record.folder)
    ids = read_pair_ids(folder.pairs_file).column("pair_id").to_pylist()
    for pair in ids[:12]:
        VerdictLog(RunStore(runs)).add(RUN, pair, "match", who="ann")
    assert "In 12 reviews" in words(screen("audit", run=RUN, part="Plan"))


def test_the_chart_is_valid_and_has_words(runs):
    plan = plan_review(RunFolder(install_example(RunStore(runs)).folder), 50)
    plan_chart(plan_rows(plan), 50).to_dict()
    assert "In 50 more reviews: by risk " in plan_words(plan, 50)
