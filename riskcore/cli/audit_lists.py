"""`audit assign` and `audit lists`: pairs for people to judge, and how far they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as Grid
from rich.text import Text

from riskcore.cli.console import RUNS, AsJson, RunName, Runs, console, counted, print_json, say
from riskcore.cli.pairs import folder_of
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riskcore.audit import Verdict, VerdictLog
    from riskcore.audit.assigned import AssignedList
    from riskcore.runs import RunFolder

Who = Annotated[str, typer.Option(help="Your name, kept with the list.")]


def assign_pairs(
    run: RunName,
    name: Annotated[str, typer.Option(help="What the list is called.")],
    to: Annotated[list[str], typer.Option(help="Who judges the pairs; repeat it, and everyone judges all of them.")],
    riskiest: Annotated[
        int | None, typer.Option(min=1, help="The riskiest pairs that have no verdict and are in no open list.")
    ] = None,
    pairs: Annotated[Path | None, typer.Option(help="A table with pair_id, or with ltable_id and rtable_id.")] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", help="riskiest, drawn, audit, contradictions, conflicts or second-review."),
    ] = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help="Pairs at most, with --from.")] = None,
    blind: Annotated[bool, typer.Option("--blind", help="Show both records and nothing else.")] = False,
    who: Who = "",
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Make a work list of pairs for one or several people."""
    from riskcore.audit.assigned import assign
    from riskcore.audit.assignment_sources import CONFLICTS, RISKIEST, SOURCES, choose_pairs

    folder = folder_of(run, runs)
    if sum(one is not None for one in (riskiest, pairs, source)) != 1:
        raise ConfigError("Say which pairs: give one of --riskiest N, --pairs FILE and --from SOURCE.")
    if pairs is not None:
        chosen, words, hidden = _pairs_in(folder, pairs), f"pairs of {pairs.name}", blind
    else:
        way = source or RISKIEST
        chosen = choose_pairs(folder, way, _log(folder).entries(folder.path.name), to, riskiest or n)
        if not chosen:
            raise ConfigError(f"There are no pairs to assign. {SOURCES[way].empty}")
        words, hidden = SOURCES[way].words, blind or SOURCES[way].blind
    made = assign(folder, name, to, chosen, blind=hidden, decides=source == CONFLICTS, source=words, who=who)
    if as_json:
        print_json(_facts(made, ()))
        return
    say(f"Work list {made.number}, {made.name!r}: {counted(len(made.pairs), 'pair')} for {', '.join(made.to)}.")
    say("They find it on the screen Label & audit, tab Work lists.")


def show_lists(
    run: RunName,
    close: Annotated[str | None, typer.Option(help="Close this list first, by its number or name.")] = None,
    who: Who = "",
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Show the work lists of a run and how far each person is; or close one."""
    from riskcore.audit.assigned import close_list, lists_of

    folder = folder_of(run, runs)
    if close is not None:
        close_list(folder, close, who)
    entries, found = _log(folder).entries(folder.path.name), lists_of(folder)
    if as_json:
        print_json({"run": folder.path.name, "lists": [_facts(one, entries) for one in found]})
    elif not found:
        say(f"Run {folder.path.name} has no work lists. `riskcore audit assign` makes one.")
    else:
        _print(found, entries)


def _print(lists: Sequence[AssignedList], entries: Sequence[Verdict]) -> None:
    grid = Grid("no.", "name", "judged", "blind", "pairs are", "made", "closed", box=None)
    for one in lists:
        judged = ", ".join(f"{who} {done:,} of {len(one.pairs):,}" for who, done in one.progress(entries).items())
        made = f"{one.at[:10]} {one.who}".strip()
        cells = (str(one.number), one.name, judged, "yes" if one.blind else "", one.source, made, one.closed_at[:10])
        grid.add_row(*map(Text, cells))
    console().print(grid)


def _facts(one: AssignedList, entries: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "number": one.number,
        "name": one.name,
        "to": list(one.to),
        "pairs": len(one.pairs),
        "judged": one.progress(entries),
        "blind": one.blind,
        "decides": one.decides,
        "source": one.source,
        "who": one.who,
        "at": one.at,
        "closed_by": one.closed_by,
        "closed_at": one.closed_at,
    }


def _pairs_in(folder: RunFolder, path: Path) -> list[str]:
    from riskcore.audit.exchange.bring import pairs_in

    return pairs_in(folder, path)


def _log(folder: RunFolder) -> VerdictLog:
    from riskcore.audit import VerdictLog
    from riskcore.runs import RunStore

    return VerdictLog(RunStore(folder.path.absolute().parent))
