"""Columns that come in twos, one for each side of a pair: `left_title` and `right_title`, `id_l` and `id_r`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from riskcore.data.bring.columns import ColumnFacts, named_like_id, plain_name

PREFIXES = (("left_", "right_"), ("ltable_", "rtable_"), ("l_", "r_"), ("a_", "b_"), ("source_", "target_"))
SUFFIXES = (("_l", "_r"), ("_left", "_right"), ("_a", "_b"), ("_1", "_2"), ("_x", "_y"))
_CERTAIN = (
    "left_",
    "ltable_",
    "_l",
    "_left",
)  # others, as in address_1 and address_2, must be at least half of all columns
_ID_PAIRS = (("id1", "id2"), ("ida", "idb"), ("idl", "idr"), ("left", "right"), ("id_1", "id_2"), ("lid", "rid"))


@dataclasses.dataclass(frozen=True)
class Sides:
    """How a file of pairs names both sides: the two ids, if there are any, and each attribute with its two columns."""

    ids: tuple[str, str] | None = None
    attributes: tuple[tuple[str, str, str], ...] = ()  # attribute, left column, right column


def sides_of(columns: Sequence[ColumnFacts]) -> Sides:
    """The sides by the columns' names. The way of naming that explains most columns is taken."""
    names = [column.name for column in columns]
    best: list[tuple[str, str, str]] = []
    for ends, strip in ((PREFIXES, _without_prefix), (SUFFIXES, _without_suffix)):
        for left_end, right_end in ends:
            left = {strip(name, left_end): name for name in names if strip(name, left_end)}
            right = {strip(name, right_end): name for name in names if strip(name, right_end)}
            found = [(rest, left[rest], right[rest]) for rest in left if rest in right]
            certain = left_end in _CERTAIN or any(_is_id(rest) for rest, *_ in found) or 4 * len(found) > len(names)
            best = found if certain and len(found) > len(best) else best
    ids = next(((one, other) for rest, one, other in best if _is_id(rest)), None)
    attributes = tuple(item for item in best if ids is None or item[1:] != ids)
    if ids is None:
        plain = {plain_name(name): name for name in names}
        known = [(plain[one], plain[other]) for one, other in _ID_PAIRS if one in plain and other in plain]
        ids = known[0] if known else None
    return Sides(ids, attributes)


def _without_prefix(name: str, prefix: str) -> str:
    return name[len(prefix) :] if name.lower().startswith(prefix) else ""


def _without_suffix(name: str, suffix: str) -> str:
    return name[: -len(suffix)] if name.lower().endswith(suffix) else ""


def _is_id(rest: str) -> bool:
    return plain_name(rest) in ("id", "unique_id", "record_id", "rec_id", "key", "uid") or named_like_id(rest)
