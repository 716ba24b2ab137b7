"""A live server, and people who lack the right: a part of what benchmarks/forged_actions.py tries a thousand times."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import streamlit

from benchmarks.forged_actions import OUT_OF_OFFICE, ROLES, Attack, Place, attack, upload
from benchmarks.forger import Forger, cookie_header
from tests.oidc_provider import provide

TRIED = 50


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with provide({name: {} for name in (*ROLES.values(), OUT_OF_OFFICE, "lena")}) as provider:
        found = Place(tmp_path_factory.mktemp("forged"), provider)
        found.server.start()
        try:
            yield found
        finally:
            found.server.stop()


def in_a_thread(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of the work: browser tests in this process may have left an event loop in its first thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


async def _files(place: Place) -> dict[str, tuple[int, int, int]]:
    """By person: the status of an owner's download by its address, of one made anew by its number, of an upload."""
    site, found = Attack(place, 0), {}
    await site.record()
    (number, *_) = [one.file for one in site.owner.controls.values() if one.file]
    address = await site.owner.ask_for_file(number)
    async with httpx.AsyncClient(base_url=place.site, trust_env=False) as client:
        for name in (*ROLES.values(), "nobody"):
            cookies = site.cookies.get(name, {})
            headers = {"Cookie": cookie_header(cookies)} if cookies else {}
            tab = await Forger.open(place.site, cookies)
            await tab.visit("help", "")
            anew = await tab.ask_for_file(number)
            answers = [(await client.get(url, headers=headers)).status_code for url in (address, anew)]
            found[name] = (answers[0], answers[1], await upload(client, tab.session, cookies))
            await tab.close()
    return found


def test_files_leave_and_enter_only_for_those_who_may(place):
    found = in_a_thread(_files(place))
    refused = (403, 403, 403)
    assert {name: found[name] for name in ("vera", "nobody")} == {"vera": refused, "nobody": refused}
    assert found["anna"] == found["ada"] == (200, 200, 204)


def test_strangers_get_the_fonts_of_the_page(place):
    static = Path(streamlit.__file__).parent / "static"
    font = next(static.rglob("MaterialSymbols*.woff2")).relative_to(static.parent)
    assert "/media/" in font.as_posix()
    assert httpx.get(f"{place.site}/{font.as_posix()}", trust_env=False).status_code == 200


def test_forged_and_replayed_actions_change_nothing(place):
    found = in_a_thread(attack(place, TRIED, 1))
    assert found["attempts"] >= TRIED - 3
    assert found["succeeded"] == 0, found["details"]
    control = found["the owner's same clicks that change something"]
    assert {"= Match", "Draw 100 pairs", "Delete permanently"} <= control.keys()
