"""The queue of contradictions: its pairs together, judged until it is resolved; then the next one."""

from __future__ import annotations

from pages.parts.audit import contradictions_view
from riskcore.audit import VerdictLog, decisions
from riskcore.audit.contradictions import CHAIN, RankedContradiction, find_contradictions
from riskcore.runs import RunFolder, RunStore
from riskcore.runs.example import RUN, install_example
from tests.pages.conftest import checked, words


def press(app, label: str):
    return checked(next(button for button in app.button if button.label == label).click().run())


def test_a_contradiction_disappears_once_it_is_resolved(screen, runs):
    folder = RunFolder(install_example(RunStore(runs)).folder)
    first, second, *_ = found = find_contradictions(decisions(folder, reasons=False, values=False))
    app = screen("audit", run=RUN, part="Contradictions")
    text = words(app)
    assert f"**{len(found)} contradictions** to judge" in text
    assert all(pair.replace(":", r"\:") in text for pair in first.pairs)
    app = press(app, "= Match")  # of the likelier pair: the other one is still a match too
    assert f"**{len(found)} contradictions** to judge" in words(app)
    app = press(app, "≠ Non-match")
    text = words(app)
    assert f"**{len(found) - 1} contradictions** to judge" in text
    assert all(pair.replace(":", r"\:") in text for pair in second.pairs)
    given = VerdictLog(RunStore(runs)).current(RUN)
    assert {pair: one.verdict for pair, one in given.items()} == {first.pairs[0]: "match", first.pairs[1]: "non-match"}
    app = press(app, "Undo")
    assert f"**{len(found)} contradictions** to judge" in words(app)


def test_a_resolved_contradiction_leaves_the_card(screen, runs):
    install_example(RunStore(runs))
    address = {"run": RUN, "method": "risk+", "pair": "278:934"}
    line = "are matches of right record 934"
    assert any(line in str(one.value) for one in screen("pairs", **address).warning)
    VerdictLog(RunStore(runs)).add(RUN, "421:934", "non-match", who="ann")
    assert not any(line in str(one.value) for one in screen("pairs", **address).warning)


def test_skipped_ones_come_last_and_another_pair_can_be_judged_first(screen, runs):
    folder = RunFolder(install_example(RunStore(runs)).folder)
    first, second, *_ = find_contradictions(decisions(folder, reasons=False, values=False))
    app = press(screen("audit", run=RUN, part="Contradictions"), "Skip")
    assert "1 contradiction skipped" in words(app)
    app = press(app, "Judge this pair")
    press(app, "? Unsure")
    assert VerdictLog(RunStore(runs)).current(RUN)[second.pairs[1]].verdict == "unsure"
    assert first.pairs[0] not in VerdictLog(RunStore(runs)).current(RUN)


def test_a_chain_shows_the_non_match_with_its_matches(screen, runs, monkeypatch):
    folder = RunFolder(install_example(RunStore(runs)).folder)
    pairs = tuple(decisions(folder, reasons=False, values=False)["pair_id"].iloc[:3])
    chain = RankedContradiction("B = C and A = B, but A is not C.", pairs, CHAIN, 0.9)
    monkeypatch.setattr(contradictions_view, "find_contradictions", lambda frame, self_join: [chain])
    app = screen("audit", run=RUN, part="Contradictions")
    text = words(app)
    assert "**1 contradiction** to judge" in text
    assert text.count("Left record") == 3
    for pair in pairs:
        VerdictLog(RunStore(runs)).add(RUN, pair, "match", who="ann")
    app = screen("audit", run=RUN, part="Contradictions")
    assert "Every contradiction has been judged" in words(app)
    assert "Judged, and still contradicting (1)" in words(app)
    monkeypatch.setattr(contradictions_view, "find_contradictions", lambda frame, self_join: [])
    VerdictLog(RunStore(runs)).add(RUN, pairs[0], "non-match", who="ann")
    assert "No decisions contradict each other" in words(screen("audit", run=RUN, part="Contradictions"))
