"""One server, one browser, one made-up run for all browser tests. Without chromium they are skipped; not in CI."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("playwright", reason="playwright is not installed: pip install -r requirements-dev.txt")

from tests.browser.driver import CHROMIUM, browsing, new_page, serving
from tests.pages.synthetic_run import write_run


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    if CHROMIUM is None:
        reason = "chromium is not installed: .ci/browser installs it where it may."
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    return tmp_path_factory.mktemp("screens")


@pytest.fixture(scope="session")
def made_up(root):
    """A finished run with hostile record text; there only once a test asks for it."""
    return write_run(root / "runs", 300, 4, hostile=True)


@pytest.fixture(scope="session")
def address(root):
    with serving(root) as found:
        yield found


@pytest.fixture(scope="session")
def browser(root):
    with browsing() as found:
        yield found


@pytest.fixture
def page(browser):
    """A fresh visitor at 1280 pixels, in the light."""
    found = new_page(browser)
    yield found
    found.context.close()
