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
    size = min(config.pairs, len(source), len(target))
    if size < 2 * config.leaf:
        return 0.0
    rng = stream(seed, Stream.SIMILARITY_SAMPLE)
    drawn = [with_flags(side[np.sort(rng.permutation(len(side))[:size])]) for side in (source, target)]
    is_target = np.repeat([0, 1], size)
    drawn_seed = stream_seed(seed, Stream.SIMILARITY_FOREST)
    forest = RandomForestClassifier(
        config.trees, min_samples_leaf=config.leaf, oob_score=True, random_state=drawn_seed, n_jobs=1
    )
    out_of_bag = forest.fit(np.vstack(drawn), is_target).oob_decision_function_[:, 1]
    auc = roc_auc_score(is_target, np.where(np.isnan(out_of_bag), 0.5, out_of_bag))
    return float(np.clip(2 * (1 - auc), 0.0, 1.0))
