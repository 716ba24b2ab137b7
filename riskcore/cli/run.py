"""`run`: from data to results in one command."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as Grid
from rich.text import Text

from riskcore.cli.console import RUNS, AsJson, Runs, console, number, percent, print_json, say
from riskcore.cli.detached import detached
from riskcore.cli.settings import with_settings
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from riskcore.config import RunConfig
    from riskcore.data.workload import Workload
    from riskcore.runs.documents import RankingRow, RunResults
    from riskcore.runs.store.run_record import RunRecord
    from riskcore.runs.store.run_store import RunStore

_DATA = "A folder with tableA.csv, or a csv or parquet file of pairs"


def run(
    source: Annotated[
        Path | None, typer.Option(help=f"{_DATA}: the source, with labels. Without it, labels of the target teach.")
    ] = None,
    target: Annotated[
        Path | None, typer.Option(help=f"{_DATA}: the target to adapt to; without it, the source's own test split.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|RUN",
            help="Labels of target pairs: a csv, xlsx or parquet file, or a run whose drawn pairs were judged; its "
            "data and settings are taken over.",
        ),
    ] = None,
    continued: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="RUN[:ITERATION]",
            help="Continue a run: its data and settings, and its matcher of this iteration or, without one, of the "
            "kept one. RUN:METHOD:ITERATION names another method than risk+.",
        ),
    ] = None,
    decided_rules: Annotated[
        bool,
        typer.Option("--decided-rules", help="Take over the rules muted and pinned in the run of --from or --labels."),
    ] = False,
    draft: Annotated[
        bool, typer.Option("--draft", help="Only rank the pairs, so that some can be drawn for labelling.")
    ] = False,
    attribute_map: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="SOURCE=TARGET", help="Attributes with different names; repeatable."),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="ATTRIBUTE=TYPE", help="Corrects an inferred type; repeatable."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Split all pairs again by a ratio such as 2:2:6.")] = None,
    train_fraction: Annotated[float | None, typer.Option(help="Share of the training pairs to use.")] = None,
    validation_size: Annotated[int | None, typer.Option(help="Validation pairs to use; by default all.")] = None,
    matcher: Annotated[
        str | None,
        typer.Option(
            help="hybrid, attention, rnn, sif, ditto, external, similarity or toy; by default hybrid, or similarity "
            "where a file of --labels is all that teaches."
        ),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Scores of another matcher for the target's pairs; implies --matcher external.")
    ] = None,
    score_columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=COLUMN,...", help="Columns of --scores, such as left=id_a,right=id_b,probability=p,missing=0."
        ),
    ] = None,
    wide: Annotated[bool | None, typer.Option("--wide/--no-wide", help="Give the metrics to the matcher too.")] = None,
    methods: Annotated[str | None, typer.Option(help="Separated by commas, such as tradition,risk,risk+.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the labelled pairs.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Iterations of adaptive training.")] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            help="Adapt on so many pairs of a larger target, drawn by risk, then score all; 0 adapts to all. By "
            "default 10,000 where the target has more than 100,000."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Every random choice follows from it.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="GROUP.FIELD=VALUE", help="Any other setting, such as risk.confidence=0.95; repeatable."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A JSON file of settings; --set and the options above override it.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="A name for the run.")] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Run in a separate process and return at once.")] = False,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Train, adapt and compare; blocks until done. Ctrl-C cancels, and `runs resume` continues from there."""
    options: dict[str, Any] = {
        "source": None if source is None else str(source),
        "target": None if target is None else str(target),
        "attribute_map": tuple(attribute_map) if attribute_map else None,
        "types": tuple(types) if types else None,
        "split": split,
        "train_fraction": train_fraction,
        "validation_size": validation_size,
        "methods": None if methods is None else tuple(part.strip() for part in methods.split(",") if part.strip()),
        "seed": seed,
    }
    grouped: dict[str, dict[str, Any]] = {
        "matcher": {
            "kind": _kind(matcher, scores, source, labels, config, settings or ()),
            "wide": wide,
            "scores": None if scores is None else str(scores.absolute()),  # a worker has another folder
            "score_columns": score_columns,
        },
        "tune": {"epochs": epochs},
        "adapt": {"iterations": iterations, "target_sample": sample},
    }
    base, options["labels"] = _begun(config, labels, continued, decided_rules, runs)
    if continued is not None:
        _check_continued(options, grouped, draft)
    wanted = _configured(base, settings or (), options, grouped, draft)
    _start(wanted, name, runs, detach, as_json)


def _kind(
    matcher: str | None,
    scores: Path | None,
    source: Path | None,
    labels: str | None,
    file: Path | None,
    settings: Sequence[str],
) -> str | None:
    """The matcher that the options ask for; None leaves it to the settings. About a hundred labels train no network:
    where a file of them is all there is, the similarity of records is stacked with forests and rules."""
    if matcher is not None or scores is not None:
        return matcher or "external"
    chosen = file is not None or any(one.partition("=")[0].strip() == "matcher.kind" for one in settings)
    return "similarity" if labels and _is_file(labels) and source is None and not chosen else None


