"""What a matcher is, and how to add one.

A matcher turns pairs into match probabilities and can be trained. To add one:

1. Write one file in `riskcore/matchers/` with a class derived from `Matcher`. Give it a `kind` (its name in
   `MatcherConfig.kind`) and `rates` (its usual learning rates), and fill in the methods below:
   `begin` forgets everything and prepares for training data; `fine_tune` makes one pass over weighted
   pairs; `predict_proba` answers; `snapshot` and `restore` carry the weights as plain arrays.
   Training on labels, saving and loading then work, and so do checkpoints, resuming, cancelling and the risk phase.
   A matcher whose passes last minutes takes one keyword more in `fine_tune`, `follower: PassFollower | None = None`:
   then its passes are resumed in the middle, and their pairs are counted while they go on.
2. Add its spec to `MATCHERS` in `riskcore/registry.py`, or offer it from another package: docs/extending.md.
3. Add it to the list in `tests/matchers/test_contract.py`: one contract test runs over all matchers.
4. Give it a section in `docs/matchers.md`.

Rules every matcher keeps: labels are read from `TuningSet`s only; the same seed gives the same
bits on one machine; a prediction depends on the weights and the pair, not on what was asked before;
nothing is printed. This module needs no torch, so that the web process can read configs and external scores.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, Self

import numpy as np

from riskcore.config import MatcherConfig
from riskcore.data.pairs import LabelledPairs, Pairs
from riskcore.data.schema import Attribute
from riskcore.errors import MatcherError

Arrays = dict[str, np.ndarray]
ShouldStop = Callable[[], bool]


def never() -> bool:
    """The default answer to "has someone cancelled this?"."""
    return False


class PassFollower:
    """Follows one pass for whoever asked for it, and keeps the state of one that does not end. This one does neither.

    A pass that is followed asks `reached` first and goes on from there, to the same bits as if it had never stopped.
    """

    def reached(self) -> Arrays:
        """The state in which the pass was interrupted; empty for one that begins."""
        return {}

    def advance(self, done: int, total: int, state: Callable[[], Arrays]) -> None:
        """So many of the pairs are done. `state` is costly, and called only where it is to be kept now."""

    def stop(self, done: int, state: Callable[[], Arrays]) -> None:
        """The pass was cancelled after so many pairs, and ends with an error."""


class Rates(NamedTuple):
    """Usual learning rates: for training on labels, and for the gentler passes of the risk phase."""

    train: float
    fine_tune: float


@dataclasses.dataclass(frozen=True, eq=False)
class Examples:
    """Pairs, and beside each its metrics (float32, NaN is missing) for matchers whose head is wide."""

    pairs: Pairs
    metrics: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.metrics is not None and self.metrics.shape[:1] != (len(self.pairs),):
            raise MatcherError(
                f"{len(self.pairs)} pairs have metrics of shape {self.metrics.shape}. Give one row per pair."
            )

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def labels(self) -> np.ndarray:
        if not isinstance(self.pairs, LabelledPairs):
            raise MatcherError("These pairs have no labels; training needs labelled pairs.")
        return self.pairs.labels

    @property
    def weights(self) -> np.ndarray:
        """How many pairs each labelled one stands for, 1 in the mean."""
        return self.pairs.weights if isinstance(self.pairs, LabelledPairs) else np.ones(len(self.pairs))

    def take(self, rows: np.ndarray | slice) -> Examples:
        return Examples(self.pairs.take(rows), None if self.metrics is None else self.metrics[rows])


@dataclasses.dataclass(frozen=True, eq=False)
class Views:
    """Ways to look at pairs with some attributes hidden, to find out what each contributes.

    A hidden attribute has no values, and its metrics are missing. The last column stands for the metrics of whole
    records, which are of no single attribute.
    """

    seen: np.ndarray  # bool, views x (attributes + 1)
    owner: np.ndarray  # int64, for each metric the column of `seen` that it belongs to

    def __len__(self) -> int:
        return len(self.seen)

    def metrics(self, metrics: np.ndarray, view: int) -> np.ndarray:
        """The metrics that a view leaves."""
        return np.where(self.seen[view][self.owner], metrics, np.float32(np.nan))


@dataclasses.dataclass(frozen=True, eq=False)
class TuningSet:
    """Examples with what each should become: the loss is `-match * log g - non-match * log(1 - g)`.

    Labels are the special case (1, 0) and (0, 1); the risk phase uses (1 - VaR+, 1 - VaR-).
    """

    examples: Examples
    match: np.ndarray
    non_match: np.ndarray

    def __post_init__(self) -> None:
        for weights in (self.match, self.non_match):
            if weights.shape != (len(self.examples),) or not np.isfinite(weights).all() or (weights < 0).any():
                raise MatcherError(f"A tuning set needs {len(self.examples)} finite weights >= 0 for each class.")

    def __len__(self) -> int:
        return len(self.examples)

    def pulled(self, said: np.ndarray, least: float) -> TuningSet:
        """Only the pairs whose loss pulls by at least so much at what the matcher says of them: the gradient by their
        log-odds. A pass over the others would cost as much and change little."""
        if not least:
            return self
        rows = np.flatnonzero(np.abs((self.match + self.non_match) * said - self.match) >= least)
        return TuningSet(self.examples.take(rows), self.match[rows], self.non_match[rows])

    @classmethod
    def from_labels(
        cls, examples: Examples, match_weight: float = 1.0, smoothing: float = 0.0, share: float = 1.0
    ) -> Self:
        """Cross-entropy on labels, with weight `match_weight` for matches; `share` scales the whole set."""
        truth = np.where(examples.labels == 1, 1.0 - smoothing, smoothing)
        scale = share * np.where(examples.labels == 1, match_weight, 1.0)
        return cls(examples, scale * truth, scale * (1.0 - truth))


class Matcher(abc.ABC):
    """Base of all matchers; see the module's text for how to add one."""

    kind: ClassVar[str]
    rates: ClassVar[Rates] = Rates(1e-3, 3e-4)
    trainable: ClassVar[bool] = True
    looks_at_records: ClassVar[bool] = True  # False: nothing is gained by hiding an attribute
    hides_cheaply: ClassVar[bool] = True  # False: every view of a pair costs as much as a prediction
    least_pull: ClassVar[float] = 0.0  # pairs whose loss pulls at their answer by less are left out of adaptive passes

    def __init__(self, config: MatcherConfig, attributes: Sequence[Attribute]) -> None:
        if not attributes:
            raise MatcherError("A matcher needs at least one attribute that both tables share.")
        self.config = config
        self.attributes = tuple(attributes)

    @property
    def sees_metrics(self) -> bool:
        """Whether predictions depend on the metrics of pairs."""
        return self.config.wide

    @abc.abstractmethod
    def begin(self, train: Examples, seed: int) -> None:
        """Forget everything; take statistics from the training pairs (not labels) and draw fresh weights."""

    @abc.abstractmethod
    def fine_tune(
        self,
        sets: TuningSet | Sequence[TuningSet],
        *,
        rate: float | None = None,
        seed: int = 0,
        batch_size: int | None = None,
        should_stop: ShouldStop = never,
    ) -> float:
        """One pass over all sets, shuffled together; the mean loss. `rate=None` is `rates.fine_tune`."""

    @abc.abstractmethod
    def predict_proba(self, examples: Examples) -> np.ndarray:
        """Match probability of each pair, float64 in [0, 1]."""

    def predict_views(self, examples: Examples, views: Views) -> np.ndarray:
        """Match probability of each pair in each view, pairs x views. Override it where hiding can be made cheap."""
        names = [attribute.name for attribute in self.attributes]
        answers = np.empty((len(examples), len(views)))
        for view, seen in enumerate(views.seen):
            hidden = [name for name, is_seen in zip(names, seen, strict=False) if not is_seen]
            metrics = None if examples.metrics is None else views.metrics(examples.metrics, view)
            answers[:, view] = self.predict_proba(Examples(without_values(examples.pairs, hidden), metrics))
        return answers

    @abc.abstractmethod
    def snapshot(self, moments: bool = False) -> Arrays:
        """Everything that was learned, as copied arrays; with `moments`, the optimiser's state too."""

    @abc.abstractmethod
    def restore(self, arrays: Arrays) -> None:
        """Go back to a snapshot. Without moments in it, the optimiser starts afresh."""


def without_values(pairs: Pairs, attributes: Sequence[str]) -> Pairs:
    """The same pairs over tables in which these attributes are missing everywhere."""
    if not attributes:
        return pairs
    left = pairs.left.without_values(attributes)
    right = left if pairs.right is pairs.left else pairs.right.without_values(attributes)
    return Pairs(left, right, pairs.left_rows, pairs.right_rows, pairs.ids)


def as_sets(sets: TuningSet | Sequence[TuningSet]) -> tuple[TuningSet, ...]:
    """One set or several, as several; empty ones are left out."""
    several = (sets,) if isinstance(sets, TuningSet) else tuple(sets)
    return tuple(one for one in several if len(one))


def metrics_of(examples: Examples) -> np.ndarray:
    """The metrics, for a matcher that needs them."""
    if examples.metrics is None:
        raise MatcherError("A wide matcher needs the metrics of every pair; these examples have none.")
    return examples.metrics
