"""Sign-offs: a person states that the result of a run is accepted, and exactly which state of it.

A sign-off holds digests of that state, so that `check` can later say what has changed. It is a file of its own in the
run's folder, never overwritten; each has a digest of itself and of the sign-off before it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from riskcore.audit.chain import Entry, chain_problems
from riskcore.audit.decisions import MATCH, answer_of, decisions
from riskcore.audit.log_entries import pairs_by_person, pairs_by_verdict, recorded_entries
from riskcore.audit.manifest import SIGN_OFFS, settled_files
from riskcore.audit.verdicts import MAX_NAME, VerdictLog
from riskcore.columns import PAIR_ID
from riskcore.errors import DamagedFileError, RiskcoreError, StorageError
from riskcore.provenance import differences
from riskcore.runs.folder import RunFolder
from riskcore.runs.retention import refuse_forgotten
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.files import read_json, write_json, writing
from riskcore.storage.jsonable import jsonable
from riskcore.storage.lock import FileLock

MAX_STATEMENT = 10_000  # characters; a longer statement is a pasted file
VOIDED_BY = (
    "A verdict is added, replaced or withdrawn.",
    "The decision on any pair changes.",
    "The data or the scores of the run are replaced.",
    "Another run, method or iteration is used in place of this one.",
)
_NO_ESTIMATE = "This sign-off states no estimate of how good the labels are."
_WITH_ESTIMATE = "This sign-off states an estimate, with its interval, as it was at that moment."
_TRIES = 5  # to read the log while nobody adds to it
_PATIENCE = 10.0  # seconds to wait for another person's sign-off to be written


class SignOffError(RiskcoreError):
    """The result cannot be signed off like this."""


@dataclasses.dataclass(frozen=True)
class SignOff:
    """Who accepts which state of a result, in whose words. All digests are SHA-256 in hexadecimal digits."""

    number: int  # of the run's sign-offs, from 1
    run: str
    who: str
    at: str  # ISO 8601, UTC
    statement: str  # in the signer's own words
    fingerprint: str  # of the data, from run.json
    truth_fingerprint: str
    code: str
    versions: Mapping[str, str]
    method: str
    iteration: int | None  # the kept one; None where the method has no iterations
    pairs: int
    matches: int
    labels: str  # digest of all pair ids with their decision: see `labels_digest`
    entries: int  # length of the verdict log
    head: str  # digest of its last entry; "" where it is empty
    verdicts: Mapping[str, int]  # pairs by their current verdict
    people: Mapping[str, int]  # pairs judged by each person
    estimate: Any  # as JSON; None where there is none
    estimate_note: str
    voided_by: tuple[str, ...]
    files: Mapping[str, str]  # digests of the files that the decisions follow from
    before: str  # digest of the sign-off before this one; "" of the first
    digest: str = ""  # of all the rest

    def to_json(self) -> dict[str, Any]:
        """All fields in types that JSON has."""
        found: dict[str, Any] = jsonable(dataclasses.asdict(self))
        return found

    @classmethod
    def from_json(cls, stored: Any, where: str = "The sign-off") -> Self:
        """The sign-off of a stored document."""
        names = {field.name for field in dataclasses.fields(cls)}
        if not isinstance(stored, Mapping) or set(stored) != names:
            raise StorageError(f"{where} is not a sign-off of this version of Riskcore. Restore it from a copy.")
        return cls(**{**stored, "voided_by": tuple(stored["voided_by"] or ())})


def sign(folder: RunFolder, store: RunStore, who: str, statement: str, estimate: Any = None) -> SignOff:
    """Sign off the result of a run as it is now, and store the sign-off in the run's folder.

    `estimate` is a mapping, or states itself as one (`to_json`, `to_dict`, or a dataclass).
    """
    who, statement = who.strip(), statement.strip()
    _check_words(who, statement)
    refuse_forgotten(folder.path)
    answer_of(folder)  # a run that is not done has no result to sign
    place = folder.path / SIGN_OFFS
    with writing(place):
        place.mkdir(exist_ok=True)
    with FileLock(place / ".lock", _PATIENCE):
        earlier = sign_offs(folder)
        stated = as_figures(estimate)
        unsigned = SignOff(
            **state_of(folder, store),
            number=earlier[-1].number + 1 if earlier else 1,
            who=who,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            statement=statement,
            estimate=stated,
            estimate_note=_NO_ESTIMATE if stated is None else _WITH_ESTIMATE,
            voided_by=VOIDED_BY,
            before=earlier[-1].digest if earlier else "",
        )
        found = dataclasses.replace(unsigned, digest=sign_off_digest(unsigned))
        file = _file(folder, found.number)
        if file.exists():  # only by a name that `sign_offs` does not read
            raise SignOffError(f"{file} is there already and is not overwritten. Move it away and sign again.")
        write_json(file, found.to_json())
    return found


def sign_offs(folder: RunFolder) -> list[SignOff]:
    """All sign-offs of a run, the oldest first."""
    names = sorted((folder.path / SIGN_OFFS).glob("*.json"), key=lambda file: (len(file.stem), file.stem))
    cure = "Restore it from a copy: a sign-off is never written twice."
    return [SignOff.from_json(read_json(file, cure, sealed=True), str(file)) for file in names if file.stem.isdecimal()]


def check(folder: RunFolder, store: RunStore, signoff: SignOff) -> list[str]:
    """What has changed since the sign-off, in sentences; empty if it still holds."""
    if signoff.run != folder.path.name:
        return [f"Sign-off {signoff.number} is about run {signoff.run}, and this is run {folder.path.name}."]
    problems = altered([signoff], chained=False)
    entries = recorded_entries(store, signoff.run)
    problems += chain_problems(entries) + log_changes(signoff, entries)
    try:
        now = state_of(folder, store, intact=False)
    except DamagedFileError as error:
        return [*problems, str(error), *_file_changes(signoff.files, settled_files(folder))]
    problems += [sentence for name, sentence in _DATA.items() if now[name] != getattr(signoff, name)]
    problems += [f"The run was made with other versions: {one}." for one in _versions(signoff, now)]
    problems += answer_changes(signoff, now["method"], now["iteration"])
    problems += labels_changes(signoff, now["labels"], now["pairs"], now["matches"])
    return problems + _file_changes(signoff.files, now["files"])


def state_of(folder: RunFolder, store: RunStore, intact: bool = True) -> dict[str, Any]:
    """What a sign-off covers, as the fields of one. With `intact`, a verdict log that was altered is an error."""
    run, answer = folder.run(), answer_of(folder)
    log, name = VerdictLog(store), folder.path.name
    for _ in range(_TRIES):
        entries, current = recorded_entries(store, name), log.current(name)
        if log.size(name) == len(entries):  # entries are only added: the verdicts are those of these entries
            break
    else:
        raise SignOffError("Verdicts are being recorded at this moment. Sign when the reviewers have stopped.")
    if intact and (problems := chain_problems(entries)):
        raise SignOffError(f"The verdict log is not intact, so it cannot be signed. {' '.join(problems)}")
    frame = decisions(folder, verdicts=current, reasons=False, values=False)
    decided = dict(zip(frame[PAIR_ID], frame["decision"], strict=True))
    return {
        "run": name,
        "fingerprint": run["fingerprint"],
        "truth_fingerprint": run["truth_fingerprint"],
        "code": run["code"],
        "versions": run["versions"],
        "method": answer.method,
        "iteration": answer.iteration,
        "pairs": len(decided),
        "matches": sum(one == MATCH for one in decided.values()),
        "labels": labels_digest(decided.items()),
        "entries": len(entries),
        "head": entries[-1]["digest"] if entries else "",
        "verdicts": pairs_by_verdict(entries),
        "people": pairs_by_person(entries),
        "files": settled_files(folder),
    }


def labels_digest(decided: Iterable[tuple[str, str]]) -> str:
    """SHA-256 over all pairs with their decision: a JSON list of both in a line each, in the order of the pair ids."""
    found = hashlib.sha256()
    for pair, decision in sorted(decided):
        found.update(json.dumps([pair, decision], ensure_ascii=True).encode("ascii") + b"\n")
    return found.hexdigest()


def as_figures(stated: Any) -> Any:
    """Figures in types that JSON has, from a mapping or from what states itself as one, with its `sentence` if it has
    one; None stays None."""
    found = stated
    if name := next((one for one in ("to_json", "to_dict") if hasattr(stated, one)), ""):
        found = getattr(stated, name)()
    elif dataclasses.is_dataclass(stated) and not isinstance(stated, type):
        found = dataclasses.asdict(stated)
    figures = jsonable(json.loads(found) if isinstance(found, str) else found)
    words = getattr(stated, "sentence", None)
    return {"sentence": words, **figures} if isinstance(words, str) and isinstance(figures, dict) else figures


def sign_off_digest(signoff: SignOff) -> str:
    """SHA-256 over everything in a sign-off but its digest, as JSON with sorted names."""
    facts = {name: value for name, value in signoff.to_json().items() if name != "digest"}
    text = json.dumps(facts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def altered(signoffs: Sequence[SignOff], chained: bool = True) -> list[str]:
    """Sign-offs that are missing or are not as they were signed. `chained`: these are all of a run's."""
    problems, before = [], ""
    for place, one in enumerate(signoffs, start=1):
        if chained and (one.number != place or one.before != before):
            problems.append(f"Sign-off {one.number} does not follow from the sign-off before it: one is missing.")
        if one.digest != sign_off_digest(one):
            problems.append(f"Sign-off {one.number} was altered after it was signed.")
        before = one.digest
    return problems


