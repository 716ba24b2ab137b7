"""Cold permalinks: how many come back to their pair after the sign-in, each in a browser that has never been here.

python benchmarks/permalinks.py [--links 100] [--pairs 2000] [--seed 0] [--json]

Makes a run up, starts the screens and a small OpenID Connect provider on this machine, and opens addresses of pairs in
chromium, each in a fresh context without cookies: some with filters, some with record ids full of signs that addresses
escape. A link counts as come back if the tab has the card of the pair at exactly the address's parameters, and if the
page before the sign-in was the one that strangers get for a run that does not exist. Times include the browser.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import typer
from playwright.sync_api import Browser, Page
from playwright.sync_api import Error as BrowserError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.arguments import JsonOption, report
from riskcore.runs import PairQuery, RunFolder, RunRecord, query_pairs
from tests.browser.driver import Server, browsing, new_page, settle, visit
from tests.oidc_provider import provide
from tests.pages.synthetic_run import write_run

SIGNS = (":", "%3A", "\\", "&", "=", "#", "?", "+", " ", "/", "ü", "東京", '"', "'", "<b>", "%", "é", "..", ";", "🙂")
FILTERS: tuple[dict[str, str], ...] = (
    {},
    {"sort": "probability"},
    {"label": "= match"},
    {"flip": "never flipped"},
    {"rule": "2"},
)
ACCESS = 'domains = ["example.org"]\ndefault_role = "auditor"'


def main(
    links: Annotated[int, typer.Option(help="Addresses to open, each in a fresh browser context.")] = 100,
    pairs: Annotated[int, typer.Option(help="Target pairs of the run.")] = 2_000,
    seed: Annotated[int, typer.Option(help="Of the run, and of the choice of pairs.")] = 0,
    as_json: JsonOption = False,
) -> None:
    with tempfile.TemporaryDirectory() as folder, provide({"ada": {}}) as provider:
        root = Path(folder)
        odd = tuple((f"left{sign}{n}", f"{sign}right {n}") for n, sign in enumerate(SIGNS))
        record = write_run(root / "runs", pairs, 3, seed=seed, first_ids=odd)
        secrets = root / "secrets.toml"
        server = Server(root, STREAMLIT_SECRETS_FILES=str(secrets))
        secrets.write_text(provider.secrets(server.address, ACCESS), encoding="utf-8")
        server.start()
        try:
            with browsing() as browser:
                found = measure(browser, server.address, chosen(record, len(odd), links, seed))
        finally:
            server.stop()
    report({"links": links, "seed": seed, **found, "sign-ins at the provider": provider.sign_ins}, as_json)


def chosen(record: RunRecord, odd: int, links: int, seed: int) -> list[dict[str, str]]:
    """The parameters of the addresses: every pair with odd ids first, then others, each with one of the filters."""
    ids = query_pairs(RunFolder(record.folder), PairQuery(sort="row", descending=False, page_size=10_000)).rows[
        "pair_id"
    ]
    others = random.Random(seed).sample(list(ids[odd:]), max(0, links - odd))
    wanted = [*ids[:odd], *others][:links]
    return [{"run": record.id, **FILTERS[place % len(FILTERS)], "pair": str(pair)} for place, pair in enumerate(wanted)]


def measure(browser: Browser, site: str, asked: list[dict[str, str]]) -> dict[str, Any]:
    page = new_page(browser)
    visit(page, f"{site}/pairs?run=none&pair=a:b")
    nothing = stranger_sees(page)
    page.context.close()
    back, early, seconds, failures = 0, 0, [], list[str]()
    for parameters in asked:
        page = new_page(browser)
        try:
            visit(page, f"{site}/pairs?{urlencode(parameters)}")
            early += stranger_sees(page) == nothing
            seconds.append(come_back(page, site, parameters))
            back += 1
        except (BrowserError, AssertionError) as error:
            failures.append(f"{parameters}: {error} at {page.url}")
        finally:
            page.context.close()
    return {
        "came back to their pair": f"{back} of {len(asked)}",
        "showed nothing before the sign-in": f"{early} of {len(asked)}",
        "seconds from Sign in to the card, median": round(statistics.median(seconds), 2) if seconds else None,
        "slowest": round(max(seconds), 2) if seconds else None,
        "failures": failures[:5],
    }


def stranger_sees(page: Page) -> str:
    page.get_by_role("button", name="Sign in").wait_for()
    page.get_by_text("After the sign-in").wait_for()
    settle(page)
    return page.locator("body").inner_text()


def come_back(page: Page, site: str, parameters: dict[str, str]) -> float:
    """Sign in and wait for the card; the seconds that it took. AssertionError at any other address."""
    started = time.perf_counter()
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="ada").click()
    page.get_by_text("The evidence says").wait_for()
    taken = time.perf_counter() - started
    settle(page)
    now = dict(parse_qsl(urlsplit(page.url).query, keep_blank_values=True))
    assert page.url.startswith(f"{site}/pairs?"), "another page"
    assert now == parameters, "other parameters"
    return taken


if __name__ == "__main__":
    typer.run(main)
