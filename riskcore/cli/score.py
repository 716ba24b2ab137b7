"""`score`: any number of pairs, scored into a folder of Parquet files."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riskcore.cli.block import showing
from riskcore.cli.console import RUNS, AsJson, RunName, Runs, counted, print_json, say
from riskcore.cli.pairs import folder_of
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from riskcore.scale.score import Engine


def score(
    run: RunName,
    pairs: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PAIRS]",
            help="A file of pairs, csv or parquet: with values of both records, or with the ids of records. Or a "
            "folder with tableA, tableB and, perhaps, pairs. Without it, candidates of --left and --right are found.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write; one that is not complete goes on. By default beside the runs."),
    ] = None,
    left: Annotated[Path | None, typer.Option(help="The table of the left records, csv or parquet.")] = None,
    right: Annotated[Path | None, typer.Option(help="The table of the right records.")] = None,
    method: Annotated[
        str | None, typer.Option(help="Whose answer; by default that of risk+, else of risk, else of the first method.")
    ] = None,
    top: Annotated[
        int | None, typer.Option(help="Where candidates are found: best candidates of each record and search.")
    ] = None,
    processes: Annotated[int | None, typer.Option(help="Processes that score; by default one for each core.")] = None,
    all_pairs: Annotated[
        bool, typer.Option("--ask-all", help="Ask the matcher about every pair: exact probabilities, the same labels.")
    ] = False,
    part_pairs: Annotated[int | None, typer.Option(help="Pairs of a part; by default 50,000.")] = None,
    reasons: Annotated[int | None, typer.Option(help="Riskiest pairs that get reasons; by default 10,000.")] = None,
    engine: Annotated[
        str, typer.Option(help="local, or spark for an existing cluster (extra spark, Java 17).")
    ] = "local",
    master: Annotated[str | None, typer.Option(help="Which Spark, as local[2] or spark://host:7077.")] = None,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Score any number of pairs with what a run answers with, in bounded memory. Started again after an interruption,
    it goes on where it stopped."""
    started = time.monotonic()
    folder = folder_of(run, runs)
    from riskcore.config import ScaleConfig  # these bring the engine
    from riskcore.scale.known import default_place, register_scored
    from riskcore.scale.score import score

    root = folder.path.parent
    out = out or default_place(root) / f"{folder.path.name}-{(pairs or left or Path('pairs')).stem}"
    given: dict[str, Any] = {"part_pairs": part_pairs, "reasons": reasons, "spare": False if all_pairs else None}
    config = ScaleConfig(**{name: value for name, value in given.items() if value is not None})
    with _scored_by(engine, master, processes) as (parts_by, count), showing() as on_progress:
        done = score(
            folder,
            out,
            pairs,
            left,
            right,
            method=method,
            top=top,
            processes=count,
            config=config,
            on_progress=on_progress,
            engine=parts_by,
        )
    name = register_scored(root, out)
    facts, seconds = done.facts, time.monotonic() - started
    if as_json:
        print_json({**facts, "set": name, "out": str(out), "seconds": round(seconds, 2), "measured": done.measured})
        return
    say(f"{counted(facts['pairs'], 'pair')} in {out}, decided by {facts['method']} of run {facts['run']}.")
    say(f"Matches: {facts['matches']:,}.")
    if facts["pairs"]:
        share = 100 * facts["unasked"] / facts["pairs"]
        say(f"The matcher was not asked about {share:.1f} % of the pairs: it could not have turned their labels.")
    say(f"It took {seconds:.1f} s with {done.measured['processes']} processes.")
    say(f"The dashboard shows it as the scored set {name}.")


@contextlib.contextmanager
def _scored_by(engine: str, master: str | None, processes: int | None) -> Iterator[tuple[Engine | None, int]]:
    """What scores the parts (None is this machine), and how many at a time."""
    if engine == "local":
        if master is not None:
            raise ConfigError("--master belongs to --engine spark. Give that too, or leave --master out.")
        from riskcore.scale.score import default_processes

        yield None, default_processes() if processes is None else processes
        return
    if engine != "spark":
        raise ConfigError(f"There is no engine {engine!r}. Give --engine local or --engine spark.")
    from riskcore.scale.spark import cores, open_session, spark_engine

    with open_session(master) as spark:
        count = processes or cores(spark)
        yield spark_engine(spark, count), count
