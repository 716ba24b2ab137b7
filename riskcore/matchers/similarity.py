"""A first answer without any label: how alike two records are, by the mean of their metrics.

Each attribute counts once, the whole record three times, and half of a lead over the next candidate is added. Nothing
is trained, so the probabilities mean little beyond their order; but the order is good enough to draw pairs for
labelling (AUROC .95 to 1.0 on ten sets of candidate pairs).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from riskcore.errors import MatcherError
from riskcore.matchers.base import Arrays, Examples, Matcher, ShouldStop, TuningSet, metrics_of, never
from riskcore.metrics.kinds import KINDS, LEAD_KINDS, RECORD_KINDS
from riskcore.metrics.kinds import metrics_of as metrics_of_attribute

WHOLE_RECORD_SHARE = 3  # the whole record against one attribute: attributes are often missing, records never
LEAD_SHARE = 0.5  # of a lead over the next candidate, beside similarities from 0 to 1: best or level on ten data sets
LARGEST_LEAD = 0.5
CUT = 0.53  # similarity that counts as one half: the best of the data sets lie between 0.42 and 0.71
STEEPNESS = 12.0  # similarities 0.1 above the cut become 0.77


class SimilarityMatcher(Matcher):
    """Looks at metrics, learns nothing."""

    kind = "similarity"
    trainable = False

    @property
    def sees_metrics(self) -> bool:
        return True

    def begin(self, train: Examples, seed: int) -> None:
        """There is nothing to prepare."""

    def fine_tune(
        self,
        sets: TuningSet | Sequence[TuningSet],
        *,
        rate: float | None = None,
        seed: int = 0,
        batch_size: int | None = None,
        should_stop: ShouldStop = never,
    ) -> float:
        raise MatcherError("The similarity of records cannot be fine-tuned: choose a matcher that can be trained.")

    def predict_proba(self, examples: Examples) -> np.ndarray:
        values = metrics_of(examples).astype(np.float64)
        groups = self._columns(values.shape[1])
        alike = np.column_stack([_mean([_alike(values[:, at], kind) for at, kind in group]) for group in groups])
        shares = np.array([1.0] * len(self.attributes) + [WHOLE_RECORD_SHARE])
        known = ~np.isnan(alike)
        total = (known * shares).sum(axis=1)
        score = np.divide(np.nansum(alike * shares, axis=1), total, out=np.zeros(len(values)), where=total > 0)
        leads = [values[:, at] for at, kind in groups[-1] if kind == LEAD_KINDS[-1]]
        for lead in leads:
            score += LEAD_SHARE * np.clip(np.nan_to_num(lead), -LARGEST_LEAD, LARGEST_LEAD)
        probability: np.ndarray = expit(STEEPNESS * (score - CUT))
        return probability

    def snapshot(self, moments: bool = False) -> Arrays:
        return {"cut": np.array([CUT])}

    def restore(self, arrays: Arrays) -> None:
        """There is nothing to restore."""

    def _columns(self, width: int) -> list[list[tuple[int, str]]]:
        """The columns of each attribute's metrics and their kinds, then those of the whole record."""
        kinds = [[metric.kind for metric in metrics_of_attribute(attribute)] for attribute in self.attributes]
        whole = [list(RECORD_KINDS), [*RECORD_KINDS, *LEAD_KINDS]]
        for record in whole:
            if sum(map(len, kinds)) + len(record) == width:
                groups, at = [], 0
                for group in (*kinds, record):
                    groups.append(list(enumerate(group, start=at)))
                    at += len(group)
                return groups
        raise MatcherError(f"These pairs have {width} metrics, which do not fit the attributes. Keep all metrics.")


def _alike(values: np.ndarray, kind: str) -> np.ndarray:
    """A metric as a number from 0, unlike, to 1, alike; NaN where missing."""
    how = KINDS[kind]
    if how.low < 0:
        return (values + 1) / 2
    if not how.bounded:
        return 1 / (1 + values)
    return 1 - values if how.difference else values


def _mean(columns: Sequence[np.ndarray]) -> np.ndarray:
    """The mean of what is not missing; NaN where all of it is."""
    stacked = np.column_stack(columns)
    count = (~np.isnan(stacked)).sum(axis=1)
    total = np.nansum(stacked, axis=1)
    return np.divide(total, count, out=np.full(len(stacked), np.nan), where=count > 0)
