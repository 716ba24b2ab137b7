"""The map of the code shows the code as it is, and the site of the documentation has no broken link."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:riskcore|pages|tests|docs|\.ci)/[\w./]+)`", TEXT))))
def test_what_the_map_names_is_there(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("name", "file"), re.findall(r"`(\w+)` in `([\w/]+\.py)`", TEXT))
def test_what_the_way_of_a_pair_names_is_there(name, file):
    assert re.search(rf"^(?:def|class) {name}\b", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


COMMANDS = (file.name for file in (ROOT / "benchmarks").glob("*.py") if "__main__" in file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_benchmark_is_listed(name):
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    assert [one for one in commands if f"benchmarks/{name}" in one or f"benchmarks.{Path(name).stem} " in one]


@pytest.mark.parametrize("package", sorted(file.parent.name for file in (ROOT / "riskcore").glob("*/__init__.py")))
def test_every_package_is_on_the_map(package):
    assert f"`riskcore/{package}`" in TEXT


def test_the_site_has_no_broken_link_and_asks_no_other_server(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    fetched = re.compile(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"?(?:https?:)?//|url\([\"']?(?:https?:)?//")
    for file in [*tmp_path.rglob("*.html"), *tmp_path.rglob("*.css")]:
        assert not fetched.search(file.read_text(encoding="utf-8")), file.name


def test_links_of_the_top_level_documents():
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            assert (ROOT / target).exists(), f"{name}: {target}"
