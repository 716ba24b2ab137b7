"""Sentences: every kind has one, none is jargon, and each is true of every pair that meets its condition."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.metrics.kinds import KINDS, LEAD_KINDS, RECORD_KINDS, Metric
from riskcore.metrics.matrix import FULL_RECORD, WHOLE_RECORD
from riskcore.rules.rule import MATCH, NON_MATCH, Condition, Rule
from riskcore.rules.sentences import WORDS, condition_sentence, rule_sentence, value_sentence

SIDES = ("<=", ">")
JARGON = ("similarity", "Jaro", "TF-IDF", "containment", "rarity", "closeness", "subsequence", "element", "cardinality")
COUNTS = ("unexplained", "numeric_words", "cardinality", "unmatched", "unmatched_shorter", "unmatched_codes")
RARITIES = ("rare_word", "shared_word", "lacking_word")
FLAGS = tuple(kind for kind, known in KINDS.items() if known.flag)
BOUNDED = (0.0, 0.003, 0.02, 0.1, 0.12345, 0.25, 0.33, 0.34, 0.49, 0.5, 0.66, 0.667, 0.7387, 0.75, 0.9, 0.96, 0.9951)
FURTHER = (1.0, 1.5, 2.0, 3.7, 12.0, 87.65, 1999.0, 12345.6)
BEHIND = (-0.9, -0.5786, -0.05, -0.003)


def cuts_of(kind: str) -> tuple[float, ...]:
    if KINDS[kind].flag:
        return (0.5,)
    return (*(BEHIND if kind in LEAD_KINDS else ()), *BOUNDED, *(() if KINDS[kind].bounded else FURTHER))


def attribute_of(kind: str) -> str:
    return WHOLE_RECORD if kind in LEAD_KINDS else "title"


def says(attribute: str, kind: str, side: str, cut: float) -> str:
    return condition_sentence(Condition(attribute, kind, side, cut))  # type: ignore[arg-type]


def significant_digits(text: str) -> list[int]:
    return [len(Decimal(number).normalize().as_tuple().digits) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def assert_plain(sentence: str) -> None:
    assert re.fullmatch(r"[a-z\d].*[^. ]", sentence)
    assert not re.search(r"[{}]|  ", sentence)
    assert max(significant_digits(sentence), default=0) <= 3, sentence
    for word in (*JARGON, *KINDS, *(kind.label for kind in KINDS.values())):
        assert not re.search(rf"\b{re.escape(word)}\b", sentence), (word, sentence)


def test_every_kind_has_its_words() -> None:
    assert list(WORDS) == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_condition_reads_as_a_plain_sentence(kind: str) -> None:
    for attribute in ("title", "authors", "Song_Name", "x1", WHOLE_RECORD):
        for cut in cuts_of(kind):
            sentences = [says(attribute, kind, side, cut) for side in SIDES]
            assert sentences[0] != sentences[1]
            for sentence in sentences:
                assert_plain(sentence)


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_reads_as_a_plain_sentence(kind: str) -> None:
    for value in (KINDS[kind].low, 0.0, *cuts_of(kind), 1.0, float("nan")):
        assert_plain(value_sentence(Metric(attribute_of(kind), kind), value))


NAMED = {"one": 1.0, "a third": 1 / 3, "half": 1 / 2, "two thirds": 2 / 3, "three quarters": 3 / 4}
CLAIM = re.compile(rf"(more than|at most|at least|fewer than|less than) ({'|'.join(NAMED)}|[\d.]+)( %)?")
RELATIONS = {
    "more than": lambda value, bound: value > bound,
    "at most": lambda value, bound: value <= bound,
    "at least": lambda value, bound: value >= bound,
    "fewer than": lambda value, bound: value < bound,
    "less than": lambda value, bound: value < bound,
}
WITHOUT_NUMBER = {  # the longer ones first: one of them may begin another
    "exactly or almost exactly alike": lambda value: value > 0.99,
    "not exactly alike": lambda value: value < 1,
    "at least a little alike": lambda value: value > 0,
    "hardly or not at all alike": lambda value: value < 0.01,
    "all or nearly all": lambda value: value > 0.9,
    "not all": lambda value: value < 1,
    "some": lambda value: value > 0,
    "hardly any": lambda value: value < 0.01,
    "none": lambda value: value == 0,
    "share a number or code (exactly or nearly)": lambda value: value > 0.9,
    "share no number or code": lambda value: value < 1,
    "equal or nearly so": lambda difference: difference < 0.011,
    "are equal": lambda difference: difference == 0,
    "differ": lambda difference: difference > 0,
    "no word with digits": lambda count: count == 0,
    "every ": lambda count: count == 0,
    "all of the ": lambda count: count == 0,
    "same number": lambda count: count == 0,
}


def is_true_of(sentence: str, quantity: float) -> bool:
    """What the sentence claims of a share, difference or count, read by itself."""
    claim = CLAIM.search(sentence)
    if claim:
        words, number, per_cent = claim.groups()
        bound = NAMED.get(number) or float(number) / (100 if per_cent else 1)
        return bool(RELATIONS[words](quantity, bound))
    return bool(next(holds for phrase, holds in WITHOUT_NUMBER.items() if phrase in sentence)(quantity))


def holds(side: str, cut: float, value: float) -> bool:
    return value <= cut if side == "<=" else value > cut


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (*FLAGS, *RARITIES, *LEAD_KINDS)])
def test_a_sentence_is_true_of_every_value_that_meets_the_condition(kind: str) -> None:
    bounded = KINDS[kind].bounded
    shares = np.round(np.concatenate([np.linspace(0, 1, 60), [1 / 3, 2 / 3, 0.501, 0.999]]), 4).tolist()
    values = [float(n) for n in range(40)] if kind in COUNTS else shares if bounded else [*shares, 1.5, 1999, 12_350]
    checked = 0
    for cut in (*cuts_of(kind), *shares[1:-2]):
        if bounded and cut >= 1:
            continue
        for side in SIDES:
            sentence = says("price", kind, side, cut)
            for value in (*values, *(() if kind in COUNTS else (cut, round(cut + 0.0001, 9)))):
                if holds(side, cut, value):
                    quantity = round(1 - value, 9) if kind == "closeness" else value
                    assert is_true_of(sentence, quantity), (sentence, cut, value)
                    checked += 1
    assert checked > 100


GRADES = ("no", "common", "less common", "unusual", "rare", "very rare", "nearly unique", "unique")


def grade_of(sentence: str) -> tuple[bool, int | None]:
    """Whether there is such a word, and how rare it is: the number of its grade, None where any word is meant."""
    article, grade = re.findall(r"\b(no|an?) ((?:(?:less|very|nearly) )?\w*) ?word", sentence)[0]
    return article != "no", GRADES.index(grade) if grade else None


@pytest.mark.parametrize("kind", RARITIES)
@settings(max_examples=60, deadline=None)
@given(cut=st.floats(0, 0.9999), value=st.one_of(st.just(0.0), st.floats(0.06, 1)))
def test_a_rare_word_is_called_the_same_in_a_condition_and_in_a_value(kind: str, cut: float, value: float) -> None:
    there, found = grade_of(value_sentence(Metric("title", kind), value))
    assert there == (value > 0)
    side = "<=" if value <= cut else ">"
    asked, grade = grade_of(says("title", kind, side, cut))
    assert asked == (side == ">")
    if there and grade is not None:
        assert (found is not None and found >= grade) == asked
    if side == "<=" and grade is None:
        assert not there


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 0.999), st.floats(0.0001, 0.999))
def test_two_conditions_on_one_metric_never_contradict_each_other(start: float, width: float) -> None:
    low, high = start, min(start + width, 0.9999)
    if low >= high:
        return
    _, more = grade_of(says("title", "rare_word", ">", low))
    _, less = grade_of(says("title", "rare_word", "<=", high))
    assert more is None or (less is not None and more < less)
    above, below = says("title", "jaccard", ">", low), says("title", "jaccard", "<=", high)
    assert any(is_true_of(above, value) and is_true_of(below, value) for value in (low, high, (low + high) / 2))


@pytest.mark.parametrize("kind", LEAD_KINDS)
@pytest.mark.parametrize("cut", [-0.5786, -0.05, 0.0, 0.02, 0.4999])
def test_leads_are_rounded_to_the_safe_side(kind: str, cut: float) -> None:
    for side in SIDES:
        sentence = says(WHOLE_RECORD, kind, side, cut)
        found = re.search(r"[\d.]+", sentence)
        shown = float(found[0]) if found else 0.0
        bound = -shown if cut < 0 else shown
        assert bound <= cut if side == ">" else bound >= cut, sentence
        assert abs(bound - cut) < 0.01


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        (("year", "differs", ">", 0.5), "the years differ"),
        (("year", "differs", "<=", 0.5), "the years are equal"),
        (("year", "gap", ">", 0.5), "the years differ"),
        (("year", "gap", "<=", 0.5), "the years are equal"),
        (("year", "gap", ">", 1.0), "the years differ by more than 1"),
        (("price", "gap", ">", 0.5), "the prices differ by more than 0.5"),
        (("price", "closeness", "<=", 0.74), "the prices differ by at least 26 %"),
        (("price", "closeness", ">", 0.74), "the prices differ by less than 26 %"),
        (("price", "closeness", ">", 0.9996), "the prices are equal or nearly so"),
        (("year", "closeness", "<=", 0.9997), "the years differ"),
        (("year", "closeness", ">", 0.9997), "the years are equal"),
        (("year", "closeness", "<=", 0.9992), "the years differ by at least 2"),
        (("year", "closeness", ">", 0.9978), "the years differ by at most 4"),
        (("title", "jaccard", "<=", 0.495), "fewer than half of the title's words are shared"),
        (("title", "jaccard", ">", 0.5), "more than half of the title's words are shared"),
        (("title", "containment", ">", 0.73865), "more than 73 % of the shorter title's words are in the other"),
        (("title", "containment", "<=", 0.73865), "at most 74 % of the shorter title's words are in the other"),
        (("title", "containment", ">", 0.29), "more than 29 % of the shorter title's words are in the other"),
        (("title", "edit", "<=", 0.8), "the titles are spelled at most 80 % alike"),
        (("title", "numeric_words", "<=", 0.5), "no word with digits is in one title only"),
        (("title", "numeric_words", ">", 1.0), "at least 2 words with digits are in one title only"),
        (("authors", "unmatched", ">", 0.5), "at least one of the authors has no counterpart"),
        (("authors", "unmatched", "<=", 1.5), "at most one of the authors has no counterpart"),
        (("authors", "not_substring", ">", 0.5), "neither list of authors contains the other"),
        (("venue", "not_substring", ">", 0.5), "neither venue contains the other"),
        (("title", "rare_word", ">", 0.7), "a rare word is in one title only"),
        (("title", "rare_word", "<=", 0.6), "no rare word is in one title only"),
        (("record", "shared_word", ">", 0.5), "the records share an unusual word"),
        (("record", "jaccard", ">", 0.4), "more than 40 % of the records' words are shared"),
        (("record", "mutual_lead", ">", 0.49), "each record is the other's best candidate (by more than 0.49)"),
        (("record", "mutual_lead", "<=", -0.12), "one of the records has a better candidate (by at least 0.12)"),
    ],
)
def test_what_conditions_read_like(condition: tuple[str, str, str, float], sentence: str) -> None:
    assert says(*condition) == sentence


@pytest.mark.parametrize(
    ("attribute", "kind", "value", "sentence"),
    [
        ("title", "jaccard", 0.31, "31 % of the title's words are shared"),
        ("title", "jaccard", 0.0, "none of the title's words are shared"),
        ("title", "jaccard", 0.9999, "more than 99 % of the title's words are shared"),
        ("title", "edit", 0.93, "the titles are spelled 93 % alike"),
        ("year", "gap", 1.0, "the years differ by 1"),
        ("year", "gap", 0.0, "the years are equal"),
        ("price", "gap", float(np.float32(1299.9)), "the prices differ by about 1300"),
        ("price", "gap", float(np.float32(0.1)), "the prices differ by 0.1"),
        ("year", "closeness", 0.9985, "the years differ by about 3"),
        ("price", "closeness", 0.74, "the prices differ by 26 %"),
        ("authors", "unmatched", 2.0, "2 of the authors have no counterpart"),
        ("authors", "unmatched", 1.0, "one of the authors has no counterpart"),
        ("title", "rare_word", 0.9, "a very rare word is in one title only"),
        ("record", "mutual_lead", 0.314, "each record is the other's best candidate (by 0.31)"),
        ("record", "lead", -0.2, "both records have a better candidate (by 0.2)"),
        ("title", "edit", float("nan"), "the titles cannot be compared in this respect"),
    ],
)
def test_what_values_read_like(attribute: str, kind: str, value: float, sentence: str) -> None:
    assert value_sentence(Metric(attribute, kind), value) == sentence


DIFFERS, UNLIKE = Condition("year", "differs", ">", 0.5), Condition("title", "edit", "<=", 0.5)
ALIKE = Condition("venue", "edit", ">", 0.5)


def test_conditions_of_the_other_direction_come_last() -> None:
    rule = Rule((ALIKE, DIFFERS, UNLIKE), NON_MATCH)
    own = "the titles are spelled at most 50 % alike and the years differ"
    other = "the venues are spelled more than 50 % alike"
    assert rule_sentence(rule) == f"{own}, although {other}"
    assert rule_sentence(Rule(rule.conditions, MATCH)) == f"{other}, although {own}"
    assert rule_sentence(Rule((ALIKE,), NON_MATCH)) == other  # nothing it could be said in spite of


def test_a_rule_does_not_say_the_same_twice() -> None:
    assert rule_sentence(Rule((DIFFERS, Condition("year", "gap", ">", 0.5)), NON_MATCH)) == "the years differ"


def test_cuts_that_divide_nothing_are_no_error() -> None:
    assert says("title", "edit", ">", -1.0) == says("title", "edit", "<=", 1.0) == "the titles can be compared"
    assert says("title", "edit", "<=", -1.0) == says("title", "edit", ">", 1.0) == "the titles never meet this"


@pytest.mark.parametrize(
    ("attribute", "subject"),
    [
        ("title", "the titles"),
        ("beer_name", "the beer names"),
        ("Song_Name", "the song names"),
        ("beerName", "the beer names"),
        ("category", "the categories"),
        ("day", "the days"),
        ("address", "the addresses"),
        ("tax", "the taxes"),
        ("analysis", "the analyses"),
        ("authors", "the authors"),
        ("person", "the people"),
        ("series", "the series"),
        ("date_of_birth", "the dates of birth"),
        ("ISBN", "the ISBN values"),
        ("released", "the two values of released"),
        ("speed", "the speeds"),
        ("x1", 'the two values of "x1"'),
        ("Jahr ü", 'the two values of "Jahr ü"'),
        ("{a.one}", 'the two values of "{a.one}"'),
        ("<b>\n</b>", 'the two values of "<b> </b>"'),
        ("q" * 60, f'the two values of "{"q" * 39}…"'),
    ],
)
def test_names_of_attributes(attribute: str, subject: str) -> None:
    assert says(attribute, "differs", ">", 0.5) == f"{subject} differ"


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.sampled_from([kind for kind in KINDS if kind not in LEAD_KINDS]))
def test_any_name_makes_one_line(name: str, kind: str) -> None:
    for sentence in (says(name, kind, ">", 0.5), value_sentence(Metric(name, kind), 1.0)):
        assert sentence.isprintable()
        assert len(sentence) < 200
        assert not sentence[0].isupper()


def test_the_record_as_a_whole_has_a_name_of_its_own() -> None:
    for name, noun in ((WHOLE_RECORD, "record"), (f"{WHOLE_RECORD}_", "record"), (FULL_RECORD, "whole record")):
        for kind in RECORD_KINDS:
            assert noun in says(name, kind, ">", 0.3)
        assert says(name, "shared_word", ">", 0.3) == f"the {noun}s share a less common word"
    assert says("record", "differs", ">", 0.5) == "the records differ"
