"""Probabilities of another matcher, from a file or a frame.

Rules, risk, ranking and audit work on them as on any other; only training does not, since there is nothing to train.
What a file of scores may look like is in `riskcore.data.bring.scores`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from riskcore.config import MatcherConfig
from riskcore.data.bring.scores import Scores, read_scores
from riskcore.data.pairs import Pairs
from riskcore.data.schema import Attribute
from riskcore.data.scored_ids import ScoredIds, fitted_ids
from riskcore.data.scored_pairs import SHOWN, not_scored
from riskcore.errors import MatcherError
from riskcore.matchers.base import Arrays, Examples, Matcher, ShouldStop, TuningSet, never

_UNDECIDED = -1


class ExternalMatcher(Matcher):
    """Looks probabilities up. `MatcherConfig.scores` names the file, `score_columns` its columns if need be."""

    kind = "external"
    trainable = False
    looks_at_records = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.scores: pd.Series | None = None
        self.ids: ScoredIds | None = None  # None until it is decided how the scores name pairs
        self.missing: float | None = None

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, attributes: Sequence[Attribute]) -> Self:
        """A matcher whose probabilities are given: a frame of `id` and `probability`."""
        matcher = cls(MatcherConfig(kind=cls.kind), attributes)
        matcher.scores = checked_scores(frame, "scores", first_record=0)
        return matcher

    def fit_ids(self, parts: Sequence[Pairs]) -> None:
        """Decide how the scores name the pairs of a data set, whose pairs are in these parts."""
        self.ids = fitted_ids(self._scores().index, parts)

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
        places = self._places(examples.pairs)
        if (places < 0).any() and self.missing is None:
            raise MatcherError(not_scored(examples.pairs, places, self.config.scores or "the scores"))
        found = scores.to_numpy(np.float64)[places] if len(scores) else np.zeros(len(places))
        return np.where(places < 0, self.missing or 0.0, found)

    def snapshot(self, moments: bool = False) -> Arrays:
        scores = self._scores()
        text = "\x1f".join(scores.index if self.ids is None else self.ids.index).encode("utf-8")
        return {
            "ids": np.frombuffer(text, dtype=np.uint8).copy(),
            "probability": scores.to_numpy(np.float64).copy(),
            "missing": np.array([np.nan if self.missing is None else self.missing]),
            "turned": np.array([_UNDECIDED if self.ids is None else int(self.ids.turned)]),
        }

    def restore(self, arrays: Arrays) -> None:
        ids = arrays["ids"].tobytes().decode("utf-8").split("\x1f") if len(arrays["probability"]) else []
        index = pd.Index(ids, dtype=object)
        self.scores = pd.Series(arrays["probability"], index=index)
        turned = int(arrays["turned"][0]) if "turned" in arrays else _UNDECIDED
        self.ids = None if turned == _UNDECIDED else ScoredIds(index, bool(turned))
        missing = float(arrays["missing"][0]) if "missing" in arrays else float("nan")
        self.missing = None if np.isnan(missing) else missing

    def _places(self, pairs: Pairs) -> np.ndarray:
        """Where the pairs are among the scores. If nobody has said what the data set is, the first pairs that are found
        decide how pairs are named."""
        ids = self.ids or fitted_ids(self._scores().index, [pairs])
        places = ids.places(pairs)
        if (places >= 0).any():
            self.ids = ids
        return places

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
