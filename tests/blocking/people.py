"""Small tables for the tests of blocking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from riskcore.data.pairs import Table

NAMES = ("anna lee", "bob stone", "carla diaz", "dmitri orlov", "eva green", "farid khan", "grace hopper", "hugo boss")


def table(name: str, /, **columns: Sequence[str | None]) -> Table:
    size = len(next(iter(columns.values())))
    ids = np.array([f"{name}{row}" for row in range(size)], dtype=object)
    return Table(name, ids, pd.DataFrame(columns, index=range(size), dtype="str"))


def names(count: int, seed: int, typos: bool = False) -> list[str]:
    chance = np.random.default_rng(seed)
    words = ["".join(chance.choice(list("abcdeio"), size=5)) for _ in range(40)]
    texts = [" ".join(chance.choice(words, size=3)) for _ in range(count)]
    return [text[:-1] for text in texts] if typos else texts
