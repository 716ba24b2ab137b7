"""Read the code of the screens: whatever changes something does so inside a function that names the role it needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "pages"
FILES = sorted(PAGES.rglob("*.py"))
DECORATORS = ("action", "requires")
# Functions of the engine that change something begin with one of these words.
VERBS = re.compile(
    r"(add|append|assign|bring|cancel|clear|close|compute|create|decide|delete|draw|inherit|install|keep|mute|pin|"
    r"rank|record|remove|rename|rescue|resume|save|seal|set|sign|start|store|undo|use|withdraw|write)(_|$)"
)
READS = {  # begin with such a word and change nothing that people see
    "record_words",  # text
    "sign_offs",  # those so far
    "keep_current",  # makes a ranking again that an operator asked for
    "write_tables",  # into a file for a download
    "write_work_list",  # likewise
    "bring_verdicts",  # reads a file, records nothing
}
METHODS = {"add_many", "undo", "undo_many", "delete", "create", "cancel", "remove"}
FILE_CALLS = {"write_bytes", "write_text", "rmtree", "unlink", "mkdir", "mkdtemp", "copyfile", "Popen"}
OWN_FILES = {  # functions that touch only the visitor's own upload, or are called by actions alone
    "drop",
    "_drop",
    "_kept",
    "_remove_old",
    "_changing",
    "note",
    "remove_belongings",
    "finish_deletions",
    "delete_path",
}


def _decorated(node: ast.AST) -> bool:
    found = getattr(node, "decorator_list", [])
    return any(isinstance(one, ast.Call) and getattr(one.func, "id", "") in DECORATORS for one in found)


def _imported_writers(tree: ast.AST) -> set[str]:
    return {
        one.asname or one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("riskcore")
        for one in node.names
        if VERBS.match(one.name) and one.name not in READS
    }


def _is_write(node: ast.AST, writers: set[str]) -> bool:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return node.id in writers
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner = ast.unparse(node.func.value)
    if node.func.attr == "add":
        return any(word.arg == "who" for word in node.keywords)
    if node.func.attr in METHODS:
        return owner not in ("blocking_job", "verdicts")  # whose functions are checked where they are
    return node.func.attr in FILE_CALLS or (owner, node.func.attr) == ("subprocess", "run")


def _unguarded(tree: ast.AST, writers: set[str]) -> Iterator[str]:
    """What is written outside of an action, with its line."""

    def visit(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.FunctionDef) and (_decorated(node) or node.name in OWN_FILES):
            return
        made = node.func if isinstance(node, ast.Call) else None  # action(Role.OWNER)(function)
        if isinstance(made, ast.Call) and getattr(made.func, "id", "") in DECORATORS:
            return
        if _is_write(node, writers):
            yield f"line {node.lineno}: {ast.unparse(node)[:80]}"  # type: ignore[attr-defined]
        for child in ast.iter_child_nodes(node):
            yield from visit(child)

    yield from visit(tree)


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(PAGES)) for file in FILES])
def test_what_changes_something_names_its_role(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert list(_unguarded(tree, _imported_writers(tree))) == []


@pytest.mark.parametrize(
    "code",
    [
        "from riskcore.runs import start\ndef f():\n    start(1)",
        "from riskcore.runs.masks import write_masks as w\nst.button('x', on_click=w)",
        "def f():\n    store().delete(run, who)",
        "def f():\n    log().add(run, pair, word, who=reviewer())",
        "@guarded\ndef f():\n    shutil.rmtree(x)",
    ],
)
def test_the_check_finds_what_has_no_role(code):
    tree = ast.parse(code)
    assert list(_unguarded(tree, _imported_writers(tree)))


def test_the_check_accepts_actions():
    code = "from riskcore.runs import start\n@action(Role.OPERATOR)\ndef f():\n    start(1)\n"
    tree = ast.parse(f"{code}g = requires(Role.OWNER)(start)")
    assert not list(_unguarded(tree, _imported_writers(tree)))


def test_files_leave_only_through_the_button_that_asks_for_a_role():
    used = [file.name for file in FILES if ".download_button" in file.read_text(encoding="utf-8")]
    assert used == ["actions.py"]
