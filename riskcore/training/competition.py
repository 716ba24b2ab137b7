"""Competing candidates: what the model itself says of other pairs that share a record with a pair.

Where each record has at most one counterpart, a confident match of one of its pairs speaks against its other pairs.
Where records have many, it says nothing. So a small model learns from the validation pairs how much a competitor
counts: `log-odds = offset + scale * stacked log-odds + left * competitor of the left record + right * ...`, its two
coefficients held at or below zero. Where source pairs share records with the target, as within one data set, it learns
from them too, with out-of-bag predictions in place of the stacker's. It is used only where it lowers the out-of-fold
loss. At prediction time it needs no labels; competitors whose label is known (source and validation pairs) count with
their label.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier

from riskcore.config import CompetitionConfig, RunConfig
from riskcore.data.pairs import Pairs, Table
from riskcore.random_streams import Stream, stream_seed
from riskcore.training.base_learners import log_odds
from riskcore.training.evidence import Evidence
from riskcore.training.forest import with_flags
from riskcore.training.out_of_fold import folds_and_rests


class CandidatePool:
    """All pairs that may compete, part after part, by the records they share."""

    def __init__(self, parts: Sequence[Pairs]) -> None:
        tables: dict[int, int] = {}  # by object: a self-join has one table on both sides
        size = 1 + max((len(side) for part in parts for side in (part.left, part.right)), default=0)

        def keys(table: Table, rows: np.ndarray) -> np.ndarray:
            return tables.setdefault(id(table), len(tables)) * size + rows.astype(np.int64)

        left = np.concatenate([keys(part.left, part.left_rows) for part in parts])
        right = np.concatenate([keys(part.right, part.right_rows) for part in parts])
        numbers = np.arange(len(left))
        self._itself = left == right  # a record paired with itself: it must not meet its own other side
        self._records = np.concatenate([left, np.where(self._itself, -1 - numbers, right)])
        self._pairs = np.tile(numbers, 2)

    def strongest(self, log_odds: np.ndarray) -> np.ndarray:
        """Pairs x 2: the highest log-odds among the other pairs of the left and of the right record; -inf for none."""
        values = np.tile(log_odds, 2)
        order = np.lexsort((-values, self._records))
        records, pairs, values = self._records[order], self._pairs[order], values[order]
        places = np.arange(len(records))
        first = np.maximum.accumulate(np.where(np.r_[True, records[1:] != records[:-1]], places, 0))
        second = np.minimum(first + 1, len(records) - 1)
        runner_up = np.where((second > first) & (records[second] == records), values[second], -np.inf)
        best = np.empty(len(records))
        best[order] = np.where(pairs == pairs[first], runner_up, values[first])
        both = best.reshape(2, -1).T
        both[self._itself, 1] = both[self._itself, 0]
        return both


@dataclasses.dataclass(frozen=True)
class Competition:
    """How much a pair's competitors count."""

    offset: float
    scale: float
    left: float
    right: float

    def log_odds(self, stacked: np.ndarray, competitors: np.ndarray) -> np.ndarray:
        """Log-odds of pairs from the stacker's and from their competitors' (see `competitor_inputs`)."""
        return self.offset + self.scale * stacked + competitors @ np.array([self.left, self.right])


def competitor_inputs(strongest: np.ndarray, config: CompetitionConfig) -> np.ndarray:
    """From 0, no competitor or a hopeless one, to twice `clip`, a certain one."""
    return np.clip(strongest, -config.clip, config.clip) + config.clip


def fit_competition(
    stacked: np.ndarray, competitors: np.ndarray, labels: np.ndarray, config: CompetitionConfig
) -> Competition:
    """Logistic regression with a ridge towards "no competitor counts"; a competitor may only speak against a pair."""
    inputs = np.column_stack([np.ones(len(stacked)), stacked, competitors])
    centre = np.array([0.0, 1.0, 0.0, 0.0])
    penalty = np.array([config.offset_penalty, config.scale_penalty, config.penalty, config.penalty])

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        margin, away = inputs @ theta, theta - centre
        value = np.logaddexp(0, np.where(labels == 1, -margin, margin)).sum() + 0.5 * (penalty * away) @ away
        return float(value), inputs.T @ (expit(margin) - labels) + penalty * away

    bounds = [(None, None), (0, None), (None, 0), (None, 0)]
    found = minimize(loss, centre, jac=True, bounds=bounds, method="L-BFGS-B")
    return Competition(*map(float, found.x))


