"""Addresses opened by people who have not signed in: a real sign-in service on loopback, a real browser, and back."""

from __future__ import annotations

import json
import time
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from riskcore.pair_ids import pair_id
from tests.browser.driver import Server, click_until, settle, visit
from tests.oidc_provider import provide
from tests.pages.synthetic_run import write_run

ODD = (("a:3", "b\\4%3A"), ("Größe 7", "東京/é+ü&c=d#e"))
USERS = {"ada": {}, "eve": {"email": "eve@evil.net"}, "late": {"iat": time.time() - 13 * 3600}}
ACCESS = 'domains = ["example.org"]\ndefault_role = "owner"'
KEY = "riskcore.target"
FORGED = ("https://evil.net/?run=1", "//evil.net", "pairs/../../evil", ["/"])


@pytest.fixture(scope="module")
def place(root):
    return root / "permalinks"


@pytest.fixture(scope="module")
def run(place):
    return write_run(place / "runs", 40, 2, first_ids=ODD).id


@pytest.fixture(scope="module")
def site(place, run):
    """A server of the screens with a sign-in service; gives its address."""
    secrets = place / "secrets.toml"
    with provide(USERS) as provider:
        server = Server(place, STREAMLIT_SECRETS_FILES=str(secrets))
        secrets.write_text(provider.secrets(server.address, ACCESS), encoding="utf-8")
        server.start()
        try:
            yield server.address
        finally:
            server.stop()


def sign_in(page: Page, name: str, button: str = "Sign in") -> None:
    link = page.get_by_role("link", name=name, exact=True)
    click_until(page.get_by_role("button", name=button, exact=True), link)
    link.click()


def parameters(page: Page) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(page.url).query, keep_blank_values=True))


def expect_at(page: Page, site: str, screen: str, text: str, **asked: str) -> None:
    """The tab shows this text, at an address that has these parameters (the screen may add those it always writes)."""
    page.wait_for_url(lambda url: url.startswith(f"{site}/{screen}?"))
    expect(page.get_by_text(text).first).to_be_visible()
    settle(page)
    assert asked.items() <= parameters(page).items()


def card(site: str, run: str, ids: tuple[str, str]) -> tuple[str, str]:
    """The address of a pair's card, and the pair."""
    pair = pair_id(*ids)
    return f"{site}/pairs?{urlencode({'run': run, 'pair': pair}, quote_via=quote)}", pair


def test_a_cold_permalink_of_a_pair_returns_to_it(page, site, run):
    address, pair = card(site, run, ODD[0])
    visit(page, address)
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    shown = page.locator("body").inner_text()
    assert "made up" not in shown
    assert pair not in shown
    sign_in(page, "ada")
    expect_at(page, site, "pairs", "The evidence says", run=run, pair=pair)


def test_another_screen_with_its_choices_returns_too(page, site, run):
    visit(page, f"{site}/rules?run={run}&says=%3D+match&rule_text=title+%26+co&utm=x&next=https%3A%2F%2Fevil.net")
    sign_in(page, "ada")
    expect_at(page, site, "rules", "Rules", run=run, says="= match", rule_text="title & co")
    assert not {"utm", "next"} & parameters(page).keys()


def test_two_tabs_return_each_to_its_own_pair(page, site, run):
    other = page.context.new_page()
    for tab, ids in ((page, ODD[0]), (other, ODD[1])):
        visit(tab, card(site, run, ids)[0])
    for tab in (other, page):
        tab.get_by_role("button", name="Sign in").click()  # both are at the service at once
    for tab, ids in ((page, ODD[0]), (other, ODD[1])):
        tab.get_by_role("link", name="ada").click()
        expect_at(tab, site, "pairs", "The evidence says", pair=pair_id(*ids))
    page.go_back()
    visit(page, site)  # reached once: nothing is left to return to
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert page.evaluate("key => sessionStorage.getItem(key)", KEY) is None


def test_refusals_say_so_and_the_next_attempt_returns(page, site, run):
    address, pair = card(site, run, ODD[1])
    visit(page, address)
    sign_in(page, "nobody")
    expect(page.get_by_text("You are not signed in: the sign-in was refused")).to_be_visible()
    sign_in(page, "eve")
    expect(page.get_by_text("eve@evil.net is signed in, but is not allowed here")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("returns to the address that it came for: Top-risk pairs")).to_be_visible()
    sign_in(page, "nobody")
    expect(page.get_by_text("You are not signed in: the sign-in was refused")).to_be_visible()
    sign_in(page, "late")
    expect(page.get_by_text("Your sign-in is older than 12 hours")).to_be_visible()
    sign_in(page, "ada", "Sign in again")
    expect_at(page, site, "pairs", "The evidence says", run=run, pair=pair)
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, "ada")
    expect_at(page, site, "pairs", "The evidence says", run=run, pair=pair)


def test_a_forged_target_leads_nowhere(page, site):
    page.route("**/*evil*", lambda route: pytest.fail(f"asked for {route.request.url}"))
    visit(page, site)
    for number, kept in enumerate(FORGED):
        entry = json.dumps({"target": kept, "by": "", "at": time.time() * 1000})
        page.evaluate("([key, entry]) => sessionStorage.setItem(key, entry)", [KEY, entry])
        if number == 0:
            sign_in(page, "ada")
        else:
            page.reload()
        page.wait_for_function("key => sessionStorage.getItem(key) === null", arg=KEY)  # read, and refused
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        assert page.url == f"{site}/"
