"""A server of the screens and a real browser before it, for tests and for measuring."""

from __future__ import annotations

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
from playwright.sync_api import Browser, Page, expect, sync_playwright

PROJECT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SLOW = 30_000  # milliseconds that a loaded machine may take for what it does in one second


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """The screens on a free port, with runs and data under the root; gives their address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "RISKCORE_RUNS": str(root / "runs"),
        "RISKCORE_DATA": str(root / "data"),
        "STREAMLIT_SERVER_HEADLESS": "true",
    }
    root.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "riskcore", "serve", "--port", str(port)]
    with (root / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=log, stderr=log)
        try:
            address = f"http://localhost:{port}"
            _wait_until_healthy(address, server)
            yield address
        finally:
            server.terminate()
            server.wait(timeout=20)


def _wait_until_healthy(address: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if server.poll() is not None:
            raise RuntimeError("The server ended at once; its log is server.log.")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise RuntimeError("The server did not become healthy within a minute.")


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


def listen_for_keys(page: Page) -> None:
    """Right after a page is loaded the browser does not listen for shortcuts yet, and nothing tells when it does."""
    settle(page)
    page.wait_for_timeout(2500)


def picture(page: Page, path: Path) -> None:
    """The whole screen, not only what fits the window."""
    size = page.viewport_size or {"width": 1280, "height": 800}
    page.wait_for_timeout(1200)  # charts fade in
    tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": max(size["height"], min(int(tall) + 10, 2600))})
    page.wait_for_timeout(600)
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
