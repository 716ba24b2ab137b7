"""The DeepMatcher family: per attribute, word vectors -> summaries -> comparison; then a highway head.

`sif`, `rnn`, `attention` and `hybrid` differ in the summariser only. With `MatcherConfig.wide` the head sees the
pair's metrics beside the comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from riskcore.matchers.base import Arrays, Examples, Rates, Views, metrics_of
from riskcore.matchers.encode import Corpus, Encoder
from riskcore.matchers.frequency import Frequency
from riskcore.matchers.layout import Batch
from riskcore.matchers.network import Network, hide
from riskcore.matchers.neural import PREDICT_PAIRS, NeuralMatcher, Work, within_memory
from riskcore.matchers.vectors import pretrained


class DeepMatcher(NeuralMatcher):
    """What the four have in common."""

    rates = Rates(1e-3, 3e-4)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.encoder = Encoder(pretrained(), self.config.max_words)
        self.names = [attribute.name for attribute in self.attributes]
        self.frequency = Frequency.none()

    def _build(self) -> nn.Module:
        return Network(
            kind=self.kind,
            attributes=len(self.attributes),
            parts=self.encoder.vectors.parts,
            wide=self._wide_width(),
            width=self.config.width,
            head=self.config.head,
            dropout=self._dropout(),
            word_dropout=self.config.word_dropout,
        )

    def _work(self, several: Sequence[Examples], training: bool) -> Work:
        network = self._ready()
        assert isinstance(network, Network)
        corpus = self.encoder.corpus([examples.pairs for examples in several], self.names)
        weights = torch.from_numpy(self.frequency.weights(corpus.hashes))
        return _Ready(network, corpus, weights, self._wide(several), training)

    def predict_views(self, examples: Examples, views: Views) -> np.ndarray:
        """Attributes are compared once; only the head looks at each view."""
        answers = np.empty((len(examples), len(views)))
        self._ready().eval()
        with torch.inference_mode():
            for start in range(0, len(examples), PREDICT_PAIRS):
                chunk = slice(start, start + PREDICT_PAIRS)
                answers[chunk] = self._chunk_views(examples.take(chunk), views)
        return answers

    def _chunk_views(self, examples: Examples, views: Views) -> np.ndarray:
        work, seen = self._work([examples], training=False), torch.from_numpy(views.seen[:, :-1])
        assert isinstance(work, _Ready)
        order, answers = np.argsort(work.lengths, kind="stable"), np.empty((len(examples), len(views)))
        wide = [self._wide_view(examples, views, view) for view in range(len(views))]
        for start in range(0, len(order), self.predict_batch):
            for rows in within_memory(order[start : start + self.predict_batch], work.lengths):
                compared = work.compared(rows)
                for view in range(len(views)):
                    logits = work.network.decide(hide(compared, seen[view]), _some(wide[view], rows))
                    answers[rows, view] = torch.sigmoid(logits.double()).numpy()
        return answers

    def _wide_view(self, examples: Examples, views: Views, view: int) -> np.ndarray | None:
        if self.standardiser is None:
            return None
        return self.standardiser.transform(views.metrics(metrics_of(examples), view))

    def _learn_facts(self, train: Examples) -> None:
        super()._learn_facts(train)
        corpus = self.encoder.corpus([train.pairs], self.names)
        self.frequency = Frequency.of(corpus.hashes[corpus.words])

    def _facts(self) -> Arrays:
        return super()._facts() | self.frequency.arrays()

    def _accept_facts(self, arrays: Arrays) -> None:
        super()._accept_facts(arrays)
        self.frequency = Frequency(arrays["word"], arrays["frequency"])


class SifMatcher(DeepMatcher):
    kind = "sif"


class RnnMatcher(DeepMatcher):
    kind = "rnn"


class AttentionMatcher(DeepMatcher):
    kind = "attention"


class HybridMatcher(DeepMatcher):
    kind = "hybrid"


def _some(wide: np.ndarray | None, rows: np.ndarray) -> Tensor | None:
    return None if wide is None else torch.from_numpy(wide[rows])


class _Ready:
    """A corpus in front of a network. Prediction projects the vocabulary once, training each batch's own words."""

    def __init__(
        self, network: Network, corpus: Corpus, weights: Tensor, wide: np.ndarray | None, training: bool
    ) -> None:
        self.network, self.corpus, self.weights, self.wide = network, corpus, weights, wide
        self.lengths = corpus.lengths
        self.features = torch.from_numpy(corpus.features)
        self.vectors = None if training else network.project(self.features)

    def compared(self, rows: np.ndarray) -> Tensor:
        """The comparisons of some pairs' attributes, before the head."""
        assert self.vectors is not None  # for prediction
        batch = Batch.of(self.corpus, rows, self.network.recurrent)
        return self.network.compare_attributes(self.vectors, self.weights, batch)

    def logits(self, rows: np.ndarray) -> Tensor:
        batch = Batch.of(self.corpus, rows, self.network.recurrent, self.wide)
        if self.vectors is not None:
            return self.network(self.vectors, self.weights, batch)
        met = torch.zeros(len(self.features), dtype=torch.bool)
        met[batch.words] = True
        met[0] = True  # padding keeps its number
        distinct, numbers = met.nonzero().squeeze(1), met.cumsum(0) - 1
        vectors = self.network.project(self.features[distinct])
        return self.network(vectors, self.weights[distinct], batch.renumbered(numbers))
