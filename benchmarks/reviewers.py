"""How soon a reviewer who is often wrong is flagged, and how often a good one is, by simulation.

python benchmarks/reviewers.py [--json] [--simulations 200] [--seed 0] [--wrong 0.4] [--sure 2]

Four reviewers judge pairs at the same pace until each has given 30 verdicts: three are wrong in 2 to 5 % of them, and
one in 40 %. After every verdict all of them are checked again. Schemes of who judges what:

two          every pair goes to two reviewers
two+model    the same, and a calibrated model tells the probability of a match of every pair
half+model   one pair in two goes to a second reviewer, and there is the model
fifth+model  one pair in five goes to a second reviewer, and there is the model
model        every pair goes to one reviewer, and there is the model
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from riskcore.audit.reviewer_check import check_reviewers
from riskcore.audit.verdicts import Verdict

BAD, GOOD = "bad", ("good 1", "good 2", "good 3")
# The share of pairs that go to a second reviewer, by scheme.
SHARED = {"two": 1.0, "two+model": 1.0, "half+model": 0.5, "fifth+model": 0.2, "model": 0.0}
START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclasses.dataclass(frozen=True)
class Simulated:
    """One simulated review: its entries in order, and what the model says."""

    entries: list[Verdict]
    expected: dict[str, float]


def simulate(
    chance: np.random.Generator, scheme: str, wrong: float = 0.4, verdicts: int = 30, sure: float = 1.0
) -> Simulated:
    """A review in which each of four people gives this many verdicts. The model tells log-odds that are `sure` times
    what they should be."""
    errors = dict(zip(GOOD, chance.uniform(0.02, 0.05, len(GOOD)), strict=True)) | {BAD: wrong}
    left = dict.fromkeys(errors, verdicts)
    entries: list[Verdict] = []
    expected: dict[str, float] = {}
    while any(left.values()):
        pair = f"pair {len(expected)}"
        # Calibrated by construction. Half of the pairs that a review draws are within 0.15 and 0.85.
        expected[pair] = float(chance.beta(0.5, 0.5))
        truth = chance.random() < expected[pair]
        people = 2 if chance.random() < SHARED[scheme] else 1
        # Those who are behind come first, so that all work at the same pace.
        free = sorted((who for who in left if left[who]), key=lambda who: (-left[who], chance.random()))
        for who in free[:people]:
            left[who] -= 1
            said = truth != (chance.random() < errors[who])
            word, number = "match" if said else "non-match", len(entries) + 1
            entries.append(Verdict("run", pair, word, "", who, START + timedelta(minutes=number), number))
    told = {pair: 1 / (1 + (1 / p - 1) ** sure) for pair, p in expected.items()}
    return Simulated(entries, told if scheme.endswith("model") else {})


def flags(review: Simulated, every: int = 1) -> Iterator[tuple[str, int]]:
    """Each person who is flagged at some look, with the number of verdicts that he had given by then."""
    seen: set[str] = set()
    given: dict[str, int] = {}
    for number, entry in enumerate(review.entries, start=1):
        given[entry.who] = given.get(entry.who, 0) + 1
        if number % every and number != len(review.entries):
            continue
        for one in check_reviewers(review.entries[:number], review.expected):
            if one.flagged and one.who not in seen:
                seen.add(one.who)
                yield one.who, given[one.who]


def measure(
    scheme: str, simulations: int, seed: int, wrong: float = 0.4, verdicts: int = 30, every: int = 1, sure: float = 1.0
) -> dict[str, float | str]:
    """The shares of simulations in which the bad reviewer is flagged in time, and in which any good one is."""
    caught, falsely, after = 0, dict.fromkeys(GOOD, 0), []
    any_good = 0
    for number in range(simulations):
        found = dict(flags(simulate(np.random.default_rng([seed, number]), scheme, wrong, verdicts, sure), every))
        if BAD in found:
            caught += 1
            after.append(found[BAD])
        any_good += bool(found.keys() & set(GOOD))
        for who in found.keys() & set(GOOD):
            falsely[who] += 1
    return {
        "scheme": scheme,
        "caught": caught / simulations,
        "one good flagged": sum(falsely.values()) / (len(GOOD) * simulations),
        "any good flagged": any_good / simulations,
        "median verdicts": float(np.median(after)) if after else float("nan"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--wrong", type=float, default=0.4)
    parser.add_argument("--verdicts", type=int, default=30)
    parser.add_argument("--sure", type=float, default=1.0, help="how many times too sure the model is; 1 is calibrated")
    parser.add_argument("--every", type=int, default=1, help="check after so many verdicts of all")
    asked = parser.parse_args()
    rows = [
        measure(scheme, asked.simulations, asked.seed, asked.wrong, asked.verdicts, asked.every, asked.sure)
        for scheme in SHARED
    ]
    if asked.json:
        print(json.dumps({**vars(asked), "schemes": rows}))
        return
    for row in rows:
        print(
            "  ".join(f"{name} {value:.3f}" if isinstance(value, float) else str(value) for name, value in row.items())
        )


if __name__ == "__main__":
    main()
