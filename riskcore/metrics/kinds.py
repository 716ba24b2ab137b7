"""The catalogue of basic metrics: what each is called, which types get it, how a condition on it reads.

A metric is an attribute and a kind; some are of the record as a whole. Adding one is an entry here, a value from the
scorer that computes it, and its words in `riskcore/rules/sentences.py`.
"""

from __future__ import annotations

import dataclasses

from riskcore.data.schema import Attribute, AttributeType


@dataclasses.dataclass(frozen=True)
class Kind:
    """One way to compare two values of an attribute."""

    key: str
    label: str  # after "attribute: "
    above: str  # a condition `value > cut`, with {a} for the attribute and {cut}
    below: str  # a condition `value <= cut`
    difference: bool = False  # high means unlike; otherwise high means alike
    flag: bool = False  # 0 or 1 only, cut at 0.5, so the texts need no {cut}
    bounded: bool = True  # at most 1
    low: float = 0.0  # the least value there can be


def _similarity(key: str, label: str) -> Kind:
    return Kind(key, label, f"{{a}} {label} is above {{cut}}", f"{{a}} {label} is at most {{cut}}")


def _count(key: str, label: str) -> Kind:
    above, below = f"{{a}} has more than {{cut}} {label}", f"{{a}} has at most {{cut}} {label}"
    return Kind(key, label, above, below, difference=True, bounded=False)


def _flag(key: str, label: str, yes: str, no: str) -> Kind:
    return Kind(key, label, yes, no, difference=True, flag=True)


_ALL = (
    _similarity("edit", "edit similarity"),
    _similarity("jaro_winkler", "Jaro-Winkler similarity"),
    _similarity("lcs", "common subsequence"),
    _similarity("prefix", "common beginning"),
    _similarity("jaccard", "word overlap"),
    _similarity("containment", "word containment"),
    _similarity("cosine", "TF-IDF similarity"),
    _similarity("abbreviated", "word containment after abbreviation"),
    _similarity("elements", "element similarity"),
    _similarity("element_overlap", "element overlap"),
    _similarity("first_element", "first-element similarity"),
    _similarity("code_similarity", "closest model-number similarity"),
    _similarity("closeness", "relative closeness"),
    _flag("not_substring", "not contained", "neither {a} contains the other", "one {a} contains the other"),
    _flag("not_prefix", "different beginning", "neither {a} begins the other", "one {a} begins the other"),
    _flag("not_suffix", "different end", "neither {a} ends the other", "one {a} ends the other"),
    _flag(
        "not_abbreviation",
        "not contained, even abbreviated",
        "neither {a} abbreviates a part of the other",
        "one {a} abbreviates a part of the other",
    ),
    _flag(
        "not_abbreviated_prefix",
        "different beginning, even abbreviated",
        "neither {a} abbreviates the beginning of the other",
        "one {a} abbreviates the beginning of the other",
    ),
    _flag(
        "not_abbreviated_suffix",
        "different end, even abbreviated",
        "neither {a} abbreviates the end of the other",
        "one {a} abbreviates the end of the other",
    ),
    _flag("differs", "not equal", "{a} differs", "{a} is equal"),
    Kind(
        "gap",
        "absolute gap",
        "{a} differs by more than {cut}",
        "{a} differs by at most {cut}",
        difference=True,
        bounded=False,
    ),
    _count("unexplained", "words without a counterpart, even abbreviated"),
    _count("numeric_words", "words with digits that only one side has"),
    _count("cardinality", "elements on one side beyond the other's count"),
    _count("unmatched", "elements without a counterpart"),
    _count("unmatched_shorter", "elements of the shorter list without a counterpart"),
    _count("unmatched_codes", "model numbers without a counterpart"),
    Kind(
        "rare_word",
        "rarity of the rarest word that only one side has",
        "{a} has a word of rarity above {cut} on one side only",
        "{a} has no word of rarity above {cut} on one side only",
        difference=True,
    ),
    Kind(
        "shared_word",
        "rarity of the rarest word that both sides have",
        "{a} has a word of rarity above {cut} on both sides",
        "{a} has no word of rarity above {cut} on both sides",
    ),
    Kind(
        "lacking_word",
        "rarity of the rarest word of the shorter side that the longer lacks",
        "{a} has a word of rarity above {cut} on the shorter side that the longer lacks",
        "{a} has no word of rarity above {cut} on the shorter side that the longer lacks",
        difference=True,
    ),
    Kind(
        "lead",
        "lead over the next candidate, on the better side",
        "{a} leads the next candidate by more than {cut} on one side",
        "{a} leads the next candidate by at most {cut} on both sides",
        low=-1.0,
    ),
    Kind(
        "mutual_lead",
        "lead over the next candidate, on the worse side",
        "{a} leads the next candidate by more than {cut} on both sides",
        "{a} leads the next candidate by at most {cut} on one side",
        low=-1.0,
    ),
)

KINDS: dict[str, Kind] = {kind.key: kind for kind in _ALL}

_WORD_KINDS = ("jaccard", "containment", "cosine", "rare_word", "numeric_words")
_ABBREVIATION_KINDS = (
    "abbreviated",
    "unexplained",
    "not_abbreviation",
    "not_abbreviated_prefix",
    "not_abbreviated_suffix",
)
_CODE_WORD_KINDS = ("code_similarity", "unmatched_codes")

KINDS_OF: dict[AttributeType, tuple[str, ...]] = {
    AttributeType.NAME: (
        *("edit", "jaro_winkler", "lcs"),
        *_WORD_KINDS,
        *("not_substring", "not_prefix", "not_suffix"),
        *_ABBREVIATION_KINDS,
        *_CODE_WORD_KINDS,
    ),
    AttributeType.SET: (
        *("edit", "jaro_winkler", "jaccard", "containment", "cosine", "rare_word"),
        *("elements", "element_overlap", "first_element", "cardinality", "unmatched", "unmatched_shorter"),
    ),
    AttributeType.TEXT: ("edit", "lcs", *_WORD_KINDS, "not_substring", *_CODE_WORD_KINDS),
    AttributeType.NUMBER: ("closeness", "differs", "gap"),
    AttributeType.CODE: ("edit", "jaro_winkler", "lcs", "prefix", "not_substring", "differs"),
}

RECORD_KINDS = ("jaccard", "containment", "cosine", "shared_word", "lacking_word", *_CODE_WORD_KINDS)
LEAD_KINDS = ("lead", "mutual_lead")  # over other records that resemble one of the two


@dataclasses.dataclass(frozen=True)
class Metric:
    """One column of the metric matrix."""

    attribute: str  # or what stands for the whole record
    kind: str

    @property
    def key(self) -> str:
        return f"{self.attribute}.{self.kind}"

    @property
    def label(self) -> str:
        """What a person reads: "authors: elements without a counterpart"."""
        return f"{self.attribute}: {KINDS[self.kind].label}"


def metrics_of(attribute: Attribute) -> tuple[Metric, ...]:
    """The metrics an attribute of this type gets, in column order."""
    return tuple(Metric(attribute.name, kind) for kind in KINDS_OF[attribute.type])
