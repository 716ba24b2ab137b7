"""The baseline `supervised`: fine-tune the trained matcher on the validation labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from riskcore.config import RunConfig
from riskcore.matchers.base import Examples, Matcher, ShouldStop, TuningSet, never
from riskcore.random_streams import Stream, stream_seed
from riskcore.training.evidence import Evidence
from riskcore.training.listeners import Listener, notify


def fine_tune_on_validation(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    should_stop: ShouldStop = never,
) -> None:
    """As many passes over all validation labels as adaptive training makes over the target, at the same rate.

    There is nothing left to select on, so the last pass counts.
    """
    passes = config.adapt.iterations

    def tell(done: int) -> None:
        notify(listeners, "on_progress", {"phase": "supervised", "done": done, "total": passes})

    fine_tune_on_labels(matcher, evidence.validation.examples, config, passes * [config.adapt.rate], should_stop, tell)


def fine_tune_on_labels(
    matcher: Matcher,
    examples: Examples,
    config: RunConfig,
    rates: Sequence[float | None],
    should_stop: ShouldStop = never,
    tell: Callable[[int], None] = lambda done: None,
) -> None:
    """A pass over these labelled pairs at each of the rates."""
    if not len(examples):
        return
    labelled = TuningSet.from_labels(examples, config.tune.match_weight)
    for step, rate in enumerate(rates, start=1):
        seed = stream_seed(config.seed, Stream.FINE_TUNING_PASS, step)
        matcher.fine_tune(labelled, rate=rate, seed=seed, should_stop=should_stop)
        tell(step)
