"""How near the target is to the source, seen without labels: can a forest tell their pairs apart?

Near, what was learned on the source holds on the target as it is. Far, it has to be proved on the target's own pairs.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from riskcore.training.forest import with_flags

_PAIRS = 2_000  # of each side: enough to tell them apart
_TREES = 100
_LEAF = 5  # pairs in a leaf: a forest that learns pairs by heart tells less


def nearness(source: np.ndarray, target: np.ndarray, seed: int) -> float:
    """From 0, told apart without fail, to 1, told apart no better than by chance; from the metrics alone."""
    size = min(_PAIRS, len(source), len(target))
    if size < 2 * _LEAF:
        return 0.0
    rng = np.random.default_rng(seed)
    drawn = [with_flags(side[np.sort(rng.permutation(len(side))[:size])]) for side in (source, target)]
    is_target = np.repeat([0, 1], size)
    forest = RandomForestClassifier(_TREES, min_samples_leaf=_LEAF, oob_score=True, random_state=seed, n_jobs=1)
    guess = forest.fit(np.vstack(drawn), is_target).oob_decision_function_[:, 1]
    told = roc_auc_score(is_target, np.where(np.isnan(guess), 0.5, guess))
    return float(np.clip(2 * (1 - told), 0.0, 1.0))
