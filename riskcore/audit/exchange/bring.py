"""Verdicts from a file into a run's log: which pairs of the run they are about, what is new, and recording it.

Pairs that the run does not have are left out and counted; if it has none of them, one error names them. Everything else
that is wrong with a file is raised at once, and nothing of the file is recorded.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd

from riskcore.audit.exchange.files import read_verdicts
from riskcore.audit.exchange.pairs import Reading, ReadVerdict
from riskcore.audit.exchange.tables import rows_of
from riskcore.audit.outside_draws import outside_ids
from riskcore.audit.verdicts import MAX_BROUGHT, MAX_NAME, MAX_NOTE, Brought, VerdictError, VerdictLog, unrecorded
from riskcore.columns import LEFT_ID, PAIR_ID, RECORD_ID, RIGHT_ID, SIDE
from riskcore.config import DataConfig
from riskcore.data.formulas import unguarded
from riskcore.data.label_file import read_labels_text
from riskcore.data.problems import ProblemLog, shown, visible
from riskcore.data.text_file import missing_columns
from riskcore.pair_ids import pair_id
from riskcore.runs.candidate_files import LEFT_SIDE, RIGHT_SIDE, is_self_join
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.parquet import load_columns

FIRST = datetime(1970, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=1)  # that another machine's clock may be


@dataclasses.dataclass(frozen=True)
class BroughtVerdicts:
    """The verdicts of a file on pairs that the run has, and the pairs that it does not have, as the file names them."""

    file: str
    verdicts: tuple[Brought, ...]
    unknown: tuple[str, ...] = ()

    @property
    def people(self) -> dict[str, int]:
        """How many verdicts are by whom, the most first."""
        return dict(Counter(one.who for one in self.verdicts).most_common())


@dataclasses.dataclass(frozen=True)
class ImportCounts:
    """What an import adds, and what it leaves out."""

    added: int
    before: int  # recorded already
    older: int  # than what the same person has said of the pair since
    unknown: int  # pairs that the run does not have


def bring_verdicts(
    folder: RunFolder,
    path: Path | str,
    format: str | None = None,  # noqa: A002 - the word of the command line
    who: str = "",
) -> BroughtVerdicts:
    """The verdicts of a file, without recording any. `who` is for those that the file has no name for."""
    path = Path(path)
    read = read_verdicts(path, format)
    if not read:
        raise VerdictError(f"{path.name} has no verdict. Fill in the column verdict: match, non-match or unsure.")
    if len(read) > MAX_BROUGHT:
        raise VerdictError(f"{path.name} has {len(read):,} verdicts. Split it into files of at most {MAX_BROUGHT:,}.")
    reading = Reading(visible(path.name), ProblemLog(DataConfig().examples_per_problem))
    for one in read:
        _check(one, reading)
    pairs = PairFinder(folder).find(read)
    unknown = [one for one, pair in zip(read, pairs, strict=True) if pair is None]
    if len(unknown) == len(read):
        for one in unknown:
            cure = "Import verdicts on pairs of this run."
            reading.add("unknown_id", f"The run has no pair {shown(_named(one))}.", cure, one.row, PAIR_ID)
    reading.raise_problems()
    known = [(pair, one) for pair, one in zip(pairs, read, strict=True) if pair is not None]
    verdicts = [Brought(pair, one.verdict, one.note, one.who or who, one.at) for pair, one in known]
    return BroughtVerdicts(path.name, _once(path.name, verdicts), tuple(dict.fromkeys(map(_named, unknown))))


def pairs_in(folder: RunFolder, path: Path) -> list[str]:
    """The pairs that a table names, in its order; one error lists those that the run does not have."""
    file = read_labels_text(path)
    reading = Reading(visible(path.name), ProblemLog(DataConfig().examples_per_problem))
    if not (PAIR_ID in file.names or {LEFT_ID, RIGHT_ID} <= set(file.names)):
        missing_columns(file, (PAIR_ID,), reading.log)
        reading.raise_problems()
    finder, found = PairFinder(folder), []
    for row in rows_of(file):
        ids = (row.get(PAIR_ID), row.get(LEFT_ID), row.get(RIGHT_ID))
        pair = finder.pair(*ids)
        if pair is None:
            named = shown(ids[0] or pair_id(ids[1] or "", ids[2] or ""))
            reading.add("unknown_id", f"The run has no pair {named}.", "Name pairs of this run.", row.line, PAIR_ID)
        else:
            found.append(pair)
    reading.raise_problems()
    return list(dict.fromkeys(found))


def preview_import(folder: RunFolder, brought: BroughtVerdicts) -> ImportCounts:
    """What recording them would add now."""
    log, run = _log(folder)
    found = unrecorded(log.entries(run), brought.verdicts)
    return ImportCounts(len(found.new), found.before, found.older, len(brought.unknown))


def record_import(folder: RunFolder, brought: BroughtVerdicts) -> ImportCounts:
    """Record what is new, in one transaction. The same file again adds nothing."""
    log, run = _log(folder)
    planned = unrecorded(log.entries(run), brought.verdicts)
    added = len(log.bring(run, brought.verdicts))
    before = len(brought.verdicts) - added - planned.older  # also what someone else has recorded in between
    return ImportCounts(added, before, planned.older, len(brought.unknown))


class PairFinder:
    """Finds the pairs of a run by their ids, or by those of their records."""

    def __init__(self, folder: RunFolder) -> None:
        parts = [read_pair_ids(folder.pairs_file).to_pandas()]
        if folder.other_pairs_file.exists():
            parts.append(load_columns(folder.other_pairs_file, columns=[PAIR_ID, LEFT_ID, RIGHT_ID]).to_pandas())
        ids = pd.concat([*parts, outside_ids(folder)], ignore_index=True)  # those drawn outside the candidates too
        self._pairs = set(ids[PAIR_ID])
        self._of_records = dict(zip(zip(ids[LEFT_ID], ids[RIGHT_ID], strict=True), ids[PAIR_ID], strict=True))
        self._self_join = is_self_join(folder)
        self._left, self._right = set(ids[LEFT_ID]), set(ids[RIGHT_ID])
        if folder.records_file.exists():
            records = load_columns(folder.records_file, columns=[SIDE, RECORD_ID]).to_pandas()
            self._left |= set(records.loc[records[SIDE] == LEFT_SIDE, RECORD_ID])
            self._right |= set(records.loc[records[SIDE] == RIGHT_SIDE, RECORD_ID])

    def find(self, read: Iterable[ReadVerdict]) -> list[str | None]:
        """The id of each pair in the run, None where it has no such pair."""
        return [self.pair(one.pair_id, one.left_id, one.right_id) for one in read]

    def pair(self, pair_id: str, left: str = "", right: str = "") -> str | None:
        """By the records, whose ids a spreadsheet leaves alone; or by the pair's own id, which one may have taken for a
        time of day (1:2); or by the records in the other order, if that cannot mean another pair."""
        for own, one, other in ((pair_id, left, right), tuple(map(_bare, (pair_id, left, right)))):
            if found := self._of_records.get((one, other)):
                return found
            if own in self._pairs:
                return own
            turned = self._of_records.get((other, one))
            if turned and (self._self_join or one not in self._left or other not in self._right):
                return turned
        return None


def _bare(text: str) -> str:
    """An id without what a spreadsheet or a work list has put around it."""
    return unguarded(text.strip()).removeprefix("'")


def _named(one: ReadVerdict) -> str:
    return one.pair_id or pair_id(one.left_id or "", one.right_id or "")


def _check(one: ReadVerdict, reading: Reading) -> None:
    """Log what cannot be recorded."""
    for name, text, most in (("note", one.note, MAX_NOTE), ("who", one.who, MAX_NAME)):
        if len(text) > most:
            reading.add("cell_too_long", f"The text has {len(text):,} characters.", f"Keep {most:,}.", one.row, name)
        elif not _storable(text):
            cure = "Write it again, without control characters."
            reading.add("broken_encoding", "The text has characters that cannot be stored.", cure, one.row, name)
    if one.at is not None and not FIRST <= one.at <= datetime.now(UTC) + AHEAD:
        cure = "Write when the verdict was given, or leave it empty."
        reading.add("bad_label", f"The time {one.at:%Y-%m-%d} cannot be that of a verdict.", cure, one.row, "at")


def _storable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half of a character, which JSON can write
        return False
    return "\0" not in text


def _once(file: str, verdicts: Sequence[Brought]) -> tuple[Brought, ...]:
    """Each verdict once. Two different ones of a person on a pair need two times: the later counts."""
    found: dict[tuple[str, str, datetime | None], Brought] = {}
    for one in verdicts:
        held = found.setdefault((one.pair_id, one.who, one.at), one)
        if held.verdict != one.verdict:
            by = f" by {shown(one.who)}" if one.who else ""
            raise VerdictError(f"{file} has two different verdicts on {shown(one.pair_id)}{by}. Keep one.")
    return tuple(found.values())


def _log(folder: RunFolder) -> tuple[VerdictLog, str]:
    store = RunStore(folder.path.absolute().parent)
    return VerdictLog(store), store.get(folder.path.absolute().name).id
