"""Two reviewers at once, by keyboard, on one run: a hundred verdicts, a refresh, a killed server, undo at every step.

What the screens showed as saved is compared with the log, entry by entry: none lost, none doubled.
"""

# ruff: noqa: T201 - prints how fast it was; `pytest -s` shows it
from __future__ import annotations

import contextlib
import dataclasses
import statistics
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as NotSeenError

from riskcore.audit import VerdictLog
from riskcore.audit.verdicts import WITHDRAWN
from riskcore.runs import PairQuery, RunFolder, RunRecord, RunStore, query_pairs
from tests.browser.driver import PRESS_AGAIN, SLOW, Server, click_until, new_page, open_first_by_key, settle, visit
from tests.pages.synthetic_run import write_run

PAIRS, EACH = 120, 50  # pairs in the queue; verdicts that stand of each reviewer in the end
SLOWEST = 2.0  # seconds that 95 % of the verdicts may take while other tests run; alone it is a fraction of it
WORDS = {"m": "match", "n": "non-match", "u": "unsure"}
REST = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
CARD = "document.querySelector('.st-key-card_pane')?.textContent"
SHOWN = f"words => {REST} && {CARD}?.includes(words)"
# Seconds from a key to the records of another pair, measured in the browser.
WATCH = """
window.riskcore = {times: [], shown: '', pressed: null};
document.addEventListener('keydown', event => {
  if ('mnu'.includes(event.key)) window.riskcore.pressed = performance.now();
}, true);
const look = () => {
  const now = document.querySelector('.rc-records tbody')?.textContent;
  const one = window.riskcore;
  if (now && now !== one.shown) {
    if (one.pressed !== null) one.times.push((performance.now() - one.pressed) / 1000);
    one.pressed = null;
    one.shown = now;
  }
};
new MutationObserver(look).observe(document, {childList: true, subtree: true, characterData: true});
"""


def recorder(record: RunRecord) -> Callable[[str], int]:
    """How many entries the run's log has of a person, asked anew each time."""
    log = VerdictLog(RunStore(record.folder.parent))
    return lambda name: sum(entry.who == name for entry in log.entries(record.id))


