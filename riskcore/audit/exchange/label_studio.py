"""Tasks of Label Studio 1.x as JSON: `data` has the ids and both records (`left_title`, `right_title`), `annotations`
the verdicts, `predictions` what the model says. The verdict is a `choices` result named `verdict`, the note a
`textarea` result named `note`, both about an object named `pair`.

Label Studio refuses annotations by people whom it does not know, and sets the time itself. A verdict's person and time
are therefore kept in `meta` of its result, which it stores as it is. Annotations made in Label Studio are by
`completed_by`. Its export JSON-MIN, an object per annotation with `verdict`, `note` and `annotator`, is read too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from riskcore.audit.exchange.pairs import ExchangedPair, Given, Reading, ReadVerdict, known_values, time_text
from riskcore.columns import LEFT, LEFT_ID, PAIR_ID, RIGHT, RIGHT_ID

VERDICT, NOTE, PAIR = "verdict", "note", "pair"
CHOICES, TEXT = "choices", "textarea"
ANNOTATION = "annotation_id"  # of JSON-MIN


def recognised(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("data"), dict) or ANNOTATION in item


def write(pairs: Sequence[ExchangedPair], model: str = "riskcore") -> bytes:
    return json.dumps([_task(pair, model) for pair in pairs], indent=1).encode("ascii")


def _task(pair: ExchangedPair, model: str) -> dict[str, Any]:
    data = {PAIR_ID: pair.pair_id, LEFT_ID: pair.left_id, RIGHT_ID: pair.right_id}
    data |= {LEFT + name: value for name, value in pair.left.items()}
    data |= {RIGHT + name: value for name, value in pair.right.items()}
    task: dict[str, Any] = {"data": data, "annotations": [_annotation(one) for one in pair.verdicts]}
    if pair.suggestion is not None:
        word, score = pair.suggestion
        task["predictions"] = [{"model_version": model, "score": score, "result": [_choice(word)]}]
    return task


def _annotation(given: Given) -> dict[str, Any]:
    result = [{**_choice(given.verdict), "meta": {"who": given.who, "at": time_text(given.at)}}]
    if given.note:
        result.append({"from_name": NOTE, "to_name": PAIR, "type": TEXT, "value": {"text": [given.note]}})
    return {"result": result, "was_cancelled": False, "ground_truth": False}


def _choice(word: str) -> dict[str, Any]:
    return {"from_name": VERDICT, "to_name": PAIR, "type": CHOICES, "value": {CHOICES: [word]}}


def read(task: Mapping[str, Any], row: int, reading: Reading) -> list[ReadVerdict]:
    data = task.get("data", task)
    ids = (_text(data.get(PAIR_ID)), _text(data.get(LEFT_ID)), _text(data.get(RIGHT_ID)))
    texts = {name: _text(value) for name, value in data.items()}
    left, right = (
        known_values({name.removeprefix(side): text for name, text in texts.items() if name.startswith(side)})
        for side in (LEFT, RIGHT)
    )
    if ANNOTATION in task:
        said = [_given_min(task, row, reading)]
    else:
        said = [_given(one, row, reading) for one in task.get("annotations") or ()]
    given = [one for one in said if one is not None]
    if not given or not reading.has_ids(*ids, row):
        return []
    return [ReadVerdict(*ids, one.verdict, one.note, one.who, one.at, left, right, row) for one in given]


def _given(annotation: Mapping[str, Any], row: int, reading: Reading) -> Given | None:
    """What an annotation says; None if it was skipped or says nothing."""
    results = annotation.get("result") or ()
    choices = [one for one in results if one.get("type") == CHOICES]
    choices = [one for one in choices if one.get("from_name") == VERDICT] or choices
    chosen = [word for one in choices for word in (one.get("value") or {}).get(CHOICES) or ()]
    if annotation.get("was_cancelled") or not chosen:
        return None
    if len(chosen) > 1:
        words = ", ".join(map(str, chosen))
        reading.add("bad_label", f"An annotation has several choices: {words[:100]}.", "Leave one.", row, VERDICT)
        return None
    verdict = reading.verdict(chosen[0], row, VERDICT)
    meta = choices[0].get("meta") or {}
    who = meta["who"] if "who" in meta else _person(annotation.get("completed_by"))
    at = reading.time(meta["at"] if "at" in meta else annotation.get("created_at"), row, "created_at")
    notes = [one["value"].get("text") for one in results if one.get("type") == TEXT and one.get("value")]
    note = "\n".join(_text(text) for some in notes for text in (some if isinstance(some, list) else [some]))
    return Given(verdict, note, _text(who), at) if verdict else None


def _given_min(item: Mapping[str, Any], row: int, reading: Reading) -> Given | None:
    """What an object of JSON-MIN says."""
    verdict = reading.verdict(_text(item.get(VERDICT)), row, VERDICT)
    notes = item.get(NOTE)
    note = "\n".join(map(_text, notes)) if isinstance(notes, list) else _text(notes)
    at = reading.time(item.get("created_at"), row, "created_at")
    return Given(verdict, note, _person(item.get("annotator")), at) if verdict else None


def _person(completed_by: Any) -> str:
    """The address of a person if it is told, or the number."""
    if isinstance(completed_by, dict):
        return _text(completed_by.get("email") or completed_by.get("id"))
    return _text(completed_by)


def _text(value: Any) -> str:
    return "" if value is None else str(value)
