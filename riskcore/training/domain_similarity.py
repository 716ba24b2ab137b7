"""Domain similarity of source and target, measured without labels: can a forest tell their pairs apart?

If it cannot, what was learned on the source can be trusted on the target. If it can, it has to be checked on the
target's own validation pairs.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from riskcore.config import SimilarityConfig
from riskcore.random_streams import Stream, stream, stream_seed
from riskcore.training.forest import with_flags


def domain_similarity(
    source: np.ndarray, target: np.ndarray, seed: int, config: SimilarityConfig | None = None
) -> float:
    """2 (1 - AUC) of a domain classifier on the metrics: 0 if it separates the two, 1 if it does no better than chance.

    The AUC is out-of-bag, so no pair is classified by trees that were grown on it.
    """
    config = config or SimilarityConfig()
    rows = similarity_rows(len(source), len(target), seed, config)
    return 0.0 if rows is None else similarity_of(source[rows[0]], target[rows[1]], seed, config)


def similarity_rows(
    source: int, target: int, seed: int, config: SimilarityConfig
) -> tuple[np.ndarray, np.ndarray] | None:
    """Which of so many pairs of either side the domain classifier sees; None where there are too few."""
    size = min(config.pairs, source, target)
    if size < 2 * config.leaf:
        return None
    rng = stream(seed, Stream.SIMILARITY_SAMPLE)
    ours, theirs = (np.sort(rng.permutation(count)[:size]) for count in (source, target))
    return ours, theirs


def similarity_of(source: np.ndarray, target: np.ndarray, seed: int, config: SimilarityConfig) -> float:
    """The similarity of as many source as target pairs."""
    drawn = [with_flags(side) for side in (source, target)]
    is_target = np.repeat([0, 1], len(source))
    drawn_seed = stream_seed(seed, Stream.SIMILARITY_FOREST)
    forest = RandomForestClassifier(
        config.trees, min_samples_leaf=config.leaf, oob_score=True, random_state=drawn_seed, n_jobs=1
    )
    out_of_bag = forest.fit(np.vstack(drawn), is_target).oob_decision_function_[:, 1]
    auc = roc_auc_score(is_target, np.where(np.isnan(out_of_bag), 0.5, out_of_bag))
    return float(np.clip(2 * (1 - auc), 0.0, 1.0))
