"""Labels, probabilities and truths to draw from, unknown truth among them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

PROBABILITIES = (0.0, 0.1, 0.25, 0.5, 0.5000001, 0.9, 1.0)


def pairs_of(**columns: st.SearchStrategy) -> st.SearchStrategy:
    """Up to 30 pairs as a dict of equally long arrays: int8 for truth and labels, float64 for the rest."""

    def arrays(drawn: list[tuple]) -> dict[str, np.ndarray]:
        kind = {name: np.float64 if name in ("p", "score") else np.int8 for name in columns}
        return {name: np.array([row[i] for row in drawn], dtype=kind[name]) for i, name in enumerate(columns)}

    return st.lists(st.tuples(*columns.values()), max_size=30).map(arrays)


truths = st.sampled_from([-1, 0, 1])
labels = st.sampled_from([0, 1])
probabilities = st.sampled_from(PROBABILITIES)


def shifted(pairs: int, seed: int = 0, unknown: float = 0.1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth, and labels before and after something that fixes more than it breaks."""
    chance = np.random.default_rng(seed)
    truth = (chance.random(pairs) < 0.3).astype(np.int8)
    before = np.where(chance.random(pairs) < 0.2, 1 - truth, truth)
    better = np.where(chance.random(pairs) < 0.05, 1 - truth, truth)
    after = np.where(chance.random(pairs) < 0.6, better, before)
    return np.where(chance.random(pairs) < unknown, -1, truth).astype(np.int8), before, after
