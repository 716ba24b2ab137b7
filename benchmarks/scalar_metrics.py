"""The basic metrics in their plainest form: two values in, one number out.

What the batched code is measured against (`benchmarks/metrics.py`) and checked against (`tests/metrics`).
Nothing here is shared with the batched code but the readers of single cells and the C++ string scorers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from rapidfuzz.distance import JaroWinkler, LCSseq, Levenshtein, Prefix

from riskcore.data.numbers import NumberFormat
from riskcore.data.schema import AttributeType
from riskcore.data.values import (
    codes,
    compact,
    content_words,
    elements,
    fold,
    is_numeric_word,
    person,
    words,
)
from riskcore.metrics.comparison import Statistics
from riskcore.metrics.kinds import KINDS_OF, RECORD_KINDS
from riskcore.metrics.matrix import MetricSpace

NAN = math.nan
COUNTERPART = 0.85


def pair_metrics(space: MetricSpace, left: dict[str, str | None], right: dict[str, str | None]) -> list[float]:
    """All metrics of one pair of records, in column order, but for leads: they need the whole tables."""
    row: list[float] = []
    for attribute, statistics in zip(space.attributes, space.statistics, strict=True):
        one, other = left[attribute.name], right[attribute.name]
        for kind in KINDS_OF[attribute.type]:
            row.append(scalar(kind, attribute.type, one, other, statistics))  # noqa: PERF401 - the plain loop
    a, b = (" ".join(fold(value) for value in record.values() if value is not None) for record in (left, right))
    return row + [_on_records(kind, a, b, space) for kind in RECORD_KINDS]


def _on_records(kind: str, a: str, b: str, space: MetricSpace) -> float:
    """A metric of two whole records, given the words of all their attributes."""
    statistics = Statistics(space.records.rarity, NumberFormat.infer([]))
    one, other = set(words(a)), set(words(b))
    if kind in ("code_similarity", "unmatched_codes"):
        return _on_lists(kind, list(dict.fromkeys(codes(a))), list(dict.fromkeys(codes(b))), _models)
    if kind not in ("shared_word", "lacking_word") or not one or not other:
        return _on_words(kind, a, b, statistics)
    if kind == "shared_word":
        return max((_rarity(word, statistics) for word in one & other), default=0.0)
    ways = [(x, y) for x, y in ((one, other), (other, one)) if len(x) == min(len(one), len(other))]
    return min(max((_rarity(word, statistics) for word in x - y), default=0.0) for x, y in ways)


def scalar(kind: str, of: AttributeType, one: str | None, other: str | None, statistics: Statistics) -> float:
    """One metric of two values; NaN if either is missing."""
    if one is None or other is None or not fold(one) or not fold(other):
        return NAN
    a, b = fold(one), fold(other)
    if of is AttributeType.NUMBER:
        return _number(kind, statistics.number_format.parse(a), statistics.number_format.parse(b))
    if of is AttributeType.CODE:
        a, b = compact(a), compact(b)
    if kind in _STRINGS:
        return float(_STRINGS[kind](a, b))
    if kind in _WORDS:
        return _on_words(kind, a, b, statistics)
    if kind in _LISTS:
        return _on_lists(kind, elements(a), elements(b), _people)
    if kind in ("code_similarity", "unmatched_codes"):
        return _on_lists(kind, list(dict.fromkeys(codes(a))), list(dict.fromkeys(codes(b))), _models)
    return _on_abbreviations(kind, content_words(a), content_words(b))


_STRINGS: dict[str, Callable[[str, str], float]] = {
    "edit": Levenshtein.normalized_similarity,
    "jaro_winkler": JaroWinkler.normalized_similarity,
    "lcs": LCSseq.normalized_similarity,
    "prefix": Prefix.normalized_similarity,
    "not_substring": lambda a, b: a not in b and b not in a,
    "not_prefix": lambda a, b: not (a.startswith(b) or b.startswith(a)),
    "not_suffix": lambda a, b: not (a.endswith(b) or b.endswith(a)),
    "differs": lambda a, b: a != b,
}
_WORDS = ("jaccard", "containment", "cosine", "rare_word", "numeric_words")
_LISTS = ("elements", "first_element", "element_overlap", "cardinality", "unmatched", "unmatched_shorter")


def _number(kind: str, a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return NAN
    if kind == "gap":
        return min(abs(a - b), 1e9)
    if kind == "differs":
        return float(a != b)
    return max(0.0, 1 - abs(a - b) / max(abs(a), abs(b))) if a or b else 1.0


def _rarity(word: str, statistics: Statistics) -> float:
    documents, seen = statistics.rarity.documents, statistics.rarity.frequency.get(word, 0)
    return (math.log((1 + documents) / (1 + seen)) + 1) / (math.log(1 + documents) + 1)


def _on_words(kind: str, a: str, b: str, statistics: Statistics) -> float:
    one, other = Counter(words(a)), Counter(words(b))
    if not one or not other:
        return NAN
    shared, lone = one.keys() & other.keys(), one.keys() ^ other.keys()
    if kind == "jaccard":
        return len(shared) / len(one.keys() | other.keys())
    if kind == "containment":
        return len(shared) / min(len(one), len(other))
    if kind == "rare_word":
        return max((_rarity(word, statistics) for word in lone), default=0.0)
    if kind == "numeric_words":
        return sum(map(is_numeric_word, lone))
    weights = [{word: count * _rarity(word, statistics) for word, count in side.items()} for side in (one, other)]
    lengths = [math.sqrt(sum(weight**2 for weight in side.values())) for side in weights]
    return min(1.0, sum(weights[0][word] * weights[1][word] for word in shared) / (lengths[0] * lengths[1]))


def _people(a: str, b: str) -> float:
    whole = Levenshtein.normalized_similarity(a, b)
    (family_a, initial_a), (family_b, initial_b) = person(a), person(b)
    family = JaroWinkler.normalized_similarity(family_a, family_b)
    if family < 0.87:
        return whole
    if bool(initial_a) != bool(initial_b):
        return max(whole, family * 0.95)
    return max(whole, family) if initial_a == initial_b else whole


def _models(a: str, b: str) -> float:
    alike = Levenshtein.normalized_similarity(a, b)
    suffixed = (a.startswith(b) or b.startswith(a)) and min(len(a), len(b)) >= 4
    return max(alike, 0.9) if suffixed else alike


def _on_lists(kind: str, one: list[str], other: list[str], alike: Callable[[str, str], float]) -> float:
    if not one or not other:
        return NAN
    forth = [max(alike(a, b) for b in other) for a in one]
    back = [max(alike(a, b) for a in one) for b in other]
    alone, back_alone = sum(s < COUNTERPART for s in forth), sum(s < COUNTERPART for s in back)
    met = min(len(one) - alone, len(other) - back_alone)
    means = [sum(side) / len(side) for side in (forth, back) if len(side) == min(len(one), len(other))]
    lone = [n for n, side in ((alone, forth), (back_alone, back)) if len(side) == min(len(one), len(other))]
    return {
        "elements": max(means),
        "first_element": alike(one[0], other[0]),
        "element_overlap": met / (len(one) + len(other) - met),
        "cardinality": abs(len(one) - len(other)),
        "unmatched": alone + back_alone,
        "unmatched_shorter": min(lone),
        "unmatched_codes": min(lone),
        "code_similarity": max(forth),
    }[kind]


def _stands_for(a: str, b: str) -> bool:
    return a.startswith(b) or b.startswith(a)


def _spells(word: str, others: list[str], start: int) -> bool:
    run = others[start : start + len(word)]
    return 2 <= len(word) <= 8 and len(run) == len(word) and all(w[0] == c for w, c in zip(run, word, strict=True))


def _explained(one: list[str], other: list[str]) -> int:
    covered = set()
    for i, a in enumerate(one):
        if any(_stands_for(a, b) for b in other) or any(_spells(a, other, s) for s in range(len(other))):
            covered.add(i)
    for b in other:
        for start in range(len(one)):
            if _spells(b, one, start):
                covered.update(range(start, start + len(b)))
    return len(covered)


def _places(short: list[str], long: list[str]) -> tuple[bool, bool, bool]:
    last = len(long) - len(short)
    fits = [all(_stands_for(a, b) for a, b in zip(short, long[offset:], strict=False)) for offset in range(last + 1)]
    spelt = [s for s in range(len(long)) if len(short) == 1 and _spells(short[0], long, s)]
    at_end = any(s + len(short[0]) == len(long) for s in spelt)
    return any(fits) or bool(spelt), fits[0] or 0 in spelt, fits[-1] or at_end


def _on_abbreviations(kind: str, one: list[str], other: list[str]) -> float:
    if not one or not other:
        return NAN
    size = min(len(one), len(other))
    ways = [(x, y) for x, y in ((one, other), (other, one)) if len(x) == size]
    explained = max(_explained(x, y) for x, y in ways)
    if kind == "abbreviated":
        return explained / size
    if kind == "unexplained":
        return size - explained
    place = ("not_abbreviation", "not_abbreviated_prefix", "not_abbreviated_suffix").index(kind)
    return not any(_places(x, y)[place] for x, y in ways)
