"""Records of Argilla 2.x as JSON, or a record per line (JSONL): what `Dataset.records.to_json` writes and `from_json`
reads. `fields` has both records as text, `suggestions` what the model says, `responses` the verdicts (question
`verdict`) and the notes (question `note`), by `user_id`.

Argilla takes only some characters in names of fields and no names of people. The values of the records, and person and
time of each verdict, are therefore kept as JSON in `metadata`, which Argilla stores as it is; ids of users are made
from the names. Responses given in Argilla are by the id of their user. Its files do not tell drafts and discarded
responses from submitted ones.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from riskcore.audit.exchange.pairs import ExchangedPair, Given, Reading, ReadVerdict, known_values, time_text
from riskcore.columns import LEFT_ID, PAIR_ID, RIGHT_ID

VERDICT, NOTE = "verdict", "note"
RECORDS, VERDICTS = "records", "verdicts"  # in the metadata
SUBMITTED, DISCARDED = "submitted", "discarded"  # without a status, Argilla takes a response for a draft
_NAMES = uuid.UUID("6f1c1f6e-0d0c-5c6b-9a0e-6a1b6f3f7a11")  # any fixed one: the same name gives the same id


def recognised(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("fields"), dict)


def user_id(who: str) -> str:
    """The id of a user that stands for a name."""
    return str(uuid.uuid5(_NAMES, who))


def write(pairs: Sequence[ExchangedPair], lines: bool = False) -> bytes:
    records = [_record(pair) for pair in pairs]
    if lines:
        return "".join(json.dumps(record) + "\n" for record in records).encode("ascii")
    return json.dumps(records, indent=1).encode("ascii")


def _record(pair: ExchangedPair) -> dict[str, Any]:
    responses: dict[str, list[dict[str, str]]] = {}
    for one in pair.verdicts:
        by = {"user_id": user_id(one.who), "status": SUBMITTED}
        responses.setdefault(VERDICT, []).append({"value": one.verdict, **by})
        if one.note:
            responses.setdefault(NOTE, []).append({"value": one.note, **by})
    suggestion = pair.suggestion
    kept = [{"user_id": user_id(one.who), "who": one.who, "at": time_text(one.at)} for one in pair.verdicts]
    return {
        "id": pair.pair_id,
        "fields": {"left": _lines(pair.left), "right": _lines(pair.right)},
        "metadata": {
            PAIR_ID: pair.pair_id,
            LEFT_ID: pair.left_id,
            RIGHT_ID: pair.right_id,
            RECORDS: json.dumps({"left": dict(pair.left), "right": dict(pair.right)}),
            VERDICTS: json.dumps(kept),
        },
        "suggestions": {}
        if suggestion is None
        else {VERDICT: {"value": suggestion[0], "score": suggestion[1], "agent": "riskcore"}},
        "responses": responses,
        "vectors": {},
    }


def _lines(values: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in values.items())


def read(record: Mapping[str, Any], row: int, reading: Reading) -> list[ReadVerdict]:
    metadata = record.get("metadata") or {}
    pair_id = _text(metadata.get(PAIR_ID)) or _text(record.get("id"))
    ids = (pair_id, _text(metadata.get(LEFT_ID)), _text(metadata.get(RIGHT_ID)))
    kept = _kept(metadata, RECORDS, {}, row, reading)
    left, right = (
        known_values({name: _text(value) for name, value in (kept.get(side) or {}).items()})
        for side in ("left", "right")
    )
    given = _given(record, row, reading)
    if not given or not reading.has_ids(*ids, row):
        return []
    return [ReadVerdict(*ids, one.verdict, one.note, one.who, one.at, left, right, row) for one in given]


def _given(item: Mapping[str, Any], row: int, reading: Reading) -> list[Given]:
    responses = item.get("responses") or {}
    if not isinstance(responses, dict):
        cure = "Write the file with records.to_json of Argilla 2."
        reading.add("unknown_format", "The responses are not sorted by question.", cure, row, "responses")
        return []
    people = {one["user_id"]: one for one in _kept(item.get("metadata") or {}, VERDICTS, [], row, reading)}
    notes = {_text(one.get("user_id")): _text(one.get("value")) for one in responses.get(NOTE) or ()}
    found = []
    for one in responses.get(VERDICT) or ():
        if one.get("status") == DISCARDED:
            continue
        verdict = reading.verdict(one.get("value"), row, VERDICT)
        user = _text(one.get("user_id"))
        known = people.get(user, {"who": user, "at": ""})
        at = reading.time(known["at"], row, VERDICTS)
        if verdict:
            found.append(Given(verdict, notes.get(user, ""), known["who"], at))
    return found


def _kept(metadata: Mapping[str, Any], name: str, empty: Any, row: int, reading: Reading) -> Any:
    """A value that Riskcore put into the metadata; `empty` where there is none."""
    text = metadata.get(name)
    if text is None:
        return empty
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        cure = "Export the record again, or delete this metadata."
        reading.add("unknown_format", f"The metadata {name} is not what was exported.", cure, row, name)
        return empty


def _text(value: Any) -> str:
    return "" if value is None else str(value)
