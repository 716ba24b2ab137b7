"""Objects whose arrays lie in a mapped file."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow as pa

from riskcore.scale.mapped import Mapped


@dataclasses.dataclass(frozen=True, eq=False)
class Prepared:
    numbers: np.ndarray
    none: np.ndarray
    texts: pa.Array
    words: dict[str, int]


def made() -> Prepared:
    texts = pa.array(["an", None, "ünïque", ""] * 50, pa.large_string())
    return Prepared(np.arange(1000, dtype=np.int32), np.zeros(0), texts, {"an": 1})


def test_what_is_opened_is_what_was_written(tmp_path: Path) -> None:
    opened = Mapped.write(made(), tmp_path / "tables").open()
    assert isinstance(opened, Prepared)
    assert opened.numbers.tolist() == list(range(1000))
    assert opened.numbers.dtype == np.int32
    assert not len(opened.none)
    assert opened.texts.equals(made().texts)
    assert opened.words == {"an": 1}


def test_arrays_are_not_carried_along(tmp_path: Path) -> None:
    """What goes from process to process does not grow with the arrays."""
    small, large = (
        Mapped.write(Prepared(np.zeros(size), np.zeros(0), pa.array(["a"]), {}), tmp_path / f"{size}")
        for size in (10, 100_000)
    )
    assert abs(len(large.content) - len(small.content)) < 100
    assert large.file.stat().st_size > 800_000


def test_what_one_process_writes_stays_with_it(tmp_path: Path) -> None:
    mapped = Mapped.write(made(), tmp_path / "tables")
    one, other = mapped.open(), mapped.open()
    one.numbers[0] = 77
    assert other.numbers[0] == 0
    assert mapped.open().numbers[0] == 0


def test_an_object_without_arrays_can_be_opened(tmp_path: Path) -> None:
    assert Mapped.write({"a": 1}, tmp_path / "tables").open() == {"a": 1}
