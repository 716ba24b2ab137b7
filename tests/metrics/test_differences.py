"""Two values side by side: nothing is lost, both directions agree, and the cases an expert would decide at a glance."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from riskcore.data.schema import AttributeType
from riskcore.data.values import fold, words
from riskcore.metrics.differences import Piece, PieceState, Relation, ValueComparison, compare_values
from riskcore.metrics.differences.captions import same_caption
from riskcore.metrics.differences.numerals import number_of
from riskcore.metrics.differences.side import MAX_CHARS, MAX_READ, read_words
from riskcore.metrics.differences.spelling import is_abbreviation, is_typo
from riskcore.metrics.differences.wording import QUOTED_CHARS

NAME, SET, TEXT = AttributeType.NAME, AttributeType.SET, AttributeType.TEXT
NUMBER, CODE = AttributeType.NUMBER, AttributeType.CODE
KINDS = st.sampled_from(list(AttributeType))
PARTS = st.sampled_from(
    [
        *(
            "very",
            "large",
            "data",
            "bases",
            "vldb",
            "proc",
            "proceedings",
            "j",
            "john",
            "smith",
            "wu",
            "k",
            "and",
            "of",
        ),
        *("2007", "2006", "350h", "450h", "ps-lx350h", "pslx350h", "Müller", "Muller", "½", "1/2", "II", "seventh"),
        *(
            "7th",
            "et al",
            "&",
            ",",
            ";",
            ".",
            "-",
            "(c)",
            "&hellip;",
            "数据库",
            "🙂",
            "\u0301",
            "ﬁne",
            "$ 19.99",
            "3:01",
        ),
        *("$ 19.99", "k."),
        *("31-Mar-15", "pp.", "sigmod", "management", "colour", "color", "15in", "15", "<b>", "\u202e", "\n", "\ud800"),
    ]
)
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(PARTS, max_size=9).map(" ".join),
    st.lists(PARTS, max_size=5).map(", ".join),
)


def text_of(pieces: tuple[Piece, ...]) -> str:
    return "".join(piece.text for piece in pieces)


def marked(pieces: tuple[Piece, ...], state: PieceState) -> list[tuple[str, str | None]]:
    return [(piece.text, piece.partner) for piece in pieces if piece.state is state]


def compare(left: str, right: str, kind: AttributeType = NAME, name: str | None = None) -> ValueComparison:
    return compare_values(left, right, kind, name)


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS, KINDS)
@example("a\u0301\u0301b", "áb", NAME)
@example("½½", "1/2", NAME)
@example("smith et al.", "j. smith, k. wu", SET)
def test_pieces_put_together_are_the_value(left, right, kind):
    found = compare(left, right, kind)
    assert text_of(found.left) == left
    assert text_of(found.right) == right
    assert all(piece.text for piece in (*found.left, *found.right))


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS, KINDS)
def test_both_directions_agree(left, right, kind):
    there, back = compare(left, right, kind), compare(right, left, kind)
    assert there.relation is back.relation
    assert (there.left, there.right) == (back.right, back.left)
    assert (there.decisive is None) == (back.decisive is None)


@settings(max_examples=200, deadline=None)
@given(TEXTS, KINDS)
def test_an_identical_value_has_no_difference(value, kind):
    found = compare(value, value, kind)
    assert found.decisive is None
    assert {piece.state for piece in (*found.left, *found.right)} <= {PieceState.SAME}
    assert found.relation is (Relation.IDENTICAL if value.strip() else Relation.BOTH_MISSING)


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS, KINDS, st.text(max_size=30))
def test_relation_pieces_and_phrases_tell_the_same(left, right, kind, name):
    found = compare(left, right, kind, name)
    states = {piece.state for piece in (*found.left, *found.right)}
    differs = bool(states & {PieceState.ONLY_HERE, PieceState.NUMBER})
    present = found.relation not in (Relation.MISSING, Relation.BOTH_MISSING)
    assert differs == (found.relation in (Relation.CONTAINED, Relation.DIFFERENT))
    assert (found.decisive is not None) == (differs or found.relation is Relation.NEAR)
    assert (PieceState.TYPO in states and not differs) == (found.relation is Relation.NEAR)
    if found.relation in (Relation.IDENTICAL, Relation.SAME):
        assert states == {PieceState.SAME}
    if present and not differs:
        assert found.alike
    assert found.words
    for phrase in (found.words, found.decisive or "", found.alike or ""):
        assert len(phrase) <= 2 * QUOTED_CHARS + 60
        assert "\n" not in phrase


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(exclude_characters="\u0345"), max_size=60))
def test_words_are_those_of_the_metrics(value):
    """U+0345 is left out: it is an accent that becomes a letter, and its place in the word is a matter of order."""
    assert [word.text for word in read_words(value)] == words(fold(value))


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_numbers_are_never_taken_for_a_spelling(left, right):
    for piece, partner in marked(compare(left, right).left, PieceState.TYPO):
        assert not any(character.isdigit() for character in piece + str(partner))


@pytest.mark.parametrize(
    ("left", "right", "kind", "relation", "caption"),
    [
        ("Deep Learning", "Deep Learning", NAME, Relation.IDENTICAL, "identical"),
        ("Müller", "Muller", NAME, Relation.SAME, "same but for accents"),
        ("Deep Learning", "deep learning", NAME, Relation.SAME, "same but for case"),
        ("deep, learning", "deep learning.", NAME, Relation.SAME, "same but for punctuation"),
        ("data base systems", "database systems", NAME, Relation.SAME, "same but for spaces"),
        ("Müller-Lübke", "muller lubke", NAME, Relation.SAME, "same but for case, accents and punctuation"),
        ("sony sony radio", "sony radio", NAME, Relation.SAME, "same but for repeated words"),
        ("(c) 2015 sony", "2015 sony", NAME, Relation.SAME, "same but for signs"),
        ("PS-LX 350H", "pslx350h", CODE, Relation.SAME, "same but for case, punctuation and spaces"),
        ("310/246-1501", "310 2461501", CODE, Relation.SAME, "same but for punctuation and spaces"),
        ("1994.", "(1994)", NUMBER, Relation.SAME, "same but for punctuation"),
        ("1994", "1994.0", NUMBER, Relation.SAME, "same, written differently"),
        ("75", "1975", NUMBER, Relation.SAME, "same, written differently"),
        ("3:39", "219", NUMBER, Relation.SAME, "same, written differently"),
        ("31-Mar-15", "March 31 , 2015", NUMBER, Relation.SAME, "same, written differently"),
        ("data mining", "mining data", NAME, Relation.REORDERED, "same words, other order"),
        ("j. smith", "john smith", NAME, Relation.ABBREVIATED, "abbreviated"),
        ("smith, j.", "john smith", NAME, Relation.ABBREVIATED, "abbreviated"),
        ("vldb", "very large data bases", NAME, Relation.ABBREVIATED, "abbreviated"),
        ("proc. vldb", "proceedings of the very large data bases", NAME, Relation.ABBREVIATED, "abbreviated"),
        ("dept. of mgmt", "department of management", NAME, Relation.ABBREVIATED, "abbreviated"),
        ("25th acm symp.", "twenty-fifth acm symposium", NAME, Relation.ABBREVIATED, "abbreviated"),
        ("pp. 322-331.", "322--331", CODE, Relation.ABBREVIATED, "abbreviated"),
        ("smith, j. and wu, k.", "k wu, john smith", SET, Relation.ABBREVIATED, "abbreviated, other order"),
        ("smith, j.", "j. smith", SET, Relation.SAME, "same, written differently"),
        ("query", "query (extended abstract)", NAME, Relation.CONTAINED, "2 words only right"),
        ("falilitate this", "facilitate this", NAME, Relation.NEAR, "spelling of 1 word differs"),
        ("2007", "2006", NUMBER, Relation.DIFFERENT, "differs by 1"),
        ("$ 19.99", "$ 24.50", NUMBER, Relation.DIFFERENT, "differs by 4.51"),
        ("3:01", "3:41", NUMBER, Relation.DIFFERENT, "differs by 40 s"),
        ("31-Mar-15", "April 2 , 2015", NUMBER, Relation.DIFFERENT, "differs by 2 days"),
        ("part 2", "part 3", NAME, Relation.DIFFERENT, "1 number differs"),
        ("red car", "blue boat", NAME, Relation.DIFFERENT, "no word in common"),
        ("a red old car", "a blue car", NAME, Relation.DIFFERENT, "2 words only left, 1 only right"),
        ("10 100", "10100", NAME, Relation.DIFFERENT, "no word in common"),
        ("--", "🙂", NAME, Relation.DIFFERENT, "no word in common"),
    ],
)  # fmt: skip
def test_relation_and_caption(left, right, kind, relation, caption):
    found = compare(left, right, kind)
    assert (found.relation, found.words) == (relation, caption)


@pytest.mark.parametrize(
    ("left", "right", "relation", "caption"),
    [
        (None, None, Relation.BOTH_MISSING, "no value on either side"),
        ("", " ", Relation.BOTH_MISSING, "no value on either side"),
        ("x", None, Relation.MISSING, "no value on the right"),
        (None, "x", Relation.MISSING, "no value on the left"),
    ],
)
def test_missing_values(left, right, relation, caption):
    found = compare_values(left, right, NAME, "title")
    assert (found.relation, found.words, found.decisive, found.alike) == (relation, caption, None, None)
    assert (text_of(found.left), text_of(found.right)) == (left or "", right or "")


@pytest.mark.parametrize(
    ("left", "right", "kind", "name", "decisive", "alike"),
    [
        ("2007", "2006", NUMBER, "year", "2007 against 2006", None),
        ("'07", "2006", NUMBER, "year", "2007 against 2006", None),
        ("2007", "2007.0", NUMBER, "year", None, "same year 2007"),
        ("2007", "2007", NUMBER, None, None, "same year 2007"),
        ("$ 19.99", "$ 24.50", NUMBER, "price", "$ 19.99 against $ 24.50 (23 % more)", None),
        ("24.50", "19.99", NUMBER, "price", "24.50 against 19.99 (18 % less)", None),
        ("$ 10", "$ 40", NUMBER, "price", "$ 10 against $ 40 (4 times as much)", None),
        ("9", "11", NUMBER, "track", "9 against 11", None),
        ("3:01", "3:41", NUMBER, "time", "3:01 against 3:41 (40 s longer)", None),
        ("161280", "2.688", NUMBER, "length", None, "same length 2:41"),
        ("1995", "Mar 1996", NUMBER, "date", "1995 against 1996", None),
        ("Album Only", "$ 0.99", NUMBER, "price", "“Album Only” against “$ 0.99”", None),
        ("sony 350h", "sony 450h", NAME, "name", "“350h” only on the left, “450h” on the right",
         "“sony” on both sides"),
        ("sony ps-lx350h radio", "sony pslx350h black", NAME, "name", "“radio” only on the left, “black” on the right",
         "model number ps-lx350h on both sides"),
        ("query", "query (extended abstract)", NAME, "title", "“extended abstract” only on the right",
         "the left title is part of the right one"),
        ("aluminium", "light stand of brushed aluminium", TEXT, "text", "“light stand” only on the right",
         "“aluminium” on both sides"),
        ("j. gray, a. smith", "alan smith", SET, "authors", "no counterpart for “j. gray”", "1 of 2 authors agree"),
        ("j. gray, a. smith, c. wu", "A. Smith and C. Wu", SET, "authors", "no counterpart for “j. gray”",
         "2 of 3 authors agree"),
        ("a. smith, c. wu", "b. jones, c. wu", SET, "authors", "first author a. smith against b. jones",
         "1 of 2 authors agree"),
        ("c. wu, john smith", "c. wu, james smith", SET, "authors", "“john smith” against “james smith”",
         "1 of 2 authors agree"),
        ("i borg, jc lingoes", "Ingwer Borg, James C. Lingoes", SET, "authors", None, "both authors agree"),
        ("kearns, michael, and umesh vazirani.", "m. kearns and u. vazirani", SET, "author", None,
         "both authors agree"),
        ("john smith, k. wu", "smith j, wu k", SET, "authors", None, "both authors agree"),
        ("j. smith et al.", "john smith and k. wu", SET, "authors", "no counterpart for “k. wu”",
         "1 of 2 authors agree"),
        ("hip-hop/rap, music", "rap & hip-hop", SET, "genre", "no counterpart for “music”", "1 of 2 genres agree"),
        ("falilitate this", "facilitate this", NAME, "title", "spelling: “falilitate” against “facilitate”",
         "same title but for spelling"),
        ("247-266", "pp. 247-261", CODE, "pages", "“247-266” against “pp. 247-261”", "“247” on both sides"),
        ("panel 40 lcd 2.5 in", "panel 40 lcd 2.7 in", NAME, "name", "2.5 against 2.7", "4 of 5 words agree"),
        ("canon mx850 mx850c", "canon mx850 2436b002", NAME, "name", "“2436b002” only on the right",
         "model number mx850 on both sides"),
        ("vldb", "very large data bases", NAME, "venue", None, "same venue, abbreviated"),
        ("Deep Learning", "deep learning", NAME, "Song_Name", None, "same song name"),
    ],
)  # fmt: skip
def test_what_a_person_names_first(left, right, kind, name, decisive, alike):
    found = compare(left, right, kind, name)
    assert (found.decisive, found.alike) == (decisive, alike)


def test_abbreviations_and_spellings_name_their_partner():
    found = compare("proc. VLDB falilitate", "Proceedings of the Very Large Data Bases facilitate")
    assert marked(found.left, PieceState.ABBREVIATION) == [("proc", "Proceedings"), ("VLDB", "Very Large Data Bases")]
    assert marked(found.right, PieceState.ABBREVIATION) == [
        *(("Proceedings", "proc"), ("of", None), ("the", None), ("Very Large Data Bases", "VLDB"))
    ]
    assert marked(found.left, PieceState.TYPO) == [("falilitate", "facilitate")]


def test_an_acronym_on_both_sides_explains_the_words_it_stands_for():
    found = compare("vldb", "very large data bases (vldb)")
    assert found.relation is Relation.ABBREVIATED
    assert marked(found.right, PieceState.ABBREVIATION) == [("very large data bases", "vldb")]


def test_numbers_know_their_partner():
    found = compare("$ 19.99 ", "$ 24.50", NUMBER)
    assert found.left == (
        *(Piece("$ ", PieceState.SAME), Piece("19.99", PieceState.NUMBER, "$ 24.50"), Piece(" ", PieceState.SAME)),
    )


def test_words_are_moved_only_if_the_order_differs():
    assert marked(compare("mining data fast", "data mining fast").left, PieceState.MOVED) == [("mining", None)]
    assert not marked(compare("data mining fast", "data mining slow").left, PieceState.MOVED)


def test_what_hyphens_join_is_one_piece():
    found = compare("sony PS-LX350H x", "sony XS-LX450H x")
    assert marked(found.left, PieceState.ONLY_HERE) == [("PS-LX350H", None)]
    assert marked(compare("sony ps-lx350h", "sony ps-lx450h").left, PieceState.ONLY_HERE) == [("lx350h", None)]


def test_a_digit_that_differs_comes_before_all_words_of_a_long_text():
    same = " ".join(f"word{chr(97 + i)}" for i in range(20))
    found = compare(f"{same} Unbelievable a350h end", f"{same} extraordinarily a450h end", TEXT)
    assert found.decisive == "“a350h” only on the left, “a450h” on the right"


def test_of_ordinary_words_the_telling_ones_come_first():
    assert compare("the of cat hippopotamus x", "x").decisive == "“cat hippopotamus” only on the left"
    assert compare("so it is: Berlin, x", "x").decisive == "“Berlin” only on the left"


def test_a_quotation_is_cut():
    found = compare("x" * 200, "y" * 200)
    assert found.decisive == f"“{'x' * 39}…” against “{'y' * 39}…”"


@pytest.mark.parametrize(
    ("one", "other", "typo"),
    [
        ("colour", "color", True),
        ("jhon", "john", True),
        ("iRsingson".lower(), "risingson", True),
        ("facilitate", "falilitate", True),
        ("model", "modelling", True),
        ("wang", "wong", False),  # two family names
        ("cat", "car", False),
        ("light", "night", False),
        ("synchronous", "asynchronous", False),
        ("increase", "decrease", False),
        ("2007", "2006", False),
        ("350h", "450h", False),
        ("数据库系统", "数据库系综", False),
    ],
)
def test_spellings(one, other, typo):
    assert is_typo(one, other) is is_typo(other, one) is typo


@pytest.mark.parametrize(
    ("short", "long", "dotted", "stands"),
    [
        ("proc", "proceedings", False, True),
        ("conf", "conference", False, True),
        ("j", "john", True, True),
        ("j", "john", False, False),
        ("in", "international", False, False),
        ("intl", "international", False, True),
        ("blvd", "boulevard", False, True),
        ("pp", "pages", False, True),
        ("data", "databases", False, False),
        ("an", "allocation", False, False),
        ("error", "errors", True, False),  # the full stop is the sentence's
        ("comput", "computing", True, True),
        ("35", "350", True, False),
        ("proceedings", "proc", True, False),
    ],
)
def test_abbreviations(short, long, dotted, stands):
    assert is_abbreviation(short, long, dotted) is stands


@pytest.mark.parametrize(
    ("written", "number"),
    [("seventh", 7), ("twenty first", 21), ("21st", 21), ("007", 7), ("ii", 2), ("xv", 15), ("thirtieth", 30),
     ("v", None), ("twenty ten", None), ("word", None)],
)  # fmt: skip
def test_numerals(written, number):
    assert number_of(written.split()) == number


def test_hostile_text_stays_plain_text():
    found = compare("<script>alert(1)</script>", "<img src=x onerror=alert(2)>", NAME, "<b>title</b>")
    assert text_of(found.left) == "<script>alert(1)</script>"
    assert found.decisive == "1 against 2"
    assert found.alike == "“alert” on both sides"
    assert compare("<b>", "<B>", NAME, "<i>").alike == "same <i>"  # unescaped: callers escape


def test_same_caption_names_each_difference_of_writing():
    assert same_caption("ÉTÉ-1", "ete1") == "same but for case, accents, punctuation and spaces"


def test_short_values_take_far_less_than_two_milliseconds():
    values = ("in proc. 25th acm symp. on theory of computing,", "proceedings of the 25th annual acm symposium (pp.")
    compare(*values)
    start = time.process_time()
    for _ in range(50):
        compare(*values)
    assert (time.process_time() - start) / 50 < 0.002


@pytest.mark.parametrize("kind", list(AttributeType))
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("ab cd " * 33_000, "cd ab " * 33_000 + "x"),
        ("a, " * 66_000, "b, " * 66_000),
        ("a-" * 100_000, "b-" * 100_000),
        ("é" * 200_000, "x" * 200_000),
    ],
    ids=["repeated", "list", "hyphens", "one word"],
)
def test_long_values_are_not_compared_each_with_each(left, right, kind):
    start = time.process_time()
    found = compare(left, right, kind)
    assert time.process_time() - start < 2
    assert (text_of(found.left), text_of(found.right)) == (left, right)
    assert found.relation is Relation.DIFFERENT or found.relation is Relation.CONTAINED


def test_a_difference_far_behind_is_not_overlooked():
    same = "word " * (MAX_READ + 10)
    assert compare(same + "one", same + "two", TEXT).relation is Relation.DIFFERENT
    assert compare(same + "one", same + "One!", TEXT).relation is Relation.SAME
    long = "a" * 50 + " " + "word " * (MAX_CHARS // 5)
    assert compare(long + "one", long + "two", TEXT).relation is Relation.DIFFERENT


def test_a_long_number_is_one_number_however_it_is_grouped() -> None:
    one, other = "garmin suction cup mount 0101082303", "garmin suction cup 010-10823-03"
    found = compare_values(one, other, AttributeType.NAME, "name")
    assert found.alike == "the right name is part of the left one"
    assert all(piece.state is PieceState.SAME for piece in found.right)
    apart = compare_values("lot 1 2", "lot 12", AttributeType.NAME, "name")
    assert any(piece.state is PieceState.ONLY_HERE for piece in apart.left)
