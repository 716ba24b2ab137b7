"""Words, vectors and the compact view."""

from __future__ import annotations

import itertools
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.data.values import tokens
from riskcore.matchers.encode import Encoder, _renumber, _Values, word_hash
from riskcore.matchers.vectors import WordVectors, pretrained
from tests.matchers.people import pairs_of, people, table


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Sony  PSLX350H, 33-1/3 rpm", ["sony", "pslx350h", "33", "1", "3", "rpm"]),
        ("1987.0", ["1987"]),
        ("$ 1,299.00", ["1299"]),
        ("0.99", ["0.99"]),
        ("数据库 system", ["数", "据", "库", "system"]),
        ("ok 😀", ["ok", "😀"]),
        ("snake_case", ["snake", "case"]),
        ("...", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_text_has_words_and_any_word_a_vector(text: str) -> None:
    words = tokens(text)
    vectors = pretrained().of(words)
    assert vectors.shape == (len(words), pretrained().width)
    assert np.isfinite(vectors).all()
    assert all(0 <= word_hash(word) < 2**63 for word in words)


def test_vectors_know_meaning_and_spelling() -> None:
    def likeness(one: str, other: str, part: slice) -> float:
        a, b = pretrained().of([one, other])[:, part]
        return float(a @ b)

    meaning, spelling = slice(0, 256), slice(256, None)
    assert likeness("laptop", "notebook", meaning) > likeness("laptop", "banana", meaning) + 0.1
    assert likeness("pslx350h", "pslx350", spelling) > 0.6
    assert likeness("pslx350h", "dscw120", spelling) < 0.4


def test_a_words_vector_does_not_depend_on_its_company() -> None:
    alone, many = pretrained().of(["novak"])[0], pretrained().of(["a", "novak", "bb" * 50])[1]
    assert np.array_equal(alone, many)


def test_rebuilding_the_text_from_the_corpus() -> None:
    pairs = people(10)
    encoder = Encoder(pretrained(), max_words=80)
    corpus = encoder.corpus([pairs], ["name", "city"])
    known = {word_hash(word): word for word in encoder._word_of}
    for row in range(len(pairs)):
        left, right = pairs.record(row)
        for place, name in enumerate(("name", "city")):
            for side, record in enumerate((left, right)):
                padded = corpus.padded(corpus.values[row : row + 1, place, side])[0]
                words = [known[int(corpus.hashes[number])] for number in padded if number]
                assert words == tokens(record[name] or "")
    assert corpus.lengths[0] == sum(len(tokens(v or "")) for r in pairs.record(0) for v in r.values())


def test_the_corpus_does_not_depend_on_what_was_encoded_before() -> None:
    fresh, used = Encoder(pretrained(), 80), Encoder(pretrained(), 80)
    used.corpus([people(30, seed=9)], ["name", "city"])
    pairs = people(10)
    one, other = (encoder.corpus([pairs], ["name", "city"]) for encoder in (fresh, used))
    for field in ("features", "hashes", "words", "starts", "values"):
        assert np.array_equal(getattr(one, field), getattr(other, field)), field


class Counting(WordVectors):
    """Counts the words that are looked up."""

    asked: ClassVar[list[str]] = []

    def of(self, words: list[str]) -> np.ndarray:  # type: ignore[override]
        self.asked.extend(words)
        return super().of(words)


def test_each_distinct_word_is_looked_up_once() -> None:
    real = pretrained()
    counting = Counting(real.subwords, real.tokenizer, real.projection)
    counting.asked.clear()
    encoder, pairs = Encoder(counting, 80), people(10)
    for _ in range(3):
        encoder.corpus([pairs, pairs], ["name"])
    assert len(counting.asked) == len(set(counting.asked))


def test_long_values_are_capped_and_old_values_forgotten() -> None:
    left = table("a", x=["w " * 5000, "b"])
    pairs = pairs_of(left, left, [(0, 1, 0)])
    encoder = Encoder(pretrained(), max_words=7, max_values=2)
    assert encoder.corpus([pairs], ["x"]).lengths.tolist() == [8]
    assert encoder.corpus([people(3)], ["name"]).lengths.min() > 0
    assert len(encoder._values) < 9


def test_forgetting_changes_nothing() -> None:
    keeping, forgetting = Encoder(pretrained(), 80), Encoder(pretrained(), 80, max_values=3)
    for seed in range(3):
        pairs = people(20, seed=seed)
        one, other = (encoder.corpus([pairs], ["name", "city"]) for encoder in (keeping, forgetting))
        for field in ("features", "hashes", "words", "starts", "values"):
            assert np.array_equal(getattr(one, field), getattr(other, field)), field


@given(st.lists(st.lists(st.integers(0, 9), max_size=900), max_size=9), st.data())
@settings(max_examples=30)
def test_values_side_by_side(rows: list[list[int]], data: st.DataObject) -> None:
    values, known = _Values(), [[], *rows]
    for row in rows:
        values.append(row)
    assert len(values) == len(known)
    wanted = data.draw(st.lists(st.integers(0, len(known) - 1), max_size=20))
    words, starts = values.take(np.array(wanted, dtype=np.int64))
    assert [words[begin:end].tolist() for begin, end in itertools.pairwise(starts)] == [known[one] for one in wanted]


@given(st.lists(st.integers(0, 9), max_size=30))
def test_renumbering(numbers: list[int]) -> None:
    array = np.array(numbers, dtype=np.int32)
    distinct, coded = _renumber(array)
    assert distinct.tolist() == list(dict.fromkeys(numbers))
    assert distinct[coded].tolist() == numbers if len(numbers) else not len(coded)