def _is_file(labels: str) -> bool:
    """Whether labels are a file, also one that is missing, and not the name of a run."""
    from riskcore.data.bring.files import ENDINGS

    return Path(labels).is_file() or Path(labels).suffix.lower() in ENDINGS


def _labelled(file: Path | None, labels: str | None, root: Path) -> tuple[RunConfig, str | None]:
    """What the run begins with: the settings file or, with the labels of a run, that run's own settings; and the path
    of the labels."""
    if labels is None or _is_file(labels):
        return settings_of(file), None if labels is None else str(Path(labels).absolute())
    from riskcore.audit.labels import adapting_config, store_labels
    from riskcore.cli.pairs import folder_of
    from riskcore.config import RunConfig

    if file is not None:
        raise ConfigError("Give --labels a file, or leave --config out: a run's labels come with its settings.")
    folder = folder_of(labels, root)
    stored = store_labels(folder)
    return adapting_config(RunConfig.from_stored(dict(folder.run()["config"])), stored), str(stored)


def _begun(
    file: Path | None, labels: str | None, continued: str | None, decided_rules: bool, root: Path
) -> tuple[RunConfig, str | None]:
    """What the run begins with: what the labels bring along or, where it continues a run, that run's settings."""
    from riskcore.audit.continuing import continuing_config, with_decided_rules
    from riskcore.audit.labels import store_labels
    from riskcore.cli.pairs import folder_of
    from riskcore.runs.starts import parse_start

    if continued is None:
        base, path = _labelled(file, labels, root)
        if not decided_rules:
            return base, path
        if labels is None or _is_file(labels):
            raise ConfigError("--decided-rules takes the rules of a run: name one with --from or --labels.")
        return with_decided_rules(base, folder_of(labels, root)), path
    if file is not None:
        raise ConfigError("Leave --config out: a run that continues another has its settings. --set changes some.")
    run, method, iteration = parse_start(continued)
    folder = folder_of(run, root)
    base, path = continuing_config(folder, method, iteration), None
    if labels is not None:
        path = str(Path(labels).absolute()) if _is_file(labels) else str(store_labels(folder_of(labels, root)))
    return with_decided_rules(base, folder) if decided_rules else base, path


def _check_continued(options: Mapping[str, Any], grouped: Mapping[str, Mapping[str, Any]], draft: bool) -> None:
    """A matcher fits the data and the design that it was trained with."""
    other = [name for name in ("source", "target", "attribute_map", "types", "split") if options[name] is not None]
    other += [f"matcher.{name}" for name, value in grouped["matcher"].items() if value is not None]
    if other or draft:
        what = ", ".join(other) or "a draft"
        raise ConfigError(
            f"A run that continues another has its data and its matcher; leave these options out: {what}."
        )


def _configured(
    base: RunConfig,
    settings: Sequence[str],
    options: dict[str, Any],
    grouped: dict[str, dict[str, Any]],
    draft: bool = False,
) -> RunConfig:
    """What the run begins with, `--set` on top, and on top of both the options that were given."""
    base = with_settings(base, settings)
    for group, fields in grouped.items():
        given = {field: value for field, value in fields.items() if value is not None}
        options[group] = dataclasses.replace(getattr(base, group), **given)
    found = dataclasses.replace(base, **{field: value for field, value in options.items() if value is not None})
    if not found.source and not found.target:
        raise ConfigError("A run needs --source, the data it learns from, or --target, the data it is to label.")
    from riskcore.registry import MATCHERS

    _ = MATCHERS[found.matcher.kind]  # refuses an unknown name
    if draft:
        from riskcore.audit.labels import draft_config

        found = draft_config(found)
    if found.matcher.kind == "external":
        from riskcore.matchers.external import check_scores

        check_scores(found.matcher)  # a file that is not there stops here, before anything is written
    return found


def settings_of(file: Path | None) -> RunConfig:
    """The settings in a file, or the defaults."""
    from riskcore.config import RunConfig

    if file is None:
        return RunConfig()
    try:
        return RunConfig.from_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{file} is not a file of settings: {error}.") from None


def _start(config: RunConfig, name: str | None, root: Path, detach: bool, as_json: bool) -> None:
    from riskcore.data.problems import visible
    from riskcore.runs import RunStore
    from riskcore.runs.worker import jobs
    from riskcore.runs.worker.execute import load_data

    started = time.perf_counter()
    data = load_data(config)  # bad data stops here, before anything is written
    for notice in data[0].notices:
        say(visible(notice), to_stderr=True)
    store = RunStore(root)
    _say_how_long(store, config, data[0])
    record = _created(store, config, name)
    if detach:
        jobs.start(store, record.id)
        detached(store, record, as_json)
    else:
        work(store, record, as_json, data, time.perf_counter() - started)


