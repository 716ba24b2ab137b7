"""Scored pairs and the pairs of a data set: which is which, and what only one of the two has."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from riskcore.data.bring.scores import Scores
from riskcore.data.dataset import DataSet
from riskcore.data.labels import UNKNOWN, UNSPLIT
from riskcore.data.pairs import LabelledPairs, Pairs
from riskcore.data.scored_ids import ScoredIds, fitted_ids, without_point_zero
from riskcore.data.workload import Workload
from riskcore.errors import MatcherError
from riskcore.pair_ids import pair_ids

SHOWN = 5  # examples named in an error; the rest are counted


@dataclasses.dataclass(frozen=True)
class Coverage:
    """How the scores and the pairs of a data set fit together."""

    pairs: int  # that a run on the scores decides or validates on
    missing: int  # of them, without a score
    unused: int  # scored pairs that the data set does not have
    own: bool  # whether the scored pairs become the candidates


def coverage(scores: Scores, data: DataSet) -> Coverage:
    """Which pairs of the data set are scored, and which scored pairs it has."""
    own = not data.splits
    data = with_candidates(data, scores)
    parts = [pairs for name, pairs in data.splits.items() if name in ("valid", "test", UNSPLIT)]
    ids = fitted_ids(scores.ids, list(data.splits.values()))
    places = np.concatenate([ids.places(part) for part in parts]) if parts else np.empty(0, dtype=np.int64)
    used = len(np.unique(places[places >= 0]))
    return Coverage(len(places), int((places < 0).sum()), len(scores) - used, own)


def not_scored(pairs: Pairs, places: np.ndarray, name: str) -> str:
    """The error about pairs that have no place among the scores."""
    missing = np.flatnonzero(places < 0)
    named = ", ".join(map(str, pairs.ids[missing[:SHOWN]]))
    return (
        f"{len(missing):,} of {len(places):,} pairs have no probability in {name}, for example {named}. Score every "
        "pair, or give the probability that the others have, such as missing=0 among the columns of scores "
        "(--score-columns missing=0): many matchers leave out pairs that they take for non-matches."
    )


def with_candidates(data: DataSet, scores: Scores) -> DataSet:
    """A data set that has tables but no pairs, with the scored pairs as its candidates; any other as it is."""
    if data.splits:
        return data
    if scores.left is None or scores.right is None:
        raise MatcherError(
            f"The target has no candidate pairs, and {scores.name} has no ids of records. Add pairs.csv."
        )
    best = max(
        (_rows(data, one, other) for one, other in _orders(scores)), key=lambda rows: int((rows >= 0).all(0).sum())
    )
    known = (best >= 0).all(0)
    if not known.any():
        raise MatcherError(f"{scores.name} has no pair whose ids are ids of the target's records.")
    left, right = best[0][known], best[1][known]
    ids = pair_ids(data.left.ids[left], data.right.ids[right])
    labels = np.full(len(ids), UNKNOWN, dtype=np.int8)
    pairs = LabelledPairs(data.left, data.right, left, right, ids, labels)
    return dataclasses.replace(
        data, splits={UNSPLIT: pairs}, files={UNSPLIT: scores.name}, rows={UNSPLIT: np.arange(1, len(ids) + 1)}
    )


def _orders(scores: Scores) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    assert scores.left is not None
    assert scores.right is not None
    left, right = (without_point_zero(side) for side in (scores.left, scores.right))
    return (scores.left, scores.right), (scores.right, scores.left), (left, right), (right, left)


def _rows(data: DataSet, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    sides = ((data.left, left), (data.right, right))
    return np.array([pd.Index(t.ids, dtype=object).get_indexer(pd.Index(i, dtype=object)) for t, i in sides])


def checked_coverage(workload: Workload, scores: Scores, data: DataSet) -> Workload:
    """The workload with the ids of the scores as they name pairs of the data set that it was made of, and with notices
    about pairs that only one of the two has. Refuses target pairs without a score, unless the columns of scores say
    what they have."""
    ids, notices = fitted_ids(scores.ids, list(data.splits.values())), list(workload.notices)
    used = np.zeros(len(scores), dtype=bool)
    for part in (workload.target, workload.validation):
        places = ids.places(part)
        used[places[places >= 0]] = True
        absent = int((places < 0).sum())
        if absent and scores.meaning.missing is None:
            raise MatcherError(not_scored(part, places, scores.name))
        if absent:
            rule = "in different clusters" if scores.meaning.is_clusters else "not scored"
            notices.append(
                f"{absent:,} of {len(part):,} pairs are {rule}: their probability is {scores.meaning.missing:g}."
            )
    if not used.all():
        notices.append(f"{int((~used).sum()):,} scored pairs are no pairs of the target and are not used.")
    return dataclasses.replace(workload, notices=tuple(notices), scored_ids=ids)


def extra_columns(scores: Scores, ids: ScoredIds, pairs: Sequence[Pairs]) -> pd.DataFrame:
    """All columns of the scores for these pairs, by pair id; empty where a pair was not scored."""
    places = np.concatenate([ids.places(part) for part in pairs])
    names = np.concatenate([part.ids for part in pairs])
    found = scores.columns.reindex(np.where(places < 0, len(scores.columns), places)).set_axis(names, axis=0)
    return found[~found.index.duplicated()]
