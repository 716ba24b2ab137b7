"""Probabilities of another matcher, from a file or a frame.

Rules, risk, ranking and audit work on them as on any other; only training does not, since there is nothing to train.
What a file of scores may look like is in `riskcore.data.bring.scores`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from riskcore.config import MatcherConfig
from riskcore.data.bring.scores import Scores, read_scores
from riskcore.data.dataset import DataSet
from riskcore.data.labels import UNKNOWN, UNSPLIT
from riskcore.data.pairs import LabelledPairs, Pairs
from riskcore.data.schema import Attribute
from riskcore.data.workload import Workload
from riskcore.errors import MatcherError
from riskcore.matchers.base import Arrays, Examples, Matcher, ShouldStop, TuningSet, never

SHOWN = 5  # examples named in an error; the rest are counted


class ExternalMatcher(Matcher):
    """Looks probabilities up. `MatcherConfig.scores` names the file, `score_columns` its columns if need be."""

    kind = "external"
    trainable = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.scores: pd.Series | None = None
        self.missing: float | None = None

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, attributes: Sequence[Attribute]) -> Self:
        """A matcher whose probabilities are given: a frame of `id` and `probability`."""
        matcher = cls(MatcherConfig(kind=cls.kind), attributes)
        matcher.scores = checked_scores(frame, "scores", first_record=0)
        return matcher

    def begin(self, train: Examples, seed: int) -> None:
        """Nothing is learned; the file is read so that its errors are reported early."""
        self._scores()

    def fine_tune(
        self,
        sets: TuningSet | Sequence[TuningSet],
        *,
        rate: float | None = None,
        seed: int = 0,
        batch_size: int | None = None,
        should_stop: ShouldStop = never,
    ) -> float:
        raise MatcherError("External scores cannot be fine-tuned: rank and audit with them, or choose a matcher.")

    def predict_proba(self, examples: Examples) -> np.ndarray:
        scores = self._scores()
        places = places_of(scores.index, examples.pairs)
        if (places < 0).any() and self.missing is None:
            raise MatcherError(_not_scored(examples.pairs, places, self.config.scores or "the scores"))
        found = scores.to_numpy(np.float64)[places] if len(scores) else np.zeros(len(places))
        return np.where(places < 0, self.missing or 0.0, found)

    def snapshot(self, moments: bool = False) -> Arrays:
        scores = self._scores()
        text = "\x1f".join(scores.index).encode("utf-8")
        missing = np.array([np.nan if self.missing is None else self.missing])
        probability = scores.to_numpy(np.float64).copy()
        return {"ids": np.frombuffer(text, dtype=np.uint8).copy(), "probability": probability, "missing": missing}

    def restore(self, arrays: Arrays) -> None:
        ids = arrays["ids"].tobytes().decode("utf-8").split("\x1f") if len(arrays["probability"]) else []
        self.scores = pd.Series(arrays["probability"], index=pd.Index(ids, dtype=object))
        missing = float(arrays["missing"][0]) if "missing" in arrays else float("nan")
        self.missing = None if np.isnan(missing) else missing

    def _scores(self) -> pd.Series:
        if self.scores is None:
            found = check_scores(self.config)
            self.scores, self.missing = found.series, found.meaning.missing
        return self.scores


def check_scores(config: MatcherConfig) -> Scores:
    """The scores that the settings name, or what is wrong with them."""
    if not config.scores:
        raise MatcherError(
            "An external matcher needs a file of probabilities. Give it with --scores FILE, or as matcher.scores in a "
            "settings file."
        )
    return read_scores(Path(config.scores), config.score_columns)


def places_of(ids: pd.Index, pairs: Pairs) -> np.ndarray:
    """For each pair its place among the scored pair ids, -1 if it is not there.

    A pair is looked up by its own id and by those of its records. Within one table (a, b) is (b, a); between two
    tables the file may name the right one first, which is so if none of its pairs is there otherwise.
    """
    found = ids.get_indexer(pd.Index([str(one) for one in pairs.ids], dtype=object))
    left, right = pairs.left.ids[pairs.left_rows], pairs.right.ids[pairs.right_rows]
    found = _filled(found, ids, left, right)
    if pairs.left is pairs.right or (len(found) and (found < 0).all()):
        found = _filled(found, ids, right, left)
    return found


def _filled(found: np.ndarray, ids: pd.Index, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    absent = np.flatnonzero(found < 0)
    if len(absent):
        found = found.copy()
        found[absent] = ids.get_indexer(pd.Index(left[absent] + ":" + right[absent], dtype=object))
    return found


def _not_scored(pairs: Pairs, places: np.ndarray, name: str) -> str:
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
    ids = data.left.ids[left] + ":" + data.right.ids[right]
    labels = np.full(len(ids), UNKNOWN, dtype=np.int8)
    pairs = LabelledPairs(data.left, data.right, left, right, ids, labels)
    return dataclasses.replace(
        data, splits={UNSPLIT: pairs}, files={UNSPLIT: scores.name}, rows={UNSPLIT: np.arange(1, len(ids) + 1)}
    )


def _orders(scores: Scores) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    assert scores.left is not None
    assert scores.right is not None
    return (scores.left, scores.right), (scores.right, scores.left)


def _rows(data: DataSet, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    sides = ((data.left, left), (data.right, right))
    return np.array([pd.Index(t.ids, dtype=object).get_indexer(pd.Index(i, dtype=object)) for t, i in sides])


def checked_coverage(workload: Workload, scores: Scores) -> Workload:
    """The workload with notices about pairs that only one of the two has. Refuses target pairs without a score, unless
    the columns of scores say what they have."""
    ids, notices = scores.series.index, list(workload.notices)
    used = np.zeros(len(ids), dtype=bool)
    for part in (workload.target, workload.validation):
        places = places_of(ids, part)
        used[places[places >= 0]] = True
        absent = int((places < 0).sum())
        if absent and scores.meaning.missing is None:
            raise MatcherError(_not_scored(part, places, scores.name))
        if absent:
            rule = "in different clusters" if scores.meaning.is_clusters else "not scored"
            notices.append(
                f"{absent:,} of {len(part):,} pairs are {rule}: their probability is {scores.meaning.missing:g}."
            )
    if not used.all():
        notices.append(f"{int((~used).sum()):,} scored pairs are no pairs of the target and are not used.")
    return dataclasses.replace(workload, notices=tuple(notices))


def extra_columns(scores: Scores, pairs: Sequence[Pairs]) -> pd.DataFrame:
    """All columns of the scores for these pairs, by pair id; empty where a pair was not scored."""
    index = scores.series.index
    places = np.concatenate([places_of(index, part) for part in pairs])
    ids = np.concatenate([part.ids for part in pairs])
    found = scores.columns.reindex(np.where(places < 0, len(scores.columns), places)).set_axis(ids, axis=0)
    return found[~found.index.duplicated()]


def checked_scores(frame: pd.DataFrame, name: str, first_record: int = 1) -> pd.Series:
    """Probability by pair id, from columns `id` and `probability`. One error lists all faults."""
    missing = [column for column in ("id", "probability") if column not in frame.columns]
    if missing:
        raise MatcherError(f"{name} has no column {' and no column '.join(missing)}; it needs id and probability.")
    ids = frame["id"].astype(str).str.strip()
    values = pd.to_numeric(frame["probability"], errors="coerce")
    faults = [
        *_fault(name, "an empty id", frame["id"].isna() | (ids == ""), first_record),
        *_fault(name, "an id that occurs before", ids.duplicated(), first_record),
        *_fault(name, "a probability that is not a number from 0 to 1", ~values.between(0, 1), first_record),
    ]
    if faults:
        raise MatcherError("\n".join(faults))
    return pd.Series(values.to_numpy(np.float64), index=pd.Index(ids.to_numpy(dtype=object), dtype=object))


def _fault(name: str, what: str, where: pd.Series, first: int) -> list[str]:
    rows = np.flatnonzero(where.to_numpy())
    if not len(rows):
        return []
    named = ", ".join(str(row + first) for row in rows[:SHOWN])
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    counted = "from 1 below the header" if first else "from 0"
    return [f"{name}: {what} in record {named}{more} (records are counted {counted})."]
