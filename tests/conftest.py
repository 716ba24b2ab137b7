"""What holds for all tests."""

import os

import pytest
from hypothesis import settings

from riskcore import logs
from riskcore.paths import SEAL_VARIABLE

# A commit passes or fails the same way every time it is tested. To look for new failures, run
# `HYPOTHESIS_PROFILE=search make test`: other examples in each run, more of them, and what failed is remembered.
settings.register_profile("steady", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("search", max_examples=500, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# Modules of few but long tests go first: begun last, one of them would keep one worker busy while the others wait.
LONG_FIRST = (
    "tests/browser/test_stranger.py",
    "tests/browser/test_day.py",
    "tests/browser/test_two_reviewers.py",
    "tests/api/test_docs.py",
    "tests/training/test_experiment.py",
    "tests/test_cli_runs.py",
    "tests/extension/test_extension.py",
    "tests/bench/test_bench_command.py",
    "tests/bench/test_ablations.py",
    "tests/pages/test_recorded_run.py",
    "tests/test_packaging.py",
    "tests/runs/test_worker.py",
)


def pytest_collection_modifyitems(items):
    order = {name: place for place, name in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: order.get(item.nodeid.partition("::")[0], len(order)))


@pytest.fixture(autouse=True)
def _quiet():
    """A screen that was opened in a test lets its process say what happens; the next test begins without."""
    yield
    logs.stop()


@pytest.fixture(scope="session", autouse=True)
def _seal_folder(tmp_path_factory):
    """Keys and heads of verdict logs go to a folder of the tests, not to that of whoever runs them."""
    if SEAL_VARIABLE not in os.environ:
        os.environ[SEAL_VARIABLE] = str(tmp_path_factory.mktemp("seal"))
