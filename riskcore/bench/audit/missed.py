"""Simulated audits of recall with what blocking missed: some candidates are taken for pairs that no blocker found."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from riskcore.audit.estimate.calibration import SideAudit, calibrated
from riskcore.audit.estimate.measures import measures
from riskcore.audit.estimate.missed import ring_design
from riskcore.audit.estimate.model import AuditModel
from riskcore.audit.estimate.posterior import SideModel
from riskcore.audit.estimate.strata import NON_MATCHES, allocate
from riskcore.bench.audit.simulate import BATCH, DRAWS, Population, audit_counts

INSIDE, OUTSIDE, LOST = 300, 150, 0.05


class MissedRow(TypedDict):
    """What simulated audits say of recall with missed matches."""

    run: str
    target: str
    method: str
    outside: int  # pairs that blocking left out
    missed: int  # matches among them
    recall: float
    coverage: float
    half_width: float
    bias: float
    ignored: float  # coverage of the same audits if nobody looks outside


def missed_row(
    run: str, population: Population, likeness: np.ndarray, audits: int, seed: int = 0, lost: float = LOST
) -> MissedRow:
    """Audits of a blocker that keeps the pairs that are alike, and with that loses this share of the matches.

    `INSIDE` verdicts go to candidates by the design, and `OUTSIDE` to the rest: in proportion to the pairs of each ring
    and to the spread that is expected of it, in equal parts.
    """
    match = population.truth == 1
    out = likeness < np.quantile(likeness[match], lost)
    inside = Population(
        population.name, population.method, population.label[~out], population.risk[~out], population.truth[~out]
    )
    missed = int((out & match).sum())
    generator = np.random.default_rng(seed)
    rings = ring_design(likeness[out])
    spread = np.sqrt(rings.risk * (1 - rings.risk))
    even = float(spread @ rings.pairs) / float(rings.pairs.sum())
    judged = allocate(rings.pairs, (spread + even)[None] / 2, np.zeros((1, len(rings)), dtype=np.int64), OUTSIDE)
    judged = np.repeat(judged, audits, axis=0)
    matches = np.bincount(rings.of_pair, weights=match[out], minlength=len(rings)).astype(np.int64)
    found = generator.hypergeometric(matches, rings.pairs - matches, judged)
    outside = SideAudit(NON_MATCHES, SideModel.of(rings.risk), rings.pairs, found, judged, outside=True)
    strata, errors, seen = audit_counts(inside, inside.risk, INSIDE, audits, generator, BATCH)
    labelled, sides = float((inside.label == 1).sum()), AuditModel(strata).sides(errors, seen)
    value, low, high = calibrated(labelled, [*sides, outside], DRAWS, generator)["recall"]
    _, plain_low, plain_high = calibrated(labelled, sides, DRAWS, generator)["recall"]
    positive, negative = inside.errors()
    true = float(measures(labelled, np.array(positive), np.array(negative + missed))["recall"])
    return {
        "run": run,
        "target": population.name,
        "method": population.method,
        "outside": int(out.sum()),
        "missed": missed,
        "recall": true,
        "coverage": float(((low <= true) & (true <= high)).mean()),
        "half_width": float((high - low).mean()) / 2,
        "bias": float((value - true).mean()),
        "ignored": float(((plain_low <= true) & (true <= plain_high)).mean()),
    }
