"""The first question a user asks: why not simply fine-tune on the validation labels? So that is measured too."""

from __future__ import annotations

from collections.abc import Sequence

from riskcore.config import RunConfig
from riskcore.matchers.base import Examples, Matcher, ShouldStop, TuningSet, never
from riskcore.tuning.evidence import Evidence
from riskcore.tuning.listeners import Listener, notify
from riskcore.tuning.tradition import epoch_seed


def fine_tune_on_validation(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    should_stop: ShouldStop = never,
) -> None:
    """Fine-tune on all validation labels. There is nothing left to select on, so the last pass counts."""
    teach_labels(matcher, evidence.validation.examples, config, listeners, should_stop)


def teach_labels(
    matcher: Matcher,
    examples: Examples,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    should_stop: ShouldStop = never,
) -> None:
    """As many passes over these labelled pairs as adaptive training makes over the target, at the same rate."""
    if not len(examples):
        return
    lesson, passes = TuningSet.from_labels(examples, config.tune.match_weight), config.adapt.iterations
    for step in range(1, passes + 1):
        seed = epoch_seed(config.seed, 20_000 + step)
        matcher.fine_tune(lesson, rate=config.adapt.rate, seed=seed, should_stop=should_stop)
        notify(listeners, "on_progress", {"phase": "supervised", "done": step, "total": passes})
