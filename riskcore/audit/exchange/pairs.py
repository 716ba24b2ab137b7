"""What is exchanged, whatever the format: a pair with both records and its verdicts; and a verdict as it is read."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

import pandas as pd

from riskcore.audit.decisions import decisions, values_of
from riskcore.audit.export import ExportError
from riskcore.audit.outside_draws import outside_ids, outside_records
from riskcore.audit.verdicts import VERDICTS
from riskcore.columns import LEFT, LEFT_ID, PAIR_ID, RIGHT, RIGHT_ID
from riskcore.data.label_file import MEANT
from riskcore.data.problems import DataFormatError, ProblemLog, shown, visible
from riskcore.runs.candidate_files import is_self_join
from riskcore.runs.folder import RunFolder

MATCH, NON_MATCH, UNSURE = VERDICTS
SAID = (PAIR_ID, "verdict", "note", "who", "at")  # columns of every table, beside what its tool needs
ESCAPE = "value_"  # before an attribute whose name means something else in the format


@dataclasses.dataclass(frozen=True)
class Given:
    """A person's verdict on a pair."""

    verdict: str
    note: str = ""
    who: str = ""
    at: datetime | None = None


@dataclasses.dataclass(frozen=True)
class ExchangedPair:
    """A pair to write: both records without their missing values, and what people and the model say of it."""

    pair_id: str
    left_id: str
    right_id: str
    left: Mapping[str, str]
    right: Mapping[str, str]
    verdicts: tuple[Given, ...] = ()
    probability: float | None = None  # of a match, by the model; None if it is not to be told
    self_join: bool = False

    @property
    def suggestion(self) -> tuple[str, float] | None:
        """The model's label and the probability that it is right."""
        if self.probability is None:
            return None
        match = self.probability >= 0.5
        return (MATCH, self.probability) if match else (NON_MATCH, 1 - self.probability)


@dataclasses.dataclass(frozen=True)
class ReadVerdict:
    """A verdict from a file, with all that the file has of the pair. Ids are empty and `at` is None where it has none;
    missing values are left out."""

    pair_id: str
    left_id: str
    right_id: str
    verdict: str  # match, non-match or unsure
    note: str = ""
    who: str = ""
    at: datetime | None = None
    left: Mapping[str, str] = dataclasses.field(default_factory=dict)
    right: Mapping[str, str] = dataclasses.field(default_factory=dict)
    row: int = 0  # the line of a csv file that it ends in, or the number of the task or record, from 1


def pairs_of_run(
    folder: RunFolder, wanted: Sequence[str], verdicts: Mapping[str, Sequence[Given]], probabilities: bool
) -> list[ExchangedPair]:
    """These pairs of a run, in this order, those drawn outside its candidates too; one error names the pairs that it
    does not have."""
    frame = decisions(folder, verdicts={}, reasons=False, values=False)
    place_of = dict(zip(frame[PAIR_ID], range(len(frame)), strict=True))
    candidates = [pair for pair in wanted if pair in place_of]
    found = _candidates(folder, frame.iloc[[place_of[pair] for pair in candidates]], verdicts, probabilities)
    if len(candidates) < len(wanted):
        found |= _outside(folder, set(wanted) - found.keys(), verdicts)
    unknown = [pair for pair in wanted if pair not in found]
    if unknown:
        named = ", ".join(map(shown, unknown[:5])) + (f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else "")
        raise ExportError(f"Run {folder.path.name} has no pair {named}. Choose pairs of this run.")
    return [found[pair] for pair in wanted]


def _candidates(
    folder: RunFolder, rows: pd.DataFrame, verdicts: Mapping[str, Sequence[Given]], probabilities: bool
) -> dict[str, ExchangedPair]:
    values = values_of(folder, rows.index.to_numpy())
    sides = [
        [_record(texts) for texts in _texts(values, side).to_dict("records")] if len(values.columns) else []
        for side in (LEFT, RIGHT)
    ]
    both, found = is_self_join(folder), {}
    for at, (pair, one, other, probability) in enumerate(
        rows[[PAIR_ID, LEFT_ID, RIGHT_ID, "probability"]].itertuples(index=False, name=None)
    ):
        told = None if not probabilities or pd.isna(probability) else float(probability)
        ids = ("" if pd.isna(one) else str(one), "" if pd.isna(other) else str(other))
        given = tuple(verdicts.get(pair, ()))
        found[pair] = ExchangedPair(pair, *ids, sides[0][at], sides[1][at], given, told, both)
    return found


