"""`adapt`: train on a source, adapt to a target, and store the run where the screens and commands find it."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from riskcore.api.reading import as_data_set
from riskcore.api.run import Run
from riskcore.api.settings import run_config
from riskcore.api.validation import ByPair, with_validation
from riskcore.config import MatcherConfig, RunConfig
from riskcore.data.dataset import DataSet
from riskcore.data.origin import frames_origin
from riskcore.data.workload import configured_workload
from riskcore.errors import ConfigError
from riskcore.paths import runs_root
from riskcore.registry import MATCHERS
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import execute
from riskcore.runs.worker.jobs import look
from riskcore.training.listeners import Listener


def adapt(
    source: DataSet | str | Path,
    target: DataSet | str | Path | None = None,
    *,
    validation: ByPair | None = None,
    attribute_map: Mapping[str, str] | None = None,
    types: Mapping[str, str] | None = None,
    matcher: str | MatcherConfig | Mapping[str, Any] | None = None,
    methods: Sequence[str] | None = None,
    seed: int | None = None,
    epochs: int | None = None,
    iterations: int | None = None,
    runs: str | Path | None = None,
    name: str | None = None,
    progress: bool = True,
    config: RunConfig | None = None,
    **settings: Any,
) -> Run:
    """Train a matcher on the source, adapt it to the target, and return the finished run.

    The work is done in this process; Ctrl-C cancels it and keeps what was done so far. The run is stored in the folder
    `runs`, like any other. Without a target, the source's own splits are used. `validation` gives labels of some of the
    target's pairs; those pairs are then not adapted to. A target without any validation label is adapted to as well,
    but iteration 0 is kept. `settings` are fields of `RunConfig`: a group may be a dict, as in `tune={"epochs": 5}`.
    """
    started = time.perf_counter()
    wanted = run_config(
        config,
        attribute_map=attribute_map,
        types=types,
        matcher=matcher,
        methods=methods,
        seed=seed,
        epochs=epochs,
        iterations=iterations,
        settings=settings,
    )
    _ = MATCHERS[wanted.matcher.kind]  # refuses an unknown name
    learned_from = as_data_set(source, wanted.data)
    adapted_to = None if target is None else as_data_set(target, wanted.data)
    origins = [None if data is None else _origin(data) for data in (learned_from, adapted_to)]
    wanted = dataclasses.replace(wanted, source=origins[0] or "", target=origins[1])
    if validation is not None:
        learned_from, adapted_to, wanted = _validated(learned_from, adapted_to, validation, wanted)
    if _has_no_validation(adapted_to, wanted):
        wanted = dataclasses.replace(wanted, validation_size=0)
    data = configured_workload(learned_from, adapted_to, wanted)
    store = RunStore(runs_root() if runs is None else runs)
    record = store.create(wanted, name or _usual_name(learned_from, adapted_to))
    seconds = time.perf_counter() - started
    try:
        with _showing(wanted, progress) as listeners:
            execute(store, record.id, data=data, data_seconds=seconds, listeners=listeners)
    finally:
        look(store)  # it had a slot, which a waiting run may have now
    return Run(RunFolder(record.folder))


def _validated(
    source: DataSet, target: DataSet | None, validation: ByPair, config: RunConfig
) -> tuple[DataSet, DataSet, RunConfig]:
    if target is None:
        raise ConfigError("validation= labels pairs of a target. Without one, give the pairs split='valid' instead.")
    if config.split is not None:
        raise ConfigError("validation= and split= both say which pairs have validation labels. Give one of them.")
    labelled = with_validation(target, validation)
    return source, labelled, dataclasses.replace(config, target=_origin(labelled))


def _has_no_validation(target: DataSet | None, config: RunConfig) -> bool:
    """Whether the target has no validation labels: then no iteration can be chosen."""
    return target is not None and config.split is None and "valid" not in target.splits


def _origin(data: DataSet) -> str:
    return data.origin or frames_origin(data.name, data.fingerprint)


def _usual_name(source: DataSet, target: DataSet | None) -> str:
    return source.name if target is None else f"{source.name} to {target.name}"


@contextlib.contextmanager
def _showing(config: RunConfig, progress: bool) -> Iterator[list[Listener]]:
    """Listeners that show how far the run is: a bar in a terminal, lines of text elsewhere."""
    if not progress:
        yield []
        return
    from riskcore.api.progress import showing_progress

    with showing_progress(config) as listener:
        yield [listener]
