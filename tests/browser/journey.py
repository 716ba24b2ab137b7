"""How long a new user needs: from starting the app to the first explained pair of the sample, in a real browser.

`python -m tests.browser.journey` starts the server as `make app` does once the environment is there, presses
*Run the sample*, waits for the run, opens the riskiest pair and prints the seconds. It fails above two minutes.
"""

# ruff: noqa: T201 - a script that reports
from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.driver import browsing, click_until, new_page, open_first_by_key, serving, settle

BAR = 120.0  # seconds
PATIENCE = 600.0  # seconds until it is given up


class Clock:
    """Seconds since the start, printed at each stage."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    def tell(self, stage: str) -> float:
        seconds = time.perf_counter() - self._started
        print(f"{seconds:6.1f} s  {stage}", flush=True)
        return seconds


def run_the_sample(page: Page, clock: Clock) -> None:
    main, patience = page.get_by_test_id("stMain"), 1000 * PATIENCE
    click_until(page.get_by_role("button", name="Run the sample"), main.get_by_test_id("stProgress").first)
    clock.tell("the sample is at work")
    main.get_by_test_id("stPageLink").get_by_text("Top-risk pairs").first.wait_for(timeout=patience)
    clock.tell("its first pairs can be looked at")
    expect(main.get_by_test_id("stProgress")).to_have_count(0, timeout=patience)
    clock.tell("the run is done")


def open_the_first_pair(page: Page) -> None:
    link = page.get_by_test_id("stMain").get_by_test_id("stPageLink").get_by_text("Top-risk pairs").first
    click_until(link, page.get_by_role("button", name="Open the first pair"))
    open_first_by_key(page)
    page.locator(".rc-rule").first.wait_for()
    settle(page)


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as address, browsing() as browser:
        clock.tell("the server answers")
        page = new_page(browser)
        page.goto(address)
        page.get_by_role("heading", name="Overview").wait_for()
        settle(page)
        clock.tell("the first screen is there")
        run_the_sample(page, clock)
        open_the_first_pair(page)
        seconds = clock.tell("the riskiest pair explains itself")
    return 0 if seconds <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
