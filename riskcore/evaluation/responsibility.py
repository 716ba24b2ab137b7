"""Which rules are responsible for the flips: those that fired on a flipped pair and point to its new label.

The credit for one flipped pair is 1, divided among those rules in proportion to their weights. So credits add up to
pairs: a rule with a credit of 12 among the fixed ones has fixed as much as twelve pairs on its own.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from riskcore.evaluation.truth import UNKNOWN, EvaluationError, checked_labels, checked_truth, of_length


@dataclasses.dataclass(frozen=True)
class Responsibility:
    """One rule's part in the flips. Figures that need truth are None where none is known."""

    rule: int  # its column in the firing matrix
    pairs: int  # flipped pairs whose new label it points to
    credit: float  # its share of them
    fixed_pairs: int | None
    fixed: float | None  # its share of the fixed pairs
    broken_pairs: int | None
    broken: float | None  # its share of the broken pairs


@dataclasses.dataclass(frozen=True)
class Responsibilities:
    """All rules with a part in the flips, the largest credit first."""

    rules: tuple[Responsibility, ...]
    unexplained: int  # flipped pairs to whose new label no rule with a weight points
    unexplained_fixed: int | None
    unexplained_broken: int | None

    def by_fixed(self) -> tuple[Responsibility, ...]:
        """Those that fixed any pair, most first."""
        return _ranked(self.rules, "fixed")

    def by_broken(self) -> tuple[Responsibility, ...]:
        """Those that broke any pair, most first."""
        return _ranked(self.rules, "broken")


def responsibilities(
    truth: np.ndarray | None,
    before: np.ndarray,
    after: np.ndarray,
    fired: sparse.sparray,
    outcomes: np.ndarray,
    weights: np.ndarray,
) -> Responsibilities:
    """Rank the rules by what they flipped, fixed and broke.

    `fired` has a row per pair and a column per rule; `outcomes` says per rule which class it points to (1 match,
    0 non-match) and `weights` how much it counts (the risk model's `effective_weight`).
    """
    was = checked_labels(before)
    now = checked_labels(after, len(was))
    true = checked_truth(truth, len(was))
    rows = np.flatnonzero(was != now)
    pair, rule, credit = _credits(_fired_rows(fired, rows, len(was)), now[rows], outcomes, weights)
    flipped_truth, explained = true[rows], np.zeros(len(rows), dtype=bool)
    explained[pair] = True
    known = flipped_truth != UNKNOWN
    groups = {"all": np.ones(len(rows), dtype=bool), "fixed": known & (flipped_truth == now[rows])}
    groups["broken"] = known & ~groups["fixed"]
    count = fired.shape[1]
    pairs = {name: np.bincount(rule[mask[pair]], minlength=count) for name, mask in groups.items()}
    sums = {name: np.bincount(rule, credit * mask[pair], minlength=count) for name, mask in groups.items()}
    any_truth = bool((true != UNKNOWN).any())
    unexplained = {name: int((mask & ~explained).sum()) for name, mask in groups.items()}
    return Responsibilities(
        tuple(_row(column, pairs, sums, any_truth) for column in _order(sums["all"])),
        unexplained["all"],
        unexplained["fixed"] if any_truth else None,
        unexplained["broken"] if any_truth else None,
    )


def _fired_rows(fired: sparse.sparray, rows: np.ndarray, pairs: int) -> sparse.coo_array:
    if fired.shape[0] != pairs:
        raise EvaluationError(f"The firing matrix has {fired.shape[0]} rows for {pairs} pairs.")
    matrix = sparse.csr_array(fired)[rows].astype(bool)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix.tocoo()


def _credits(
    fired: sparse.coo_array, now: np.ndarray, outcomes: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per rule that points to a flipped pair's new label: the pair, the rule, its share of the pair."""
    count = fired.shape[1]
    points_to = checked_labels(outcomes, count)
    weight = of_length(np.asarray(weights, dtype=np.float64), count, "rule weights")
    pair, rule = fired.coords
    agrees = (points_to[rule] == now[pair]) & (weight[rule] > 0)
    pair, rule = pair[agrees], rule[agrees]
    total = np.bincount(pair, weight[rule], minlength=len(now))
    return pair, rule, weight[rule] / total[pair]


def _order(credit: np.ndarray) -> list[int]:
    """Columns with any credit, most first, equals in column order."""
    columns = np.flatnonzero(credit > 0)
    ordered: list[int] = columns[np.argsort(-credit[columns], kind="stable")].tolist()
    return ordered


def _row(column: int, pairs: dict[str, np.ndarray], sums: dict[str, np.ndarray], any_truth: bool) -> Responsibility:
    return Responsibility(
        rule=column,
        pairs=int(pairs["all"][column]),
        credit=float(sums["all"][column]),
        fixed_pairs=int(pairs["fixed"][column]) if any_truth else None,
        fixed=float(sums["fixed"][column]) if any_truth else None,
        broken_pairs=int(pairs["broken"][column]) if any_truth else None,
        broken=float(sums["broken"][column]) if any_truth else None,
    )


def _ranked(rules: tuple[Responsibility, ...], field: str) -> tuple[Responsibility, ...]:
    with_part = [rule for rule in rules if getattr(rule, field)]
    return tuple(sorted(with_part, key=lambda rule: (-getattr(rule, field), rule.rule)))
