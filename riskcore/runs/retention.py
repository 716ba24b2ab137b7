"""What is left of a run whose personal data was deleted under retention: a document in its folder, and refusals.

`riskcore.operations.retention` deletes; every reader and writer of a run that needs records asks here first.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from riskcore.errors import StorageError
from riskcore.runs.store.run_record import RunError
from riskcore.storage.files import read_json

FILE = "retention.json"
VERDICTS = "verdicts.parquet"  # the verdicts without pairs, people, notes and times


class ForgottenError(RunError):
    """The records that this needs were deleted under retention."""


@dataclasses.dataclass(frozen=True)
class Retained:
    """Who deleted what and when, and the figures that stay. People are numbered; pairs are rows."""

    run: str
    who: str
    at: str  # ISO 8601, UTC
    removed: Mapping[str, int]  # files, bytes, verdicts, people
    entries: int  # of the verdict log when it was deleted
    head: str  # digest of its last entry; "" where it was empty
    problems: tuple[str, ...]  # what was wrong with the log before it was deleted
    estimate: Any  # as JSON; None where there was no audit
    agreement: Any  # as JSON; None where there were no verdicts
    verdicts: Mapping[str, int]  # pairs by their current verdict
    people: Mapping[str, int]  # pairs judged by each
    sign_offs: tuple[Mapping[str, Any], ...]  # their figures, without words, signers and digests of these
    data_deleted: tuple[str, ...]  # data sets, labels and matchers that the run was made from
    data_kept: tuple[str, ...]  # those that stay, each with the reason
    digest: str = ""  # of all the rest
    seal: str = ""  # of run, entries and digest, with the key of the seal folder

    @property
    def sentence(self) -> str:
        """What was done, in words."""
        return (
            f"The records of run {self.run} were deleted under retention on {self.at[:10]} by "
            f"{self.who or 'someone without a name'}, with {self.removed['verdicts']:,} verdicts. Its figures stay."
        )

    @property
    def figure_sentences(self) -> list[str]:
        """The figures that stay, in sentences; those that are known."""
        stated, agreed = (one if isinstance(one, dict) else {} for one in (self.estimate, self.agreement))
        said = [f"Estimate: {stated.get('sentence')}" if stated else "No estimate was made."]
        if agreed:
            said.append(str(agreed.get("sentence")))
        if self.verdicts:
            counts = ", ".join(f"{count:,} {word}" for word, count in sorted(self.verdicts.items()))
            said.append(f"Pairs by verdict: {counts}. People who judged: {len(self.people):,}.")
        return said + [
            f"Sign-off {one['number']} of {one['at']}: {one['matches']:,} matches of {one['pairs']:,} pairs."
            for one in self.sign_offs
        ]

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def compute_digest(self) -> str:
        """SHA-256 over everything but digest and seal, as JSON with sorted names."""
        facts = {name: value for name, value in self.to_json().items() if name not in ("digest", "seal")}
        text = json.dumps(facts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    @classmethod
    def from_json(cls, stored: Any, where: str) -> Self:
        names = {field.name for field in dataclasses.fields(cls)}
        if not isinstance(stored, Mapping) or set(stored) != names:
            raise StorageError(f"{where} is not a note of this version of Riskcore. Restore it from a backup.")
        lists = {name: tuple(stored[name]) for name in ("problems", "sign_offs", "data_deleted", "data_kept")}
        return cls(**{**stored, **lists})


def is_forgotten(folder: Path) -> bool:
    """Whether the records of the run in this folder were deleted under retention."""
    return (folder / FILE).is_file()


def read_retained(folder: Path) -> Retained | None:
    """What is left of the run; None where its records are there."""
    if not is_forgotten(folder):
        return None
    return Retained.from_json(read_json(folder / FILE, sealed=True), str(folder / FILE))


def refuse_forgotten(folder: Path) -> None:
    """Raise an error where what follows needs records that were deleted."""
    found = read_retained(folder)
    if found is not None:
        raise ForgottenError(f"{found.sentence} `riskcore runs show {found.run}` shows them; this needs the records.")
