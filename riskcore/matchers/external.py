"""Probabilities of another matcher, from a file or a frame of pair id and probability.

Rules, risk, ranking and audit work on them as on any other; only training does not, since there is nothing to train.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from riskcore.config import MatcherConfig
from riskcore.data.pairs import Pairs
from riskcore.data.schema import Attribute
from riskcore.errors import MatcherError
from riskcore.matchers.base import Arrays, Examples, Matcher, ShouldStop, TuningSet, never

SHOWN = 5  # examples named in an error; the rest are counted


class ExternalMatcher(Matcher):
    """Looks probabilities up. `MatcherConfig.scores` names the file (csv or parquet: `id`, `probability`)."""

    kind = "external"
    trainable = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.scores: pd.Series | None = None

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
        found = scores.reindex(_ids(examples.pairs)).to_numpy(dtype=np.float64, copy=True)  # torch wants to write
        missing = np.flatnonzero(np.isnan(found))
        if len(missing):
            named = ", ".join(map(str, examples.pairs.ids[missing[:SHOWN]]))
            raise MatcherError(
                f"{len(missing):,} of {len(found):,} pairs have no probability in "
                f"{self.config.scores or 'the scores'}, for example {named}. Score every pair, "
                "and write ids as ltable_id:rtable_id (or the pair file's id)."
            )
        return found

    def snapshot(self, moments: bool = False) -> Arrays:
        scores = self._scores()
        text = "\x1f".join(scores.index).encode("utf-8")
        return {"ids": np.frombuffer(text, dtype=np.uint8).copy(), "probability": scores.to_numpy(np.float64).copy()}

    def restore(self, arrays: Arrays) -> None:
        ids = arrays["ids"].tobytes().decode("utf-8").split("\x1f")
        self.scores = pd.Series(arrays["probability"], index=pd.Index(ids, dtype=object))

    def _scores(self) -> pd.Series:
        if self.scores is None:
            self.scores = check_scores(self.config)
        return self.scores


def check_scores(config: MatcherConfig) -> pd.Series:
    """The scores that the settings name, or what is wrong with them."""
    if not config.scores:
        raise MatcherError(
            "An external matcher needs a file of probabilities: name it as matcher.scores in a settings file, and give "
            'that with --config, such as {"matcher": {"kind": "external", "scores": "scores.csv"}}.'
        )
    return read_scores(Path(config.scores))


def read_scores(path: Path) -> pd.Series:
    """Probability by pair id. One error lists all faults of the file."""
    return checked_scores(_frame(path), str(path))


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


def _frame(path: Path) -> pd.DataFrame:
    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path)
        return pd.read_csv(path, dtype=str, encoding="utf-8-sig", keep_default_na=False)
    except FileNotFoundError as error:
        raise MatcherError(f"The scores file {path} does not exist.") from error
    except (OSError, ValueError) as error:  # pandas' parser errors and a broken encoding are ValueErrors
        raise MatcherError(f"The scores file {path} cannot be read as csv or parquet: {error}.") from error


def _fault(name: str, what: str, where: pd.Series, first: int) -> list[str]:
    rows = np.flatnonzero(where.to_numpy())
    if not len(rows):
        return []
    named = ", ".join(str(row + first) for row in rows[:SHOWN])
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    counted = "from 1 below the header" if first else "from 0"
    return [f"{name}: {what} in record {named}{more} (records are counted {counted})."]


def _ids(pairs: Pairs) -> pd.Index:
    return pd.Index([str(one) for one in pairs.ids], dtype=object)
