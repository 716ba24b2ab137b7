"""Another package adds a matcher, a method and a ranking, and everything here finds them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from riskcore.errors import ConfigError
from riskcore.provenance import versions_now
from riskcore.registry import MATCHERS, METHODS, RANKINGS, MethodSpec, Registry
from tests.extension.conftest import PROJECT

PRODUCTS = PROJECT / "sample_data" / "products"
QUICK = ["--matcher", "overlap", "--epochs", "3"]

SCREENS = """
import sys
from streamlit.testing.v1 import AppTest

def words(app):
    kinds = (app.markdown, app.caption, app.selectbox, app.multiselect, app.dataframe, app.get("arrow_vega_lite_chart"),
             app.get("button_group"), app.get("checkbox"))
    found = []
    for element in (one for kind in kinds for one in kind):
        found.append(str(getattr(element, "proto", "")))
        found += [str(value) for value in (getattr(element, "options", None) or [])]
        if element.type in ("dataframe", "arrow_data_frame"):
            found.append(element.value.to_string())
    return " ".join(found)

page, needed = sys.argv[1], sys.argv[3:]
app = AppTest.from_file("app.py", default_timeout=60)
for name, value in (one.split("=") for one in sys.argv[2].split("&") if one):
    app.query_params[name] = value
app.run()
app.switch_page(f"pages/{page}.py").run()
assert not app.exception, app.exception
text = words(app)
missing = [one for one in needed if one not in text]
assert not missing, (missing, text[:5000])
"""


def riskcore(environment: dict[str, str], *arguments: object) -> str:
    command = [sys.executable, "-m", "riskcore", *map(str, arguments)]
    done = subprocess.run(command, env=environment, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def document(environment: dict[str, str], folder: Path) -> dict:
    methods = "tradition,risk,neighbours"
    options = ["--source", PRODUCTS, "--methods", methods, "--iterations", "1", "--runs", folder / "runs", "--json"]
    return json.loads(riskcore(environment, "run", *QUICK, *options))


def test_a_run_finds_all_three(document: dict) -> None:
    assert set(document["methods"]) == {"tradition", "risk", "neighbours"}
    assert document["methods"]["neighbours"]["labels_used"] == ["source", "validation"]
    assert document["methods"]["neighbours"]["f1"] > 0.5
    assert 0 <= document["risk"]["rivals"]["missing values"] <= 1
    assert document["methods"]["tradition"]["f1"] > 0.3  # the matcher learned something


def test_the_package_and_its_version_are_recorded(document: dict, folder: Path) -> None:
    described = json.loads((folder / "runs" / document["run"] / "run.json").read_text(encoding="utf-8"))
    assert described["versions"]["riskcore-example"] == "1.0"
    assert versions_now(described["versions"]) != described["versions"]  # which is not installed in this process


def test_the_worker_process_finds_them_too(environment: dict[str, str], folder: Path) -> None:
    """`--detach` leaves the run to a process of its own; resuming it waits for the end."""
    options = ["--source", PRODUCTS, "--methods", "tradition,neighbours", "--runs", folder / "detached", "--json"]
    started = json.loads(riskcore(environment, "run", *QUICK, *options, "--detach"))
    code = (
        "import sys, time; from riskcore.runs import RunStore; store = RunStore(sys.argv[1]);\n"
        "until = time.monotonic() + 100\n"
        "while not store.get(sys.argv[2]).state.over and time.monotonic() < until: time.sleep(0.2)\n"
        "print(store.get(sys.argv[2]).state.value, store.get(sys.argv[2]).error)"
    )
    command = [sys.executable, "-c", code, str(folder / "detached"), started["run"]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "done", done.stdout


@pytest.mark.parametrize(
    ("page", "needed"),
    [
        ("compare", ["neighbours", "missing values"]),
        ("fine_tuning", ["logistic regression on the share of words", "neighbours"]),
    ],
)
def test_screens_show_them(
    environment: dict[str, str], folder: Path, document: dict, page: str, needed: list[str]
) -> None:
    runs = folder / ("runs" if page == "compare" else "none")  # without runs, Fine-tuning shows its form
    command = [sys.executable, "-c", SCREENS, page, f"run={document['run']}", *needed]
    variables = {**environment, "RISKCORE_RUNS": str(runs), "RISKCORE_DATA": str(folder / "data")}
    done = subprocess.run(command, env=variables, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_a_benchmark_reports_them(environment: dict[str, str], folder: Path) -> None:
    out, page = folder / "bench", folder / "report.md"
    options = ["--data", PRODUCTS.parent, "--workload", "products", "--seeds", "1", "--fraction", "1.0", "--jobs", "1"]
    methods = ["--methods", "tradition,neighbours", "--matcher", "overlap"]
    riskcore(environment, "bench", "same-source", *options, *methods, "--out", out)
    riskcore(environment, "bench", "report", "--out", out, "--to", page)
    text = page.read_text(encoding="utf-8")
    assert "neighbours" in text
    assert "the labels of the nearest source and validation pairs" in text
    assert "overlap" in text


def test_without_the_package_nothing_is_known_of_them() -> None:
    assert "overlap" not in MATCHERS
    assert "missing values" not in RANKINGS
    with pytest.raises(ConfigError, match=r"no method named 'neighbours'\. Known: tradition, risk"):
        METHODS["neighbours"]


def test_a_package_cannot_take_a_built_in_name(monkeypatch: pytest.MonkeyPatch) -> None:
    point = _Point(METHODS["risk"])
    monkeypatch.setattr("riskcore.registry._entry_points", lambda group: (point,))
    with pytest.raises(ConfigError, match="takes the name 'risk'"):
        list(METHODS)


def test_two_packages_cannot_take_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [_Point(MethodSpec("twin", words, "a:b")) for words in ("one", "other")]
    monkeypatch.setattr("riskcore.registry._entry_points", lambda group: points)
    with pytest.raises(ConfigError, match=r"Two entry points of riskcore\.methods take the name 'twin'"):
        list(METHODS)


@pytest.mark.parametrize("offered", [3, RuntimeError("broken"), RANKINGS["risk"]])
def test_a_broken_entry_point_is_named(monkeypatch: pytest.MonkeyPatch, offered: object) -> None:
    monkeypatch.setattr("riskcore.registry._entry_points", lambda group: (_Point(offered),))
    with pytest.raises(ConfigError, match=r"entry point 'mine' of riskcore\.methods"):
        METHODS.names()


@pytest.mark.parametrize("name", ["", "../up", "Upper", "a/b", "a_b"])
def test_names_that_cannot_be_files_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be a name"):
        MethodSpec(name, "", "a:b")


def test_every_built_in_spec_names_code_that_is_there() -> None:
    for registry in (MATCHERS, METHODS, RANKINGS):
        assert isinstance(registry, Registry)
        assert all(callable(spec.load()) and spec.words for spec in registry)


class _Point:
    """An entry point that gives what it was made with."""

    name = "mine"

    def __init__(self, offered: object) -> None:
        self.offered = offered

    def load(self) -> object:
        if isinstance(self.offered, Exception):
            raise self.offered
        return self.offered
