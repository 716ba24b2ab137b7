"""A made-up workload that any matcher learns in a moment: people, spelled a little differently on either side."""

from __future__ import annotations

import numpy as np
import pandas as pd

from riskcore.data.pairs import LabelledPairs, Table
from riskcore.data.schema import Attribute, AttributeType
from riskcore.matchers import Examples

FIRST = (
    "anna",
    "bruno",
    "carla",
    "dieter",
    "elena",
    "farid",
    "greta",
    "hugo",
    "irene",
    "jonas",
    "karin",
    "leo",
    "mona",
    "nils",
    "olga",
    "paul",
)
LAST = (
    "abel",
    "brandt",
    "castro",
    "dupont",
    "eriksen",
    "fontana",
    "gruber",
    "hansen",
    "ivanov",
    "jensen",
    "keller",
    "lopez",
)
ATTRIBUTES = (Attribute("name", AttributeType.NAME), Attribute("city", AttributeType.NAME))


def table(title: str, **columns: list[str | None]) -> Table:
    size = len(next(iter(columns.values())))
    ids = np.array([f"{title}{row}" for row in range(size)], dtype=object)
    return Table(title, ids, pd.DataFrame(columns).astype("str"))


def pairs_of(left: Table, right: Table, rows: list[tuple[int, int, int]]) -> LabelledPairs:
    one, other, labels = (np.array([row[place] for row in rows], dtype=np.int64) for place in range(3))
    ids = np.array([f"{left.ids[a]}:{right.ids[b]}" for a, b in zip(one, other, strict=True)], dtype=object)
    return LabelledPairs(left, right, one, other, ids, labels.astype(np.int8))


def people(size: int = 60, seed: int = 0) -> LabelledPairs:
    """Three pairs for each person: oneself, and two strangers."""
    draw = np.random.default_rng(seed)
    names = [f"{draw.choice(FIRST)} {draw.choice(LAST)} {number}" for number in range(size)]
    cities = [str(draw.choice(["oslo", "lima", "rome"])) for _ in range(size)]
    left = table("a", name=names, city=cities)
    right = table(
        "b", name=[f"{name.title()}." for name in names], city=[None if i % 5 == 0 else c for i, c in enumerate(cities)]
    )
    rows = [(i, (i + step) % size, int(step == 0)) for i in range(size) for step in (0, 1, 7)]
    return pairs_of(left, right, rows)


def metrics_for(pairs: LabelledPairs, seed: int = 0) -> np.ndarray:
    """Three made-up metrics: one that tells, one that is noise, one that is mostly missing."""
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(len(pairs), 3)).astype(np.float32)
    values[:, 0] += 3 * pairs.labels
    values[draw.random(len(pairs)) < 0.7, 2] = np.nan
    return values


def examples(size: int = 60, seed: int = 0, wide: bool = False) -> Examples:
    pairs = people(size, seed)
    return Examples(pairs, metrics_for(pairs, seed) if wide else None)
