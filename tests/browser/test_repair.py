"""Watch the repair in a real browser: it plays without the server, and a box leads to its pairs."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from pages.parts.runs.repair_layout import PLAY
from riskcore.runs import RunFolder
from riskcore.runs.formats import read_scores
from tests.browser.driver import settle, steady, visit


def test_it_plays_to_the_end_and_a_box_opens_its_pairs(page, address, made_up):
    asked, sent, errors = [], [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(data)))
    page.on("pageerror", lambda error: errors.append(str(error)))
    visit(page, f"{address}/fine_tuning?run={made_up.id}")
    chart = page.get_by_test_id("stPlotlyChart")
    chart.scroll_into_view_if_needed()
    steady(chart)
    shown = chart.locator(".textpoint")
    expect(shown).to_have_text("Iteration 0: the matcher before fine-tuning")
    expect(chart.locator(".trace.scatter .js-line")).to_have_count(0)
    before = len(sent)
    chart.get_by_text(PLAY).click()
    expect(shown).to_have_text(re.compile("Iteration 1: .* labels flip"))
    expect(chart.locator(".trace.scatter .js-line").first).to_be_attached()
    expect(shown).to_have_text(re.compile("Iteration 3: "))
    assert len(sent) == before  # the server was told nothing
    drag_upper_right(page, chart)
    link = page.get_by_role("link", name=re.compile(r"Open these \d+ pairs in the queue"))
    expect(link).to_be_visible()
    settle(page)
    count = int(re.findall(r"\d+", link.inner_text())[0])
    query = {name: values[0] for name, values in parse_qs(urlsplit(link.get_attribute("href")).query).items()}
    assert (query["run"], query["method"], query["iteration"]) == (made_up.id, "risk", "3")
    assert count == pairs_within(RunFolder(made_up.folder), query) > 0
    expect(shown).to_have_text(re.compile("Iteration 3: "))  # the frame is still that of the box
    chart.get_by_text(PLAY).click()  # plotly's own box would stop it
    expect(shown).to_have_text(re.compile("Iteration 1: "))
    page.get_by_role("button", name="Remove the box").click()
    expect(page.get_by_text("Drag a box over points")).to_be_visible()
    assert errors == []
    assert {urlsplit(url).hostname for url in asked if not url.startswith(("data:", "blob:"))} == {"localhost"}


def drag_upper_right(page, chart) -> None:
    """Draw a box over the quadrant in which rules and model say match."""
    area = chart.locator(".nsewdrag").first.bounding_box()
    left, top, width, height = (area[name] for name in ("x", "y", "width", "height"))
    page.mouse.move(left + width / 2, top + height / 2)
    page.mouse.down()
    page.mouse.move(left + 0.8 * width, top + 0.3 * height, steps=4)
    page.mouse.move(left + width - 4, top + 4, steps=4)
    page.mouse.up()


def pairs_within(folder: RunFolder, query: dict[str, str]) -> int:
    found = read_scores(folder.scores_file("risk", 3), ("mu", "probability"))
    ranges = [[float(end) for end in query[name].split("-")] for name in ("evidence", "probability")]
    rows = zip(found["mu"], found["probability"], strict=True)
    return sum(all(low <= value <= high for value, (low, high) in zip(row, ranges, strict=True)) for row in rows)
