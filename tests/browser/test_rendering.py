"""What only a real browser shows: formulas are drawn, nothing is fetched from elsewhere, tables do not export."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from playwright.sync_api import Locator, expect

from pages.parts.frame.glossary import FORMULAS, Tex
from pages.parts.frame.navigation import SCREENS
from tests.browser.driver import click_until, new_page, settle, visit

# The browser of the tests fetches no tab icons, so no request shows them: each address that the tab is given is kept.
KEEP_TAB_ICONS = """
window.tabIcons = [];
new MutationObserver(() => {
    const icon = document.querySelector("link[rel~=icon]");
    if (icon && window.tabIcons.at(-1) !== icon.href) window.tabIcons.push(icon.href);
}).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ["href"]});
"""
CUT_OFF = """formulas => formulas.filter(one => {
    const right = Math.max(...[...one.querySelectorAll(".base")].map(base => base.getBoundingClientRect().right));
    return one.closest("[data-testid=stMarkdownContainer]").getBoundingClientRect().right < right - 1;
}).map(one => one.textContent)"""


def test_formulas_of_the_pair_card_are_drawn(page, address, made_up):
    visit(page, f"{address}/pairs?run={made_up.id}&pair=a7:b7")
    expect_formulas(page, "How risk is computed", "risk")


def test_formulas_of_help_are_drawn(page, address, made_up):
    for part, names in {"method": ("risk", "training"), "theory": ("bound",)}.items():
        visit(page, f"{address}/help?part={part}&run={made_up.id}")
        expect_drawn(page.get_by_test_id("stMain"), *names)


def test_the_formula_of_fine_tuning_is_drawn(page, address, made_up):
    visit(page, f"{address}/fine_tuning?run={made_up.id}")
    click_until(page.get_by_text("Start a new run"), page.get_by_text("What fine-tuning does", exact=True))
    expect_formulas(page, "What fine-tuning does", "training")


def expect_formulas(page, title: str, name: str) -> None:
    """Open the expander: all of its formulas are there, none as an error, none cut off by its box."""
    expander = page.get_by_test_id("stExpander").filter(has=page.get_by_text(title, exact=True))
    expander.locator("summary").click()
    expect_drawn(expander, name)


def expect_drawn(place: Locator, *names: str) -> None:
    """All of these formulas are in this place, none as an error, none cut off by its box."""
    drawn = place.locator(".katex-display")
    expect(drawn).to_have_count(sum(isinstance(part, Tex) for name in names for part in FORMULAS[name]))
    expect(drawn.last).to_be_visible()
    expect(place.page.locator(".katex-error")).to_have_count(0)
    expect(place).not_to_contain_text("$")
    assert drawn.evaluate_all(CUT_OFF) == []


def is_here(url: str) -> bool:
    """Whether an address stays on this machine."""
    parts = urlsplit(url)
    return parts.scheme in ("data", "blob") or parts.hostname in ("localhost", "127.0.0.1", "::1")


def test_no_request_leaves_the_machine(browser, address, made_up):
    page = new_page(browser)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.add_init_script(KEEP_TAB_ICONS)
    cold = [f"{name}?run={made_up.id}" for name in SCREENS if name != "overview"]
    for where in ("", *cold, f"pairs?run={made_up.id}&pair=a7:b7"):
        visit(page, f"{address}/{where}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator("link[rel~=icon]")).to_have_attribute("href", re.compile("^data:image/svg"))
        asked += page.evaluate("window.tabIcons")
    for screen in SCREENS.values():
        link = page.get_by_test_id("stSidebarNav").get_by_role("link", name=screen.title)
        click_until(link, page.get_by_role("heading", level=1, name=screen.title))
        settle(page)
    asked += page.evaluate("window.tabIcons")
    expect(page.get_by_test_id("stSidebarLogo")).to_have_attribute("src", re.compile("^data:image/svg"))
    assert len(asked) > 100
    assert {url for url in asked if not is_here(url)} == set()


def test_a_table_has_no_csv_button_of_its_own(page, address, made_up):
    visit(page, f"{address}/results?run={made_up.id}")
    table = page.get_by_test_id("stDataFrame").first
    expect(table).to_be_visible()
    table.hover()
    toolbar = page.get_by_test_id("stElementToolbar").first
    expect(toolbar.get_by_role("button", name="Fullscreen")).to_be_visible()
    expect(toolbar.get_by_role("button", name=re.compile("csv|download", re.IGNORECASE))).to_have_count(0)