def log_changes(signoff: SignOff, entries: Sequence[Entry]) -> list[str]:
    """How these entries of the verdict log differ from those that were signed."""
    if len(entries) < signoff.entries:
        missing = signoff.entries - len(entries)
        return [f"{missing:,} of the {signoff.entries:,} signed entries of the verdict log are missing."]
    signed = entries[: signoff.entries]
    head = signed[-1]["digest"] if signed else ""
    problems = [] if head == signoff.head else ["The signed entries of the verdict log are not those in the log."]
    if not problems and (pairs_by_verdict(signed), pairs_by_person(signed)) != (signoff.verdicts, signoff.people):
        problems.append("The counts of verdicts in the sign-off are not those of the signed entries.")
    since = entries[signoff.entries :]
    if since:
        people = ", ".join(sorted({str(one["who"]) or "a reviewer without a name" for one in since}))
        what = "1 verdict was" if len(since) == 1 else f"{len(since):,} verdicts were"
        problems.append(f"{what} added, replaced or withdrawn since the sign-off, by {people}.")
    return problems


def answer_changes(signoff: SignOff, method: str, iteration: int | None) -> list[str]:
    """Whether another answer of the run is used than the one that was signed."""
    if (method, iteration) == (signoff.method, signoff.iteration):
        return []
    signed, now = (_answer(*one) for one in ((signoff.method, signoff.iteration), (method, iteration)))
    return [f"The result is now that of {now}, and {signed} was signed."]


