"""The second stage of an estimate: pairs outside the candidates, judged blind."""

from __future__ import annotations

from pages.parts.frame.actions import requires
from riskcore.access import Role
from riskcore.audit import VerdictLog
from riskcore.audit.estimate import draw_audit
from riskcore.audit.estimate.outside import draw_outside
from riskcore.audit.estimate.runs import audited_pairs
from riskcore.audit.outside_draws import outside_pairs
from riskcore.runs import RunFolder, RunStore
from riskcore.runs.example import RUN, install_example
from tests.pages.conftest import checked, words

OUTSIDE = {"run": RUN, "part": "Estimate", "stage": "Outside the candidates"}


def test_from_an_empty_stage_to_recall_with_what_blocking_missed(screen, runs, monkeypatch):
    from pages.parts.audit import outside_view

    folder, log = RunFolder(install_example(RunStore(runs)).folder), VerdictLog(RunStore(runs))
    draw_audit(folder, 40)
    for pair in audited_pairs(folder)["pair_id"]:
        log.add(RUN, pair, "non-match", who="ann")
    app = screen("audit", **OUTSIDE)
    assert "pairs that blocking left out" in words(app)
    # The screen asks a process of its own; here the same is done in this one.
    child = requires(Role.AUDITOR)(lambda folder, *options: draw_outside(folder, int(options[1])))
    monkeypatch.setattr(outside_view, "_child", child)
    app = checked(next(one for one in app.button if one.label == "Draw 100 pairs").click().run())
    text = words(app)
    assert "Do both records refer to the same entity?" in text
    for told in ("labelled", "probability", "Risk of the label"):
        assert told not in text
    drawn = outside_pairs(folder)["pair_id"].tolist()
    for pair in drawn[1:]:
        log.add(RUN, pair, "non-match", who="ann")
    app = screen("audit", **OUTSIDE)
    app = checked(next(one for one in app.button if one.label == "≠ Non-match").click().run())
    text = words(app)
    assert "All pairs drawn outside the candidates are judged" in text
    assert "Recall, missed included" in text
    assert log.current(RUN)[drawn[0]].verdict == "non-match"
    # Others may judge them a second time, and every tab takes verdicts on pairs that are no candidates.
    for part in ("Verdicts", "Reviewers", "Plan", "Log"):
        screen("audit", run=RUN, part=part)
    log.add(RUN, drawn[0], "match", who="ben")
    assert "**1 conflict** to decide" in words(screen("audit", run=RUN, part="Reviewers"))
    assert "Recall, missed included" in words(screen("audit", run=RUN, part="Estimate"))
