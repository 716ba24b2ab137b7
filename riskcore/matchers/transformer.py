"""A pre-trained Transformer, cut in two. Its lower layers stay as they are and read each record by itself, once. Its
upper layers read what was chosen from two records together, with the marks of their words, and train.

The head sees the first token, as Ditto's does, and beside it how the mean states of the two records differ and agree:
the installed weights are those of a sentence encoder, whose means are comparable from the first step on. It also sees
how much of the words of each attribute is shared, which a few labelled pairs suffice to learn from.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.nn import functional

from riskcore.errors import MatcherError
from riskcore.matchers.device import mixed_precision
from riskcore.matchers.serialise import LEFT, MARKS, OVERLAPS, PADDING, RIGHT, PairText, Record

FROZEN_SHARE = 2 / 3  # of the layers, where no number is given
START = 0.05  # standard deviation of fresh marks, next to states of about 0.5
STEP = 8  # pairs are padded to a multiple of this: what is said of a pair follows from its own length alone
ATTENTION = "riskcore"  # the name of `_attend` in the library


class Inputs(NamedTuple):
    """Some pairs, padded to the longest: (pairs, longest) but for the last three."""

    roles: Tensor
    attribute: Tensor
    mark: Tensor
    rarity: Tensor
    overlap: Tensor  # (pairs, attributes * OVERLAPS)
    real: Tensor | None  # (pairs, 1, 1, longest), what is not padding; None where all are as long
    wide: Tensor | None  # (pairs, metrics)

    @classmethod
    def of(cls, texts: Sequence[PairText], seen: Sequence[np.ndarray | None] | None, wide: np.ndarray | None) -> Self:
        """`seen` says which subwords of each pair are read, where not all are."""
        longest = padded(max(len(one.mark) for one in texts))
        roles, attribute, mark = (np.zeros((len(texts), longest), dtype=np.int64) for _ in range(3))
        rarity = np.zeros((len(texts), longest), dtype=np.float32)
        for row, one in enumerate(texts):
            size = len(one.mark)
            roles[row, : len(one.left)], roles[row, len(one.left) : size] = LEFT, RIGHT
            attribute[row, :size], mark[row, :size], rarity[row, :size] = one.attribute, one.mark, one.rarity
            here = None if seen is None else seen[row]
            if here is not None:
                roles[row, :size] *= here
        overlap = np.stack([one.overlap for one in texts])
        real = None if roles.all() else (roles != PADDING)[:, None, None, :]
        arrays = (roles, attribute, mark, rarity, overlap, real, wide)
        return cls._make(None if one is None else torch.from_numpy(one) for one in arrays)

    def to(self, device: torch.device) -> Self:
        return type(self)._make(None if one is None else one.to(device) for one in self)


def padded(length: int) -> int:
    """How long a pair is with its padding."""
    return -(-length // STEP) * STEP


class Transformer(nn.Module):
    """Encoder and head. `lower` reads records, `forward` turns pairs of what it found into logits."""

    def __init__(
        self, folder: Path, frozen_layers: int | None, dropout: float, wide: int, attributes: int, half: bool = False
    ) -> None:
        """With `half`, the frozen layers are in bfloat16, and so are the matrix products of the others."""
        super().__init__()
        self.encoder = load_encoder(folder, dropout)
        self.layers = _layers(self.encoder)
        frozen = round(FROZEN_SHARE * len(self.layers)) if frozen_layers is None else frozen_layers
        if frozen >= len(self.layers):
            raise MatcherError(f"{folder} has {len(self.layers)} layers; leave at least one of them to train.")
        self.frozen_layers = frozen
        for part in (self.encoder.embeddings, *self.layers[:frozen]):
            part.requires_grad_(False)
        self._half, self._frozen_in = half, torch.bfloat16 if half else torch.float32
        self.layers[:frozen].to(self._frozen_in)
        width = self.width
        self.side, self.attribute, self.mark, self.rare_mark = (
            nn.Parameter(START * torch.randn(count, width)) for count in (2, attributes + 1, MARKS, MARKS)
        )
        self.dropout = nn.Dropout(dropout)
        self.overlap = nn.Linear(attributes * OVERLAPS, 1)
        nn.init.zeros_(self.overlap.weight)
        nn.init.zeros_(self.overlap.bias)
        self.head = nn.Linear(3 * width + wide, 1)

    @property
    def width(self) -> int:
        return int(self.encoder.config.hidden_size)

    def lower(self, records: Sequence[Record]) -> list[Tensor]:
        """What the frozen part says of each record's subwords, in half precision, on the processor. Each record goes
        alone: in company it would depend on the others, in the last bits."""
        with torch.no_grad(), _evaluating(self.encoder):
            return [self._read(record) for record in records]

    def _read(self, record: Record) -> Tensor:
        tokens = torch.from_numpy(record.tokens.astype(np.int64)).to(self.side.device)[None]
        hidden = self.encoder.embeddings(input_ids=tokens).to(self._frozen_in)
        for layer in self.layers[: self.frozen_layers]:
            hidden = _first(layer(hidden))
        return hidden[0].half().cpu()

    def forward(self, states: Tensor, given: Inputs) -> Tensor:
        """Logits of pairs; `states` is (pairs, longest, width)."""
        marks = self.side[(given.roles - 1).clamp_min(0)] + self.attribute[given.attribute] + self.mark[given.mark]
        hidden = self.dropout(states.float() + marks + given.rarity.unsqueeze(2) * self.rare_mark[given.mark])
        with mixed_precision(hidden.device, self._half):
            for layer in self.layers[self.frozen_layers :]:
                hidden = _first(layer(hidden, attention_mask=given.real))
        left, right = (_even(_mean(hidden, given.roles == side)) for side in (LEFT, RIGHT))
        summary = self.dropout(torch.cat([_even(hidden[:, 0]), (left - right).abs(), left * right], dim=1))
        if given.wide is not None:
            summary = torch.cat([summary, given.wide], dim=1)
        logits: Tensor = self.head(summary).squeeze(1) + self.overlap(given.overlap).squeeze(1)
        return logits.float()


def load_encoder(folder: Path, dropout: float) -> Any:
    """The encoder from a local folder, loaded without network access and without console output.

    No code of the folder is run, whatever its config says, and its weights are read from safetensors alone: other
    forms are pickles, which may run code too.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from transformers import AttentionInterface, AutoModel
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        encoder = AutoModel.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            attn_implementation="sdpa",
        )
    except (OSError, ValueError, TypeError, KeyError, RuntimeError, SafetensorError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise MatcherError(
            f"No Transformer can be loaded from {folder}: {reason} A folder needs config.json, tokenizer.json and "
            "weights as .safetensors; code in it is never run."
        ) from error
    finally:
        logging.set_verbosity(before)
    if not hasattr(encoder, "embeddings") or _layers(encoder) is None:
        raise MatcherError(
            f"{folder} holds a {type(encoder).__name__}; an encoder like BERT, RoBERTa or DistilBERT is needed."
        )
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    _set_dropout(encoder, dropout)
    AttentionInterface.register(ATTENTION, _attend)
    encoder.config._attn_implementation = ATTENTION
    return encoder.float()


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scaling: float | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Attention, all (pairs, heads, places, width); `mask` is False for padding. Fused, unless a processor is to find
    its gradient in bfloat16: that of the fused one takes seven times as long as that of plain products."""
    if query.requires_grad and query.dtype is torch.bfloat16 and query.device.type == "cpu":
        scores = (query @ key.transpose(2, 3)).float() * (scaling or query.shape[-1] ** -0.5)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        found = scores.softmax(dim=3).to(value.dtype) @ value
    else:
        found = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scaling)
    return found.transpose(1, 2).contiguous(), None


def _layers(encoder: Any) -> Any:
    """BERT and its like keep their layers under `encoder`, DistilBERT under `transformer`."""
    inner = getattr(encoder, "encoder", None) or getattr(encoder, "transformer", None)
    return getattr(inner, "layer", None)


def _set_dropout(encoder: Any, rate: float) -> None:
    """The same rate throughout, under whatever name the config has it, but none in attention: it would cost 40 %."""
    for part in encoder.modules():
        if isinstance(part, nn.Dropout):
            part.p = rate
    for part in encoder.modules():
        if hasattr(part, "query") or hasattr(part, "q_lin"):
            part.dropout.p = 0.0


def _first(output: Any) -> Tensor:
    """Layers return their hidden states bare or as the first of a tuple, by version."""
    hidden: Tensor = output[0] if isinstance(output, tuple) else output
    return hidden


def _mean(hidden: Tensor, mine: Tensor) -> Tensor:
    """Mean state of one record's tokens: what sentence encoders are trained to make comparable."""
    share = mine.to(hidden.dtype) / mine.sum(dim=1, keepdim=True).clamp_min(1)
    return torch.bmm(share.unsqueeze(1), hidden).squeeze(1)


def _even(states: Tensor) -> Tensor:
    """On a common scale, whatever that of the pre-trained weights is."""
    return functional.layer_norm(states, states.shape[-1:])


@contextlib.contextmanager
def _evaluating(module: nn.Module) -> Iterator[None]:
    """Frozen layers use no dropout, even while the others train."""
    training = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(training)
