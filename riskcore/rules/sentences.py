"""Rules and metric values in plain sentences, for people who have never heard of a metric.

`WORDS` has an entry for each kind of the catalogue (`riskcore.metrics.kinds`). A sentence is rounded, and true of every
pair that meets the condition. The exact form of a rule is `Rule.text`, which parses back.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from riskcore.metrics.kinds import KINDS, Metric
from riskcore.rules.nouns import Noun, noun_of
from riskcore.rules.quantities import (
    about_percent,
    alike,
    alike_above,
    alike_below,
    nearest,
    no_word_above,
    percent,
    rounded,
    share_above,
    share_below,
    share_of,
    word_above,
    word_of,
)
from riskcore.rules.rule import Condition, Rule
from riskcore.rules.simplification import points_to

Say = Callable[[Noun, float], str]

_SLIGHTLY = 0.01  # numbers that differ by no more than this share of the larger one are called nearly equal
_SMALL_GAP = 0.01  # so are numbers that differ by less than a cent
_SLIGHT_LEAD = 0.01
_AROUND_2000 = 0.025  # how far 1950 and 2050 are from the year 2000, as a share of it
_SAME_CODE = 0.9  # from here on a number or code is the same but for a character


@dataclasses.dataclass(frozen=True)
class Words:
    """How a kind of metric is put: above a cut, at most a cut, and the value of one pair."""

    above: Say
    below: Say
    value: Say


def condition_sentence(condition: Condition) -> str:
    """What a condition says of two records: "the years differ by more than 1"."""
    noun, kind, above = noun_of(condition.metric), KINDS[condition.kind], condition.side == ">"
    if condition.cut < kind.low or (kind.bounded and condition.cut >= 1):
        always = above == (condition.cut < kind.low)
        return f"{noun.both} can be compared" if always else f"{noun.both} never meet this"
    words = WORDS[condition.kind]
    return (words.above if above else words.below)(noun, condition.cut)


def rule_sentence(rule: Rule) -> str:
    """What a rule looks for, without its outcome. Conditions of its own direction come first, the others after
    "although": "the years differ, although the titles share a rare word"."""
    own = [condition_sentence(one) for one in rule.conditions if points_to(one, rule.outcome)]
    other = [condition_sentence(one) for one in rule.conditions if not points_to(one, rule.outcome)]
    clauses = [" and ".join(dict.fromkeys(sentences)) for sentences in (own, other) if sentences]
    return ", although ".join(clauses)


def value_sentence(metric: Metric, value: float) -> str:
    """What a metric's value says of one pair: "31 % of the title's words are shared"."""
    noun = noun_of(metric)
    return (
        f"{noun.both} cannot be compared in this respect"
        if math.isnan(value)
        else WORDS[metric.kind].value(noun, float(value))
    )


def _share(template: str) -> Words:
    """A share of something, with {share} for "more than half"."""

    def say(share: Callable[[float], str]) -> Say:
        return lambda noun, number: template.format(a=noun, share=share(number))

    return Words(say(share_above), say(share_below), say(share_of))


def _alike(template: str) -> Words:
    """A similarity that is no share of anything, with {alike} for "more than 80 % alike"."""

    def say(how: Callable[[float], str]) -> Say:
        return lambda noun, number: template.format(a=noun, alike=how(number))

    return Words(say(alike_above), say(alike_below), say(alike))


def _flag(yes: str, no: str) -> Words:
    return Words(
        lambda noun, _: yes.format(a=noun),
        lambda noun, _: no.format(a=noun),
        lambda noun, value: (yes if value > 0.5 else no).format(a=noun),
    )


def _count(none: str, one: str, many: str) -> Words:
    """A number of things, with {n} for "at least 2"; `one` and `many` agree with their verb."""

    def say(noun: Noun, number: int, bound: str = "") -> str:
        if number == 0:
            return none.format(a=noun)
        n = f"{bound} {'one' if number == 1 else rounded(number, up=bound == 'at most')}".strip()
        return (one if number == 1 else many).format(a=noun, n=n)

    return Words(
        lambda noun, cut: say(noun, math.floor(cut) + 1, "at least"),
        lambda noun, cut: say(noun, math.floor(cut), "at most"),
        lambda noun, value: say(noun, round(value)),
    )


def _rarity(template: str) -> Words:
    """The rarest of some words, with {word} for "a rare word"."""

    def say(word: Callable[[float], str]) -> Say:
        return lambda noun, number: template.format(a=noun, word=word(number))

    return Words(say(word_above), say(no_word_above), say(word_of))


