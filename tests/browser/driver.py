"""A server of the screens and a real browser before it, for tests and for measuring."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from playwright.sync_api import TimeoutError as NotSeenError

PROJECT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SLOW = 30_000  # milliseconds that a loaded machine may take for what it does in one second
PRESS_AGAIN = 1_000  # milliseconds until a key that had no effect is pressed once more
CLICK_AGAIN = 10_000  # the same for a click, which may start work that takes a while to show
_STEADY = """element => new Promise(done => {
    let last = "", same = 0;
    const look = () => {
        const now = JSON.stringify(element.getBoundingClientRect());
        const moving = element.getAnimations({subtree: true}).some(one => one.playState === "running"
            && Number.isFinite(one.effect?.getComputedTiming().endTime));
        same = now === last && !moving ? same + 1 : 0;
        last = now;
        same >= 10 ? done() : requestAnimationFrame(look);
    };
    look();
})"""


class Server:
    """The screens in a process of their own on a free port, with runs and data under the root.

    `variables` are added to the environment.
    """

    def __init__(self, root: Path, **variables: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.root, self.address = root, f"http://localhost:{self.port}"
        self._variables = variables
        root.mkdir(parents=True, exist_ok=True)

    def start(self) -> None:
        environment = {
            **os.environ,
            "RISKCORE_RUNS": str(self.root / "runs"),
            "RISKCORE_DATA": str(self.root / "data"),
            "STREAMLIT_SERVER_HEADLESS": "true",
            **self._variables,
        }
        command = [sys.executable, "-m", "riskcore", "serve", "--port", str(self.port)]
        with (self.root / "server.log").open("ab") as log:
            self._process = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=log, stderr=log)
        try:
            _wait_until_healthy(self.address, self._process)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=20)

    def kill(self) -> None:
        """As `kill -9` does: nothing can be put in order."""
        self._process.kill()
        self._process.wait(timeout=20)


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """A server of the screens; gives its address."""
    server = Server(root)
    server.start()
    try:
        yield server.address
    finally:
        server.stop()


def _wait_until_healthy(address: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(900):
        if server.poll() is not None:
            raise RuntimeError("The server ended at once; its log is server.log.")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise RuntimeError("The server did not become healthy within three minutes.")


@contextmanager
def browsing() -> Iterator[Browser]:
    """Debian's chromium, alone: it asks no one on the network."""
    arguments = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
    expect.set_options(timeout=SLOW)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


def new_page(browser: Browser, width: int = 1280, height: int = 800, dark: bool = False) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", accept_downloads=True
    )
    context.set_default_timeout(SLOW)
    return context.new_page()


def settle(page: Page) -> None:
    """Wait until the page is connected and its script has come to rest."""
    page.wait_for_selector("[data-testid=stApp][data-test-connection-state=CONNECTED]")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")


def visit(page: Page, address: str) -> None:
    page.goto(address)
    settle(page)


def open_first_by_key(page: Page) -> None:
    """Press O on the queue until the first pair's card is there.

    Right after a page is loaded the browser does not listen for shortcuts yet, and nothing tells when it does. Once
    one key has worked, all do.
    """
    card = page.get_by_text("The evidence says")
    settle(page)
    for _ in range(SLOW // PRESS_AGAIN):
        page.keyboard.press("o")
        with contextlib.suppress(NotSeenError):
            card.wait_for(timeout=PRESS_AGAIN)
            break
    card.wait_for()
    settle(page)


def click_until(target: Locator, seen: Locator) -> None:
    """Click until the effect is seen: on a page that has only just come to rest, a click now and then is lost.

    Only for what may be done twice, as opening a screen; never for a verdict.
    """
    settle(target.page)
    for _ in range(SLOW // CLICK_AGAIN):
        with contextlib.suppress(NotSeenError):
            target.click(timeout=CLICK_AGAIN)
        with contextlib.suppress(NotSeenError):
            seen.wait_for(timeout=CLICK_AGAIN)
            return
    seen.wait_for()


def steady(target: Locator) -> None:
    """Wait until an element keeps its place and size for ten frames: charts above it grow, the page scrolls."""
    target.evaluate(_STEADY)


def picture(page: Page, path: Path) -> None:
    """The whole screen, not only what fits the window."""
    size = page.viewport_size or {"width": 1280, "height": 800}
    steady(page.get_by_test_id("stMain"))
    tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": max(size["height"], min(int(tall) + 10, 2600))})
    steady(page.get_by_test_id("stMain"))
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path)
    page.set_viewport_size(size)
    smaller(path)


def smaller(path: Path) -> None:
    """Half the bytes at 256 colours: grounds and text keep theirs, and lines that are rare get some of the rest."""
    picture = Image.open(path).convert("RGB")
    colours, place, counts = np.unique(
        np.asarray(picture).reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    often = colours[np.argsort(-counts)[:128]]
    rare = picture.quantize(128, Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = np.vstack([often, np.array(rare, dtype=np.uint8).reshape(-1, 3)[:128]])
    nearest = ((colours[:, None].astype(np.int32) - palette[None]) ** 2).sum(axis=2).argmin(axis=1)
    found = Image.fromarray(nearest[place].astype(np.uint8).reshape(picture.height, picture.width), "P")
    found.putpalette(palette.tobytes())
    found.save(path, optimize=True)
