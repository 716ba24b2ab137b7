"""The example pairs of a dossier: both records with their differences, the decision, and the reasons for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from riskcore.audit.decisions import MATCH, NON_MATCH, AnswerFacts
from riskcore.audit.dossier.masking import Mask, apart, blocks
from riskcore.columns import LEFT_ID, PAIR_ID, PART, RIGHT_ID, TRUTH
from riskcore.data.schema import AttributeType
from riskcore.metrics.differences import Piece, PieceState, Relation, compare_values
from riskcore.risk.balance import BalanceSheet
from riskcore.runs.candidate_files import TARGET
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.pair_detail import pair_records
from riskcore.runs.readers.pair_reasons import TOO_LONG, Record, attribute_types, pair_reason
from riskcore.runs.readers.pair_sheet import pair_sheet, sheet_method
from riskcore.storage.jsonable import jsonable

EXAMPLES, RISKIEST = 20, 8
LONG_VALUE = 400  # characters of a value that are shown
LEAST_PART = 0.005  # log-odds: below it a contribution reads 0.00
CHOICE = (
    f"The first {RISKIEST} pairs are those with the highest risk. The others are matches and non-matches, spread "
    "evenly from the least sure decision to the surest. They show how decisions are made; they are no random sample, "
    "and no rate of errors follows from them."
)
_RELATIONS = {
    Relation.IDENTICAL: "the values are equal",
    Relation.SAME: "the values are equal but for writing",
    Relation.REORDERED: "the values are equal but for order",
    Relation.ABBREVIATED: "one value abbreviates the other",
    Relation.CONTAINED: "one value contains the other",
    Relation.NEAR: "the values are spelled almost alike",
    Relation.DIFFERENT: "the values differ",
    Relation.MISSING: "a value is missing on one side",
    Relation.BOTH_MISSING: "no value on either side",
}


def examples(folder: RunFolder, answer: AnswerFacts, frame: pd.DataFrame, mask: Mask) -> list[dict[str, Any]]:
    """Twenty target pairs of the decisions, or all if there are fewer, as JSON values with nothing hidden in them."""
    types, explained = attribute_types(folder), sheet_method(folder, answer.method, answer.iteration)
    found = []
    for row in chosen(frame):
        told = frame.loc[row]
        left, right = pair_records(folder, row)
        sheet = None if explained is None else pair_sheet(folder, explained, row)
        found.append(
            {
                "pair": mask.pair(told[PAIR_ID]),
                "records": [None if mask.ids else mask.value(str(told[name] or "")) for name in (LEFT_ID, RIGHT_ID)],
                "decision": told["decision"],
                "decided_by": told["decided_by"],
                "because": str(told["reasons"] or ""),  # rules in sentences, or who decided: no value of a record
                "probability": jsonable(told["probability"]),
                "risk": jsonable(told["risk"]),
                "truth": None if pd.isna(told[TRUTH]) else (NON_MATCH, MATCH)[int(told[TRUTH])],
                "attributes": [_attribute(left, right, name, types[name], mask) for name in types],
                "evidence": None if sheet is None else _evidence(left, right, types, sheet, mask),
            }
        )
    return found


def chosen(frame: pd.DataFrame) -> list[int]:
    """The rows of the target pairs to show, the riskiest first; see `CHOICE`."""
    target = frame[frame[PART] == TARGET]
    unsure = -(target["probability"].astype(float) - 0.5).abs()
    order = target["risk"].astype(float).fillna(unsure).sort_values(ascending=False, kind="stable").index
    rows, rest = list(order[:RISKIEST]), target.loc[order[RISKIEST:]]
    free = EXAMPLES - len(rows)
    matches, others = (list(rest.index[rest["decision"] == word]) for word in (MATCH, NON_MATCH))
    count = min(len(matches), max(free // 2, free - len(others)))
    rows += [*_spread(matches, count), *_spread(others, free - count)]
    return [int(row) for row in rows]


def _spread(rows: list[int], count: int) -> list[int]:
    """So many of the rows, evenly from the last to the first of them; all if there are fewer."""
    if count <= 0 or not rows:
        return []
    places = np.unique(np.linspace(len(rows) - 1, 0, min(count, len(rows))).round().astype(int))
    return [rows[place] for place in places]


def _attribute(left: Record, right: Record, name: str, kind: AttributeType, mask: Mask) -> dict[str, Any]:
    """Both values in pieces `[text, state]`, and how they relate in words."""
    ours, theirs = left.get(name), right.get(name)
    found = compare_values(_cut(ours), _cut(theirs), kind, name)
    if name in mask.attributes:
        hidden = [[[blocks(value), PieceState.SAME.value]] if value else [] for value in (ours, theirs)]
        return {"name": name, "left": hidden[0], "right": hidden[1], "words": _RELATIONS[found.relation]}
    words = _RELATIONS[found.relation] if _touched(left, right, name, mask) else found.words
    sides = [_pieces(value, pieces, mask) for value, pieces in ((ours, found.left), (theirs, found.right))]
    return {"name": name, "left": sides[0], "right": sides[1], "words": words}


def _pieces(value: str | None, pieces: tuple[Piece, ...], mask: Mask) -> list[list[str]]:
    """The pieces up to the length that is shown, without what is hidden."""
    if not value:
        return []
    whole = "".join(piece.text for piece in pieces)
    texts = apart(whole, [piece.text for piece in pieces], mask.spans(whole))
    found, room = [], LONG_VALUE
    for text, piece in zip(texts, pieces, strict=True):
        if text and room > 0:
            found.append([text[:room], piece.state.value])
        room -= len(text)
    if room < 0:
        found.append([f"… {-room:,} more characters", "cut"])
    return found


def _evidence(
    left: Record, right: Record, types: Mapping[str, AttributeType], sheet: BalanceSheet, mask: Mask
) -> dict[str, Any]:
    """What the evidence says, why, and the parts of the balance sheet in log-odds."""
    reason = pair_reason(left, right, types, sheet.says_match, sheet.leading, sheet.against, sheet.stability)
    because, although = (
        _unquoted(left, right, subject, types[subject])
        if subject in types and (subject in mask.attributes or _touched(left, right, subject, mask))
        else phrase
        for subject, phrase in ((sheet.leading, reason.because), (sheet.against, reason.although))
    )
    reason = dataclasses.replace(reason, because=because, although=although)
    parts = {"before comparing": sheet.prior, **sheet.by_subject}
    return {
        "says": MATCH if sheet.says_match else NON_MATCH,
        "words": mask.value(reason.words),
        "parts": {name: jsonable(part) for name, part in parts.items() if abs(part) >= LEAST_PART},
        "total": jsonable(sheet.total),
    }


def _unquoted(left: Record, right: Record, name: str, kind: AttributeType) -> str:
    """How two values relate, without a word of them."""
    relation = compare_values(_cut(left.get(name)), _cut(right.get(name)), kind).relation
    return f"{name.replace('_', ' ')}: {_RELATIONS[relation]}"


def _touched(left: Record, right: Record, name: str, mask: Mask) -> bool:
    """Whether a hidden value stands in this attribute: then no phrase may quote a part of it."""
    return any(mask.spans(value) for value in (left.get(name), right.get(name)) if value)


def _cut(value: str | None) -> str | None:
    return None if value is None else value[:TOO_LONG]