def _closeness_above(noun: Noun, cut: float) -> str:
    years = _years(noun, cut)
    if years >= 1:
        return f"{noun.both} differ by at most {_about(years)}{math.ceil(years) - 1}"
    if 0 < years < 1 - _AROUND_2000:
        return f"{noun.both} are equal"
    if _rest(cut) <= _SLIGHTLY:
        return f"{noun.both} are equal or nearly so"
    return f"{noun.both} differ by less than {percent(_rest(cut), up=True)}"


def _closeness_below(noun: Noun, cut: float) -> str:
    years = _years(noun, cut)
    if years >= 1:
        return f"{noun.both} differ by at least {_about(years)}{math.ceil(years)}"
    if _rest(cut) <= _SLIGHTLY:
        return f"{noun.both} differ"
    return f"{noun.both} differ by at least {percent(_rest(cut), up=False)}"


def _closeness_value(noun: Noun, value: float) -> str:
    years = _years(noun, value)
    if value == 1:
        return f"{noun.both} are equal"
    if years:
        return f"{noun.both} differ by about {max(1, round(years))}"
    return f"{noun.both} differ {'slightly' if _rest(value) <= _SLIGHTLY else f'by {about_percent(1 - value)}'}"


def _rest(share: float) -> float:
    """What is left of 1, without the noise of binary fractions: 0.26 for 0.74."""
    return round(1 - share, 12)


def _years(noun: Noun, closeness: float) -> float:
    """By how many years two years differ that are as close, around the year 2000: of years, 1 % is much. 0 for what is
    no year, or differs by more than a century."""
    years = _rest(closeness) * 2000
    return years if noun.in_years and years <= 100 else 0.0


def _about(years: float) -> str:
    """Whether it is another number of years from 1950 to 2050 than around 2000."""
    least, most = years * (1 - _AROUND_2000), years * (1 + _AROUND_2000)
    return "" if math.ceil(least) == math.ceil(most) else "about "


def _gap_above(noun: Noun, cut: float) -> str:
    if cut < _SMALL_GAP or (noun.in_years and cut < 1):
        return f"{noun.both} differ"
    return f"{noun.both} differ by more than {rounded(_whole(noun, cut), up=False)}"


def _gap_below(noun: Noun, cut: float) -> str:
    if cut == 0 or (noun.in_years and cut < 1):
        return f"{noun.both} are equal"
    if cut < _SMALL_GAP:
        return f"{noun.both} are equal or nearly so"
    return f"{noun.both} differ by at most {rounded(_whole(noun, cut), up=True)}"


def _gap_value(noun: Noun, value: float) -> str:
    return f"{noun.both} {f'differ by {nearest(value)}' if value else 'are equal'}"


def _whole(noun: Noun, cut: float) -> float:
    return math.floor(cut) if noun.in_years else cut


def _code_above(noun: Noun, cut: float) -> str:
    if cut >= _SAME_CODE:
        return f"{noun.both} share a number or code (exactly or nearly)"
    return _CODES.above(noun, cut)


def _code_below(noun: Noun, cut: float) -> str:
    return f"{noun.both} share no number or code" if cut >= _SAME_CODE else _CODES.below(noun, cut)


def _code_value(noun: Noun, value: float) -> str:
    return f"{noun.both} share a number or code" if value == 1 else _CODES.value(noun, value)


_CODES = _alike("the closest numbers or codes in {a.both} are {alike}")


def _lead(best: str, not_best: str, beaten: str, not_beaten: str) -> Words:
    """How much better a record fits than the next candidate. One that is ahead is the best; one that is behind is
    beaten by another."""

    def above(_: Noun, cut: float) -> str:
        if cut < 0:
            return not_beaten.format(
                far="clearly " if -cut < _SLIGHT_LEAD else "", by=_by("by {} or more", -cut, up=True)
            )
        return best + _by("by more than {}", cut, up=False)

    def below(_: Noun, cut: float) -> str:
        if cut < 0:
            return beaten + _by("by at least {}", -cut, up=False)
        return not_best + _by("by {} at most", cut, up=True)

    def value(_: Noun, lead: float) -> str:
        return not_best if lead == 0 else (best if lead > 0 else beaten) + _by("by {}", abs(lead))

    return Words(above, below, value)


