"""The tour in a real browser: it begins in seconds, and its five stops are also the moving picture of the README."""

from __future__ import annotations

import io
import os
import re

from PIL import Image
from playwright.sync_api import expect

from pages.parts.runs.repair_layout import PLAY
from tests.browser.driver import PROJECT, click_until, new_page, settle, steady, visit

FILM = PROJECT / "docs" / "img" / "tour.gif"
KEEP = os.environ.get("RISKCORE_SCREENSHOTS") == "1"
WIDTH = 880  # of the moving picture


class Film:
    """Frames of the screen with how long each is shown, if they are asked for."""

    def __init__(self, page) -> None:
        self.page, self.frames, self.milliseconds = page, [], []

    def take(self, milliseconds: int) -> None:
        if KEEP:
            shot = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
            self.frames.append(shot.resize((WIDTH, round(shot.height * WIDTH / shot.width)), Image.Resampling.LANCZOS))
            self.milliseconds.append(milliseconds)

    def save(self) -> None:
        if KEEP:
            first, *rest = (
                frame.quantize(96, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE) for frame in self.frames
            )
            first.save(FILM, save_all=True, append_images=rest, duration=self.milliseconds, loop=0, optimize=True)


def test_five_stops_from_the_first_screen(browser, address):
    page = new_page(browser, 1280, 860)
    film = Film(page)
    visit(page, address)
    film.take(1200)
    click_until(page.get_by_role("button", name="Take the tour"), page.get_by_text("Tour, 1 of 5."))
    stop(page, 1)
    expect(page.locator(".rc-likely")).to_contain_text("Probably a")
    film.take(3500)
    next_stop(page, 2)
    page.get_by_role("heading", name="Why").scroll_into_view_if_needed()
    expect(page.locator(".rc-sheet").first).to_contain_text("Together")
    page.locator(".rc-sheet").first.scroll_into_view_if_needed()
    steady(page.locator(".rc-sheet").first)
    film.take(3500)
    next_stop(page, 3)
    watch(page, film)
    next_stop(page, 4)
    expect(page.locator("[data-pair]").first).to_be_visible()
    page.locator("[data-pair]").first.scroll_into_view_if_needed()
    film.take(3500)
    next_stop(page, 5)
    expect(page.get_by_role("heading", name="Methods")).to_be_visible()
    steady(page.get_by_test_id("stMain"))
    film.take(3500)
    expect(page.get_by_role("link", name="Begin with your own data")).to_be_visible()
    film.save()
    page.context.close()


def stop(page, number: int) -> None:
    expect(page.get_by_text(f"Tour, {number} of 5.")).to_be_visible()
    settle(page)


def next_stop(page, number: int) -> None:
    settle(page)
    page.get_by_role("button", name="Next stop").click()
    stop(page, number)


def watch(page, film: Film) -> None:
    """Play the repair to its end."""
    chart = page.get_by_test_id("stPlotlyChart")
    chart.scroll_into_view_if_needed()
    steady(chart)
    film.take(1200)
    shown = chart.locator(".textpoint")
    chart.get_by_text(PLAY).click()
    while KEEP and "Iteration 4" not in (shown.text_content() or ""):
        film.take(300)
    expect(shown).to_have_text(re.compile("Iteration 4: "))
    film.take(2500)


def test_a_row_of_the_queue_opens_its_pair(page, address, made_up):
    visit(page, f"{address}/pairs?run={made_up.id}")
    row = page.locator("[data-pair]").nth(2)
    pair = row.get_attribute("data-pair")
    row.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The evidence says")).to_be_visible()
    expect(page).to_have_url(re.compile(re.escape(f"pair={pair}".replace(":", "%3A"))))


def test_on_a_wide_screen_the_queue_stays_beside_the_card(browser, address, made_up):
    page = new_page(browser, 1700, 900)
    visit(page, f"{address}/pairs?run={made_up.id}&pair=a7:b7")
    expect(page.get_by_text("The evidence says")).to_be_visible()
    rows = page.locator("[data-pair]")
    expect(rows.nth(1)).to_be_visible()
    rows.nth(1).click()
    expect(page.locator(".row.open")).to_have_attribute("data-pair", rows.nth(1).get_attribute("data-pair"))
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(rows.nth(1)).to_be_hidden()
    page.context.close()
