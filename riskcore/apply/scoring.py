"""New pairs scored with a run's bundle: probability, decision, risk and reasons, some pairs at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

from riskcore.audit.decisions import MATCH, NON_MATCH
from riskcore.audit.reasons import RankedRules, without_rules
from riskcore.columns import APPLIED_COLUMNS, LEFT_ID, PAIR_ID, RIGHT_ID
from riskcore.data.pairs import Pairs
from riskcore.errors import ConfigError
from riskcore.matchers.base import Matcher
from riskcore.matchers.external import ExternalMatcher
from riskcore.runs.bundle.read import Bundle
from riskcore.runs.evidence_files import pair_values
from riskcore.training.answer_model import Answers, Gathered

CHUNK = 20_000  # pairs whose metrics are held in memory at a time
OnScored = Callable[[int, int], None]  # pairs done, of all


@dataclasses.dataclass(frozen=True, eq=False)
class Applied:
    """New pairs with the run's answer on them."""

    method: str
    iteration: int | None
    pairs: Pairs
    answers: Answers
    reasons: np.ndarray

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def matches(self) -> np.ndarray:
        is_match: np.ndarray = self.answers.probability >= 0.5
        return is_match

    def chunks(self, rows: np.ndarray | None = None) -> Iterator[pd.DataFrame]:
        """The pairs (these rows of them) as frames with both records, one below the other; at least one."""
        wanted = np.arange(len(self)) if rows is None else rows
        for start in range(0, max(1, len(wanted)), CHUNK):
            yield self._frame(wanted[start : start + CHUNK])

    def frame(self) -> pd.DataFrame:
        """All pairs, with both records."""
        return self._frame(np.arange(len(self)))

    def _frame(self, rows: np.ndarray) -> pd.DataFrame:
        pairs = self.pairs.take(rows)
        known: dict[str, Any] = {
            PAIR_ID: pairs.ids,
            LEFT_ID: pairs.left.ids[pairs.left_rows],
            RIGHT_ID: pairs.right.ids[pairs.right_rows],
            "decision": np.where(self.matches[rows], MATCH, NON_MATCH),
            "probability": self.answers.probability[rows],
            "risk": self.answers.risk[rows],
            "method": self.method,
            "iteration": pd.array([self.iteration] * len(rows), "Int64"),
            "reasons": self.reasons[rows],
        }
        columns = pd.DataFrame({name: known[name] for name in APPLIED_COLUMNS}, index=range(len(rows)))
        return pd.concat([columns, pa.table(pair_values(pairs)).to_pandas()], axis=1)


def score_pairs(
    bundle: Bundle,
    pairs: Pairs,
    method: str | None = None,
    *,
    matcher: Matcher | None = None,
    on_progress: OnScored | None = None,
) -> Applied:
    """The run's answer on these pairs, whose tables begin with the run's records.

    `matcher` stands in for the run's own where that is a file of scores.
    """
    name, facts = bundle.method(method)
    _check_scored(bundle, pairs, matcher)
    model = bundle.answer_model(name, matcher)
    parts, fired = [], []
    for start in range(0, max(1, len(pairs)), CHUNK):
        part = bundle.evidence(pairs.take(slice(start, start + CHUNK)))
        parts.append(model.gather(part))
        fired.append(part.fired)
        if on_progress is not None:
            on_progress(min(start + CHUNK, len(pairs)), len(pairs))
    answers = model.answer(pairs, Gathered.joined(parts), bundle.known_pairs(name, pairs.left, pairs.right))
    reasons = _reasons(bundle, name, answers.probability, fired)
    return Applied(name, facts["iteration"], pairs, answers, reasons)


def _reasons(bundle: Bundle, method: str, probability: np.ndarray, fired: list[sparse.csr_array]) -> np.ndarray:
    """Why each pair is decided as it is, in words, as in the run's result."""
    words, model = without_rules(method, probability), bundle.explaining_model(method)
    if model is None:
        return words
    ranked, start = RankedRules(bundle.rules.rules, model), 0
    for some in fired:
        rows = slice(start, start + some.shape[0])
        words[rows] = ranked.words(some, probability[rows] >= 0.5, words[rows])
        start = rows.stop
    return words


def _check_scored(bundle: Bundle, pairs: Pairs, matcher: Matcher | None) -> None:
    """A run whose matcher is a file of scores has none for new records, whatever it has for pairs that are missing."""
    if matcher is not None or bundle.config.matcher.kind != ExternalMatcher.kind:
        return
    left, right = bundle.tables
    if (pairs.left_rows >= len(left)).any() or (pairs.right_rows >= len(right)).any():
        raise ConfigError(
            f"The matcher of run {bundle.facts['run']} is a file of scores, and new records need scores too. Give a "
            "file with those of the new pairs (--scores FILE)."
        )