def _by(words: str, lead: float, up: bool | None = None) -> str:
    """How large a lead is, in brackets, rounded to one side or to the nearest; nothing of a slight one."""
    if lead < _SLIGHT_LEAD:
        return ""
    return f" ({words.format(f'{lead:.2g}' if up is None else rounded(lead, up, decimals=2))})"


WORDS: dict[str, Words] = {
    "edit": _alike("{a.both} are spelled {alike}"),
    "jaro_winkler": _alike("{a.both} are spelled {alike} (beginnings count more)"),
    "lcs": _share("{share} of the longer {a.one}'s characters are found in the other in the same order"),
    "prefix": _share("{a.both} begin alike for {share} of the longer one"),
    "jaccard": _share("{share} of {a.words} are shared"),
    "containment": _share("{share} of {a.shorter_words} are in the other"),
    "cosine": _alike("{a.words} are {alike} (rare words count more)"),
    "abbreviated": _share("{share} of {a.shorter_words} are in the other (allowing for abbreviations)"),
    "elements": _alike("compared one by one, the {a.items} are {alike}"),
    "element_overlap": _share("{share} of the {a.items} are on both sides"),
    "first_element": _alike("the first {a.items} are {alike}"),
    "code_similarity": Words(_code_above, _code_below, _code_value),
    "closeness": Words(_closeness_above, _closeness_below, _closeness_value),
    "not_substring": _flag("neither {a.one} contains the other", "one {a.one} contains the other"),
    "not_prefix": _flag("neither {a.one} begins with the other", "one {a.one} begins with the other"),
    "not_suffix": _flag("neither {a.one} ends with the other", "one {a.one} ends with the other"),
    "not_abbreviation": _flag(
        "neither {a.one} is part of the other (even allowing for abbreviations)",
        "one {a.one} is part of the other (allowing for abbreviations)",
    ),
    "not_abbreviated_prefix": _flag(
        "neither {a.one} begins with the other (even allowing for abbreviations)",
        "one {a.one} begins with the other (allowing for abbreviations)",
    ),
    "not_abbreviated_suffix": _flag(
        "neither {a.one} ends with the other (even allowing for abbreviations)",
        "one {a.one} ends with the other (allowing for abbreviations)",
    ),
    "differs": _flag("{a.both} differ", "{a.both} are equal"),
    "gap": Words(_gap_above, _gap_below, _gap_value),
    "unexplained": _count(
        "every word of the shorter {a.one} is in the other (allowing for abbreviations)",
        "{n} word of the shorter {a.one} is missing from the other (even allowing for abbreviations)",
        "{n} words of the shorter {a.one} are missing from the other (even allowing for abbreviations)",
    ),
    "numeric_words": _count(
        "no word with digits is in one {a.one} only",
        "{n} word with digits is in one {a.one} only",
        "{n} words with digits are in one {a.one} only",
    ),
    "cardinality": _count(
        "both sides have the same number of {a.items}",
        "the numbers of {a.items} differ by {n}",
        "one side has {n} more {a.items} than the other",
    ),
    "unmatched": _count(
        "all of the {a.items} have a counterpart",
        "{n} of the {a.items} has no counterpart",
        "{n} of the {a.items} have no counterpart",
    ),
    "unmatched_shorter": _count(
        "all of the {a.items} on the shorter side have a counterpart",
        "{n} of the {a.items} on the shorter side has no counterpart",
        "{n} of the {a.items} on the shorter side have no counterpart",
    ),
    "unmatched_codes": _count(
        "every number or code in one {a.one} has a counterpart in the other",
        "{n} number or code in one {a.one} has no counterpart in the other",
        "{n} numbers or codes in one {a.one} have no counterpart in the other",
    ),
    "rare_word": _rarity("{word} is in one {a.one} only"),
    "shared_word": _rarity("{a.both} share {word}"),
    "lacking_word": _rarity("{word} of the shorter {a.one} is missing from the longer"),
    "lead": _lead(
        best="at least one record is the other's best candidate",
        not_best="neither record is clearly the other's best candidate",
        beaten="both records have a better candidate",
        not_beaten="at least one record has no other candidate that is {far}better{by}",
    ),
    "mutual_lead": _lead(
        best="each record is the other's best candidate",
        not_best="the records are not clearly each other's best candidates",
        beaten="one of the records has a better candidate",
        not_beaten="no other candidate is {far}better for either record{by}",
    ),
}
