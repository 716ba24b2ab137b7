"""A dossier in a real browser: all of it can be read at 1,000 pixels and on A4 paper, and nothing is fetched."""

from __future__ import annotations

import pytest

from riskcore.audit import VerdictLog
from riskcore.audit.dossier import write_dossier
from riskcore.audit.sign_off import sign
from riskcore.runs import PairQuery, RunFolder, RunStore, query_pairs
from riskcore.runs.example import install_example

PAPER = 794  # CSS pixels of A4's width; margins make the text narrower still
TOO_WIDE = """() => {
    const edge = document.documentElement.clientWidth;
    const wide = [...document.body.querySelectorAll("*")].filter(one => one.getBoundingClientRect().right > edge + 1
        || one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline");
    return wide.map(one => `${one.tagName} ${one.className}: ${one.textContent.slice(0, 60)}`);
}"""


@pytest.fixture(scope="module")
def dossier(root):
    """Of the bundled example, with words that have no place to break and a sign-off."""
    store = RunStore(root / "dossier" / "runs")
    record = install_example(store)
    folder, log = RunFolder(record.folder), VerdictLog(store)
    for place, pair in enumerate(query_pairs(folder, PairQuery(page_size=30)).rows["pair_id"]):
        log.add(record.id, pair, "match", "x" * 150, ("ann", f"{'b' * 60}@example.org")[place % 2])
    sign(folder, store, "Ann Berger", "I accept " + "this_result_" * 20)
    file = root / "dossier" / "dossier.html"
    write_dossier(folder, store, file)
    return file


@pytest.mark.parametrize(("width", "media"), [(1000, "screen"), (PAPER, "print")])
def test_nothing_is_cut_off(page, dossier, width, media):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(media=media)
    page.goto(dossier.as_uri())
    assert page.get_by_role("heading", level=2).count() >= 8
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TOO_WIDE) == []
    assert asked == [dossier.as_uri()]
