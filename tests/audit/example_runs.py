"""Fixtures: the shipped example, unpacked once and copied for each test, which takes milliseconds."""

import shutil

import pytest

from riskcore.runs import RunFolder, RunStore
from riskcore.runs.example import install_example


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory):
    """A folder of runs with the example in it, which no test changes."""
    root = tmp_path_factory.mktemp("example") / "runs"
    install_example(RunStore(root))
    return root


@pytest.fixture
def store(unpacked, tmp_path):
    return RunStore(shutil.copytree(unpacked, tmp_path / "runs"))


@pytest.fixture
def finished(store):
    """The example's folder."""
    return RunFolder(store.root / "example")


@pytest.fixture
def run(finished):
    return finished.path.name
