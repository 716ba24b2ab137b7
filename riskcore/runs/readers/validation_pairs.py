"""Where a rule was wrong on labelled pairs of the target: validation pairs that it fires on and that contradict it."""

from __future__ import annotations

import dataclasses

from riskcore.columns import LEFT, PAIR_ID, PART, RIGHT
from riskcore.rules.rule import MATCH
from riskcore.runs.candidate_files import VALIDATION
from riskcore.runs.folder import RunFolder
from riskcore.storage.parquet import frame, scan, searching


@dataclasses.dataclass(frozen=True)
class ValidationPair:
    """A validation pair with its label, which the run was given, and both records."""

    pair_id: str
    label: int
    left: dict[str, str | None]
    right: dict[str, str | None]


@dataclasses.dataclass(frozen=True)
class ValidationRecord:
    """A rule's record on the validation pairs, and the pairs it was wrong on, in the order of the data."""

    right: int
    pairs: int  # that it fires on
    errors: tuple[ValidationPair, ...]  # the first of them, where there are many

    @property
    def wrong(self) -> int:
        return self.pairs - self.right


def rule_on_validation(folder: RunFolder, rule: int, most: int = 50) -> ValidationRecord | None:
    """What a rule did on the validation pairs, with at most so many of its errors.

    None where the run did not store its validation pairs, or has none.
    """
    if not folder.other_pairs_file.exists():
        return None
    outcome = int(folder.rules().rules[rule].outcome == MATCH)
    pairs = f"FROM {scan(folder.other_pairs_file)} WHERE {PART} = ? AND label IS NOT NULL"
    fired = f"{pairs} AND list_contains(rules, ?)"
    counts = "count(*) AS pairs, count(*) FILTER (label = ?) AS agreeing"
    with searching() as connection:
        if frame(connection, f"SELECT count(*) AS n {pairs}", [VALIDATION])["n"][0] == 0:
            return None
        total = frame(connection, f"SELECT {counts} {fired}", [outcome, VALIDATION, rule]).iloc[0]
        query = f"SELECT * EXCLUDE (rules) {fired} AND label <> ? ORDER BY file_row_number LIMIT {int(most)}"
        rows = frame(connection, query, [VALIDATION, rule, outcome])
    rows = rows.astype(object).where(rows.notna(), None)
    errors = tuple(
        ValidationPair(row[PAIR_ID], int(row["label"]), _side(row, LEFT), _side(row, RIGHT))
        for row in rows.to_dict("records")
    )
    return ValidationRecord(int(total["agreeing"]), int(total["pairs"]), errors)


def _side(row: dict[str, object], side: str) -> dict[str, str | None]:
    """One record of the pair."""
    return {
        name.removeprefix(side): None if value is None else str(value)
        for name, value in row.items()
        if name.startswith(side)
    }
