"""Measurements still run: nothing else notices when what they read has changed."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from benchmarks import metrics, queries, rules
from riskcore.data import find_sample

COMMANDS = {
    "queries": (queries.main, ["--pairs", "300", "--rules", "12", "--fired", "3"]),
    "metrics": (metrics.main, ["--data", str(find_sample("products").path), "--plain-pairs", "20", "--repeats", "1"]),
    "rules": (rules.main, ["--data", str(find_sample("products").path), "--repeats", "1"]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_measurement_prints_one_document(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "SIZES", (100, 200))
    main, options = COMMANDS[name]
    app = typer.Typer()
    app.command()(main)
    result = CliRunner().invoke(app, [*options, "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["machine"]
