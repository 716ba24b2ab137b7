"""Forged and replayed actions: how many change anything for people whose role lacks the right.

python benchmarks/forged_actions.py [--attempts 1000] [--seed 0] [--json]

Starts the screens with a small OpenID Connect provider on this machine, records every control that an owner's screens
draw, and sends the owner's clicks from where they do not belong (`benchmarks/forger.py` speaks for the browser). An
attempt has succeeded if afterwards any row of the store or byte of runs and data is another, or if a file has left or
was taken. At the end the owner makes the same clicks: those that then change something show what the attempts were for.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.arguments import JsonOption, report
from benchmarks.forger import Control, Forger, cookie_header, filled, sign_in
from riskcore.audit import VerdictLog
from riskcore.audit.assigned import assign, target_pairs
from riskcore.runs import PairQuery, RunFolder, RunStore, query_pairs
from tests.browser.driver import Server
from tests.oidc_provider import COOKIE_SECRET, OidcProvider, provide
from tests.pages.synthetic_run import write_run

ROLES = {"viewer": "vera", "auditor": "anna", "operator": "otto", "owner": "ada"}
OUT_OF_OFFICE = "dora"  # an owner whose role is taken away while a tab is open
LEFT = "lena"  # an owner who has signed out
COOKIE = "_streamlit_user"
SHARES = {
    "replayed": 0.52,
    "role taken away": 0.15,
    "cookies": 0.15,
    "sessions": 0.04,
    "files": 0.10,
    "addresses": 0.04,
}
STARTS = ("Take the tour", "Run the sample")  # a process that would outlive the server: not clicked by the owner
WAYS = 6  # in which a click is replayed
ASKED = (
    "draw=100", "add=tables", "add=scores", "tour=1", "constraint=one-to-one", "list=1", "mask=title", "sort=random",
    "part=Estimate&draw=500", "target=/etc/passwd", "set=/etc", "pair=../../x", "run=../../etc", "entity=1",
    "verdict=match", "button=Delete+permanently", "role=owner", "user=ada%40example.org",
)  # fmt: skip


class Place:
    """The server under attack, and whether anything about it has changed."""

    def __init__(self, root: Path, provider: OidcProvider) -> None:
        self.root, self.roles_file = root, root / "roles.toml"
        self.run = write_run(root / "runs", 120, 3)
        self._fill()
        secrets = root / "secrets.toml"
        self.server = Server(root, STREAMLIT_SECRETS_FILES=str(secrets))
        self.site = self.server.address
        self.give_roles()
        rules = f'domains = ["example.org"]\nroles_file = "{self.roles_file}"'
        secrets.write_text(provider.secrets(self.site, rules), encoding="utf-8")

    def _fill(self) -> None:
        """Verdicts, a work list and a sample, so that there is something to undo, close and delete."""
        store, folder = RunStore(self.root / "runs"), RunFolder(self.run.folder)
        self.pairs = [str(one) for one in query_pairs(folder, PairQuery(page_size=40)).rows["pair_id"]]
        for name in (*ROLES.values(), OUT_OF_OFFICE):
            VerdictLog(store).add(self.run.id, self.pairs[0], "match", "#check", f"{name}@example.org")
        assign(folder, "prices", ["anna@example.org", "vera@example.org"], target_pairs(folder)[:10])

    def give_roles(self, *, also_owner: str = OUT_OF_OFFICE) -> None:
        """Write the file of roles; people who are not in it are viewers."""
        people = {role: [f"{name}@example.org"] for role, name in ROLES.items()}
        people["owner"] += [f"{one}@example.org" for one in (LEFT, also_owner) if one]
        self.roles_file.write_text("".join(f"{role} = {json.dumps(who)}\n" for role, who in people.items()))

    def places(self) -> list[tuple[str, str]]:
        """The screens, with what their addresses open."""
        run = f"run={self.run.id}"
        parts = ("Label", "Estimate", "Verdicts", "Work+lists", "Reviewers", "Contradictions", "Error+kinds")
        return [
            ("overview", ""), ("fine_tuning", run), ("fine_tuning", ""), ("pairs", run),
            ("pairs", f"{run}&pair={self.pairs[0]}"), ("pairs", f"{run}&pair={self.pairs[1]}"),
            ("rules", f"{run}&one=1"), *[("audit", f"{run}&part={part}") for part in parts],
            ("results", run), ("compare", run),
            ("data_sets", ""), ("data_sets", "add=tables"), ("data_sets", "add=scores"),
        ]  # fmt: skip

    def state(self) -> str:
        """A digest of every row and every file, but for the files that the database keeps its rows in."""
        found = hashlib.sha256()
        for folder in (self.root / "runs", self.root / "data"):
            for path in sorted(folder.rglob("*")):
                if path.suffix == ".db":
                    with sqlite3.connect(path) as rows:
                        found.update("\n".join(rows.iterdump()).encode())
                elif path.is_file() and not path.name.endswith((".db-wal", ".db-shm")):
                    found.update(str(path).encode() + path.read_bytes())
        return found.hexdigest()


class Attack:
    """All attempts, one after the other."""

    def __init__(self, place: Place, seed: int) -> None:
        self.place, self.chance, self.site = place, random.Random(seed), place.site
        self.cookies = {name: sign_in(self.site, name) for name in (*ROLES.values(), OUT_OF_OFFICE, LEFT)}
        self.recorded: dict[tuple[str, str], list[Control]] = {}
        self.last = ""  # attempt, in words

    async def sign_out(self) -> None:
        """The owner who leaves, by the button: the component says that the browser is ready, then Streamlit goes."""
        tab = await Forger.open(self.site, self.cookies[LEFT])
        await tab.visit("help", "")
        (button,) = [one for one in tab.controls.values() if one.label == "Sign out"]
        await tab.say(button, [button.state()])
        await tab.trigger("riskcore_way_back", "left", "sign out")
        if not tab.redirect:
            raise RuntimeError("The sign-out did not go on to the sign-in service.")
        await tab.close()

    async def record(self) -> None:
        """What an owner's screens draw. The tab stays open: its session, its files and its fragments are targets."""
        self.owner = await Forger.open(self.site, self.cookies["ada"])
        for where in self.place.places():
            await self.owner.visit(*where)
            self.recorded[where] = [one for one in self.owner.controls.values() if one.label != "Sign out"]
        await self.owner.visit("results", f"run={self.place.run.id}")

    async def replayed(self) -> AsyncIterator[bool]:
        """An owner's clicks in the session of a lesser role: with the owner's ids, fields and fragments, or others."""
        tabs = {role: await Forger.open(self.site, self.cookies[ROLES[role]]) for role in list(ROLES)[:3]}
        places = list(self.recorded.items())
        while True:
            role, (where, controls) = self.chance.choice(list(tabs)), self.chance.choice(places)
            tab = tabs[role]
            await tab.visit(*where)
            own = dict(tab.controls)
            lacking = [one for one in controls if one.id not in own or own[one.id].disabled]
            lacking += [one for one in controls if role == "viewer" and one.kind == "button" and one not in lacking]
            for control in self.chance.sample(lacking, min(3, len(lacking))):
                way = self.chance.randrange(WAYS)
                self.last = f"{role}: {control.label} ({control.kind}) at {where}, way {way}"
                allowed = [one.id for one in controls if one not in lacking and one.kind == "button"]
                around = [one for one in controls if one.id not in allowed]
                yield await self._replay(tab, own.get(control.id, control), around, way)

    async def _replay(self, tab: Forger, control: Control, around: list[Control], way: int) -> bool:
        states = [control.state()] if way in (0, 2) else filled(control, around)
        if way == 3:
            states = [one.state() for one in around if one.kind == "button"]  # every button at once
        if way == 4:
            await tab.visit("help", "")  # from a screen that has no such button
        for _ in range(2 if way == 5 else 1):
            await tab.say(control, states, with_fragment=way != 2)
        return False

    async def role_taken_away(self) -> AsyncIterator[bool]:
        """A tab was opened by an owner; the file of roles says otherwise when the click comes."""
        places = list(self.recorded)
        while True:
            tab = await Forger.open(self.site, self.cookies[OUT_OF_OFFICE])
            where = self.chance.choice(places)
            await tab.visit(*where)
            controls = [one for one in tab.controls.values() if one.kind == "button" and one.label != "Sign out"]
            self.place.give_roles(also_owner="")
            for control in self.chance.sample(controls, min(3, len(controls))):
                await tab.say(control, filled(control, list(tab.controls.values())))
                yield False
            self.place.give_roles()
            await tab.close()

    async def bad_cookies(self) -> AsyncIterator[bool]:
        """Sessions without a cookie, and with forged, altered, expired and foreign ones."""
        clicks = [(where, one) for where, all_of in self.recorded.items() for one in all_of if one.kind == "button"]
        while True:
            for cookies in self._bad_cookies():
                where, control = self.chance.choice(clicks)
                tab = await Forger.open(self.site, cookies)
                await tab.visit(*where)
                await tab.say(control, filled(control, self.recorded[where]))
                await tab.close()
                yield False

    def _bad_cookies(self) -> list[dict[str, str]]:
        good = self.cookies["ada"][COOKIE]
        claims = {
            "iss": "http://127.0.0.1", "sub": "1", "email": "ada@example.org", "email_verified": True,
            "iat": int(time.time()), "is_logged_in": True, "provider": "default", "origin": self.site,
        }  # fmt: skip
        place = self.chance.randrange(len(good) - 1)
        altered = good[:place] + ("A" if good[place] != "A" else "B") + good[place + 1 :]
        return [
            {},
            {COOKIE: json.dumps(claims).replace(" ", "").replace('"', "'")},  # without a signature
            {COOKIE: altered},
            {COOKIE: good.rpartition(".")[0]},
            {COOKIE: good[: len(good) // 2]},
            {COOKIE: _signed({**claims}, secret="another server's secret")},
            {COOKIE: _signed({**claims, "origin": "https://another.example.org"})},
            {COOKIE: _signed({**claims, "iat": int(time.time()) - 13 * 3600})},
            {COOKIE: _signed({**claims, "is_logged_in": "yes"})},
            {COOKIE: _signed({**claims, "email_verified": False})},
            {COOKIE: _signed(claims, name="_streamlit_user_tokens")},  # signed for another cookie
            {COOKIE: self.cookies["ada"].get("_streamlit_user_tokens", "")},
            self.cookies[LEFT],  # a copy that was made before its owner signed out
        ]

    async def sessions(self) -> AsyncIterator[bool]:
        """Connections that ask for the owner's open session by its number, to click there."""
        clicks = [one for all_of in self.recorded.values() for one in all_of if one.kind == "button"]
        headers = {
            "X-Forwarded-User": "ada@example.org",
            "Remote-User": "ada",
            "X-Auth-Request-Email": "ada@example.org",
        }
        while True:
            for cookies in (self.cookies["vera"], {}, {COOKIE: self.cookies["otto"][COOKIE]}):
                tab = await Forger.open(self.site, cookies, self.owner.session, headers)
                control = self.chance.choice(clicks)
                await tab.visit("results", f"run={self.place.run.id}")
                await tab.say(control, [control.state()])
                await tab.close()
                yield False

    async def files(self) -> AsyncIterator[bool]:
        """Downloads that belong to the owner's tab, by number and by address, and uploads."""
        files = [one.file for one in self.owner.controls.values() if one.file]
        given = [url for one in files if (url := await self.owner.ask_for_file(one))]
        async with httpx.AsyncClient(base_url=self.site, trust_env=False) as client:
            while True:
                for cookies in (self.cookies["vera"], {}, *self._bad_cookies()[2:6]):
                    tab = await Forger.open(self.site, cookies)
                    await tab.visit("help", "")
                    url = await tab.ask_for_file(self.chance.choice(files))
                    headers = {"Cookie": cookie_header(cookies)} if cookies else {}
                    yield bool(url) and (await client.get(url, headers=headers)).status_code == 200
                    yield (await client.get(self.chance.choice(given), headers=headers)).status_code == 200
                    yield (await upload(client, tab.session, cookies)) < 300
                    await tab.close()

    async def addresses(self) -> AsyncIterator[bool]:
        """Addresses that name actions, opened by a viewer."""
        tab = await Forger.open(self.site, self.cookies["vera"])
        while True:
            for asked in ASKED:
                page = self.chance.choice(self.place.places())[0]
                query = asked if asked.startswith("run=") else f"run={self.place.run.id}&{asked}"
                await tab.visit(page, query)
                yield False

    def kinds(self) -> dict[str, AsyncIterator[bool]]:
        return {
            "replayed": self.replayed(), "role taken away": self.role_taken_away(), "cookies": self.bad_cookies(),
            "sessions": self.sessions(), "files": self.files(), "addresses": self.addresses(),
        }  # fmt: skip

    async def owner_can(self) -> Counter[str]:
        """The owner's own clicks, deletions last: those that change something, by label."""
        tab, found = await Forger.open(self.site, self.cookies["ada"]), Counter[str]()
        clicks = [(where, one) for where, all_of in self.recorded.items() for one in all_of if one.kind == "button"]
        done = set[str]()
        for where, control in sorted(clicks, key=lambda one: "Delete" in one[1].label):
            if control.label in done or control.label in STARTS:
                continue
            before = self.place.state()
            await tab.visit(*where)
            await tab.say(tab.controls.get(control.id, control), filled(control, self.recorded[where]))
            if self.place.state() != before:
                found[control.label] += 1
                done.add(control.label)
        return found


def _signed(claims: dict[str, Any], secret: str = COOKIE_SECRET, name: str = COOKIE) -> str:
    return create_signed_value(secret, name, json.dumps(claims)).decode()


async def upload(client: httpx.AsyncClient, session: str, cookies: dict[str, str]) -> int:
    """The status of the answer to a file sent into a session."""
    token = generate_xsrf_token_string()
    headers = {"Cookie": cookie_header({**cookies, XSRF_COOKIE_NAME: token}), "X-Xsrftoken": token}
    files = {"file": ("labels.csv", b"ltable_id,rtable_id,label\n1,1,1\n")}
    answer = await client.put(f"/_stcore/upload_file/{session}/replayed", headers=headers, files=files)
    return answer.status_code


async def attack(place: Place, attempts: int, seed: int) -> dict[str, Any]:
    """All kinds of attempts by their shares; how many there were, and how many succeeded."""
    site = Attack(place, seed)
    await site.sign_out()
    await site.record()
    tried, succeeded, details = Counter[str](), Counter[str](), list[str]()
    for kind, attempt in site.kinds().items():
        before = place.state()
        async for got_out in attempt:
            tried[kind] += 1
            now = place.state()
            if got_out or now != before:
                succeeded[kind] += 1
                details.append(f"{kind} {tried[kind]}: {'a file' if got_out else 'a change'}, {site.last}")
            before = now
            if tried[kind] >= max(1, round(SHARES[kind] * attempts)):
                break
        place.give_roles()
    return {
        "attempts": tried.total(),
        "succeeded": succeeded.total(),
        **{f"  {kind}": f"{succeeded[kind]} of {count}" for kind, count in tried.items()},
        "details": details[:10],
        "the owner's same clicks that change something": dict(await site.owner_can()),
    }


def attacked(root: Path, attempts: int, seed: int) -> dict[str, Any]:
    """A server of its own, attacked."""
    with provide({name: {} for name in (*ROLES.values(), OUT_OF_OFFICE, LEFT)}) as provider:
        place = Place(root, provider)
        place.server.start()
        try:
            return asyncio.run(attack(place, attempts, seed))
        finally:
            place.server.stop()


def main(
    attempts: Annotated[int, typer.Option(help="How many in all.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Of what is tried where.")] = 0,
    as_json: JsonOption = False,
) -> None:
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = attacked(Path(folder), attempts, seed)
    report({"seed": seed, **found, "seconds": round(time.perf_counter() - started)}, as_json)


if __name__ == "__main__":
    typer.run(main)
