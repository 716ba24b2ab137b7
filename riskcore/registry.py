"""What can be chosen by name: matchers, methods and rankings. One spec each, one place to add.

A spec says what the command line, the screens, the estimates of time, the reports and the docs need to know, and
names the code behind it as `module:attribute`, which is imported only when it is used. Packages add their own
through the entry points `riskcore.matchers`, `riskcore.methods` and `riskcore.rankings`: each entry point names
a spec (or a function that returns one). docs/extending.md is the recipe.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from riskcore.errors import ConfigError

NEUTRAL_COLOUR = "#7a8694"


@dataclasses.dataclass(frozen=True)
class Spec:
    """What every registered thing has: its name, one line of words, and the code behind it."""

    name: str
    words: str
    code: str  # "module:attribute"

    def load(self) -> Any:
        """The code behind the spec; its module is imported only now."""
        module, _, attribute = self.code.partition(":")
        return getattr(importlib.import_module(module), attribute)


@dataclasses.dataclass(frozen=True)
class MatcherSpec(Spec):
    """A matcher: a class derived from `riskcore.matchers.base.Matcher`."""

    trainable: bool = True  # False: its answers come from elsewhere and cannot be adapted
    pairs_per_second: float = 1_000.0  # trained on by one core, roughly: for estimates of time
    reads_metrics: bool = True  # whether it can take the metrics too (`wide`)
    offered: bool = True  # whether the form of the dashboard lists it


@dataclasses.dataclass(frozen=True)
class MethodSpec(Spec):
    """A method: a function `(MethodContext) -> MethodResult` (see `riskcore.training.method`)."""

    colour: str = NEUTRAL_COLOUR
    default: bool = False  # whether a run includes it unless told otherwise
    iterates: bool = False  # whether it records iterations that can be browsed
    needs_training: bool = False  # whether it has to train the matcher: not possible with external scores
    is_baseline: bool = False  # whether it does without adapting by risk; shown after the others
    cost: float = 1.0  # share of a run's time, tradition being 3


@dataclasses.dataclass(frozen=True)
class RankingSpec(Spec):
    """A ranking of labels, riskiest first: a function `(RankingInput) -> Ranking | None`."""

    colour: str = NEUTRAL_COLOUR
    labels_used: tuple[str, ...] = ()


SpecType = TypeVar("SpecType", bound=Spec)


class Registry(Generic[SpecType]):
    """Specs by name, the built-in ones first, in the order in which they are shown."""

    def __init__(self, kind: str, group: str, spec: type[SpecType], built_in: tuple[SpecType, ...]) -> None:
        self.kind, self.group, self._spec, self._built_in = kind, group, spec, built_in

    def __iter__(self) -> Iterator[SpecType]:
        return iter(self._all().values())

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def __getitem__(self, name: str) -> SpecType:
        found = self._all().get(name)
        if found is None:
            raise ConfigError(f"There is no {self.kind} named {name!r}. Known: {', '.join(self.names())}.")
        return found

    def names(self) -> tuple[str, ...]:
        return tuple(self._all())

    def _all(self) -> dict[str, SpecType]:
        return {spec.name: spec for spec in (*self._built_in, *self._added())}

    def _added(self) -> tuple[SpecType, ...]:
        return tuple(self._read(point) for point in _entry_points(self.group))

    def _read(self, point: EntryPoint) -> SpecType:
        where = f"The entry point {point.name!r} of {self.group}"
        try:
            found = point.load()
            spec = found if isinstance(found, Spec) else found()
        except Exception as error:
            raise ConfigError(f"{where} cannot be loaded: {error}. Repair or uninstall that package.") from error
        if not isinstance(spec, self._spec):
            raise ConfigError(f"{where} names no {self._spec.__name__}. Repair or uninstall that package.")
        if any(spec.name == one.name for one in self._built_in):
            raise ConfigError(f"{where} takes the name {spec.name!r}, which Riskcore has itself. Choose another.")
        return spec


@cache
def _entry_points(group: str) -> tuple[EntryPoint, ...]:
    """Looking through all installed packages takes a moment; they do not change while a process runs."""
    return tuple(sorted(entry_points(group=group), key=lambda point: point.name))


MATCHERS = Registry(
    "matcher",
    "riskcore.matchers",
    MatcherSpec,
    (
        MatcherSpec(
            "hybrid",
            "recurrent and attention: the design the field compares with",
            "riskcore.matchers.deepmatcher:HybridMatcher",
            pairs_per_second=700,
        ),
        MatcherSpec(
            "attention",
            "aligns the words of both values; twice as fast as hybrid",
            "riskcore.matchers.deepmatcher:AttentionMatcher",
            pairs_per_second=1500,
        ),
        MatcherSpec(
            "rnn", "reads each value in order", "riskcore.matchers.deepmatcher:RnnMatcher", pairs_per_second=900
        ),
        MatcherSpec(
            "sif",
            "weighted mean of word vectors: the fastest",
            "riskcore.matchers.deepmatcher:SifMatcher",
            pairs_per_second=4000,
        ),
        MatcherSpec(
            "ditto",
            "a pre-trained Transformer: strong on long text, hours without a GPU",
            "riskcore.matchers.ditto:DittoMatcher",
            pairs_per_second=15,
            reads_metrics=False,
        ),
        MatcherSpec(
            "external",
            "another matcher's scores, from a file",
            "riskcore.matchers.external:ExternalMatcher",
            trainable=False,
            reads_metrics=False,
            offered=False,
        ),
        MatcherSpec(
            "toy",
            "logistic regression on word overlaps, for tests and demos",
            "riskcore.matchers.toy:ToyMatcher",
            pairs_per_second=20_000,
            reads_metrics=False,
            offered=False,
        ),
    ),
)
