"""The documentation names every kind of problem, every setting, every public data set."""

import dataclasses
from pathlib import Path

import pytest

from riskcore.config import DataConfig
from riskcore.data.download import BASE_URL_VARIABLE, NAMES, DownloadConfig
from riskcore.data.problems import ERRORS, KINDS, WARNINGS

TEXT = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
SETTINGS = [field.name for config in (DataConfig, DownloadConfig) for field in dataclasses.fields(config)]


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind):
    severity = "error" if kind in ERRORS else "warning"
    assert f"| `{kind}` | {severity} |" in TEXT


@pytest.mark.parametrize("name", [*SETTINGS, *DataConfig().missing_words, BASE_URL_VARIABLE])
def test_settings(name):
    assert f"`{name}`" in TEXT


@pytest.mark.parametrize("name", NAMES)
def test_public_sets(name):
    assert name in TEXT


def test_no_kind_is_documented_that_does_not_exist():
    rows = [
        line.split("`")[1]
        for line in TEXT.splitlines()
        if line.startswith("| `") and ("| error |" in line or "| warning |" in line)
    ]
    assert sorted(rows) == sorted({**ERRORS, **WARNINGS})