def _say_how_long(store: RunStore, config: RunConfig, workload: Workload) -> None:
    """What a run of more than a few minutes will take, before it starts."""
    from riskcore.runs.readers.forecast import SHORT_SECONDS, cheaper, forecast
    from riskcore.training.costs import RunSizes

    sizes = RunSizes(len(workload.source), len(workload.validation), len(workload.target))
    found = forecast(store, config, sizes)
    if found.seconds > SHORT_SECONDS:
        advice = f" {cheaper(config, found)}" if found.long else ""
        say(f"Estimated time on this machine: {found.words}. {found.basis}{advice}", to_stderr=True)


def _created(store: RunStore, config: RunConfig, name: str | None) -> RunRecord:
    """The new run with what it takes over: a guideline and, of a run that it continues, people's verdicts."""
    from riskcore.audit.continuing import create_continued
    from riskcore.runs.guideline import inherit_guideline

    if config.start:
        return create_continued(store, config, name)
    record = store.create(config, name)
    inherit_guideline(store, record)
    return record


def work(store: RunStore, record: RunRecord, as_json: bool, data: Any = None, data_seconds: float = 0.0) -> None:
    """Work on the run in this process, without waiting for others, and print the results."""
    from riskcore.api.progress import showing_progress
    from riskcore.runs.worker.execute import execute
    from riskcore.runs.worker.jobs import look

    say(f"Run {record.id} in {record.folder}", to_stderr=True)
    try:
        with showing_progress(record.config) as listener:
            results = execute(store, record.id, data=data, data_seconds=data_seconds, listeners=[listener])
    finally:
        look(store)  # it had a slot, which is free now
    if as_json:
        print_json(results)
    else:
        print_results(results)


def print_results(results: RunResults) -> None:
    """The methods side by side, and the time and memory of the run."""
    grid = Grid("method", "F1", "precision", "recall", "labels used", box=None)
    for method, row in results["methods"].items():
        scores = (number(percent(score), ".2f") for score in (row["f1"], row["precision"], row["recall"]))
        grid.add_row(method, *scores, ", ".join(row["labels_used"]) or "none")
    console().print(grid)
    print_whole_target(results)
    print_lacked(results["methods"])
    print_rankings(results["risk"])
    print_doubted(results)
    took = f"{results['seconds']['total']:.1f} s, {results['rules']:,} rules, {results['peak_rss_mb']:,.0f} MB at most"
    say(Text(f"run {results['run']}: {took}", style="bold"))


def print_whole_target(results: RunResults) -> None:
    """What a run on a sample says of all pairs of its target."""
    whole = results.get("target")
    if whole is None:
        return
    say(f"These figures are of a sample of {whole['sample']:,} of {whole['pairs']:,} target pairs.")
    known = "" if whole["f1"] is None else f", F1 {100 * whole['f1']:.2f}"
    say(f"Of all, {whole['method']} says {whole['matches']:,} match{known}: in {whole['scored']} of the run's folder.")


def print_rankings(risk: RankingRow | None) -> None:
    """How well the wrong labels of every method's answer are found: AUROC of risk and of its baselines."""
    found = {} if risk is None else risk.get("kept") or {}
    kept = {method: one for method, one in found.items() if one["auroc"] is not None}
    if not kept:
        return
    names = next(iter(kept.values()))["rivals"]
    baselines = [name for name in names if any(one["rivals"][name] is not None for one in kept.values())]
    grid = Grid("labels of", "wrong", "in top 100", "AUROC of risk", "confidence", *baselines, "ECE of risk", box=None)
    for method, one in kept.items():
        counts = (f"{one['errors']:,}", f"{one['top_100']:,}")
        areas = (one["auroc"], one["confidence"], *(one["rivals"][name] for name in baselines))
        grid.add_row(method, *counts, *map(number, areas), number(one["ece"]))
    console().print(grid)


def print_doubted(results: RunResults) -> None:
    """Validation labels that a person should check."""
    from riskcore.data.problems import visible

    doubted = results.get("doubted_labels") or []
    if doubted:
        left_out = sum(not one["used"] for one in doubted)
        named = ", ".join(f"{visible(one['pair_id'])} ({'match' if one['label'] else 'non-match'})" for one in doubted)
        what = f" {left_out} were left out of what risk+ and the ranking learned from." if left_out else ""
        say(f"Check these {len(doubted)} validation labels, which every learner contradicts: {named}.{what}")


def print_lacked(methods: Mapping[str, Mapping[str, Any]]) -> None:
    """What each method could not do for lack of labels."""
    for method, row in methods.items():
        for sentence in row.get("lacked") or ():
            say(f"{method}: {sentence}")
