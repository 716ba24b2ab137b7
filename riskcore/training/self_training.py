"""Plain self-training: fine-tune the matcher on its own confident labels of the target.

This is what one would try without risk analysis, and so the baseline that shows what risk adds: as many passes as
adaptive training makes, at the same rate, with the same selection. A pair whose probability is at least `confident`, or
at most 1 - `confident`, counts as labelled so; the others are left out of the pass. The validation pairs join in
without their labels if they do in adaptive training. No label of the target is available here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from riskcore.config import RunConfig
from riskcore.matchers.base import Arrays, Matcher, ShouldStop, TuningSet, never
from riskcore.random_streams import Stream, stream_seed
from riskcore.training.adaptive import Adapted, best_iteration, near_source, on_validation
from riskcore.training.checkpoint import Checkpoint
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.iterations import Iterations
from riskcore.training.listeners import Listener, notify
from riskcore.training.passes import Passes
from riskcore.training.results import IterationRow


def train_on_own_labels(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
    should_stop: ShouldStop = never,
) -> Adapted:
    """Self-train from the matcher as it is; leave it at its best iteration."""
    made_from = config.to_json() + evidence.fingerprint
    done = Iterations.resume(matcher, checkpoint, made_from)
    last, near = config.adapt.iterations if matcher.trainable else 0, near_source(evidence, config)
    passes = Passes("self-training", "iteration", last, made_from, listeners, checkpoint, should_stop)
    best = partial(best_iteration, config=config.adapt)
    for iteration in range(len(done.rows), last + 1):
        if iteration:
            _one_pass(matcher, evidence, done.arrays, config, iteration, passes)
        answers = {
            "target": matcher.predict_proba(evidence.target.examples),
            "validation": matcher.predict_proba(evidence.validation.examples),
        }
        row = _row(iteration, answers, evidence, config, near)
        done.advance(matcher, row, answers, best)
        notify(listeners, "on_progress", {"phase": "self-training", "done": iteration, "total": last})
        done.save(matcher)
        passes.forget()
    matcher.restore(done.best)
    return Adapted(tuple(done.rows), best(done.rows))


def own_labels(part: EvidencePart, probability: np.ndarray, confident: float) -> TuningSet:
    """The pairs that the matcher is confident about, with its own labels."""
    rows = np.flatnonzero(np.maximum(probability, 1 - probability) >= confident)
    match = (probability[rows] >= 0.5).astype(float)
    return TuningSet(part.examples.take(rows), match, 1 - match)


def _one_pass(
    matcher: Matcher, evidence: Evidence, last: Arrays, config: RunConfig, iteration: int, passes: Passes
) -> None:
    sets = [own_labels(evidence.target, last["target"], config.adapt.confident)]
    if config.adapt.folds:
        sets.append(own_labels(evidence.validation, last["validation"], config.adapt.confident))
    if any(map(len, sets)):
        seed = stream_seed(config.seed, Stream.SELF_TRAINING_PASS, iteration)
        passes.make(matcher, sets, iteration, rate=config.adapt.rate, seed=seed)


def _row(iteration: int, answers: Arrays, evidence: Evidence, config: RunConfig, near: bool) -> IterationRow:
    """A row on one iteration, without the target's labels."""
    target = answers["target"]
    return {
        "iteration": iteration,
        **on_validation(evidence.validation, answers["validation"]),
        "match_rate": float((target >= 0.5).mean()),
        "confident": float((np.maximum(target, 1 - target) >= config.adapt.confident).mean()),
        "near_source": near,
    }
