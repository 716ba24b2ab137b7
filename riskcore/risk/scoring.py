"""From probabilities and fired rules to mean, deviation and risk: one vectorised pass, in chunks.

Temporary memory is that of a few chunks, whatever the number of pairs. The heavy parts (sparse product,
normal tails and their inverse) run outside the interpreter's lock, so threads share the chunks.
"""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
from scipy import sparse

from riskcore.config import RiskConfig
from riskcore.errors import RiskcoreError
from riskcore.risk.value_at_risk import risk_of, top, values_at_risk


class RiskModelError(RiskcoreError):
    """A risk model, or the input it is to score, is not valid."""


class ScoringModel(Protocol):
    """What scoring needs of a risk model."""

    @property
    def rules(self) -> tuple[str, ...]: ...
    @property
    def mean(self) -> np.ndarray: ...
    @property
    def confidence(self) -> float: ...
    @property
    def deviation(self) -> np.ndarray: ...
    @property
    def effective_weight(self) -> np.ndarray: ...
    def matcher_weight(self, probability: np.ndarray) -> np.ndarray: ...
    def matcher_deviation(self, probability: np.ndarray) -> np.ndarray: ...


@dataclasses.dataclass(frozen=True, eq=False)
class RiskScores:
    """The risk model's scores. All arrays have one entry per pair."""

    probability: np.ndarray  # the matcher's
    label: np.ndarray  # int8, 1 match, 0 non-match: the label whose risk is meant
    mu: np.ndarray  # expected equivalence probability
    sigma: np.ndarray  # its standard deviation, before truncation
    var_match: np.ndarray  # VaR+, the risk if labelled match
    var_non_match: np.ndarray  # VaR-, the risk if labelled non-match
    risk: np.ndarray  # the one of `label`

    def __len__(self) -> int:
        return len(self.risk)

    def top(self, count: int) -> np.ndarray:
        """Rows of the `count` riskiest pairs, riskiest first."""
        return top(self.risk, count)


def score(
    model: ScoringModel, probabilities: np.ndarray, fired: sparse.sparray, labels: np.ndarray | None, config: RiskConfig
) -> RiskScores:
    """Score all pairs; without labels, a pair is a match from probability 0.5 on."""
    probability = checked_probabilities(probabilities)
    count = len(probability)
    fired = checked_firing(fired, count, len(model.rules))
    label = checked_labels(labels, probability)
    mu, sigma, var_match, var_non_match = (np.empty(count) for _ in range(4))
    terms = rule_terms(model)
    starts = range(0, count, config.chunk_pairs)
    ones = np.ones(_largest_chunk(fired.indptr, starts, config.chunk_pairs))

    def score_chunk(start: int) -> None:
        rows = slice(start, min(start + config.chunk_pairs, count))
        sums = _rows(fired, rows, ones) @ terms
        mu[rows], sigma[rows] = moments(model, probability[rows], sums)
        var_match[rows], var_non_match[rows] = values_at_risk(mu[rows], sigma[rows], model.confidence)

    if config.workers == 1 or len(starts) == 1:
        for start in starts:
            score_chunk(start)
    else:
        with ThreadPoolExecutor(config.workers) as threads:
            list(threads.map(score_chunk, starts))  # list: raises what a thread raised
    return RiskScores(probability, label, mu, sigma, var_match, var_non_match, risk_of(label, var_match, var_non_match))


def rule_terms(model: ScoringModel) -> np.ndarray:
    """Per rule what it adds to a pair it fires on: weight, weighted mean, weighted variance."""
    weight = model.effective_weight
    return np.column_stack([weight, weight * model.mean, np.square(weight * model.deviation)])


def matcher_terms(model: ScoringModel, probability: np.ndarray) -> np.ndarray:
    """Per pair what the matcher's output adds: weight, weighted mean, weighted variance."""
    weight = model.matcher_weight(probability)
    return np.column_stack([weight, weight * probability, np.square(weight * model.matcher_deviation(probability))])


def moments(model: ScoringModel, probability: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each pair from the sums of its fired rules' terms."""
    return combine(sums + matcher_terms(model, probability))


def combine(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation from total weight, weighted mean and weighted variance (last axis)."""
    weight, mean, variance = sums[..., 0], sums[..., 1], sums[..., 2]
    # The sparse sum and the weight are rounded apart: a mean of ones may come out an ulp above 1.
    return np.clip(mean / weight, 0.0, 1.0), np.sqrt(np.maximum(variance, 0.0)) / weight


def checked_probabilities(probabilities: np.ndarray) -> np.ndarray:
    probability = np.ascontiguousarray(probabilities, dtype=np.float64)
    if probability.ndim != 1:
        raise RiskModelError(f"Probabilities must be one per pair; their shape is {probability.shape}.")
    if not np.all((probability >= 0) & (probability <= 1)):
        row = int(np.flatnonzero(~((probability >= 0) & (probability <= 1)))[0])
        raise RiskModelError(f"The probability of pair {row} is {probability[row]}; it must lie in [0, 1].")
    return probability


def checked_labels(labels: np.ndarray | None, probability: np.ndarray) -> np.ndarray:
    if labels is None:
        return (probability >= 0.5).astype(np.int8)
    label = np.asarray(labels)
    if label.shape != probability.shape or not np.all((label == 0) | (label == 1)):
        raise RiskModelError(f"Labels must be 0 or 1, one for each of the {len(probability)} pairs.")
    return label.astype(np.int8)


def checked_firing(fired: sparse.sparray, pairs: int, rules: int) -> sparse.csr_array:
    """The firing matrix as CSR whose entries each say "fired", once."""
    if fired.shape != (pairs, rules):
        raise RiskModelError(
            f"The firing matrix is {fired.shape[0]} x {fired.shape[1]}; {pairs} pairs and {rules} rules "
            f"need {pairs} x {rules}. Evaluate the rules of this model on these pairs."
        )
    matrix = sparse.csr_array(fired)
    if not matrix.data.all() or not matrix.has_canonical_format:
        matrix = matrix.astype(bool, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def _rows(fired: sparse.csr_array, rows: slice, ones: np.ndarray) -> sparse.csr_array:
    """A block of rows without copying indices; float ones spare the product a conversion."""
    low, high = fired.indptr[rows.start], fired.indptr[rows.stop]
    pointers = fired.indptr[rows.start : rows.stop + 1] - low
    shape = (rows.stop - rows.start, fired.shape[1])
    return sparse.csr_array((ones[: high - low], fired.indices[low:high], pointers), shape=shape, copy=False)


def _largest_chunk(pointers: np.ndarray, starts: range, size: int) -> int:
    last = len(pointers) - 1
    return max((int(pointers[min(start + size, last)] - pointers[start]) for start in starts), default=0)
