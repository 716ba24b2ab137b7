"""A matcher in full: the five methods that training, checkpoints, resuming and adaptation need."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskcore.data.pairs import Table
from riskcore.data.values import tokens
from riskcore.matchers.base import Arrays, Examples, Matcher, Rates, ShouldStop, TuningSet, as_sets, never

STEPS = 200  # of gradient descent in a pass: two weights, so they cost nothing


class OverlapMatcher(Matcher):
    """`p = sigmoid(slope * overlap + offset)`, where overlap is the share of words that both records have."""

    kind = "overlap"
    rates = Rates(train=5.0, fine_tune=1.0)

    def begin(self, train: Examples, seed: int) -> None:
        self.weights = np.array([1.0, -0.5])  # slope and offset

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
        inputs = np.vstack([self._inputs(part.examples) for part in parts])
        match = np.concatenate([part.match for part in parts])
        non_match = np.concatenate([part.non_match for part in parts])
        size = self.rates.fine_tune if rate is None else rate
        for _ in range(STEPS):
            logits = inputs @ self.weights
            slope = (match + non_match) / (1 + np.exp(-logits)) - match
            self.weights = self.weights - size * inputs.T @ slope / len(match)
        return float(np.mean(match * np.logaddexp(0, -logits) + non_match * np.logaddexp(0, logits)))

    def predict_proba(self, examples: Examples) -> np.ndarray:
        return 1 / (1 + np.exp(-self._inputs(examples) @ self.weights))

    def snapshot(self, moments: bool = False) -> Arrays:
        return {"weights": self.weights.copy()}

    def restore(self, arrays: Arrays) -> None:
        self.weights = np.array(arrays["weights"])

    def _inputs(self, examples: Examples) -> np.ndarray:
        pairs = examples.pairs
        left = self._words(pairs.left, pairs.left_rows)
        right = self._words(pairs.right, pairs.right_rows)
        overlap = [len(one & other) / max(1, len(one | other)) for one, other in zip(left, right, strict=True)]
        return np.column_stack([overlap, np.ones(len(overlap))])

    def _words(self, table: Table, rows: np.ndarray) -> list[set[str]]:
        columns = [table.text(attribute.name, rows) for attribute in self.attributes]
        return [{word for value in record if value for word in tokens(value)} for record in zip(*columns, strict=True)]
