"""Batches for the DeepMatcher network: the words of some pairs, laid out so that no work is done on padding.

All words of a batch stand in one flat list (left values of the first attribute, right values, left values of
the second, ...), so that what is done to each word is done once for all attributes. Only attention needs
a grid of words per attribute, padded to that attribute's own longest value in the batch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Self

import numpy as np
import torch
from torch import Tensor

from riskcore.matchers.encode import Corpus


@dataclasses.dataclass(frozen=True, eq=False)
class Grid:
    """One side of one attribute: token numbers by pair and place."""

    tokens: Tensor  # (pairs, longest) token number + 1; 0 is padding
    words: Tensor  # (pairs, longest) word numbers; 0 is padding
    real: Tensor  # flat places in the grid that hold a word, in token order

    def renumbered(self, numbers: Tensor) -> Self:
        return dataclasses.replace(self, words=numbers[self.words])


@dataclasses.dataclass(frozen=True, eq=False)
class Reading:
    """The batch's distinct values in the order a recurrent net reads them: all first words, all second words, ..."""

    words: Tensor  # (read,) word numbers
    batch_sizes: Tensor  # (longest,) how many values have a word at this place
    mirror: Tensor  # (read,) where a word stands when its value is read from its end
    tokens: Tensor  # (tokens,) where in `words` each token of the batch is read


@dataclasses.dataclass(frozen=True, eq=False)
class Batch:
    """Some pairs of a corpus. A slot is one value's place: attribute by attribute, side by side, pair by pair."""

    size: int
    words: Tensor  # (tokens,) word numbers
    slots: Tensor  # (tokens,) the slot each belongs to
    lengths: Tensor  # (slots,) words in each
    present: Tensor  # (attributes, pairs, 1) 1 where both sides have words
    grids: list[tuple[Grid, Grid]]  # by attribute
    reading: Reading | None
    wide: Tensor | None

    @classmethod
    def of(cls, corpus: Corpus, rows: np.ndarray, recurrent: bool = False, wide: np.ndarray | None = None) -> Self:
        values = corpus.values[rows].transpose(1, 2, 0)  # attribute, side, pair
        slots = values.ravel()
        begins, lengths = corpus.starts[slots], corpus.starts[slots + 1] - corpus.starts[slots]
        owner = np.repeat(np.arange(len(slots)), lengths)
        inside = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        words = corpus.words[begins[owner] + inside]
        return cls(
            size=len(rows),
            words=_tensor(words),
            slots=_tensor(owner),
            lengths=_tensor(lengths),
            present=torch.from_numpy((values > 0).all(axis=1).astype(np.float32)).unsqueeze(2),
            grids=list(_grids(words, lengths.reshape(values.shape))),
            reading=_lay_out(corpus, slots, owner, inside) if recurrent else None,
            wide=None if wide is None else torch.from_numpy(wide[rows]),
        )

    def renumbered(self, numbers: Tensor) -> Self:
        """The same batch with word `w` called `numbers[w]`."""
        grids = [(left.renumbered(numbers), right.renumbered(numbers)) for left, right in self.grids]
        reading = self.reading and dataclasses.replace(self.reading, words=numbers[self.reading.words])
        return dataclasses.replace(self, words=numbers[self.words], grids=grids, reading=reading)


def _grids(words: np.ndarray, lengths: np.ndarray) -> Iterator[tuple[Grid, Grid]]:
    start = 0
    for both in lengths:  # (2, pairs) of one attribute
        sides = []
        for side in both:
            sides.append(_grid(words, side, start))
            start += int(side.sum())
        yield sides[0], sides[1]


def _grid(words: np.ndarray, lengths: np.ndarray, start: int) -> Grid:
    inside = np.arange(max(int(lengths.max(initial=0)), 1)) < lengths[:, None]
    real = np.flatnonzero(inside)
    tokens = np.zeros(inside.shape, dtype=np.int64)
    tokens.flat[real] = np.arange(start + 1, start + 1 + len(real))
    numbers = np.zeros(inside.shape, dtype=np.int64)
    numbers.flat[real] = words[start : start + len(real)]
    return Grid(torch.from_numpy(tokens), torch.from_numpy(numbers), torch.from_numpy(real))


def _lay_out(corpus: Corpus, slots: np.ndarray, owner: np.ndarray, inside: np.ndarray) -> Reading:
    """Distinct values, longest first: at each place those that still have a word stand together."""
    distinct, inverse = np.unique(slots, return_inverse=True)
    lengths = corpus.starts[distinct + 1] - corpus.starts[distinct]
    order = np.argsort(-lengths, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    longest = int(lengths.max(initial=0))
    sizes = np.searchsorted(-lengths[order], -np.arange(longest), side="left")
    place = np.repeat(np.arange(longest), sizes)
    offsets = np.cumsum(sizes) - sizes
    value = np.arange(len(place)) - offsets[place]
    words = corpus.words[corpus.starts[distinct[order]][value] + place]
    mirror = offsets[lengths[order][value] - 1 - place] + value
    tokens = offsets[inside] + rank[inverse][owner] if longest else inside
    return Reading(_tensor(words), _tensor(sizes), _tensor(mirror), _tensor(tokens))


def _tensor(numbers: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(numbers, dtype=np.int64))
