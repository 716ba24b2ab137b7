"""The baseline `supervised`: fine-tune the trained matcher on the validation labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from riskcore.config import RunConfig
from riskcore.matchers.base import Examples, Matcher, ShouldStop, TuningSet, never
from riskcore.random_streams import Stream, stream_seed
from riskcore.training.checkpoint import Checkpoint
from riskcore.training.evidence import Evidence
from riskcore.training.listeners import Listener, notify
from riskcore.training.passes import Passes


def fine_tune_on_validation(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    should_stop: ShouldStop = never,
    checkpoint: Checkpoint | None = None,
) -> None:
    """As many passes over all validation labels as adaptive training makes over the target, at the same rate.

    There is nothing left to select on, so the last pass counts. Beside the checkpoint, which the method itself does not
    have, the state of a pass is kept.
    """
    count, made_from = config.adapt.iterations, config.to_json() + evidence.fingerprint
    passes = Passes("supervised", "pass", count, made_from, listeners, checkpoint, should_stop)

    def tell(done: int) -> None:
        notify(listeners, "on_progress", {"phase": "supervised", "done": done, "total": count})

    fine_tune_on_labels(matcher, evidence.validation.examples, config, count * [config.adapt.rate], passes, tell)


def fine_tune_on_labels(
    matcher: Matcher,
    examples: Examples,
    config: RunConfig,
    rates: Sequence[float | None],
    passes: Passes,
    tell: Callable[[int], None] = lambda done: None,
    before: int = 0,
) -> None:
    """A pass over these labelled pairs at each of the rates; `before` is the number of the pass before them.

    Where one of these passes was interrupted, its state has what those before it taught: they are not made again.
    """
    if not len(examples):
        return
    labelled = TuningSet.from_labels(examples, config.tune.match_weight)
    interrupted = passes.interrupted - before
    first = interrupted if 1 <= interrupted <= len(rates) else 1
    for step, rate in enumerate(rates[first - 1 :], start=first):
        seed = stream_seed(config.seed, Stream.FINE_TUNING_PASS, step)
        passes.make(matcher, labelled, before + step, rate=rate, seed=seed)
        tell(step)