class CompetingCandidates:
    """Competition among the pairs of a run: labelled ones count with their label, others with what is predicted."""

    def __init__(self, evidence: Evidence, config: RunConfig) -> None:
        self._evidence, self._config = evidence, config
        validation, source = evidence.validation, evidence.source
        self._labels = validation.labels
        self._parts: list[Pairs] = [validation.examples.pairs, evidence.target.examples.pairs, source.examples.pairs]
        self._pool = CandidatePool(self._parts)
        self._source = self._certain(source.labels)
        self._source_predicted = self._predict_source() if config.competition.use and self._shares_records() else None
        self._folds = folds_and_rests(
            self._labels, config.adapt.stacking_folds, stream_seed(config.seed, Stream.STACKING_FOLDS)
        )

    def compete(
        self, out_of_fold: np.ndarray, probability: np.ndarray
    ) -> tuple[Competition | None, np.ndarray, np.ndarray]:
        """The fitted model, and the probabilities of validation (out-of-fold) and target pairs with competition.

        None, and the probabilities as they were, where competitors do not lower the loss: out-of-fold against the
        stacker's, and against the same model without them, for which source pairs count too where they teach. A pair
        that is predicted out-of-fold meets labels of other folds only.
        """
        if not self._config.competition.use:
            return None, out_of_fold, probability
        validation, target = self._log_odds(out_of_fold), self._log_odds(probability)
        competing, rescaled = np.zeros(len(validation)), np.zeros(len(validation))
        on_source = {"competing": 0.0, "rescaled": 0.0}  # four parameters hardly overfit thousands of pairs
        for fold, rest in self._folds:
            inputs = self._inputs(validation, target, rest)
            for name, found, used in (
                ("competing", competing, inputs),
                ("rescaled", rescaled, np.zeros_like(inputs)),
            ):
                fitted = self._fit(validation, used, rest)
                found[fold] = fitted.log_odds(validation[fold], used[fold])
                on_source[name] += self._loss_on_source(fitted, used) / len(self._folds)
        losses = {"competing": self._loss(competing), "rescaled": self._loss(rescaled)}
        helps = losses["competing"] + on_source["competing"] < losses["rescaled"] + on_source["rescaled"]
        if not helps or losses["competing"] >= self._loss(validation):
            return None, out_of_fold, probability
        everyone = np.arange(len(validation))
        inputs = self._inputs(validation, target, everyone)
        fitted = self._fit(validation, inputs, everyone)
        of_target = inputs[len(validation) : len(validation) + len(target)]
        return fitted, expit(competing), expit(fitted.log_odds(target, of_target))

    def predict_unseen(
        self, competition: Competition, probability: np.ndarray, unseen: Pairs, unseen_probability: np.ndarray
    ) -> np.ndarray:
        """Probabilities of pairs that no method was given; `probability` is the target's before competition."""
        pool = CandidatePool([*self._parts, unseen])
        stacked = self._log_odds(unseen_probability)
        known = np.concatenate([self._certain(self._labels), self._log_odds(probability), self._source])
        strongest = pool.strongest(np.concatenate([known, stacked]))[len(known) :]
        return expit(competition.log_odds(stacked, competitor_inputs(strongest, self._config.competition)))

    def _fit(self, validation: np.ndarray, inputs: np.ndarray, rows: np.ndarray) -> Competition:
        """Fit on these validation pairs and, where they share records with the target, on all source pairs."""
        stacked, used, labels = [validation[rows]], [inputs[rows]], [self._labels[rows]]
        if self._source_predicted is not None:
            stacked.append(self._source_predicted)
            used.append(inputs[len(inputs) - len(self._source) :])
            labels.append(self._evidence.source.labels)
        return fit_competition(
            np.concatenate(stacked), np.vstack(used), np.concatenate(labels), self._config.competition
        )

    def _shares_records(self) -> bool:
        """Whether source and target pairs are of the same tables: then competition is the same in both."""
        source, target = self._evidence.source.examples.pairs, self._evidence.target.examples.pairs
        return source.left is target.left and source.right is target.right

    def _predict_source(self) -> np.ndarray:
        """Log-odds of the source pairs from trees that did not see them; the stacker has learned from all of them."""
        source = self._evidence.source
        if not source.has_both_classes:
            return self._source
        seed = stream_seed(self._config.seed, Stream.SOURCE_OUT_OF_BAG)
        trees = self._config.adapt.forest_trees
        forest = RandomForestClassifier(trees, oob_score=True, random_state=seed, n_jobs=-1)
        share = forest.fit(with_flags(source.metrics.values), source.labels).oob_decision_function_[:, 1]
        return self._log_odds(np.where(np.isnan(share), 0.5, share))  # NaN: seen by every tree, with few trees

    def _inputs(self, validation: np.ndarray, target: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Of validation, target and source pairs, with the labels of the `known` validation pairs."""
        counted = validation.copy()
        counted[known] = self._certain(self._labels[known])
        strongest = self._pool.strongest(np.concatenate([counted, target, self._source]))
        return competitor_inputs(strongest, self._config.competition)

    def _certain(self, labels: np.ndarray) -> np.ndarray:
        return self._log_odds(labels.astype(float))

    def _log_odds(self, probability: np.ndarray) -> np.ndarray:
        return log_odds(probability, self._config.stack.probability_floor)

    def _loss(self, margin: np.ndarray) -> float:
        return _total_loss(margin, self._labels)

    def _loss_on_source(self, fitted: Competition, inputs: np.ndarray) -> float:
        if self._source_predicted is None:
            return 0.0
        margin = fitted.log_odds(self._source_predicted, inputs[len(inputs) - len(self._source) :])
        return _total_loss(margin, self._evidence.source.labels)


def _total_loss(margin: np.ndarray, labels: np.ndarray) -> float:
    return float(np.logaddexp(0, np.where(labels == 1, -margin, margin)).sum())
