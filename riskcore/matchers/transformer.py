"""A pre-trained Transformer under a linear head, cut in two: layers that stay as they are, and layers that train.

The head sees the first token, as Ditto's does, and beside it how the mean states of the two records differ and agree:
the installed weights are those of a sentence encoder, whose means are comparable from the first step on.

What the lower part says of a pair never changes, so it can be computed once and kept; it is rounded to half
precision on the way in any case, so that kept and freshly computed are the same.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.nn import functional

from riskcore.errors import MatcherError
from riskcore.matchers.serialise import LEFT, PADDING, RIGHT, SHARED, PairText


class Transformer(nn.Module):
    """Encoder and head. `lower` and `forward` together turn sequences into logits."""

    def __init__(self, folder: Path, frozen_layers: int, dropout: float, wide: int) -> None:
        super().__init__()
        self.encoder = load_encoder(folder, dropout)
        self.layers = self.encoder.encoder.layer
        if frozen_layers >= len(self.layers):
            raise MatcherError(f"{folder} has {len(self.layers)} layers; leave at least one of them to train.")
        self.frozen_layers = frozen_layers
        for part in (self.encoder.embeddings, *self.layers[:frozen_layers]):
            part.requires_grad_(False)
        self.mark = nn.Parameter(0.1 * torch.randn(self.encoder.config.hidden_size))  # of words in both records
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(3 * self.encoder.config.hidden_size + wide, 1)

    def lower(self, sequences: Sequence[PairText]) -> tuple[Tensor, Tensor]:
        """Hidden states (pairs, longest, width) after the frozen part, and the role of each."""
        tokens, roles = _padded(sequences, self.encoder.config.pad_token_id or 0)
        types = _of(roles, RIGHT).long() if self.encoder.config.type_vocab_size > 1 else torch.zeros_like(tokens)
        with torch.no_grad(), _evaluating(self.encoder):
            hidden = self.encoder.embeddings(input_ids=tokens, token_type_ids=types)
            mask = _attention_mask(roles)
            for layer in self.layers[: self.frozen_layers]:
                hidden = _first(layer(hidden, attention_mask=mask))
        return hidden.half(), roles

    def forward(self, hidden: Tensor, roles: Tensor, wide: Tensor | None = None) -> Tensor:
        marked = hidden.float() + (roles > RIGHT).unsqueeze(2) * self.mark
        hidden, mask = self.dropout(marked), _attention_mask(roles)
        for layer in self.layers[self.frozen_layers :]:
            hidden = _first(layer(hidden, attention_mask=mask))
        left, right = (_even(_mean(hidden, _of(roles, side))) for side in (LEFT, RIGHT))
        summary = self.dropout(torch.cat([_even(hidden[:, 0]), (left - right).abs(), left * right], dim=1))
        if wide is not None:
            summary = torch.cat([summary, wide], dim=1)
        logits: Tensor = self.head(summary).squeeze(1)
        return logits


def load_encoder(folder: Path, dropout: float) -> Any:
    """The encoder from a local folder, loaded without network access and without console output.

    No code of the folder is run, whatever its config says, and its weights are read from safetensors alone: other
    forms are pickles, which may run code too.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from transformers import AutoModel
    from transformers.utils import logging

    quiet = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": 0.0}  # attention dropout costs 40 %
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
            **quiet,
        )
    except (OSError, ValueError, TypeError, KeyError, RuntimeError, SafetensorError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise MatcherError(
            f"No Transformer can be loaded from {folder}: {reason} A folder needs config.json, tokenizer.json and "
            "weights as .safetensors; code in it is never run."
        ) from error
    finally:
        logging.set_verbosity(before)
    if not hasattr(encoder, "embeddings") or not hasattr(getattr(encoder, "encoder", None), "layer"):
        raise MatcherError(f"{folder} holds a {type(encoder).__name__}; an encoder like BERT or RoBERTa is needed.")
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    return encoder.float()


def _first(output: Any) -> Tensor:
    """Layers return their hidden states bare or as the first of a tuple, by version."""
    hidden: Tensor = output[0] if isinstance(output, tuple) else output
    return hidden


def _mean(hidden: Tensor, mine: Tensor) -> Tensor:
    """Mean state of one record's tokens: what sentence encoders are trained to make comparable."""
    share = mine.float() / mine.sum(dim=1, keepdim=True).clamp_min(1)
    return torch.bmm(share.unsqueeze(1), hidden).squeeze(1)


def _even(states: Tensor) -> Tensor:
    """On a common scale, whatever that of the pre-trained weights is."""
    return functional.layer_norm(states, states.shape[-1:])


def _of(roles: Tensor, side: int) -> Tensor:
    return (roles == side) | (roles == side + SHARED)


def _attention_mask(roles: Tensor) -> Tensor | None:
    real = roles != PADDING
    return None if bool(real.all()) else real[:, None, None, :]


def _padded(sequences: Sequence[PairText], padding: int) -> tuple[Tensor, Tensor]:
    """Tokens and roles (pairs, longest)."""
    longest = max(len(one.tokens) for one in sequences)
    tokens = np.full((len(sequences), longest), padding, dtype=np.int64)
    roles = np.full(tokens.shape, PADDING, dtype=np.int64)
    for row, one in enumerate(sequences):
        tokens[row, : len(one.tokens)] = one.tokens
        roles[row, : len(one.tokens)] = one.roles
    return torch.from_numpy(tokens), torch.from_numpy(roles)


@contextlib.contextmanager
def _evaluating(module: nn.Module) -> Iterator[None]:
    """Frozen layers use no dropout, even while the others train."""
    training = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(training)
