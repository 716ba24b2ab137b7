"""The four summarisers of the DeepMatcher family: the words of each value become one vector.

Each takes the batch, the vectors of its tokens and their weights, and returns one summary per slot.
Weights are shared by all attributes; the head tells attributes apart.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from riskcore.matchers.layout import Batch, Grid

FAR = -1e4  # score of a padded word: exp of it is 0, and unlike -inf it leaves no NaN in an empty row


def pool(batch: Batch, vectors: Tensor, weights: Tensor) -> Tensor:
    """Weighted mean of each slot's tokens; zero for an empty value."""
    slots = len(batch.lengths)
    total = torch.zeros(slots).index_add(0, batch.slots, weights).clamp_min(1e-6)
    share = (weights / total[batch.slots]).unsqueeze(1)
    return torch.zeros(slots, vectors.shape[1]).index_add(0, batch.slots, vectors * share)


class Sif(nn.Module):
    """Weighted mean of the words, rare words first."""

    recurrent = False

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, batch: Batch, tokens: Tensor, weights: Tensor) -> Tensor:
        return pool(batch, tokens, weights)


class Rnn(nn.Module):
    """The two states in which a bidirectional recurrent net leaves a value."""

    recurrent = True

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, batch: Batch, tokens: Tensor, weights: Tensor) -> Tensor:
        half = tokens.shape[1] // 2
        padded = functional.pad(tokens, (0, 0, 0, 1))  # a last row of zeros, for empty values
        end = batch.lengths.cumsum(0)
        first, last = torch.where(batch.lengths > 0, torch.stack([end - batch.lengths, end - 1]), len(tokens))
        return torch.cat([padded[last, :half], padded[first, half:]], dim=1)


class Attention(nn.Module):
    """Each word looks for its counterpart on the other side; what it finds is compared with it."""

    recurrent = False

    def __init__(self, width: int) -> None:
        super().__init__()
        self.likeness = nn.Parameter(torch.tensor(5.0))  # pull of a word that resembles
        self.identity = nn.Parameter(torch.tensor(3.0))  # further pull of the very same word
        self.comparison = nn.Linear(2 * width + 1, width)

    def forward(self, batch: Batch, tokens: Tensor, weights: Tensor) -> Tensor:
        padded = functional.pad(tokens, (0, 0, 1, 0))
        found, same = [], []
        for left, right in batch.grids:
            for part, flags in self._align(left, right, padded):
                found.append(part)
                same.append(flags)
        other = torch.cat(found)
        evidence = torch.cat([(tokens - other).abs(), tokens * other, torch.cat(same).unsqueeze(1)], dim=1)
        return pool(batch, functional.relu(self.comparison(evidence)), weights)

    def _align(self, left: Grid, right: Grid, padded: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Per side: the mix of the other side's words that each token looks at, and whether it occurs there."""
        here, there = functional.embedding(left.tokens, padded), functional.embedding(right.tokens, padded)
        same = (left.words.unsqueeze(2) == right.words.unsqueeze(1)) & (left.words > 0).unsqueeze(2)
        same = same.to(padded.dtype)
        scores = self.likeness * torch.bmm(here, there.transpose(1, 2)) + self.identity * same
        ways = ((left, right, scores, same, there), (right, left, scores.transpose(1, 2), same.transpose(1, 2), here))
        return [self._look(*way) for way in ways]

    @staticmethod
    def _look(one: Grid, other: Grid, scores: Tensor, same: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        share = scores.masked_fill((other.words == 0).unsqueeze(1), FAR).softmax(dim=2)
        mixed = torch.bmm(share, words).flatten(0, 1)
        return mixed.index_select(0, one.real), same.amax(dim=2).flatten()[one.real]


class Hybrid(Attention):
    """Attention between words that have read their own value first."""

    recurrent = True