@dataclasses.dataclass
class Reviewer:
    """A person before a screen of their own, and what the screen has shown as saved."""

    name: str
    page: Page
    queue: list[str]
    recorded: Callable[[str], int]  # how many entries the log has of a person
    entries: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # pair and word, as the log has them
    at: int = 0  # place in the queue of the pair that is open
    seconds: list[float] = dataclasses.field(default_factory=list)
    last: str = ""  # key

    def begin(self, address: str, run: str) -> None:
        visit(self.page, f"{address}/pairs?run={run}")
        self.page.get_by_role("textbox", name="Your name").fill(self.name)
        self.page.get_by_role("textbox", name="Your name").press("Enter")
        expect(self.page.get_by_role("textbox", name="Your name")).to_have_value(self.name)
        settle(self.page)
        self.page.get_by_role("heading", name="Top-risk pairs").click()  # away from the field
        open_first_by_key(self.page)

    def press(self, key: str) -> None:
        """A verdict, without waiting for what it does."""
        self.page.keyboard.press(key)
        self.last = key
        self.entries.append((self.queue[self.at], WORDS[key]))
        self.at += 1

    def sees_the_pair(self) -> None:
        """Wait for the pair that should be open. A browser drops a key while it exchanges its listeners: what nobody
        recorded is pressed again, as a person would."""
        for _ in range(SLOW // PRESS_AGAIN):
            with contextlib.suppress(NotSeenError):
                words = f"{self.at + 1} of {PAIRS} in this queue"
                self.page.wait_for_function(SHOWN, arg=words, polling=50, timeout=PRESS_AGAIN)
                return
            if self.recorded(self.name) < len(self.entries):
                self.page.keyboard.press(self.last)
        raise AssertionError(f"{self.name} never saw pair {self.at + 1}.")

    def presses_twice(self, key: str) -> None:
        """Faster than pairs open: the second press judges neither the same pair again nor one that nobody has seen."""
        self.page.keyboard.press(key)
        self.press(key)
        self.sees_the_pair()

    def undoes(self) -> None:
        """Z withdraws the last verdict that stands, and its pair is open again."""
        pair = next(iter(reversed(self.standing)))
        self.page.keyboard.press("z")
        self.last = "z"
        self.entries.append((pair, WITHDRAWN))
        self.at = self.queue.index(pair)
        self.sees_the_pair()
        expect(self.page.get_by_text(f"by {self.name} on")).to_have_count(0)

    @property
    def standing(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for pair, word in self.entries:
            found.pop(pair, None)
            if word != WITHDRAWN:
                found[pair] = word
        return found

    def collect(self) -> None:
        """The times so far: a new document begins anew."""
        self.seconds += self.page.evaluate("window.riskcore.times.splice(0)")


@pytest.fixture(scope="module")
def place(root):
    """A folder and a server of its own, since the server is killed."""
    return root / "two reviewers"


@pytest.fixture(scope="module")
def record(place):
    return write_run(place / "runs", PAIRS, 3)


@pytest.fixture
def server(place, record):
    server = Server(place)
    server.start()
    yield server
    server.stop()


def judge(reviewers: list[Reviewer], keys: str) -> None:
    """Both press a key at the same time, then both wait for their next pair."""
    for key in keys:
        for one in reviewers:
            one.press(key)
        for one in reviewers:
            one.sees_the_pair()


def test_a_hundred_verdicts(browser, server, record, place):
    queue = list(query_pairs(RunFolder(record.folder), PairQuery(page_size=PAIRS)).rows["pair_id"])
    log, reviewers = VerdictLog(RunStore(place / "runs")), []
    for name in ("Ann", "Bob"):
        page = new_page(browser)
        page.add_init_script(WATCH)
        reviewers.append(Reviewer(name, page, queue, recorder(record)))
    for one in reviewers:
        one.begin(server.address, record.id)

    judge(reviewers, "mnumnmnumm")
    for one in reviewers:  # after the advance, and once more
        one.undoes()
        one.undoes()
    for one in reviewers:
        one.presses_twice("u")
    judge(reviewers, "nnmmuum")
    for one in reviewers:  # after moving on
        one.page.keyboard.press("j")
        one.at += 1
        one.sees_the_pair()
        one.undoes()

    for one in reviewers:  # after a refresh
        one.collect()
        one.page.reload()
        settle(one.page)
        expect(one.page.get_by_role("textbox", name="Your name")).to_have_value(one.name)
        one.sees_the_pair()
        listens(one)
        one.undoes()
    judge(reviewers, "mmnnuummnnmmnnm")

    for one in reviewers:
        one.collect()
    server.kill()
    server.start()
    for one in reviewers:  # after a restart
        settle(one.page)
        expect(one.page.get_by_role("textbox", name="Your name")).to_have_value(one.name)
        one.sees_the_pair()
        one.undoes()
    judge(reviewers, "nmnm")

    for one in reviewers:  # from the list, and from another screen
        one.page.keyboard.press("q")
        one.page.get_by_role("button", name="Undo my last verdict").wait_for()
        settle(one.page)
        one.undoes()
        click_until(
            one.page.get_by_role("link", name="Label & audit"), one.page.get_by_role("heading", name="Label & audit")
        )
        undo = one.page.get_by_role("button", name="Undo my last verdict")
        click_until(one.page.get_by_role("tab", name="Verdicts"), undo)
        settle(one.page)
        one.undoes()
    judge(reviewers, ("mnum" * EACH)[: EACH - 1 - len(reviewers[0].standing)])
    for one in reviewers:
        one.presses_twice("m")

    for one in reviewers:
        one.collect()
        one.page.context.close()
        found = [(entry.pair_id, entry.verdict) for entry in log.entries(record.id) if entry.who == one.name]
        assert found == one.entries
        assert {pair: entry.verdict for pair, entry in log.current(record.id, one.name).items()} == one.standing
        assert len(one.standing) == EACH
    assert {entry.who for entry in log.entries(record.id)} == {"Ann", "Bob"}
    assert log.problems(record.id) == []
    report(sorted(reviewers[0].seconds + reviewers[1].seconds))


def listens(one: Reviewer) -> None:
    """Right after a page is loaded the browser does not listen for keys yet: step there and back until it does."""
    for _ in range(SLOW // PRESS_AGAIN):
        one.page.keyboard.press("j")
        with contextlib.suppress(NotSeenError):
            one.page.get_by_text(f"{one.at + 2} of {PAIRS} in this queue").wait_for(timeout=PRESS_AGAIN)
            break
    settle(one.page)
    one.page.keyboard.press("k")
    one.sees_the_pair()


def report(seconds: list[float]) -> None:
    slow = seconds[int(0.95 * len(seconds))]
    print(f"{len(seconds)} verdicts, key to next pair: median {statistics.median(seconds):.3f} s, p95 {slow:.3f} s")
    assert len(seconds) >= 2 * EACH
    assert slow < SLOWEST
