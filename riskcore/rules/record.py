"""A rule's record on labelled pairs, in words."""

from __future__ import annotations

import numpy as np

from riskcore.rules.simplification import lower_bound

_Z = 1.96  # of a two-sided interval of 95 %


def record_words(right: int, pairs: int, where: str) -> str:
    """How often a rule was right on the pairs it fired on: "right on 5 of 8 validation pairs (at least 31 %)".

    The percentage is the lower end of Wilson's two-sided 95 % interval. `where` says which pairs these are.
    """
    if not pairs:
        return f"fired on no {where} pair"
    bound = float(lower_bound(np.array([right]), np.array([pairs]), _Z)[0])
    least = min(99, round(100 * bound))  # no number of pairs makes it certain
    return f"right on {right:,} of {pairs:,} {where} {'pair' if pairs == 1 else 'pairs'} (at least {least} %)"
