"""How fast the screens answer on a large run: seconds from click to rest in a real browser, and the server's memory.

`python -m tests.browser.measure --pairs 100000` makes a run of that size up, drives its screens and prints a table.
With `--train` a sample run trains beside it.
"""

# ruff: noqa: T201 - a script that reports
from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from pages.parts.runs.sample_run import start_sample
from riskcore.runs import PairQuery, RunFolder, RunRecord, RunStore, cancel, query_pairs
from tests.browser.driver import browsing, new_page, open_first_by_key, serving, settle, steady, visit
from tests.pages.synthetic_run import write_run

Timing = list[tuple[str, float]]


def timed(page: Page, name: str, do: Callable[[], object], seen: Callable[[], object], into: Timing) -> None:
    """Seconds from doing something to seeing its effect with the script at rest."""
    started = time.perf_counter()
    do()
    seen()
    settle(page)
    into.append((name, time.perf_counter() - started))


def clicks(page: Page, record: RunRecord, into: Timing, rounds: int) -> None:
    """A reviewer's clicks: open, judge, walk, filter, turn pages, look at rules."""
    total = query_pairs(RunFolder(record.folder), PairQuery()).total

    def position(number: int) -> Callable[[], object]:
        return lambda: expect(page.get_by_text(f"{number:,} of {total:,} in this queue")).to_be_visible()

    timed(page, "first pair", lambda: page.keyboard.press("o"), position(1), into)
    for number in range(1, rounds + 1):
        timed(page, "next pair", lambda: page.keyboard.press("j"), position(number + 1), into)
    for number in range(rounds + 1, 2 * rounds + 1):
        timed(page, "verdict", lambda: page.keyboard.press("m"), position(number + 1), into)
    for number in range(2 * rounds, rounds, -1):
        timed(page, "previous pair", lambda: page.keyboard.press("k"), position(number), into)
    words = page.get_by_text("page 1 of")
    timed(page, "back to the queue", lambda: page.keyboard.press("q"), words.wait_for, into)
    for number in (2, 3, 4):
        words = page.get_by_text(f"page {number} of")
        button = page.get_by_role("navigation", name="Pagination").get_by_role(
            "button", name=f"Page {number}", exact=True
        )
        timed(page, "turn the page", button.click, words.wait_for, into)
    for wanted in ("= match", "≠ non-match", "(any)"):
        page.get_by_role("combobox", name="Label").scroll_into_view_if_needed()
        steady(page.get_by_role("combobox", name="Label"))  # a list closes when the page scrolls
        page.get_by_role("combobox", name="Label").click()
        option = page.get_by_role("option").filter(has_text=wanted).first
        timed(page, "filter by label", option.click, page.get_by_text("page 1 of").wait_for, into)


def screens(page: Page, into: Timing) -> None:
    nav = page.get_by_test_id("stSidebarNav")
    for _ in range(2):
        for title in ("Rules", "Compare", "Label & audit", "Results", "Help", "Fine-tuning", "Top-risk pairs"):
            heading = page.get_by_role("heading", level=1, name=title)
            timed(page, f"open {title}", nav.get_by_role("link", name=title).click, heading.wait_for, into)


def memory_mb(port: int) -> float:
    """Resident memory of the process that listens on the port."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            command = (status.parent / "cmdline").read_bytes()
            if b"streamlit" in command and str(port).encode() in command:
                lines = status.read_text().splitlines()
                return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024
        except OSError:
            continue
    return float("nan")


def report(timing: Timing) -> None:
    names = list(dict.fromkeys(name for name, _ in timing))
    for name in names:
        values = [seconds for one, seconds in timing if one == name]
        print(f"{name:20s} {len(values):3d} x  median {statistics.median(values):.2f} s  worst {max(values):.2f} s")
    every = sorted(seconds for _, seconds in timing)
    slow = every[min(int(0.95 * len(every)), len(every) - 1)]
    print(f"{'all':20s} {len(every):3d} x  median {statistics.median(every):.2f} s  p95 {slow:.2f} s")


@contextmanager
def training(root: Path, wanted: bool) -> Iterator[None]:
    """The sample at work beside what is measured; stopped afterwards."""
    if not wanted:
        yield
        return
    store = RunStore(root / "runs")
    run = start_sample(store).id
    try:
        yield
    finally:
        if not store.get(run).state.over:
            cancel(store, run)
        for _ in range(60):  # its folder goes away with the measurement
            if store.get(run).state.over:
                break
            time.sleep(0.5)


def measure(root: Path, record: RunRecord, rounds: int, train: bool) -> None:
    """Drive the screens of the run and print what they took."""
    with serving(root) as address, browsing() as browser, training(root, train):
        page, opened, timing = new_page(browser), [], []
        visit(page, address)
        queue, link = page.locator("[data-pair]").first, f"{address}/pairs?run={record.id}"
        timed(page, "open the queue", lambda: visit(page, link), queue.wait_for, opened)
        report(opened)
        open_first_by_key(page)  # the browser listens for keys from here on
        page.keyboard.press("q")
        queue.wait_for()
        try:
            clicks(page, record, timing, rounds)
            screens(page, timing)
        finally:
            report(timing)
        print(f"web process, at most {memory_mb(int(address.rsplit(':', 1)[1])):.0f} MB")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pairs", type=int, default=100_000)
    arguments.add_argument("--rules", type=int, default=100, help="beside the eight there always are")
    arguments.add_argument("--rounds", type=int, default=10)
    arguments.add_argument("--train", action="store_true", help="train the sample meanwhile")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        record = write_run(root / "runs", options.pairs, 5, methods=("risk",), more_rules=options.rules)
        print(f"{options.pairs:,} pairs", file=sys.stderr)
        measure(root, record, options.rounds, options.train)


if __name__ == "__main__":
    main()
