"""Data sets of a hundred pairs, in the format of the public ones, and settings that take milliseconds."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

from riskcore.config import AdaptConfig, MatcherConfig, RiskConfig, RunConfig, TuneConfig

QUICK = RunConfig(
    matcher=MatcherConfig(kind="toy"),
    tune=TuneConfig(epochs=2),
    risk=RiskConfig(steps=3),
    adapt=AdaptConfig(iterations=1, stacking_iterations=1, base_learner_trees=3),
)
WORDS = ("adaptive", "risk", "entity", "record", "match", "graph", "query", "stream", "index", "cache", "model", "join")


def settings_file(folder: Path) -> Path:
    file = folder / "quick.json"
    file.write_text(QUICK.to_json(), encoding="utf-8")
    return file


def data_root(folder: Path, **names: str) -> Path:
    """A folder for each name; the value is what its authors are called."""
    for seed, (name, authors) in enumerate((names or {"DA": "authors", "DS": "authors"}).items()):
        write_data(folder / name, seed, authors)
    return folder


def write_data(folder: Path, seed: int, authors: str = "authors", pairs: int = 120) -> Path:
    """Titles and years; a third of the pairs match, with a word changed now and then."""
    draw = random.Random(seed)
    folder.mkdir(parents=True)
    left, right, labels = [], [], []
    for number in range(pairs):
        title, match = draw.sample(WORDS, 5), number % 3 == 0
        other = [*title[:4], draw.choice(WORDS)] if match else [*title[:2], *draw.sample(WORDS, 3)]
        year = draw.randint(1990, 2010)
        left.append([number, " ".join(title), f"{draw.choice(WORDS)} smith", year])
        right.append([number, " ".join(other), f"{draw.choice(WORDS)} smith", year if match else year + number % 2])
        labels.append([number, number, int(match)])
    head = ["id", "title", authors, "year"]
    _write(folder / "tableA.csv", head, left)
    _write(folder / "tableB.csv", head, right)
    draw.shuffle(labels)
    third = pairs // 3
    for part, name in enumerate(("train", "valid", "test")):
        _write(folder / f"{name}.csv", ["ltable_id", "rtable_id", "label"], labels[part * third : (part + 1) * third])
    return folder


def _write(file: Path, head: list[str], rows: list[list[Any]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([head, *rows])


def documents(out: Path, bench: str = "shift") -> dict[str, dict[str, Any]]:
    return {file.stem: json.loads(file.read_text()) for file in sorted((out / "cells" / bench).glob("*.json"))}
