"""A whole run, from workload to results: metrics, rules, then each method, with every step reported.

Every method that adapts starts from the same trained matcher. With `checkpoints`, finished steps are read back and
interrupted ones continue, to the same bits as an undisturbed run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from riskcore.config import RunConfig
from riskcore.data.pairs import Pairs
from riskcore.data.workload import Workload
from riskcore.matchers.base import Arrays, ShouldStop, never
from riskcore.registry import MATCHERS, METHODS
from riskcore.training.gather import gather
from riskcore.training.listeners import Listener
from riskcore.training.one_by_one import Assignment
from riskcore.training.results import MethodResult
from riskcore.training.side_by_side import helped


def run_experiment(
    workload: Workload,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    *,
    checkpoints: Path | None = None,
    unseen: Pairs | None = None,
    trained: Arrays | None = None,
    should_stop: ShouldStop = never,
    rank: bool = True,
    processes: int = 1,
) -> dict[str, MethodResult]:
    """Run every method of the config on the workload, continuing from the `checkpoints` of a killed run.

    `unseen` are target pairs that no method learns from; each method scores them at the end, unless the matcher is a
    file of scores, which need not have any for them. `trained` are the weights of a traditionally trained matcher, if
    the caller has them: then it is not trained again. Without `rank`, the labels of the methods are not ranked by all
    the evidence, which spares gathering it unless a method needs it. Methods run side by side in at most `processes`
    processes, where that pays off: results and reports are the same as of one process.
    """
    unseen = unseen if MATCHERS[config.matcher.kind].trainable else None
    methods = methods_of(config)
    assignment = Assignment(workload, config, methods, listeners, checkpoints, should_stop, dict(trained or {}), rank)
    with helped(assignment, processes) as run:
        run.gather(lambda: gather(workload, config, listeners, unseen))
        return run.results()


def methods_of(config: RunConfig) -> list[str]:
    """What a run works through, in the registry's order. External scores cannot be trained."""
    asked = {"tradition", *config.methods}
    trainable = MATCHERS[config.matcher.kind].trainable
    return [spec.name for spec in METHODS if spec.name in asked and (trainable or not spec.trains_matcher)]
