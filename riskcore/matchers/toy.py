"""A matcher that trains in milliseconds: logistic regression on a few word overlaps. For tests and demos.

It needs numpy only, and behaves like the other matchers in every respect: seeds, snapshots, soft targets, metrics.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from riskcore.data.pairs import Pairs
from riskcore.data.values import tokens
from riskcore.errors import CancelledError, MatcherError
from riskcore.matchers.base import Arrays, Examples, Matcher, Rates, ShouldStop, TuningSet, as_sets, metrics_of, never
from riskcore.matchers.wide import Standardiser

PER_ATTRIBUTE = 3  # share of common words, equality, missing


class ToyMatcher(Matcher):
    """`p = sigmoid(overlaps . weights)`, by Adam on mini-batches."""

    kind = "toy"
    rates = Rates(0.05, 0.02)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.weights: np.ndarray | None = None
        self.moments: np.ndarray | None = None  # first moment, second moment
        self.steps = 0
        self.standardiser: Standardiser | None = None
        self._known: weakref.WeakKeyDictionary[Pairs, np.ndarray] = weakref.WeakKeyDictionary()

    def begin(self, train: Examples, seed: int) -> None:
        self.standardiser = Standardiser.fit(metrics_of(train)) if self.config.wide else None
        width = PER_ATTRIBUTE * len(self.attributes) + 1 + (self.standardiser.width if self.standardiser else 0)
        self.weights = np.random.default_rng(seed).normal(0, 0.01, width)
        self.moments, self.steps = None, 0

    def fine_tune(
        self,
        sets: TuningSet | Sequence[TuningSet],
        *,
        rate: float | None = None,
        seed: int = 0,
        batch_size: int | None = None,
        should_stop: ShouldStop = never,
    ) -> float:
        parts = as_sets(sets)
        if not parts:
            return 0.0
        inputs = np.concatenate([self._inputs(part.examples) for part in parts])
        match = np.concatenate([part.match for part in parts])
        non_match = np.concatenate([part.non_match for part in parts])
        rate = self.rates.fine_tune if rate is None else rate
        rows, total, size = np.random.default_rng(seed).permutation(len(match)), 0.0, batch_size or 64
        for start in range(0, len(rows), size):
            if should_stop():
                raise CancelledError("Training was cancelled; the last checkpoint holds what was reached.")
            some = rows[start : start + size]
            total += self._step(inputs[some], match[some], non_match[some], rate)
        return total / len(rows)

    def _step(self, inputs: np.ndarray, match: np.ndarray, non_match: np.ndarray, rate: float) -> float:
        """One step of Adam; the batch's summed loss."""
        logits = inputs @ self._ready()
        slope = (match + non_match) * _sigmoid(logits) - match
        gradient = inputs.T @ slope / len(inputs)
        first, second = self.moments if self.moments is not None else np.zeros((2, len(gradient)))
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        self.moments, self.steps = np.stack([first, second]), self.steps + 1
        unbiased = first / (1 - 0.9**self.steps), second / (1 - 0.999**self.steps)
        self.weights = self._ready() - rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
        return float(np.sum(match * np.logaddexp(0, -logits) + non_match * np.logaddexp(0, logits)))

    def predict_proba(self, examples: Examples) -> np.ndarray:
        return _sigmoid(self._inputs(examples) @ self._ready())

    def snapshot(self, moments: bool = False) -> Arrays:
        arrays = {"weights": self._ready().copy()}
        if self.standardiser is not None:
            arrays |= {name: array.copy() for name, array in self.standardiser.arrays().items()}
        if moments and self.moments is not None:
            arrays |= {"moments": self.moments.copy(), "steps": np.array([self.steps])}
        return arrays

    def restore(self, arrays: Arrays) -> None:
        self.weights = arrays["weights"].copy()
        self.standardiser = Standardiser.from_arrays(arrays)
        self.moments = arrays["moments"].copy() if "moments" in arrays else None
        self.steps = int(arrays["steps"][0]) if "steps" in arrays else 0

    def _ready(self) -> np.ndarray:
        if self.weights is None:
            raise MatcherError("This toy matcher was never trained. Train it, or load a saved one.")
        return self.weights

    def _inputs(self, examples: Examples) -> np.ndarray:
        if examples.pairs not in self._known:
            self._known[examples.pairs] = self._overlaps(examples.pairs)
        if self.standardiser is None:
            return self._known[examples.pairs]
        return np.hstack([self._known[examples.pairs], self.standardiser.transform(metrics_of(examples))])

    def _overlaps(self, pairs: Pairs) -> np.ndarray:
        columns = [np.ones((len(pairs), 1))]
        for attribute in self.attributes:
            left = pairs.left.text(attribute.name)[pairs.left_rows]
            right = pairs.right.text(attribute.name)[pairs.right_rows]
            overlaps = [_overlap(*texts) for texts in zip(left, right, strict=True)]
            columns.append(np.array(overlaps).reshape(-1, PER_ATTRIBUTE))
        return np.hstack(columns)


def _overlap(left: str | None, right: str | None) -> tuple[float, float, float]:
    if left is None or right is None:
        return 0.0, 0.0, 1.0
    one, other = set(tokens(left)), set(tokens(right))
    return len(one & other) / max(len(one | other), 1), float(left == right), 0.0


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    answer: np.ndarray = 0.5 * (1.0 + np.tanh(0.5 * logits))
    return answer