def labels_changes(signoff: SignOff, digest: str, pairs: int, matches: int) -> list[str]:
    """Whether the decisions are others than those that were signed."""
    if digest == signoff.labels and (pairs, matches) == (signoff.pairs, signoff.matches):
        return []
    signed, now = (
        f"{one:,} matches among {of:,} pairs" for one, of in ((signoff.matches, signoff.pairs), (matches, pairs))
    )
    counts = f"{signed} were signed, and now there are {now}" if signed != now else f"there are still {now}"
    return [f"The decision on at least one pair has changed since the sign-off: {counts}."]


_DATA = {
    "fingerprint": "The run's data are not the data that were signed: run.json has another fingerprint.",
    "truth_fingerprint": "The truth that scores are measured by is not the one that was signed.",
    "code": "The run is said to be made with other code than the code that was signed.",
}


def _versions(signoff: SignOff, now: Mapping[str, Any]) -> list[str]:
    return differences(signoff.versions, now["versions"])


def _file_changes(signed: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    lost = [f"The file {name} was there at the sign-off and is missing." for name in signed if name not in now]
    new = [f"The file {name} was not there at the sign-off." for name in now if name not in signed]
    other = [name for name in signed if name in now and now[name] != signed[name]]
    return [*lost, *new, *(f"The file {name} was replaced or altered since the sign-off." for name in other)]


def _answer(method: str, iteration: int | None) -> str:
    return method if iteration is None else f"{method}, iteration {iteration}"


def _check_words(who: str, statement: str) -> None:
    if not who or len(who) > MAX_NAME:
        raise SignOffError(f"A sign-off needs the signer's name, with at most {MAX_NAME} characters.")
    if not statement or len(statement) > MAX_STATEMENT:
        raise SignOffError(
            f"A sign-off needs a statement in the signer's own words, with at most {MAX_STATEMENT:,} characters."
        )


def _file(folder: RunFolder, number: int) -> Path:
    return folder.path / SIGN_OFFS / f"{number:02d}.json"
