"""Small data sets written to disk for tests: a sound one, to be spoilt as the test needs."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from riskcore.data import find_sample

Rows = Sequence[Sequence[str]]

TABLE_A = [["id", "title", "year"], *([f"a{n}", f"left title {n}", str(1990 + n)] for n in range(12))]
TABLE_B = [["id", "title", "year"], *([f"b{n}", f"right title {n}", str(1990 + n)] for n in range(12))]
PAIR_HEADER = ["ltable_id", "rtable_id", "label"]
PAIRS = 120  # of each split of a small sample


def pairs_of(start: int, count: int) -> list[list[str]]:
    """Pairs that no other call with another start repeats, half of them matches."""
    return [PAIR_HEADER, *([f"a{n}", f"b{n}", str(n % 2)] for n in range(start, start + count))]


def sound_files() -> dict[str, Rows]:
    return {
        "tableA": TABLE_A,
        "tableB": TABLE_B,
        "train": pairs_of(0, 6),
        "valid": pairs_of(6, 2),
        "test": pairs_of(8, 4),
    }


def write_folder(folder: Path, changed: Mapping[str, Rows | str | bytes | None] | None = None) -> Path:
    """A sound folder, with the files named in `changed` replaced (rows, text or bytes) or left out (None)."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem, content in {**sound_files(), **(changed or {})}.items():
        write_file(folder / f"{stem}.csv", content)
    return folder


def write_file(path: Path, content: Rows | str | bytes | None) -> None:
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_text(content, encoding="utf-8", newline="")
    elif content is not None:
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(content)


def write_parquet(path: Path, rows: Rows) -> None:
    """The same rows as a parquet file of text columns, empty cells as null."""
    header, *records = rows
    columns = {name: [record[number] or None for record in records] for number, name in enumerate(header)}
    pq.write_table(pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}), path)


def write_parquet_folder(folder: Path, files: Mapping[str, Rows] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for stem, rows in (files or sound_files()).items():
        write_parquet(folder / f"{stem}.parquet", rows)
    return folder


def small_sample(name: str, folder: Path, labelled: bool = True) -> str:
    """The tables of a sample with the first pairs of each of its splits."""
    folder.mkdir(parents=True)
    sample = find_sample(name).path
    for table in ("tableA.csv", "tableB.csv"):
        shutil.copy(sample / table, folder)
    for split in ("train", "valid", "test"):
        pairs = pd.read_csv(sample / f"{split}.csv", dtype=str).head(PAIRS)
        if split == "test" and not labelled:
            pairs = pairs.drop(columns="label")
        pairs.to_csv(folder / f"{split}.csv", index=False)
    return str(folder)
