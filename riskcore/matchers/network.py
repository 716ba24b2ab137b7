"""The DeepMatcher network: words -> summaries -> comparisons -> highway head."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from riskcore.matchers.layout import Batch
from riskcore.matchers.recurrent import Reader
from riskcore.matchers.summaries import Attention, Hybrid, Rnn, Sif

SUMMARISERS: dict[str, type[nn.Module]] = {"sif": Sif, "rnn": Rnn, "attention": Attention, "hybrid": Hybrid}

METRICS_ALONE = 0.5  # share of training pairs whose wide head sees no summaries: these memorise pairs, and
# a head that may always lean on them does too (attention on Abt-Buy: 84.0 F1 without this, 86.5 with it)


def compare(u: Tensor, v: Tensor) -> Tensor:
    """What differs, what agrees, and what there is: (..., width) twice -> (..., 3 x width)."""
    return torch.cat([(u - v).abs(), u * v, u + v], dim=-1)


class Highway(nn.Module):
    """Highway layers: a learned gate decides how much of the input passes unchanged."""

    def __init__(self, width: int, layers: int = 2) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            change, gate = layer(x).chunk(2, dim=1)
            gate = torch.sigmoid(gate - 1.0)  # starts mostly open: the untrained head is nearly linear
            x = gate * functional.relu(change) + (1 - gate) * x
        return x


class Network(nn.Module):
    """`project` gives each distinct word its trained vector; `forward` turns a batch into logits."""

    def __init__(
        self,
        kind: str,
        attributes: int,
        parts: tuple[int, int],
        wide: int,
        width: int,
        head: int,
        dropout: float,
        word_dropout: float,
    ) -> None:
        """`parts` are the widths of a word's two frozen vectors, `wide` that of the metrics (0 for none)."""
        super().__init__()
        self.parts, self.word_dropout = parts, word_dropout
        self.projection = nn.Linear(sum(parts), width)
        self.summariser = SUMMARISERS[kind](width)
        self.recurrent = bool(self.summariser.recurrent)
        self.reader = Reader(width) if self.recurrent else None
        self.norm = nn.LayerNorm(3 * width)
        self.enter = nn.Linear(attributes * (3 * width + 1), head)
        self.enter_wide = nn.Linear(wide, head, bias=False) if wide else None
        self.highway = Highway(head)
        self.leave = nn.Linear(head, 1)
        self.dropout = nn.Dropout(dropout)

    def project(self, features: Tensor) -> Tensor:
        """(words, inputs) -> (words, width), of unit length."""
        if self.training and self.word_dropout:
            features = features * self._kept(len(features))
        return functional.normalize(self.projection(features), dim=1)

    def _kept(self, words: int) -> Tensor:
        """Factors that hide one part of some words, and make up for it in the other."""
        draw, half = torch.rand(words, 1), self.word_dropout / 2
        first, second = (draw >= half).float(), (draw < 1 - half).float()
        louder = (2 / (first + second)).sqrt()
        widths = torch.tensor(self.parts)
        return torch.repeat_interleave(torch.cat([first, second], dim=1) * louder, widths, dim=1)

    def forward(self, vectors: Tensor, weights: Tensor, batch: Batch) -> Tensor:
        return self.decide(self.compare_attributes(vectors, weights, batch), batch.wide)

    def compare_attributes(self, vectors: Tensor, weights: Tensor, batch: Batch) -> Tensor:
        """(attributes, pairs, 3 x width + 1): each attribute's comparison, and whether there is nothing to compare."""
        tokens = functional.embedding(batch.words, vectors) if self.reader is None else self.reader(batch, vectors)
        summaries = self.summariser(batch, tokens, weights[batch.words])
        u, v = summaries.view(-1, 2, batch.size, summaries.shape[1]).unbind(dim=1)
        there = batch.present
        return torch.cat([self.norm(compare(u, v)) * there, 1 - there], dim=2)

    def decide(self, compared: Tensor, wide: Tensor | None) -> Tensor:
        """Logits from the comparisons of all attributes."""
        x = self.enter(self.dropout(compared.transpose(0, 1).flatten(1)))
        if self.enter_wide is not None:
            if self.training:
                x = x * (torch.rand(len(x), 1) >= METRICS_ALONE)
            x = x + self.enter_wide(wide)
        logits: Tensor = self.leave(self.dropout(self.highway(functional.relu(x)))).squeeze(1)
        return logits


def hide(compared: Tensor, seen: Tensor) -> Tensor:
    """The comparisons as they are where the attributes that are not `seen` have no values."""
    nothing = torch.zeros(compared.shape[2])
    nothing[-1] = 1.0
    return torch.where(seen[:, None, None], compared, nothing)
