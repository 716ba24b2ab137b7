"""The documentation names every command and option, and every state, file and event of a run."""

from pathlib import Path

import pytest
import typer.main

from riskcore import cli
from riskcore.audit import CONSTRAINTS
from riskcore.audit.resolve import AUTO
from riskcore.audit.result import RESULT_FORMATS
from riskcore.columns import (
    APPLIED_COLUMNS,
    DECISION_COLUMNS,
    ENTITY_COLUMNS,
    LEFT_ENTITY,
    MERGED_COLUMNS,
    OTHER_COLUMNS,
    OTHER_PROBABILITY,
    RECORD_ID,
    RIGHT_ENTITY,
    SIDE,
    TRUTH,
    VALUE,
)
from riskcore.runs import SCORE_COLUMNS, RunState
from riskcore.runs.bundle import contents
from riskcore.runs.store.run_store import STORE_FILE, URL_VARIABLE

DOCS = Path(__file__).parents[1] / "docs"
COMMANDS = (DOCS / "cli.md").read_text(encoding="utf-8")
RUNS = (DOCS / "runs.md").read_text(encoding="utf-8")
LATER = ("score",)  # documented where they are described


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


RESULT = (DOCS / "result.md").read_text(encoding="utf-8")
RESULT_COLUMNS = (*DECISION_COLUMNS, *ENTITY_COLUMNS, *MERGED_COLUMNS, LEFT_ENTITY, RIGHT_ENTITY, TRUTH)
RESULT_COLUMNS += APPLIED_COLUMNS
OTHER_PAIRS = (*OTHER_COLUMNS, SIDE, RECORD_ID, f"{OTHER_PROBABILITY}METHOD", VALUE)


@pytest.mark.parametrize("word", [*dict.fromkeys(RESULT_COLUMNS), *CONSTRAINTS, AUTO, *RESULT_FORMATS])
def test_the_result(word):
    assert f"`{word}`" in RESULT or f"| {word} |" in RESULT


@pytest.mark.parametrize("word", OTHER_PAIRS)
def test_the_files_of_all_parts(word):
    assert f"`{word}`" in RUNS


@pytest.mark.parametrize("name", ["ABOUT", "WORDS", "RULES", "LEARNERS", "RECORDS", "KNOWN_PAIRS", "MATCHERS"])
def test_the_files_of_a_bundle(name):
    file = getattr(contents, name)
    assert f"`bundle/{file}`" in RUNS or f"`bundle/{file}/`" in RUNS
    assert f"today {contents.FORMAT}" in RUNS


def test_files(tmp_path):
    from riskcore.runs import RunFolder

    folder = RunFolder(tmp_path)
    files = [value for name, value in vars(RunFolder).items() if name.endswith("_file") and isinstance(value, property)]
    for file in files:
        assert f"`{file.fget(folder).relative_to(tmp_path)}`" in RUNS
