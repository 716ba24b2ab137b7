"""`audit refit` and `audit rule`: rank a run's queue again, by verdicts and by what people decide about rules."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Annotated

import typer

from riskcore.cli.console import RUNS, AsJson, RunName, Runs, counted, print_json, say
from riskcore.cli.pairs import folder_of
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from riskcore.audit.feedback import RankingCheck
    from riskcore.runs.feedback_files import RankingFacts

Whose = Annotated[str | None, typer.Option(help="Whose queue. Default: risk+, else risk, else the first.")]
Who = Annotated[str, typer.Option(help="The name to record it under.")]


class RuleState(enum.StrEnum):
    """What a person can decide about a rule."""

    muted = "muted"
    pinned = "pinned"
    learned = "learned"


def refit(
    run: RunName,
    method: Whose = None,
    off: Annotated[bool, typer.Option("--off", help="Use the run's own ranking again.")] = False,
    who: Who = "",
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Rank the queue again by all verdicts so far; the queue then does so by itself after every ten further ones."""
    from riskcore.audit.decisions import answer_of
    from riskcore.audit.feedback import check_ranking, rank_again, use_run_ranking

    folder = folder_of(run, runs)
    named = answer_of(folder, method).method
    if off:
        check = check_ranking(folder, named)
        use_run_ranking(folder, who)
        _tell(folder.path.name, None, check, as_json)
        return
    _tell(folder.path.name, rank_again(folder, named, who), check_ranking(folder, named), as_json)


def rule(
    run: RunName,
    number: Annotated[int | None, typer.Argument(metavar="[RULE]", help="The number that `rules` shows.")] = None,
    state: Annotated[
        RuleState, typer.Option(help="Muted rules do not count; pinned ones count most.")
    ] = RuleState.muted,
    clear: Annotated[bool, typer.Option("--clear", help="Restore what was learned about every rule.")] = False,
    method: Whose = None,
    who: Who = "",
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Mute or pin a rule: the queue is ranked without it, or with it above all others."""
    from riskcore.audit.decisions import answer_of
    from riskcore.audit.feedback import check_ranking, keep_current
    from riskcore.runs.feedback_files import clear_rules, decide_rule

    folder = folder_of(run, runs)
    named = answer_of(folder, method).method
    if (number is None) != clear:
        raise ConfigError("Give the number of a rule, or --clear, not both.")
    if number is None:
        clear_rules(folder)
    else:
        rules = folder.rules().rules
        if not 0 <= number < len(rules):
            raise ConfigError(f"Run {folder.path.name} has rules 0 to {len(rules) - 1}. `riskcore rules` lists them.")
        decide_rule(folder, rules[number].key, None if state is RuleState.learned else state.value, who)
    _tell(folder.path.name, keep_current(folder, named, now=True), check_ranking(folder, named), as_json)


def _tell(run: str, facts: RankingFacts | None, check: RankingCheck | None, as_json: bool) -> None:
    if as_json:
        checked = None if check is None else dataclasses.asdict(check)
        print_json({"run": run, "ranking": None if facts is None else dict(facts), "check": checked})
        return
    if facts is None:
        say("The queue is ranked as the run ranked it.")
    else:
        _say_facts(facts)
    if check is not None:
        say(
            f"On {counted(check.verdicts, 'verdict')} given after a ranking was made: {check.overruled:,} labels "
            f"overruled; {check.expected:.0f} expected by the ranking, {check.expected_by_run:.0f} by the run."
        )


def _say_facts(facts: RankingFacts) -> None:
    if facts["verdicts"]:
        overruled = counted(facts["overruled"], "label")
        say(f"Ranked again with {counted(facts['verdicts'], 'verdict')} ({overruled} overruled).")
    for state in ("muted", "pinned"):
        if facts[state]:
            say(f"{counted(len(facts[state]), 'rule')} {state}.")
    if facts["rules_ignored"]:
        say(facts["rules_ignored"])
    say(
        f"{counted(facts['entered'], 'pair')} moved into the first {facts['first']} without a verdict, where "
        f"{facts['expected_after']:.0f} errors are expected; {facts['expected_before']:.0f} in the run's order."
    )
