"""docs/api.md and the quickstart do what they say: their code runs, and their tables name the columns there are."""

import json
import re
from pathlib import Path

import pytest

import riskcore as rc
from riskcore import columns
from riskcore.audit import ExportedResult, Resolution

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
NOTEBOOK = json.loads((ROOT / "examples" / "quickstart.ipynb").read_text(encoding="utf-8"))

TABLES = {
    "run.scores(": columns.PUBLIC_SCORE_COLUMNS,
    "run.top(": (columns.TRUTH, columns.WRONG, columns.VERDICT),
    "run.explain(": columns.RECORD_COLUMNS,
    "explanation.balance": columns.BALANCE_COLUMNS,
    "explanation.reasons": columns.REASON_COLUMNS,
    "run.rules(": columns.RULE_COLUMNS,
    "run.compare(": columns.COMPARE_COLUMNS,
    "run.labels(": columns.LABEL_COLUMNS,
    "run.decisions(": columns.DECISION_COLUMNS,
    "run.clusters(": columns.ENTITY_COLUMNS,
    "run.apply(": columns.APPLIED_COLUMNS,
    "ranked.frame": columns.RANK_COLUMNS,
}


def code_blocks(text):
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.S | re.M)


def run_all(blocks, where):
    """Each block in turn, in one namespace, as a reader would run them."""
    names = {"__name__": "__main__"}
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"{where}, block {number}", "exec"), names)
    return names


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RISKCORE_RUNS", str(tmp_path / "runs"))
    names = run_all(code_blocks(PAGE), "docs/api.md")
    assert len(list((tmp_path / "runs").glob("2*"))) == 2
    assert names["ranked"].ranked_by == "risk"


@pytest.mark.parametrize("heading", TABLES)
def test_the_page_lists_the_columns(heading):
    _, _, after = PAGE.partition(f"### `{heading}")
    table = re.search(r"^\| column \|.*?(?=\n\n)", after, flags=re.S | re.M)[0]
    assert tuple(re.findall(r"^\| `(\w+)`", table, flags=re.M)) == TABLES[heading]


@pytest.mark.parametrize("name", rc.__all__)
def test_the_page_names_everything(name):
    assert f"rc.{name}" in PAGE


@pytest.mark.parametrize("kind", [rc.Run, rc.PairExplanation, rc.RankedPairs])
def test_the_page_names_every_member(kind):
    members = {name for name in vars(kind) if not name.startswith("_")} | set(getattr(kind, "__annotations__", ()))
    for name in members - {"of"}:
        assert re.search(rf"\b{name}\b", PAGE), name


@pytest.mark.parametrize("function", [rc.adapt, rc.rank, rc.from_frames, rc.read, rc.load, rc.sample])
def test_the_page_names_every_argument(function):
    import inspect

    for name in inspect.signature(function).parameters:
        assert f"`{name}`" in PAGE or re.search(rf"rc\.{function.__name__}\([^`]*\b{name}\b", PAGE), name


@pytest.mark.parametrize(
    "method", [rc.Run.decisions, rc.Run.clusters, rc.Run.suggest_constraint, rc.Run.export, rc.Run.apply]
)
def test_the_page_names_every_argument_of_the_result(method):
    import inspect

    for name in list(inspect.signature(method).parameters)[1:]:
        assert re.search(rf"run\.{method.__name__}\([^`]*\b{name}\b", PAGE), name


@pytest.mark.parametrize("kind", [Resolution, ExportedResult])
def test_the_page_names_every_field_of_the_result(kind):
    for name in kind.__annotations__:
        assert f"`{name}`" in PAGE, name


def test_the_notebook_is_nbformat_4():
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    assert isinstance(NOTEBOOK["metadata"], dict)
    identities = [cell["id"] for cell in NOTEBOOK["cells"]]
    assert len(set(identities)) == len(identities)
    for cell in NOTEBOOK["cells"]:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"])
        assert all(isinstance(line, str) for line in cell["source"])
        fields = {"cell_type", "id", "metadata", "source"}
        assert set(cell) == fields | ({"outputs", "execution_count"} if cell["cell_type"] == "code" else set())
        assert cell.get("outputs", []) == []


def test_the_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RISKCORE_RUNS", str(tmp_path / "runs"))
    cells = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    names = run_all(cells, "quickstart.ipynb")
    found = names["run"].compare().set_index("method")
    assert set(found.index) == {"tradition", "risk", "forest"}
    assert names["run"].labels_used == ("source", "validation")
