"""Which rules fire on which pairs: a sparse pair x rule matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy import sparse

from riskcore.metrics.values import MetricMatrix
from riskcore.rules.rule import Condition, Rule

_DENSE_CELLS = 32_000_000  # bytes of the dense block that one chunk of pairs is evaluated in


def fire(rules: Sequence[Rule], matrix: MetricMatrix) -> sparse.csr_array:
    """A boolean pairs x rules matrix, chunk by chunk; each distinct condition is evaluated once."""
    chunks = [sparse.csr_array(fired.T) for fired in _chunks(rules, matrix)]
    if not chunks:
        return sparse.csr_array((0, len(rules)), dtype=bool)
    return sparse.vstack(chunks, format="csr") if len(chunks) > 1 else chunks[0]


def fired_on(rules: Sequence[Rule], metrics: Mapping[str, float | None]) -> list[int]:
    """Numbers of the rules that fire on one pair, given its metrics by key; None, or no entry, is missing."""
    needed = tuple(dict.fromkeys(condition.metric for rule in rules for condition in rule.conditions))
    known = [metrics.get(metric.key) for metric in needed]
    values = np.array([[np.nan if value is None else value for value in known]], dtype=np.float32)
    numbers: list[int] = fire(rules, MetricMatrix(values, needed)).indices.tolist()
    return numbers


def fired_bits(rules: Sequence[Rule], matrix: MetricMatrix) -> np.ndarray:
    """The pairs each rule fires on as a row of bits in 64-bit words: an eighth of a byte per pair and rule."""
    words = [packed_bits(fired) for fired in _chunks(rules, matrix)]
    return np.hstack(words) if words else np.zeros((len(rules), 0), dtype=np.uint64)


def packed_bits(fired: np.ndarray) -> np.ndarray:
    """Rows of booleans as rows of bits in 64-bit words, the last one padded with zeros."""
    packed = np.packbits(fired, axis=1)
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))).view(np.uint64)


def _chunks(rules: Sequence[Rule], matrix: MetricMatrix) -> Iterator[np.ndarray]:
    """Rules x pairs, some pairs at a time."""
    conditions = list(dict.fromkeys(condition for rule in rules for condition in rule.conditions))
    number = {condition: index for index, condition in enumerate(conditions)}
    members = [[number[condition] for condition in rule.conditions] for rule in rules]
    step = 64 * max(1, _DENSE_CELLS // 64 // max(1, len(rules) + len(conditions)))  # whole words of `packed_bits`
    for start in range(0, len(matrix), step):
        yield _fire_chunk(matrix.values[start : start + step], matrix, conditions, members)


def _fire_chunk(
    values: np.ndarray, matrix: MetricMatrix, conditions: Sequence[Condition], members: Sequence[Sequence[int]]
) -> np.ndarray:
    column = {metric: index for index, metric in enumerate(matrix.metrics)}
    holds = np.empty((len(conditions), len(values)), dtype=bool)
    for index, condition in enumerate(conditions):
        holds[index] = condition.holds(values[:, column[condition.metric]])
    fired = np.empty((len(members), len(values)), dtype=bool)
    for index, member in enumerate(members):
        np.logical_and.reduce(holds[member], axis=0, out=fired[index])
    return fired
