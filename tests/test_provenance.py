"""What a result was made with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import riskcore
from riskcore import provenance
from riskcore.provenance import IRRELEVANT, code_stamp, differences, engine_files, versions
from riskcore.version import __version__


def test_versions_name_what_computes_a_result():
    assert versions()["riskcore"] == __version__
    assert versions()["numpy"] == np.__version__
    assert {"python", "torch", "scikit-learn"} <= set(versions())


def test_the_code_has_a_stamp():
    assert code_stamp() == code_stamp()
    assert len(code_stamp()) == 32


def test_differences_name_both_versions():
    assert differences({"numpy": "1", "torch": "2"}, {"numpy": "1", "torch": "2"}) == []
    assert differences({"numpy": "1", "numba": "3"}, {"numpy": "2", "torch": "4"}) == [
        "numpy was 1 and is 2",
        "numba was 3 and is absent",
        "torch was absent and is 4",
    ]


PROGRAM = '''"""What it owns."""

RATE = 0.1


def twice(value: float) -> float:
    """Twice the value."""
    return 2 * value * RATE  # why
'''


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small package that `code_stamp` is made to read."""
    (tmp_path / "random_streams.py").touch()
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "provenance.py"))
    code_stamp.cache_clear()
    yield tmp_path
    code_stamp.cache_clear()


def stamp(engine: Path, text: str, name: str = "risk/model.py") -> str:
    file = engine / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    code_stamp.cache_clear()
    return code_stamp()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# why", "# a better reason"),
        ('"""Twice the value."""', '"""The value times two."""'),
        ('"""What it owns."""', '"""Owns less."""'),
        ("RATE = 0.1\n", "RATE = 0.1\n\n\n"),
        ("2 * value * RATE", "(2 * value) * RATE"),
    ],
)
def test_what_cannot_change_a_result_keeps_the_stamp(engine: Path, before: str, after: str):
    assert stamp(engine, PROGRAM) == stamp(engine, PROGRAM.replace(before, after))


@pytest.mark.parametrize(("before", "after"), [("0.1", "0.2"), ("2 * value", "3 * value"), ("RATE", "SPEED")])
def test_changed_code_changes_the_stamp(engine: Path, before: str, after: str):
    assert stamp(engine, PROGRAM) != stamp(engine, PROGRAM.replace(before, after))


def test_files_that_compute_nothing_keep_the_stamp(engine: Path):
    first = stamp(engine, PROGRAM)
    assert stamp(engine, PROGRAM, "data/profile.py") == first
    assert stamp(engine, PROGRAM, "training/iterations.py") != first


def test_nothing_that_computes_imports_what_the_stamp_leaves_out():
    root = Path(riskcore.__file__).parent
    names = [name.removesuffix(".py").replace("/", ".") for name in IRRELEVANT]
    assert all((root / name).is_file() for name in IRRELEVANT)
    for file in engine_files(root):
        if file.name != "__init__.py":  # those only re-export
            text = file.read_text(encoding="utf-8")
            assert not [name for name in names if f"riskcore.{name} import" in text], file
