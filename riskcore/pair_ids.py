"""The id of a pair, from the ids of its two records: no two pairs of records share one.

`left:right` where neither id holds a colon. Where one does, colons and backslashes in both get a backslash in front of
them, so that (`a`, `b:c`) is `a:b\\:c` and (`a:b`, `c`) is `a\\:b:c`. Such an id holds two colons or more, a plain one
exactly one, so the two kinds never meet.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

_SPLIT = re.compile(r"((?:[^:\\]|\\[:\\])*):((?:[^:\\]|\\[:\\])*)")


def pair_id(left: str, right: str) -> str:
    """The id of one pair."""
    if ":" in left or ":" in right:
        left, right = _escaped(left), _escaped(right)
    return f"{left}:{right}"


def pair_ids(left: np.ndarray | pd.Series, right: np.ndarray | pd.Series) -> np.ndarray:
    """The ids of many pairs, given the ids of their records as texts; a missing one gives a missing id."""
    first, second = (np.asarray(side, dtype=object) for side in (left, right))
    gaps = pd.isna(first) | pd.isna(second)
    ids: np.ndarray = np.where(gaps, "", first) + ":" + np.where(gaps, "", second)
    for row in _with_colons(ids):
        ids[row] = pair_id(first[row], second[row])
    ids[gaps] = None
    return ids


def record_ids(pair: str) -> tuple[str, str] | None:
    """The ids of a pair's records; None if it is not an id that `pair_id` makes."""
    if pair.count(":") == 1:
        left, _, right = pair.partition(":")
        return left, right
    found = _SPLIT.fullmatch(pair)
    return None if found is None else (_plain(found[1]), _plain(found[2]))


def _with_colons(ids: np.ndarray) -> np.ndarray:
    """Rows of joined ids with more than the colon in the middle."""
    return np.flatnonzero([one.count(":") > 1 for one in ids])


def _escaped(one: str) -> str:
    return one.replace("\\", "\\\\").replace(":", "\\:")


def _plain(one: str) -> str:
    return re.sub(r"\\([:\\])", r"\1", one)
