"""Which rules fire on which pairs: a sparse pair x rule matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from riskcore.metrics.values import MetricMatrix
from riskcore.rules.rule import Condition, Rule

_DENSE_CELLS = 32_000_000  # bytes of the dense block that one chunk of pairs is evaluated in


def fire(rules: Sequence[Rule], matrix: MetricMatrix) -> sparse.csr_array:
    """A boolean pairs x rules matrix, chunk by chunk; each distinct condition is evaluated once."""
    conditions = list(dict.fromkeys(condition for rule in rules for condition in rule.conditions))
    number = {condition: index for index, condition in enumerate(conditions)}
    members = [[number[condition] for condition in rule.conditions] for rule in rules]
    step = max(1, _DENSE_CELLS // max(1, len(rules) + len(conditions)))
    chunks = [
        _fire_chunk(matrix.values[start : start + step], matrix, conditions, members)
        for start in range(0, len(matrix), step)
    ]
    if not chunks:
        return sparse.csr_array((0, len(rules)), dtype=bool)
    return sparse.vstack(chunks, format="csr") if len(chunks) > 1 else chunks[0]


def _fire_chunk(
    values: np.ndarray, matrix: MetricMatrix, conditions: Sequence[Condition], members: Sequence[Sequence[int]]
) -> sparse.csr_array:
    column = {metric: index for index, metric in enumerate(matrix.metrics)}
    holds = np.empty((len(conditions), len(values)), dtype=bool)
    for index, condition in enumerate(conditions):
        holds[index] = condition.holds(values[:, column[condition.metric]])
    fired = np.empty((len(members), len(values)), dtype=bool)
    for index, member in enumerate(members):
        np.logical_and.reduce(holds[member], axis=0, out=fired[index])
    return sparse.csr_array(fired.T)
