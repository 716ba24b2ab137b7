"""What people made of a run's ranking: their choices, and the risk of every pair's label that follows from them.

`feedback/choices.json` says whether verdicts rank the queue again and which rules are muted or pinned, by whom and
when. `feedback/METHOD.parquet` has the risk that follows for the labels of a method's kept iteration (`row`, `risk`)
and, as its metadata, what it was made from: one file, so that a reader never sees one without the other. While it is
there, queues use it. Nothing else does: results, estimates and sign-offs keep the run's risk.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np
import pyarrow as pa

from riskcore.columns import ROW
from riskcore.errors import ConfigError, StorageError
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import scan_scores, take_scores
from riskcore.storage.files import read_json, remove_file, write_json, write_parquet, writing
from riskcore.storage.lock import FileLock
from riskcore.storage.parquet import load_columns, scan, schema_of, take_rows

MUTED, PINNED = "muted", "pinned"
_CHOICES, _ABOUT, _RISK = "choices.json", b"riskcore", "risk"
_PATIENCE = 10.0  # seconds to wait while someone else's choice is written


class Decided(TypedDict):
    """Who decided something, and when (ISO 8601, UTC)."""

    who: str
    at: str


class RuleDecision(Decided):
    """A rule, by its text, that a person muted or pinned."""

    rule: str
    state: str


@dataclasses.dataclass(frozen=True)
class Choices:
    """What people chose for the queue of a run."""

    refit: Decided | None = None  # verdicts rank the queue again; None: they do not
    rules: tuple[RuleDecision, ...] = ()

    def rules_that_are(self, state: str) -> list[str]:
        return [one["rule"] for one in self.rules if one["state"] == state]


class RankingDifference(TypedDict):
    """How the queue of pairs without a verdict differs from the run's."""

    first: int  # pairs at its beginning that the figures are about
    entered: int  # of these, how many the run's ranking does not have there
    expected_before: float  # errors among the run's first ones, by the run's risk
    expected_after: float  # errors among the first ones of this ranking, by its risk
    changed: int  # pairs with another place


class RankingFacts(RankingDifference):
    """What a ranking by feedback was made from, and how it differs from the run's."""

    method: str
    iteration: int
    entries: int  # of the verdict log when it was made; 0 where verdicts do not count
    head: str  # digest of the last of them
    verdicts: int  # that it learned from
    overruled: int  # of these, how many contradict the label
    variance: float  # how far the verdicts moved the ranking; 0 where they bear the run out
    muted: list[str]
    pinned: list[str]
    entered_by_rules: int  # pairs that muting and pinning alone bring among the first, of all pairs
    rules_ignored: str | None  # why muted and pinned rules could not change this queue
    at: str


def read_choices(folder: RunFolder) -> Choices:
    """What people chose; nothing, unless someone did."""
    file = folder.feedback / _CHOICES
    if not file.exists():
        return Choices()
    stored = read_json(file)
    return Choices(stored.get("refit"), tuple(stored.get("rules") or ()))


def choose_refit(folder: RunFolder, on: bool, who: str = "") -> Choices:
    """Let verdicts rank the queue again, or not."""
    return _change(folder, lambda old: dataclasses.replace(old, refit=_decided(who) if on else None))


def decide_rule(folder: RunFolder, rule: str, state: str | None, who: str = "") -> Choices:
    """Mute or pin a rule, given by its text; None restores what was learned."""
    if state not in (MUTED, PINNED, None):
        raise ConfigError(f"A rule can be {MUTED} or {PINNED}, not {state!r}.")
    if rule not in {one.key for one in folder.rules().rules}:
        raise ConfigError(
            f"Run {folder.path.name} has no rule {rule!r}. `riskcore rules {folder.path.name}` lists them."
        )

    def decide(old: Choices) -> Choices:
        others = tuple(one for one in old.rules if one["rule"] != rule)
        if state is None:
            return dataclasses.replace(old, rules=others)
        return dataclasses.replace(old, rules=(*others, RuleDecision(rule=rule, state=state, **_decided(who))))

    return _change(folder, decide)


def clear_rules(folder: RunFolder) -> Choices:
    """Restore what was learned about every rule."""
    return _change(folder, lambda old: dataclasses.replace(old, rules=()))


def write_ranking(folder: RunFolder, facts: RankingFacts, risk: np.ndarray) -> None:
    """Let the queue of a method be ranked by this risk."""
    columns = {ROW: pa.array(np.arange(len(risk)), pa.int32()), _RISK: pa.array(risk, pa.float64())}
    table = pa.table(columns).replace_schema_metadata({_ABOUT: json.dumps(facts).encode()})
    with writing(folder.feedback):
        folder.feedback.mkdir(exist_ok=True)
    write_parquet(ranking_file(folder, facts["method"]), table)


def remove_ranking(folder: RunFolder, method: str) -> None:
    """Let the queue of a method be ranked as the run did."""
    with writing(folder.feedback):
        remove_file(ranking_file(folder, method))


def ranking_file(folder: RunFolder, method: str) -> Path:
    return folder.feedback / f"{method}.parquet"


def ranking_facts(folder: RunFolder, method: str) -> RankingFacts | None:
    """What a method's ranking by feedback was made from; None where the run's ranking is used."""
    file = ranking_file(folder, method)
    if not file.exists():
        return None
    try:
        about = (schema_of(file).metadata or {})[_ABOUT]
        return cast(RankingFacts, json.loads(about))
    except (KeyError, ValueError) as error:
        raise StorageError(f"{file} cannot be read: {error}. Delete it to use the run's ranking.") from error


def read_ranking(folder: RunFolder, method: str) -> np.ndarray:
    """The risk of a ranking by feedback."""
    risk: np.ndarray = load_columns(ranking_file(folder, method), columns=[_RISK]).column(_RISK).to_numpy()
    return risk


# What queues read: the scores of an iteration, with the risk of a ranking by feedback where there is one.


def scan_queue(folder: RunFolder, method: str, iteration: int) -> str:
    """The scores of an iteration as a table in a query."""
    scores, file = scan_scores(folder.scores_file(method, iteration)), _in_use(folder, method, iteration)
    if file is None:
        return scores
    return f"(SELECT a.* REPLACE (b.{_RISK} AS {_RISK}) FROM {scores} AS a JOIN {scan(file)} AS b USING ({ROW}))"


def take_queue(folder: RunFolder, method: str, iteration: int, rows: Sequence[int] | np.ndarray) -> pa.Table:
    """Some rows of the scores of an iteration, in the order asked."""
    scores, file = take_scores(folder.scores_file(method, iteration), rows), _in_use(folder, method, iteration)
    if file is None:
        return scores
    place = scores.schema.get_field_index(_RISK)
    return scores.set_column(place, _RISK, take_rows(file, rows, [_RISK]).column(_RISK))


def _in_use(folder: RunFolder, method: str, iteration: int) -> Path | None:
    facts = ranking_facts(folder, method)
    return None if facts is None or facts["iteration"] != iteration else ranking_file(folder, method)


def _change(folder: RunFolder, how: Any) -> Choices:
    with writing(folder.feedback):
        folder.feedback.mkdir(exist_ok=True)
    with FileLock(folder.feedback / ".lock", _PATIENCE):
        found: Choices = how(read_choices(folder))
        write_json(folder.feedback / _CHOICES, dataclasses.asdict(found))
    return found


def _decided(who: str) -> Decided:
    return {"who": who, "at": datetime.now(UTC).isoformat(timespec="seconds")}
