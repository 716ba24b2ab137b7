"""A ranking: pairs whose metrics are mostly missing come first, since there is little to decide them by."""

from __future__ import annotations

import numpy as np

from riskcore.risk.baselines import Ranking
from riskcore.risk.rankings import RankingInput


def by_missing_values(known: RankingInput) -> Ranking | None:
    if known.metrics is None:
        return None
    return Ranking("missing values", np.isnan(known.metrics).mean(axis=1))
