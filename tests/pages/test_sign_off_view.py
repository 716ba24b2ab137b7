"""Signing a result on the screen, and contradictions among its decisions."""

from __future__ import annotations

from pages.parts.audit import contradictions_view
from riskcore.audit import VerdictLog
from riskcore.audit.contradictions import RankedContradiction
from riskcore.audit.sign_off import sign_offs
from riskcore.runs import RunFolder, RunStore
from riskcore.runs.example import RUN, install_example
from tests.pages.conftest import checked, words


def press(app, label: str):
    return checked(next(button for button in app.button if button.label == label).click().run())


def test_a_sign_off_holds_until_a_verdict_changes_it(screen, runs):
    record = install_example(RunStore(runs))
    app = screen("results", run=RUN)
    assert "There is no estimate yet" in words(app)
    app.text_area(key=f"statement {RUN}").set_value("Fit for the catalogue, but for reviews.")
    app = press(checked(app.run()), "Sign as analyst")
    assert "It still holds" in words(app)
    (signed,) = sign_offs(RunFolder(record.folder))
    assert (signed.who, signed.statement) == ("analyst", "Fit for the catalogue, but for reviews.")
    VerdictLog(RunStore(runs)).add(RUN, "258:664", "non-match", who="ann")
    assert "It no longer holds" in words(screen("results", run=RUN))


def test_contradictions_have_a_list_and_a_line_on_the_card(screen, done, runs, monkeypatch):
    found = RankedContradiction("7 has two counterparts: a7:b7 and a8:b8.", ("a7:b7", "a8:b8"), "several", 0.9)
    monkeypatch.setattr(contradictions_view, "find_contradictions", lambda frame, self_join: [found])
    monkeypatch.setattr(contradictions_view, "_is_answer", lambda view: True)
    app = screen("pairs", run=done.id)
    app.session_state["contradictions"] = True
    app = checked(app.run())
    assert "**1 contradiction**, the surest first" in words(app)
    app = screen("pairs", run=done.id, pair="a7:b7")
    assert any("has two counterparts" in str(one.value) for one in app.warning)
    other = screen("pairs", run=done.id, pair="a9:b9")
    assert not any("has two counterparts" in str(one.value) for one in other.warning)