def _outside(
    folder: RunFolder, wanted: Collection[str], verdicts: Mapping[str, Sequence[Given]]
) -> dict[str, ExchangedPair]:
    """Those of the wanted pairs that were drawn outside the candidates; no model says anything of them."""
    records, both = outside_records(folder), is_self_join(folder)
    found = {}
    for pair, one, other in outside_ids(folder).itertuples(index=False, name=None):
        if pair in wanted:
            left, right = (_record(texts) for texts in records[pair])
            given = tuple(verdicts.get(pair, ()))
            found[pair] = ExchangedPair(pair, str(one), str(other), left, right, given, None, both)
    return found


def _texts(values: pd.DataFrame, side: str) -> pd.DataFrame:
    some = values[[name for name in values if name.startswith(side)]]
    return some.rename(columns=lambda name: name.removeprefix(side))


def _record(values: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items() if not pd.isna(value) and value != ""}


def known_values(values: Mapping[str, str]) -> dict[str, str]:
    """Values without the missing ones."""
    return {name: value for name, value in values.items() if value != ""}


def escaped(name: str, taken: bool) -> str:
    """An attribute's name as a column, if `taken` says that the column is another's."""
    return ESCAPE + name if taken or name.startswith(ESCAPE) else name


def time_text(at: datetime | None) -> str:
    return "" if at is None else at.isoformat()


class Reading:
    """Turns texts of a file into verdicts, and collects what is wrong with them."""

    def __init__(self, file: str, log: ProblemLog) -> None:
        self.file, self.log = file, log

    def verdict(self, text: object, row: int, column: str) -> str:
        """Match, non-match or unsure; empty where nothing is said or it is no verdict."""
        meant = MEANT.get(str(text).strip().lower())
        if meant is None:
            cure = "Write match, non-match or unsure, or leave it empty."
            self.log.add("bad_label", f"The verdict is {shown(str(text))}.", cure, self.file, row, column)
        return meant or ""

    def score(self, text: str, row: int, column: str) -> str:
        """A verdict given as a number: above a half a match, below it a non-match, a half unsure."""
        try:
            number = float(text) if text.strip() else None
        except ValueError:
            number = math.nan
        if number is None:
            return ""
        if not 0 <= number <= 1:
            cure = "Write a number from 0 to 1, or leave it empty."
            self.log.add("bad_label", f"The score is {shown(text)}.", cure, self.file, row, column)
            return ""
        return UNSURE if number == 0.5 else MATCH if number > 0.5 else NON_MATCH

    def time(self, text: object, row: int, column: str) -> datetime | None:
        if text is None or text == "":
            return None
        try:
            found = datetime.fromisoformat(str(text))
        except ValueError:
            cure = "Write it like 2026-03-01T12:00:00+00:00, or leave it empty."
            self.log.add("bad_label", f"The time is {shown(str(text))}.", cure, self.file, row, column)
            return None
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def has_ids(self, pair_id: str, left_id: str, right_id: str, row: int) -> bool:
        """Whether the pair can be found again; logged if not."""
        if pair_id or (left_id and right_id):
            return True
        cure = "Give the id of the pair, or those of both records."
        self.log.add("empty_id", "The pair has no id.", cure, self.file, row, PAIR_ID)
        return False

    def raise_problems(self) -> None:
        """Raise one error with all that is wrong, if anything is."""
        if self.log.has_errors:
            raise DataFormatError([one for one in self.log.problems if one.severity == "error"])

    def add(self, kind: str, message: str, cure: str, row: int | None = None, column: str | None = None) -> None:
        self.log.add(kind, message, cure, self.file, row, None if column is None else visible(column))
