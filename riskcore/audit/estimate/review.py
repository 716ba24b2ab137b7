"""The budget of a review: what the next n verdicts on a run's labels will find, and what those given so far did find.

Pairs that are judged, and pairs whose labels the run was given, are out of "the next n". A benchmark's truth is never
looked at.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from riskcore.audit.agreement import agreed_in
from riskcore.audit.decisions import answer_of
from riskcore.audit.draws import drawn_pairs
from riskcore.audit.estimate.estimating import error_draws
from riskcore.audit.estimate.planner import DRAWS, RISK, ReviewPlan, errors_among, review_curve
from riskcore.audit.estimate.recalibration import Lines, lines
from riskcore.audit.estimate.result import Estimate, Interval
from riskcore.audit.estimate.runs import (
    audited_pairs,
    audits_of,
    estimate_run,
    in_turn,
    labels_and_risk,
    used_as_labels,
)
from riskcore.audit.labels import OF_VERDICT
from riskcore.audit.verdicts import WITHDRAWN, Verdict, VerdictLog, is_bulk
from riskcore.columns import PAIR_ID
from riskcore.errors import ConfigError
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.readers.label_rankings import rankings_of_answer
from riskcore.runs.store.run_record import RunNotFoundError
from riskcore.runs.store.run_store import RunStore

FROM_AUDIT, FROM_RISK = "audit", "risk"  # what F1 is known from
DRAWN, CHOSEN = "drawn for an estimate or for labelling", "chosen by people"
STEPS = 24  # sizes of a curve
SECONDS_EACH = 6.0  # supposed of a verdict until the log tells
_PAUSE = (0.8, 300.0)  # seconds between two verdicts: less is an import, more a break
_FEWEST = 5  # pauses that a median needs


@dataclasses.dataclass(frozen=True)
class FoundErrors:
    """What verdicts found, beside what the risk of their pairs had led to expect."""

    which: str
    reviews: int  # verdicts match or non-match
    errors: int
    expected: Interval

    @property
    def sentence(self) -> str:
        one = self.expected
        reviews = "1 review" if self.reviews == 1 else f"{self.reviews:,} reviews"
        errors = "1 error was" if self.errors == 1 else f"{self.errors:,} errors were"
        return f"In {reviews} {errors} found; {one.value:,.1f} ({one.low:,.0f} to {one.high:,.0f}) had been expected."


@dataclasses.dataclass(frozen=True)
class RunPlan:
    """What reviewing more pairs of a run is worth."""

    method: str
    left: int  # pairs without a verdict
    f1: Interval  # of the labels, before any verdict corrects them
    f1_from: str  # audit, or risk
    learned_from: int  # verdicts on drawn pairs that say how far the risk is to be believed
    plans: tuple[ReviewPlan, ...]  # by ranking, then by size
    found: tuple[FoundErrors, ...]  # all verdicts, then by how their pairs were chosen; empty without verdicts
    seconds: float | None  # median time of a verdict; None while the log has too few

    def at(self, n: int) -> tuple[ReviewPlan, ...]:
        """The plan of each ranking for n more reviews."""
        return tuple(one for one in self.plans if one.reviewed == n)

    def minutes(self, n: int) -> float:
        """How long n verdicts take."""
        return n * (self.seconds or SECONDS_EACH) / 60

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dataclasses.asdict(self)


def plan_review(
    folder: RunFolder,
    n: int = 100,
    method: str | None = None,
    entries: Sequence[Verdict] | None = None,
    seed: int = 0,
) -> RunPlan:
    """What the next n verdicts on the labels of a run's method (by default its answer) are worth, by ranking, and what
    the verdicts so far have found. The curve has n among its sizes, and every ranking starts with 0 reviews.

    `entries` are those of the run's log; None reads them.
    """
    log = entries_of(folder) if entries is None else entries
    one_by_one = agreed_in(folder.path, bulk=False)
    state = _State.of(folder, method, agreed_in(folder.path), one_by_one)
    open_rows = np.flatnonzero(state.open)
    if not 0 <= n <= len(open_rows):
        raise ConfigError(f"{n:,} pairs cannot be reviewed: {len(open_rows):,} are left without a verdict.")
    drawn = state.decided & state.drawn
    believed = lines(state.risk[drawn], state.wrong[drawn], DRAWS, seed)
    audit = estimate_run(folder, method, one_by_one, seed) if audits_of(folder) else None
    ranked = rankings_of_answer(folder, state.method)
    rivals = {} if ranked is None else {one.name: one.scores[open_rows] for one in ranked.rankings if one.name != RISK}
    curve = review_curve(
        state.label[open_rows],
        state.risk[open_rows],
        curve_sizes(len(open_rows), n),
        rivals,
        believed,
        reviewed_matches=int(state.truth[state.decided].sum()),
        left=None if audit is None else _left(audit, state),
        seed=seed,
    )
    return RunPlan(
        method=state.method,
        left=len(open_rows),
        f1=_f1_of_labels(state, believed, seed) if audit is None else audit.f1,
        f1_from=FROM_RISK if audit is None else FROM_AUDIT,
        learned_from=int(drawn.sum()),
        plans=curve,
        found=_found(state, seed),
        seconds=seconds_each(log),
    )


def curve_sizes(left: int, n: int) -> list[int]:
    """Sizes for a curve from 0 to twice n, n among them, as far as there are pairs."""
    most = min(left, max(2 * n, 200))
    return sorted({0, min(n, left), *np.linspace(0, most, STEPS + 1).round().astype(int).tolist()})


def seconds_each(entries: Sequence[Verdict]) -> float | None:
    """The median time between two verdicts of a person on different pairs, breaks and imports aside."""
    of_person: dict[str, list[Verdict]] = {}
    for one in entries:
        if one.verdict != WITHDRAWN and not is_bulk(one):
            of_person.setdefault(one.who, []).append(one)
    pauses = [
        (later.at - earlier.at).total_seconds()
        for own in of_person.values()
        for earlier, later in pairwise(own)
        if later.pair_id != earlier.pair_id
    ]
    counted = [one for one in pauses if _PAUSE[0] <= one <= _PAUSE[1]]
    return float(np.median(counted)) if len(counted) >= _FEWEST else None


def entries_of(folder: RunFolder) -> list[Verdict]:
    """The log of the run in a folder; empty if the folder is no longer in its store."""
    store = RunStore(folder.path.absolute().parent)
    try:
        return VerdictLog(store).entries(store.get(folder.path.absolute().name).id)
    except RunNotFoundError:
        return []


@dataclasses.dataclass(frozen=True, eq=False)
class _State:
    """The labels to review, pair by pair, and what is known of them."""

    method: str
    label: np.ndarray
    risk: np.ndarray
    counted: np.ndarray  # bool: whose label the run was not given
    judged: np.ndarray  # bool
    decided: np.ndarray  # bool: judged match or non-match
    truth: np.ndarray  # by verdict; 0 where none decides
    drawn: np.ndarray  # bool: by an audit (and judged in turn) or for labelling

    @classmethod
    def of(
        cls, folder: RunFolder, method: str | None, current: Mapping[str, Verdict], one_by_one: Mapping[str, Verdict]
    ) -> _State:
        ids = read_pair_ids(folder.pairs_file).column(PAIR_ID).to_pandas()
        label, risk = labels_and_risk(folder, method)
        counted = ~(ids.isin(used_as_labels(folder)) | ids.duplicated()).to_numpy()
        truth = ids.map({pair: OF_VERDICT.get(one.verdict, np.nan) for pair, one in current.items()})
        known = truth.to_numpy(dtype=np.float64)
        drawn = pd.concat([in_turn(audited_pairs(folder), one_by_one)[PAIR_ID], drawn_pairs(folder)[PAIR_ID]])
        return cls(
            method=answer_of(folder, method).method,
            label=label,
            risk=risk,
            counted=counted,
            judged=ids.isin(current).to_numpy() & counted,
            decided=~np.isnan(known) & counted,
            truth=np.nan_to_num(known).astype(np.int8),
            drawn=ids.isin(drawn).to_numpy(),
        )

    @property
    def open(self) -> np.ndarray:
        return np.asarray(self.counted & ~self.judged)

    @property
    def wrong(self) -> np.ndarray:
        return np.asarray(self.decided & (self.truth != self.label))


def _left(audit: Estimate, state: _State) -> tuple[np.ndarray, np.ndarray]:
    """Draws of the errors among pairs without a verdict: those of all pairs, less those that verdicts found."""
    positives, negatives = error_draws(audit.strata, audit.seed, DRAWS)
    found = [int((state.wrong & (state.label == side)).sum()) for side in (1, 0)]
    room = [int((state.open & (state.label == side)).sum()) for side in (1, 0)]
    return (
        np.clip(positives - found[0], 0, room[0]),
        np.clip(negatives - found[1], 0, room[1]),
    )


def _f1_of_labels(state: _State, believed: Lines, seed: int) -> Interval:
    """F1 of the labels before any verdict corrects them, by the risk: as if nothing were judged."""
    rows = np.flatnonzero(state.counted)
    return review_curve(state.label[rows], state.risk[rows], [0], {}, believed, seed=seed)[0].f1


def _found(state: _State, seed: int) -> tuple[FoundErrors, ...]:
    """What was found among the judged pairs beside what had been expected of them, before any verdict."""
    before = lines(np.empty(0), np.empty(0), DRAWS, seed)
    groups = {"all": state.decided, DRAWN: state.decided & state.drawn, CHOSEN: state.decided & ~state.drawn}
    found = [
        FoundErrors(name, int(rows.sum()), int(state.wrong[rows].sum()), errors_among(state.risk[rows], before))
        for name, rows in groups.items()
        if rows.any()
    ]
    return tuple(found) if len(found) > 2 else tuple(found[:1])
