"""Workers and the web server killed at random moments: scores as if nothing had happened, and no verdict lost."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.chaos.site import Figure, Site
from benchmarks.kill_resume import kill_and_resume
from riskcore.audit import VerdictLog
from riskcore.audit.log_check import check_log
from riskcore.runs import PairQuery, RunFolder, RunStore, query_pairs
from tests.pages.synthetic_run import write_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from riskcore.runs import RunRecord
    from tests.browser.driver import Server

KEYS = "mnu"
MOST_VERDICTS = 5  # of a person before the server is killed


def killed_workers(site: Site) -> list[Figure]:
    """Workers on small runs, resumed after each kill, compared with an undisturbed run file by file."""
    store, wanted = RunStore(site.place / "killed workers"), site.sizes.worker_kills
    found = kill_and_resume(store, site.config, wanted, site.chance("workers"), site.worker)
    differences = found["differences"]
    return [
        Figure(
            "Workers killed",
            f"{found['kills']:,} kills over {found['runs']:,} runs",
            f"{len(differences):,} differences in scores, models, results and events",
            f"{wanted:,} kills; 0 differences from an undisturbed run",
            found["kills"] >= wanted and not differences,
            tuple(differences[:12]),
        )
    ]


def killed_servers(site: Site) -> list[Figure]:
    """A person in a browser, whose server is killed right after a verdict; the next person finds all of them."""
    bar = f"{site.sizes.server_kills:,} kills; 0 lost, 0 doubled"
    try:
        from tests.browser.driver import CHROMIUM, Server, browsing
    except ImportError:
        CHROMIUM = None
    if CHROMIUM is None:
        return [
            Figure("Web server killed", "nothing", "no chromium on this machine: .ci/browser installs it", bar, None)
        ]
    place = site.place / "killed server"
    record = write_run(place / "runs", 120, 3)
    server, faults, confirmed, lost, doubled, kills = Server(place), list[str](), 0, 0, 0, 0
    with browsing() as browser:
        for number in range(site.sizes.server_kills):
            if site.over:
                break
            seen = _judge_and_kill(browser, server, record, number, site)
            kills, confirmed = kills + 1, confirmed + len(seen) - 1
            missing, twice = _compare(place, record.id, f"person {number}", seen)
            lost, doubled = lost + missing, doubled + twice
            faults += check_log(RunStore(place / "runs"), record.id).problems
    return [
        Figure(
            "Web server killed",
            f"{kills:,} kills, {confirmed:,} verdicts shown as saved",
            f"{lost:,} lost, {doubled:,} doubled, {len(faults):,} faults of the log",
            bar,
            kills == site.sizes.server_kills and confirmed > 0 and not (lost or doubled or faults),
            tuple(faults),
        )
    ]


def _judge_and_kill(
    browser: Browser, server: Server, record: RunRecord, number: int, site: Site
) -> list[tuple[str, str]]:
    """Verdicts by keyboard, the last one cut off by the kill; those before it were shown as saved."""
    from tests.browser.driver import new_page
    from tests.browser.test_two_reviewers import WORDS, Reviewer, recorder

    chance = site.chance("server", number)
    queue = [str(one) for one in query_pairs(RunFolder(record.folder), PairQuery(page_size=120)).rows["pair_id"]]
    server.start()
    page = new_page(browser)
    try:
        one = Reviewer(f"person {number}", page, queue, recorder(record))
        one.begin(server.address, record.id)
        for _ in range(chance.randint(1, MOST_VERDICTS)):
            one.press(chance.choice(KEYS))
            one.sees_the_pair()
        last = chance.choice(KEYS)
        page.keyboard.press(last)
        time.sleep(chance.uniform(0, 0.3))
        return [*one.entries, (queue[one.at], WORDS[last])]
    finally:
        server.kill()
        with contextlib.suppress(Exception):
            page.context.close()


def _compare(place: Path, run: str, who: str, seen: list[tuple[str, str]]) -> tuple[int, int]:
    """Verdicts lost and doubled: the log has all that were shown as saved, and perhaps the one that was cut off."""
    entries = VerdictLog(RunStore(place / "runs")).entries(run)
    logged = [(entry.pair_id, entry.verdict) for entry in entries if entry.who == who]
    lost = sum(one not in logged for one in seen[:-1])
    return lost, len(logged) - len(set(logged)) + sum(one not in seen for one in logged)
