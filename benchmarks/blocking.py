"""Blocking: recall, candidates per record, time and memory, on data sets and on synthetic tables of growing size.

python benchmarks/blocking.py [--data FOLDER ...] [--records 10000 --records 100000] [--top 10] [--seed 0] [--json]

Each table size runs in a process of its own, so that its peak memory is its own; the memory includes the tables.
Synthetic records are titles of three to seven words from a Zipf-like vocabulary, with a year. The twin of a record in
the other table has a typo in every fifth word and lacks every tenth.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.arguments import JsonOption, report
from riskcore.blocking import BlockReport, block_to_file
from riskcore.blocking import report as block_report
from riskcore.config import BlockConfig
from riskcore.data import Table, open_data

VOCABULARY, TYPO, DROPPED = 200_000, 0.2, 0.1
ONSETS = (*"bcdfghjklmnprstvwz", "st", "br", "tr", "ch", "sh", "th", "pl")
RHYMES = (*"aeiou", "ai", "ou", "er", "an", "in", "on")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def main(
    data: Annotated[list[Path] | None, typer.Option(help="A workload folder with labelled pairs; repeatable.")] = None,
    records: Annotated[list[int] | None, typer.Option(help="Records of each synthetic table; repeatable.")] = None,
    top: Annotated[int | None, typer.Option(help="Best candidates of each record and search.")] = None,
    threads: Annotated[int, typer.Option(help="Threads of the search.")] = 2,
    seed: Annotated[int, typer.Option(help="Of the synthetic tables.")] = 0,
    alone: Annotated[bool, typer.Option("--alone", hidden=True, help="Measure in this process.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure each data set and each size."""
    config = BlockConfig(threads=threads) if top is None else BlockConfig(threads=threads, top=top)
    if alone:
        folder, count = (data[0] if data else None), (records[0] if records else 0)
        print(json.dumps(measure(*_tables(folder, count, seed), config)))
        return
    found: dict[str, Any] = {"top": config.top, "threads": threads}
    for folder in data or []:
        found[folder.name] = _apart("--data", str(folder), config, seed)
    for count in records or []:
        found[f"{count:,} x {count:,}"] = _apart("--records", str(count), config, seed)
    report(found, as_json)


def _apart(option: str, value: str, config: BlockConfig, seed: int) -> dict[str, Any]:
    settings = ["--top", str(config.top), "--threads", str(config.threads), "--seed", str(seed)]
    command = [sys.executable, __file__, "--alone", option, value, *settings]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _tables(folder: Path | None, records: int, seed: int) -> tuple[Table, Table, tuple[np.ndarray, np.ndarray]]:
    if folder is None:
        return synthetic(records, np.random.default_rng(seed))
    read = open_data(folder)
    matches = [pairs.take(pairs.labels == 1) for pairs in read.splits.values()]
    rows = (np.concatenate([one.left_rows for one in matches]), np.concatenate([one.right_rows for one in matches]))
    return read.left, read.right, rows


def measure(left: Table, right: Table, known: tuple[np.ndarray, np.ndarray], config: BlockConfig) -> dict[str, Any]:
    """Block to a file, and what that took."""
    before, started, used = _peak_mb(), time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as place:
        candidates = block_to_file(left, right, config, Path(place) / "pairs.parquet")
        seconds, processor = time.perf_counter() - started, time.process_time() - used
        size = (Path(place) / "pairs.parquet").stat().st_size
    found: BlockReport = block_report(candidates, left, right, known, config)
    assert found.recall is not None
    return {
        "recall": found.recall.share,
        "pairs": found.pairs,
        "per_left": round(found.left.mean, 2),
        "most_per_left": found.left.most,
        "per_right": round(found.right.mean, 2),
        "seconds": round(seconds, 1),
        "processor_seconds": round(processor, 1),
        "peak_mb": round(_peak_mb()),
        "tables_mb": round(before),
        "file_mb": round(size / 1e6, 1),
    }


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def synthetic(records: int, chance: np.random.Generator) -> tuple[Table, Table, tuple[np.ndarray, np.ndarray]]:
    """Two tables of the same entities in different order, and which rows belong together."""
    lengths = chance.integers(3, 8, records)
    ends = np.cumsum(lengths)
    words = _vocabulary(chance)[_zipf(int(ends[-1]) if records else 0, chance)]
    twins = words.copy()
    for place in np.flatnonzero(chance.random(len(words)) < TYPO):
        twins[place] = _typo(twins[place], chance)
    twins[chance.random(len(words)) < DROPPED] = ""
    years = chance.integers(1950, 2026, records).astype(str)
    order = chance.permutation(records)
    rows = np.empty(records, dtype=np.int64)
    rows[order] = np.arange(records)
    left, right = _titles(words, ends), _titles(twins, ends)
    return _table("left", left, years), _table("right", right[order], years[order]), (np.arange(records), rows)


def _vocabulary(chance: np.random.Generator) -> np.ndarray:
    syllables = np.array([onset + rhyme for onset in ONSETS for rhyme in RHYMES])
    sizes = chance.integers(1, 5, VOCABULARY)
    return np.array(["".join(syllables[chance.integers(len(syllables), size=n)]) for n in sizes], dtype=object)


def _zipf(count: int, chance: np.random.Generator) -> np.ndarray:
    weights = np.cumsum(1 / np.arange(1, VOCABULARY + 1) ** 0.9)
    return np.searchsorted(weights, chance.random(count) * weights[-1])


def _typo(word: str, chance: np.random.Generator) -> str:
    """The word with a character left out, put in, replaced, or swapped with the next."""
    at, kind, letter = chance.integers(len(word)), chance.integers(4), LETTERS[chance.integers(len(LETTERS))]
    middle = ("", letter + word[at], letter, word[at + 1 : at + 2] + word[at])[kind]
    return word[:at] + middle + word[at + (2 if kind == 3 else 1) :]


def _titles(words: np.ndarray, ends: np.ndarray) -> np.ndarray:
    starts = np.concatenate([[0], ends])[:-1]
    titles = [" ".join(filter(None, words[start:end])) for start, end in zip(starts, ends, strict=True)]
    return np.array(titles, dtype=object)


def _table(name: str, titles: np.ndarray, years: np.ndarray) -> Table:
    ids = np.arange(len(titles)).astype(str).astype(object)
    return Table(name, ids, pd.DataFrame({"title": titles, "year": years}, dtype="str"))


if __name__ == "__main__":
    typer.run(main)
