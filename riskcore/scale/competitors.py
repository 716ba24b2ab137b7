"""The competitors of any pair among all pairs that are scored, and those that the run knows.

A pair of the run has the competitors that it had in the run; any other meets the pairs of the run and all others that
are scored with it (`riskcore.training.answer_model` does the same for pairs that are in memory). Where the run adapted
on a sample, its pairs have met few of their competitors, so they too meet all others.
"""

from __future__ import annotations

import numpy as np

from riskcore.data.pairs import Table
from riskcore.risk.log_odds import log_odds
from riskcore.runs.bundle.read import Bundle
from riskcore.scale.strongest import Strongest


class Competitors:
    """The strongest competitors of every record, after all pairs were added."""

    def __init__(self, bundle: Bundle, method: str, left: Table, right: Table) -> None:
        self._self_join, self._width = left is right, 1 + max(len(left), len(right))
        self._sampled = bundle.facts.get("sampled", False)
        self._floor = bundle.config.stack.probability_floor
        known = bundle.known_pairs(method, left, right)
        self._run = Strongest(len(left), len(right), self._self_join)
        self._keys, self._margins = np.empty(0, dtype=np.int64), np.empty(0)
        if known is not None:
            margins = log_odds(known.probability, self._floor)
            self._run.add(known.pairs.left_rows, known.pairs.right_rows, margins)
            keys = self._keys_of(known.pairs.left_rows, known.pairs.right_rows)
            order = np.argsort(keys, kind="stable")
            self._keys, self._margins = keys[order], margins[order]
        self._all = self._run.copy()

    def add(self, left: np.ndarray, right: np.ndarray, margin: np.ndarray) -> None:
        """Pairs that are scored, with their stacked log-odds."""
        new = self._places(left, right) < 0
        self._all.add(left[new], right[new], self._heard(margin[new]))

    def against(self, left: np.ndarray, right: np.ndarray, margin: np.ndarray) -> np.ndarray:
        """Pairs x 2: the highest log-odds among the other pairs of the left and of the right record."""
        place = self._places(left, right)
        new, known = np.flatnonzero(place < 0), np.flatnonzero(place >= 0)
        found = np.empty((len(left), 2))
        found[new] = self._all.against(left[new], right[new], self._heard(margin[new]))
        heard = self._all if self._sampled else self._run
        found[known] = heard.against(left[known], right[known], self._margins[place[known]])
        return found

    def _heard(self, margin: np.ndarray) -> np.ndarray:
        """As competitors are heard: within the floor."""
        widest = float(log_odds(np.array([1.0]), self._floor)[0])
        return np.clip(margin, -widest, widest)

    def _places(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """For each pair its place among the run's, the last of several; -1 where it is new."""
        keys = self._keys_of(left, right)
        place = np.searchsorted(self._keys, keys, side="right") - 1
        found = (
            (place >= 0) & (self._keys[np.maximum(place, 0)] == keys) if len(self._keys) else np.zeros(len(keys), bool)
        )
        return np.where(found, place, -1)

    def _keys_of(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        one, other = left.astype(np.int64), right.astype(np.int64)
        if self._self_join:
            one, other = np.minimum(one, other), np.maximum(one, other)
        keys: np.ndarray = one * self._width + other
        return keys
