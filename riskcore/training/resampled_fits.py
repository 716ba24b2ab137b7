"""Fits to labelled pairs drawn anew, which show how steady a pair's leading reason is: stacker, linear model and the
means of the rules. The matcher is not trained again for it."""

from __future__ import annotations

import dataclasses

import numpy as np

from riskcore.random_streams import Stream, stream_seed
from riskcore.risk import RiskModel
from riskcore.training.base_learners import posterior_means, refitted_linear
from riskcore.training.ensemble import Ensemble
from riskcore.training.fitted_learners import LinearLearner, RulesLearner
from riskcore.training.stacker import Stacker

RESAMPLES = 20  # a share of them is known to a twentieth


@dataclasses.dataclass(frozen=True, eq=False)
class Resample:
    """The evidence as other labelled pairs might have made it."""

    stacker: Stacker
    linear: LinearLearner
    rules: RiskModel


def resamples_of(ensemble: Ensemble) -> Resamples:
    """The fits that belong to an ensemble, worked out once."""
    if ensemble.resamples is None:
        ensemble.resamples = Resamples(ensemble)
    found: Resamples = ensemble.resamples
    return found


class Resamples:
    """Fits to labelled pairs drawn anew, with replacement; none without validation labels. What does not depend on the
    matcher is fitted once, whatever the number of methods."""

    def __init__(self, ensemble: Ensemble, count: int = RESAMPLES) -> None:
        self._ensemble, self._fits = ensemble, list[tuple[np.ndarray, LinearLearner, RiskModel]]()
        if not ensemble.fitted:
            return
        evidence, config = ensemble.evidence, ensemble.config
        draw = np.random.default_rng(stream_seed(config.seed, Stream.REASON_RESAMPLES, 1))
        rules = next(one for one in ensemble.learners.learners if isinstance(one, RulesLearner))
        for _ in range(count):
            rows = ensemble.drawn_anew(draw)
            fired, labels = evidence.validation.source_fired[rows], evidence.validation.labels[rows]
            means = posterior_means(evidence, fired, labels, config.adapt.source_prior_pairs).mean
            linear = refitted_linear(evidence, rows, config, draw)
            self._fits.append((rows, linear, dataclasses.replace(rules.model, mean=means)))

    def with_matcher(self, validated: np.ndarray) -> list[Resample]:
        """The fits with a matcher whose probabilities of the validation pairs are given."""
        return [Resample(self._ensemble.refitted(validated, rows), linear, rules) for rows, linear, rules in self._fits]
