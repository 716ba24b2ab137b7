"""A sample of a target that is too large to adapt to as a whole: drawn by risk, without any label of the target.

The metrics of all pairs are computed some at a time. Of each pair one number is kept: how undecided learners are that
know the metrics alone (see `fit_sampling_learners`). A pair is drawn with a probability that grows with it, and each
has some chance. The probabilities are exact (systematic sampling of shuffled pairs), so that whatever is averaged over
the sample can be weighted; domain similarity, which the methods depend on, is taken from all pairs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from riskcore.config import AdaptConfig, RunConfig
from riskcore.data.pairs import Pairs
from riskcore.data.workload import TargetSample, Workload
from riskcore.errors import CancelledError
from riskcore.matchers.base import Examples, ShouldStop, never
from riskcore.matchers.external import ExternalMatcher
from riskcore.metrics.values import MetricMatrix
from riskcore.random_streams import Stream, stream
from riskcore.registry import METHODS, iterations_of
from riskcore.rules.rule_set import RuleSet
from riskcore.training.base_learners import fit_sampling_learners
from riskcore.training.domain_similarity import similarity_of, similarity_rows
from riskcore.training.evidence import EvidencePart
from riskcore.training.fitted_learners import FittedLearner, ScoredPart
from riskcore.training.gather import fit_spaces
from riskcore.training.listeners import Listener, notify

PHASE = "sample"
PART_PAIRS = 50_000  # measured at a time: about 60 MB


def sample_size(config: RunConfig, pairs: int) -> int | None:
    """How many pairs of a target of so many a run adapts on; None for all of them.

    A matcher that is a file of scores answers nothing about pairs that are not drawn. A run that only ranks pairs makes
    no passes that a sample would shorten.
    """
    adapt = config.adapt
    if config.matcher.kind == ExternalMatcher.kind:
        return None
    if adapt.target_sample is not None:
        return adapt.target_sample if 0 < adapt.target_sample < pairs else None
    adapts = any(METHODS[name].iterates and iterations_of(config, name) for name in config.methods)
    return adapt.large_sample if adapts and pairs > max(adapt.large_target, adapt.large_sample) else None


def draw_sample(
    workload: Workload,
    size: int,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    should_stop: ShouldStop = never,
) -> TargetSample:
    """So many target pairs, with how likely each was to be drawn."""
    risk, similarity = _measure(workload, config, listeners, should_stop)
    chances = inclusion(risk, size, config.adapt)
    rows = drawn(chances, stream(config.seed, Stream.TARGET_SAMPLE))
    return TargetSample(rows, chances[rows], len(workload.target), similarity)


def restricted_to(workload: Workload, sample: TargetSample) -> Workload:
    """The workload whose target is the sample."""
    return dataclasses.replace(workload, target=workload.target.take(sample.rows), sample=sample)


def inclusion(risk: np.ndarray, size: int, config: AdaptConfig) -> np.ndarray:
    """How likely each pair is to be drawn: in proportion to its risk and a floor, at most 1, `size` in the sum."""
    mean = risk.mean()
    weight = config.sample_floor + (1 - config.sample_floor) * (risk / mean if mean > 0 else np.ones(len(risk)))
    found, certain = np.ones(len(weight)), np.zeros(len(weight), dtype=bool)
    while True:  # pairs that are drawn for certain leave the others less room, so more may follow
        rest = ~certain
        found[rest] = (size - certain.sum()) * weight[rest] / weight[rest].sum()
        if not (found > 1).any():
            return found
        certain |= found >= 1
        found[certain] = 1.0


def drawn(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ascending rows of a systematic sample of shuffled pairs: each is drawn exactly as likely as asked, once at most,
    and their number is the sum of the chances."""
    order, size = rng.permutation(len(chances)), round(float(chances.sum()))
    reached = np.cumsum(chances[order])
    reached *= size / reached[-1]  # rounded sums must not miss the last one
    points = rng.random() + np.arange(size)
    rows: np.ndarray = np.sort(order[np.searchsorted(reached, points, side="right")])
    return rows


def unseen_rows(count: int, size: int, seed: int) -> np.ndarray:
    """Ascending rows of as many unseen pairs, each as likely as the others."""
    return np.sort(stream(seed, Stream.UNSEEN_SAMPLE).permutation(count)[:size])


def _measure(
    workload: Workload, config: RunConfig, listeners: Sequence[Listener], should_stop: ShouldStop
) -> tuple[np.ndarray, float]:
    """The cheap risk of every target pair, and the domain similarity that a run on all of them would find."""
    measure, target = _Measure(workload, config), workload.target
    source, validation = measure.part(workload.source, taught=False), measure.part(workload.validation)
    learners = fit_sampling_learners(source, validation, config)
    rows = similarity_rows(len(source), len(target), config.seed, config.similarity)
    compared = np.empty(0, dtype=np.int64) if rows is None else rows[1]
    risk, kept = np.empty(len(target)), [source.metrics.values[:0]]
    for start, part in measure.parts(target):
        stop = start + len(part)
        risk[start:stop] = _risk(learners, part)
        here = compared[np.searchsorted(compared, start) : np.searchsorted(compared, stop)]
        kept.append(part.metrics.values[here - start])
        notify(listeners, "on_progress", {"phase": PHASE, "done": stop, "total": len(target)})
        if should_stop():
            raise CancelledError("Cancelled while the target was being sampled.")
    if rows is None:
        return risk, 0.0
    return risk, similarity_of(source.metrics.values[rows[0]], np.vstack(kept), config.seed, config.similarity)


def _risk(learners: Sequence[FittedLearner], part: EvidencePart) -> np.ndarray:
    """How undecided the learners are together: the variance of a label that is a match as likely as they say."""
    if not learners:
        return np.zeros(len(part))
    scored = ScoredPart(part, np.empty(0))
    probability = np.mean([one.predict_proba(scored) for one in learners], axis=0)
    risk: np.ndarray = probability * (1 - probability)
    return risk


class _Measure:
    """The metrics of the pairs of a workload, some at a time; the records of the target are prepared once."""

    def __init__(self, workload: Workload, config: RunConfig) -> None:
        self._shared, self._own = fit_spaces(workload, config)
        self._target = workload.target
        tables = workload.target.left, workload.target.right
        self._prepared = [space.prepared(*tables) for space in (self._shared, self._own) if space is not None]

    def part(self, pairs: Pairs, taught: bool = True) -> EvidencePart:
        """Source pairs (not `taught` by the target), or validation pairs."""
        metrics, own = self._shared.transform(pairs), None
        if self._own is not None:
            columns = self._own.transform(self._target.take(slice(0))).metrics
            missing = np.full((len(pairs), len(columns)), np.nan, dtype=np.float32)
            own = self._own.transform(pairs) if taught else MetricMatrix(missing, columns)
        return EvidencePart(Examples(pairs), metrics, RuleSet.empty(), own)

    def parts(self, pairs: Pairs) -> Iterator[tuple[int, EvidencePart]]:
        """The target, part by part, each with its first row."""
        for start in range(0, len(pairs), PART_PAIRS):
            some = pairs.take(slice(start, start + PART_PAIRS))
            metrics = [one.transform(some) for one in self._prepared]
            own = metrics[1] if len(metrics) > 1 else None
            yield start, EvidencePart(Examples(some), metrics[0], RuleSet.empty(), own)
