"""What the torch matchers share: passes of Adam over weighted pairs, prediction in chunks, snapshots.

A family fills in `_build` (the network for what is known), `_work` (pairs made ready for passes or for
prediction) and its own `_facts` (statistics that travel with the weights).
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from riskcore.errors import CancelledError, MatcherError
from riskcore.matchers.base import (
    Arrays,
    Examples,
    Matcher,
    PassFollower,
    ShouldStop,
    TuningSet,
    as_sets,
    metrics_of,
    never,
)
from riskcore.matchers.wide import Standardiser

CLIP_NORM = 5.0  # one odd batch must not throw the weights away
WINDOW = 16  # batches whose pairs are sorted by length among themselves: little padding, still much shuffling
MAX_WORDS = 50_000  # in a batch: pairs of twenty long attributes come in smaller batches, not in more memory
PREDICT_PAIRS = 20_000  # pairs made ready at a time: memory does not grow with the workload


class Work(Protocol):
    """Examples made ready for a pass."""

    lengths: np.ndarray  # cost of each pair, to put alike pairs into a batch

    def logits(self, rows: np.ndarray) -> Tensor: ...


class NeuralMatcher(Matcher):
    """A matcher around a torch network."""

    batch_size: ClassVar[int] = 128  # at most, where none is asked for
    predict_batch: ClassVar[int] = 256
    dropout: ClassVar[float] = 0.3  # where none is asked for
    warm_up: ClassVar[int] = 0  # steps in which the learning rate rises, so that the first ones throw nothing away

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.network: nn.Module | None = None
        self.optimiser: torch.optim.Adam | None = None
        self.standardiser: Standardiser | None = None

    @abc.abstractmethod
    def _build(self) -> nn.Module:
        """A network with fresh weights."""

    @abc.abstractmethod
    def _work(self, several: Sequence[Examples], training: bool) -> Work:
        """These examples, one after the other, ready for a pass."""

    def _learn_facts(self, train: Examples) -> None:
        """Take statistics from training pairs."""
        self.standardiser = Standardiser.fit(metrics_of(train)) if self.config.wide else None

    def _facts(self) -> Arrays:
        """What was learned beside the weights."""
        return {} if self.standardiser is None else self.standardiser.arrays()

    def _accept_facts(self, arrays: Arrays) -> None:
        """Take statistics from a snapshot."""
        self.standardiser = Standardiser.from_arrays(arrays)

    def _wide_width(self) -> int:
        return self.standardiser.width if self.standardiser is not None else 0

    def _wide(self, several: Sequence[Examples]) -> np.ndarray | None:
        """The metrics of these examples as input of the head."""
        if self.standardiser is None:
            return None
        return np.concatenate([self.standardiser.transform(metrics_of(examples)) for examples in several])

    def begin(self, train: Examples, seed: int) -> None:
        torch.set_num_threads(self.config.threads)
        self._learn_facts(train)
        with _seeded(seed):
            self.network = self._build().to(self._device())
        self.optimiser = None

    def fine_tune(
        self,
        sets: TuningSet | Sequence[TuningSet],
        *,
        rate: float | None = None,
        seed: int = 0,
        batch_size: int | None = None,
        should_stop: ShouldStop = never,
        follower: PassFollower | None = None,
    ) -> float:
        network, parts = self._ready(), as_sets(sets)
        if not parts:
            return 0.0
        self._before_pass(parts)
        follower = follower or PassFollower()
        reached = _Reached.of(follower.reached(), self)
        optimiser = self._optimiser(self.rates.fine_tune if rate is None else rate)
        match, non_match = (
            torch.from_numpy(np.concatenate([getattr(part, side) for part in parts]).astype(np.float32))
            for side in ("match", "non_match")
        )
        order, state = np.random.default_rng(seed), partial(reached.arrays, self)
        network.train()
        with _seeded(seed):
            work = self._work([part.examples for part in parts], training=True)
            reached.restore_randomness()
            batches = _shuffled_batches(work.lengths, batch_size or self.batch_size_for(len(match)), order)
            for rows in islice(batches, reached.batches, None):
                if should_stop():
                    follower.stop(reached.pairs, state)
                    raise CancelledError("Training was cancelled; the last checkpoint holds what was reached.")
                loss = weighted_loss(work.logits(rows), match[rows], non_match[rows])
                with self._warming(optimiser):
                    take_step(network, optimiser, loss)
                reached.add(rows, loss.item())
                follower.advance(reached.pairs, len(match), state)
        return reached.loss / len(match)

    def predict_proba(self, examples: Examples) -> np.ndarray:
        answers = np.zeros(len(examples))
        self._ready().eval()
        with torch.inference_mode():
            if len(examples) <= PREDICT_PAIRS:
                return self._predict_chunk(examples)  # these very pairs may be known from before
            for start in range(0, len(examples), PREDICT_PAIRS):
                chunk = slice(start, start + PREDICT_PAIRS)
                answers[chunk] = self._predict_chunk(examples.take(chunk))
        return answers

    def _predict_chunk(self, examples: Examples) -> np.ndarray:
        work, answers = self._work([examples], training=False), np.zeros(len(examples))
        for together in self._alike(work.lengths):
            for start in range(0, len(together), self.predict_batch):
                for rows in within_memory(together[start : start + self.predict_batch], work.lengths):
                    answers[rows] = torch.sigmoid(work.logits(rows).double()).numpy()
        return answers

    def _alike(self, lengths: np.ndarray) -> list[np.ndarray]:
        """Pairs that may be predicted together, those of similar length one after the other."""
        return [np.argsort(lengths, kind="stable")]

    def snapshot(self, moments: bool = False) -> Arrays:
        arrays = {f"network.{name}": _copy(value) for name, value in self._trained().items()}
        arrays |= {f"facts.{name}": value.copy() for name, value in self._facts().items()}
        if moments and self.optimiser is not None:
            for name, parameter in self._trained().items():
                for key, value in self.optimiser.state.get(parameter, {}).items():
                    arrays[f"moments.{key}.{name}"] = _copy(value)
        return arrays

    def restore(self, arrays: Arrays) -> None:
        self._accept_facts(_named(arrays, "facts."))
        if self.network is None:
            self.network = self._build().to(self._device())
        stored = _named(arrays, "network.")
        trained = self._trained()
        if set(stored) != set(trained) or any(trained[name].shape != stored[name].shape for name in stored):
            raise MatcherError("These weights belong to a matcher of another shape or with other attributes.")
        with torch.no_grad():
            for name, parameter in trained.items():
                parameter.copy_(torch.from_numpy(stored[name]))
        self.optimiser = None
        moments = _named(arrays, "moments.")
        if moments:
            self._restore_moments(moments)

    def _restore_moments(self, moments: Arrays) -> None:
        optimiser = self._optimiser(self.rates.train)
        for name, parameter in self._trained().items():
            for key in ("step", "exp_avg", "exp_avg_sq"):
                if f"{key}.{name}" in moments:
                    value = torch.from_numpy(moments[f"{key}.{name}"].copy())
                    optimiser.state[parameter][key] = value.to(parameter.device)

    def _dropout(self) -> float:
        return self.dropout if self.config.dropout is None else self.config.dropout

    def batch_size_for(self, pairs: int) -> int:
        """Large batches are faster, but a pass over few pairs must still be some fifty steps."""
        return max(min(self.batch_size, pairs // 50), 16)

    def _trained(self) -> dict[str, nn.Parameter]:
        network = self._ready()
        return {name: parameter for name, parameter in network.named_parameters() if parameter.requires_grad}

    def _ready(self) -> nn.Module:
        if self.network is None:
            raise MatcherError(f"This {self.kind} matcher was never trained. Train it, or load a saved one.")
        torch.set_num_threads(self.config.threads)
        return self.network

    def _optimiser(self, rate: float) -> torch.optim.Adam:
        if self.optimiser is None:
            self.optimiser = torch.optim.Adam(self._groups(), lr=rate, fused=True)
        for group in self.optimiser.param_groups:
            group["lr"] = rate * group.get("haste", 1.0)
        return self.optimiser

    @contextlib.contextmanager
    def _warming(self, optimiser: torch.optim.Adam) -> Iterator[None]:
        """A step at the rate that it has so early; how many were made, the optimiser knows."""
        rates = [group["lr"] for group in optimiser.param_groups]
        first = optimiser.param_groups[0]["params"][0]
        share = (float(optimiser.state[first]["step"]) + 1) / self.warm_up if self.warm_up and optimiser.state else 0.0
        share = share or 1 / max(self.warm_up, 1)
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * min(share, 1.0)
        yield
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate

    def _before_pass(self, sets: Sequence[TuningSet]) -> None:
        """What a family does before each pass."""

    def _device(self) -> torch.device:
        """Where the network is. Small ones gain nothing from a GPU."""
        return torch.device("cpu")

    def _groups(self) -> list[dict[str, Any]]:
        """What trains; a group may have a `haste` that multiplies its rate."""
        return [{"params": list(self._trained().values())}]


@dataclasses.dataclass(eq=False)
class _Reached:
    """How far a pass has come: with the matcher's weights and moments, all that the rest of it follows from."""

    batches: int = 0
    pairs: int = 0
    loss: float = 0.0  # summed over these pairs
    randomness: Tensor | None = None  # torch's, where an interrupted pass goes on

    @classmethod
    def of(cls, arrays: Arrays, matcher: NeuralMatcher) -> _Reached:
        """Where a pass was interrupted, with the matcher as it was then; or the beginning."""
        if not arrays:
            return cls()
        own = _named(arrays, "pass.")
        matcher.restore({name: array for name, array in arrays.items() if not name.startswith("pass.")})
        randomness = torch.from_numpy(own["randomness"].copy())
        return cls(int(own["batches"]), int(own["pairs"]), float(own["loss"]), randomness)

    def restore_randomness(self) -> None:
        if self.randomness is not None:
            torch.set_rng_state(self.randomness)

    def add(self, rows: np.ndarray, loss: float) -> None:
        self.batches += 1
        self.pairs += len(rows)
        self.loss += loss * len(rows)

    def arrays(self, matcher: NeuralMatcher) -> Arrays:
        """This and the matcher, to be kept."""
        own = {"batches": self.batches, "pairs": self.pairs, "loss": self.loss}
        arrays = {f"pass.{name}": np.array(value) for name, value in own.items()}
        return matcher.snapshot(moments=True) | arrays | {"pass.randomness": _copy(torch.get_rng_state())}


