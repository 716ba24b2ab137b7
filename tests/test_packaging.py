"""The wheel, installed into an environment of its own and used from an empty folder, far from the checkout.

The environment borrows the libraries of the one that runs the tests: installing them again would take minutes.
`.ci/fresh` does that, on every Python it finds.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import sysconfig
import time
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest

from riskcore import __version__

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, capture_output=True, text=True, check=True)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Runs a command of the environment in an empty folder, with an empty home."""
    base = tmp_path_factory.mktemp("installed")
    environment, empty, home = base / "environment", base / "empty", base / "home"
    empty.mkdir()
    home.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)}))
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    options = ["--no-deps", "--no-index", "--ignore-installed", "--quiet", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", *options, str(wheel)]
    subprocess.run(pip, capture_output=True, text=True, check=True)
    private = {"PATH": f"{environment / 'bin'}:{os.environ['PATH']}", "HOME": str(home)}

    def start(*command: str, **options) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(environment / "bin" / command[0]), *command[1:]], cwd=empty, env=private, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
        )  # fmt: skip

    return start


def output(process: subprocess.Popen[str]) -> str:
    said, errors = process.communicate(timeout=250)
    assert process.returncode == 0, errors
    return said


def test_the_wheel_has_the_screens_and_the_sample_inside_the_package(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"riskcore", f"riskcore-{__version__}.dist-info"}
    packed = {name.removeprefix("riskcore/_app/") for name in names if name.startswith("riskcore/_app/")}
    screens = {str(file.relative_to(ROOT)) for file in (ROOT / "pages").rglob("*.py")}
    sample = {str(file.relative_to(ROOT)) for file in (ROOT / "sample_data").rglob("*.csv")}
    assert (
        packed
        == {"app.py", ".streamlit/config.toml", "sample_data/README.md", "sample_data/example.zip"} | screens | sample
    )


def test_an_editable_installation_uses_the_checkout(tmp_path):
    code = f"import os; os.chdir({str(ROOT)!r}); from hatchling.build import build_editable as b; b({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (built,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(built).namelist()
    assert {name.split("/")[0] for name in names} == {"_riskcore.pth", f"riskcore-{__version__}.dist-info"}


def test_the_wheel_asks_for_what_requirements_txt_lists(wheel):
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read(f"riskcore-{__version__}.dist-info/METADATA").decode()
    asked = set(re.findall(r"^Requires-Dist: ([^;\n]+)$", metadata, re.MULTILINE))
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert asked == {line.strip() for line in lines if line.strip() and not line.startswith("#")}
    assert set(re.findall(r"^Provides-Extra: (.+)$", metadata, re.MULTILINE)) == {"dev", "postgres", "spark"}


def test_everything_is_pinned():
    extras = PROJECT["project"]["optional-dependencies"].values()
    asked = [*PROJECT["build-system"]["requires"], *(one for extra in extras for one in extra)]
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    asked += [line for line in lines if line.strip() and not line.startswith("#")]
    assert [one for one in asked if "==" not in one] == []


def test_commands_work_from_an_empty_folder(installed):
    assert output(installed("riskcore", "--version")).strip() == __version__
    code = """
import json, sys
import riskcore
from riskcore.data.samples import list_samples
from riskcore.paths import app_folder, data_root, runs_root
samples = [sample.name for sample in list_samples()]
print(json.dumps([samples, str(app_folder()), str(runs_root()), str(data_root()), str(riskcore.__file__)]))
"""
    samples, app, runs, data, module = json.loads(output(installed("python", "-c", code)))
    assert samples == ["bibliography_clean", "bibliography_scraped", "products"]
    assert not Path(module).is_relative_to(ROOT)
    assert Path(app) == Path(module).parent / "_app"
    assert runs.endswith("/home/.local/share/riskcore/runs")
    assert data.endswith("/home/.local/share/riskcore/data")
    checked = output(installed("riskcore", "data", "check", f"{app}/sample_data/products", "--json"))
    assert json.loads(checked)["usable"] is True


def test_the_quickstart_runs_and_its_run_goes_to_the_users_data_folder(installed):
    script, notebook = ROOT / ".ci" / "quickstart.py", ROOT / "examples" / "quickstart.ipynb"
    output(installed("python", str(script), str(notebook)))
    (run,) = json.loads(output(installed("riskcore", "runs", "list", "--json")))["runs"]
    assert run["state"] == "done"


def test_the_screens_are_served_with_their_settings(installed):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = """
import json
from streamlit import config
from riskcore.paths import app_folder
config._main_script_path = str(app_folder() / "app.py")  # as `streamlit run` does
names = ["client.disableDataExport", "client.showErrorDetails", "theme.baseRadius", "server.fileWatcherType"]
print(json.dumps([config.get_option(name) for name in names]))
"""
    settings = installed("python", "-c", code)
    server = installed("riskcore", "serve", "--port", str(port))
    try:
        assert healthy(f"http://localhost:{port}/_stcore/health", server)
    finally:
        server.terminate()
        server.communicate(timeout=20)
    assert json.loads(output(settings)) == [True, "none", "8px", "none"]


def healthy(address: str, server: subprocess.Popen[str]) -> bool:
    for _ in range(300):
        if server.poll() is not None:
            raise RuntimeError(f"The server ended at once: {server.communicate()[1]}")
        try:
            with urllib.request.urlopen(address, timeout=1) as answer:
                return answer.read() == b"ok"
        except OSError:
            time.sleep(0.2)
    return False
