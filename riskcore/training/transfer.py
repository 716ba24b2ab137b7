"""Transfer by gradient reversal: the matcher learns the source's labels while unlearning which data set a pair is from.

A second classifier reads the last hidden layer and tells source from target; its gradient reaches the matcher with
the sign reversed, so that the layer gradually loses what identifies the data set. Labels of the source only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from riskcore.config import RunConfig, TransferConfig
from riskcore.errors import CancelledError, MatcherError
from riskcore.matchers.base import Arrays, Examples, Matcher, PassFollower, ShouldStop, TuningSet, never
from riskcore.matchers.neural import WINDOW, NeuralMatcher, take_step, weighted_loss, within_memory
from riskcore.random_streams import Stream, stream_seed
from riskcore.training.evidence import Evidence
from riskcore.training.listeners import Listener, notify
from riskcore.training.passes import Passes
from riskcore.training.results import SelectionRow
from riskcore.training.supervised import best_epoch, rate_at, validate


class _Reversal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, strength: float) -> Tensor:
        ctx.strength = strength
        return features.view_as(features)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return -ctx.strength * gradients[0], None


def train_transfer(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    should_stop: ShouldStop = never,
) -> None:
    """Train afresh on labelled source and unlabelled target; leave the best epoch, chosen as tradition's is."""
    if not isinstance(matcher, NeuralMatcher):
        raise MatcherError(f"Transfer reverses gradients, and a {matcher.kind} matcher has none. Choose a neural one.")
    matcher.begin(evidence.source.examples, stream_seed(config.seed, Stream.INITIAL_WEIGHTS))
    labelled = TuningSet.from_labels(evidence.source.examples, config.tune.match_weight, config.tune.smoothing)
    network = matcher.network
    assert network is not None
    domain = _DomainClassifier(last_layer(network), config.transfer, stream_seed(config.seed, Stream.DOMAIN_CLASSIFIER))
    size = config.tune.batch_size or matcher.batch_size_for(len(labelled))
    rows: list[SelectionRow] = []
    best: Arrays | None = None
    for epoch in range(1, config.tune.epochs + 1):
        rate = rate_at(epoch, config.tune, matcher.rates.train)
        progress = (epoch - 1) / max(config.tune.epochs - 1, 1)
        domain.strength = config.transfer.strength * (2 / (1 + math.exp(-config.transfer.rise * progress)) - 1)
        seed = stream_seed(config.seed, Stream.TRANSFER_PASS, epoch)
        told = Passes("transfer", "epoch", config.tune.epochs, listeners=listeners).follower(epoch)
        _one_epoch(matcher, domain, labelled, evidence.target.examples, size, rate, seed, should_stop, told)
        rows.append({"epoch": epoch, **validate(matcher, evidence.validation.examples)})
        if best_epoch(rows) == epoch:
            best = matcher.snapshot()
        notify(listeners, "on_progress", {"phase": "transfer", "done": epoch, "total": config.tune.epochs})
    domain.remove()
    if best is not None:
        matcher.restore(best)


def last_layer(network: nn.Module) -> nn.Linear:
    """The layer that gives the logit; its input is the matcher's representation of a pair."""
    layers = [layer for layer in network.modules() if isinstance(layer, nn.Linear) and layer.out_features == 1]
    return layers[-1]


class _DomainClassifier:
    """Predicts the data set from what enters the last layer."""

    def __init__(self, layer: nn.Linear, config: TransferConfig, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.guess = nn.Sequential(nn.Linear(layer.in_features, config.width), nn.ReLU(), nn.Linear(config.width, 1))
        for parameter in self.guess.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1, generator=generator)
        self.optimiser = torch.optim.Adam(self.guess.parameters(), lr=config.rate)
        self.strength = 0.0
        self._features: Tensor | None = None
        self._hook = layer.register_forward_pre_hook(self._keep_features)

    def _keep_features(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        self._features = inputs[0].cpu()

    def loss(self, is_target: Tensor) -> Tensor:
        assert self._features is not None
        guess = self.guess(_Reversal.apply(self._features, self.strength)).squeeze(1)
        return functional.binary_cross_entropy_with_logits(guess, is_target)

    def remove(self) -> None:
        self._hook.remove()


def _one_epoch(
    matcher: NeuralMatcher,
    domain: _DomainClassifier,
    labelled: TuningSet,
    target: Examples,
    size: int,
    rate: float,
    seed: int,
    should_stop: ShouldStop,
    follower: PassFollower,
) -> None:
    network, optimiser = matcher.network, matcher._optimiser(rate)
    assert network is not None
    matcher._before_pass([labelled])
    network.train()
    done = 0  # source pairs
    match, non_match = (torch.from_numpy(side.astype(np.float32)) for side in (labelled.match, labelled.non_match))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        work = matcher._work([labelled.examples, target], training=True)
        for rows, is_target in _mixed_batches(work.lengths, len(labelled), size, seed):
            if should_stop():
                raise CancelledError("Training was cancelled; the last checkpoint holds what was reached.")
            logits = work.logits(rows)
            from_source = torch.from_numpy(~is_target)
            loss = weighted_loss(logits[from_source], match[rows[~is_target]], non_match[rows[~is_target]])
            loss = loss + domain.loss(torch.from_numpy(is_target.astype(np.float32)))
            domain.optimiser.zero_grad(set_to_none=True)
            take_step(network, optimiser, loss)
            domain.optimiser.step()
            done += int((~is_target).sum())
            follower.advance(done, len(labelled), Arrays)


def _mixed_batches(lengths: np.ndarray, source: int, size: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every source pair once, `size` to a batch with as many target pairs, alike in length so that little is padded.

    `lengths` are of all source pairs, then of all target pairs; a batch with too many words comes in parts.
    """
    rng = np.random.default_rng(seed)
    order, batches = rng.permutation(source), []
    for start in range(0, source, size * WINDOW):
        ours = order[start : start + size * WINDOW]
        theirs = source + rng.integers(0, len(lengths) - source, len(ours))
        ours, theirs = (side[np.argsort(lengths[side], kind="stable")] for side in (ours, theirs))
        both = np.column_stack([ours, theirs])
        batches += [both[place : place + size] for place in range(0, len(both), size)]
    for place in rng.permutation(len(batches)):
        both = batches[place]
        for part in within_memory(np.arange(len(both)), lengths[both].sum(axis=1)):
            yield both[part].T.ravel(), np.repeat([False, True], len(part))