def weighted_loss(logits: Tensor, match: Tensor, non_match: Tensor) -> Tensor:
    """Mean of `-match * log g - non-match * log(1 - g)`."""
    return -(match * functional.logsigmoid(logits) + non_match * functional.logsigmoid(-logits)).mean()


def take_step(network: nn.Module, optimiser: torch.optim.Adam, loss: Tensor) -> None:
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), CLIP_NORM)
    optimiser.step()


def _shuffled_batches(lengths: np.ndarray, size: int, order: np.random.Generator) -> Iterator[np.ndarray]:
    """Batches of pairs of similar length, in random order."""
    rows, batches = order.permutation(len(lengths)), []
    for start in range(0, len(rows), size * WINDOW):
        window = rows[start : start + size * WINDOW]
        window = window[np.argsort(lengths[window], kind="stable")]
        batches += [window[place : place + size] for place in range(0, len(window), size)]
    for place in order.permutation(len(batches)):
        yield from within_memory(batches[place], lengths)


def within_memory(rows: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    """A batch as it is, or in parts if it holds too many words."""
    parts = min(-(-int(lengths[rows].sum()) // MAX_WORDS), len(rows))
    return [rows] if parts <= 1 else np.array_split(rows, parts)


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Torch's own randomness from this seed, and afterwards as if nothing had been drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _copy(value: Tensor) -> np.ndarray:
    array: np.ndarray = value.detach().cpu().numpy().copy()
    return array


def _named(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
