"""Settings of scoring at size: any number of pairs, some at a time."""

from __future__ import annotations

import dataclasses

from riskcore.config.base import Config, setting


@dataclasses.dataclass(frozen=True)
class ScaleConfig(Config):
    """How `riskcore score` works through pairs."""

    part_pairs: int = setting(
        50_000,
        "pairs of a part, the unit that is computed, stored and resumed: a part holds about 60 MB while it is scored",
        1_000,
        1_000_000,
    )
    spare: bool = setting(
        True, "leave the matcher unasked where its largest possible word cannot turn the label and the risk stays small"
    )
    spared_risk: float = setting(
        0.1,
        "the matcher is asked about pairs whose risk may be above this, whatever their label: the queue is ordered by "
        "risk, and people review its top",
        0,
        1,
    )
    reasons: int = setting(10_000, "riskiest pairs that get reasons in words: people read a queue from its top", 0)
