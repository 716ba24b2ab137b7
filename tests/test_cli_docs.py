"""The documentation names every command and option, and every state, file and event of a run."""

from pathlib import Path

import pytest
import typer.main

from riskcore import cli
from riskcore.runs import SCORE_COLUMNS, RunState
from riskcore.runs.store.run_store import STORE_FILE, URL_VARIABLE

DOCS = Path(__file__).parents[1] / "docs"
COMMANDS = (DOCS / "cli.md").read_text(encoding="utf-8")
RUNS = (DOCS / "runs.md").read_text(encoding="utf-8")
LATER = ("score", "block", "audit")  # documented where they are described


def commands(group, path=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


ALL = {name: command for name, command in commands(typer.main.get_command(cli.app)) if name.split()[0] not in LATER}


@pytest.mark.parametrize("name", ALL)
def test_commands_and_options(name):
    assert f"`{name}" in COMMANDS
    options = [option for one in ALL[name].params for option in (*one.opts, *one.secondary_opts)]
    missing = [option for option in options if option.startswith("--") and f"`{option}" not in COMMANDS]
    assert not [option for option in missing if option != "--help"]


@pytest.mark.parametrize("word", [*RunState, *SCORE_COLUMNS, STORE_FILE, URL_VARIABLE])
def test_runs(word):
    assert f"`{word}`" in RUNS


def test_files(tmp_path):
    from riskcore.runs import RunFolder

    folder = RunFolder(tmp_path)
    files = [value for name, value in vars(RunFolder).items() if name.endswith("_file") and isinstance(value, property)]
    for file in files:
        assert f"`{file.fget(folder).relative_to(tmp_path)}`" in RUNS
