"""What can be chosen by name: matchers, methods and rankings. One spec each, one place to add.

A spec says what the command line, the screens, the estimates of time, the reports and the docs need to know, and
names the code behind it as `module:attribute`, which is imported only when it is used. Packages add their own
through the entry points `riskcore.matchers`, `riskcore.methods` and `riskcore.rankings`: each entry point names
a spec (or a function that returns one). docs/extending.md is the recipe.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from typing import Any, Generic, TypeVar

from riskcore.errors import ConfigError

NEUTRAL_COLOUR = "#7a8694"
FEWEST_EPOCHS = 3  # however many pairs there are: the rate has to fall
_NAME = re.compile(r"[a-z0-9][a-z0-9 +-]*")  # names become file names, setting values and chart labels


@dataclasses.dataclass(frozen=True)
class Spec:
    """What every spec has: its name, a one-line description, and the code behind it."""

    name: str
    words: str
    code: str  # "module:attribute"

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(f"{self.name!r} cannot be a name: use lower-case letters, digits, spaces, + and -.")

    def load(self) -> Any:
        """The code behind the spec; its module is imported only now."""
        return load_attribute(self.code)


def load_attribute(address: str) -> Any:
    """The object that a `module:attribute` names."""
    module, _, attribute = address.partition(":")
    return getattr(importlib.import_module(module), attribute)


@dataclasses.dataclass(frozen=True)
class MatcherSpec(Spec):
    """A matcher: a class derived from `riskcore.matchers.base.Matcher`."""

    trainable: bool = True  # False: its answers come from elsewhere and cannot be adapted
    pairs_per_second: float = 1_000.0  # trained on by one core, roughly: for estimates of time
    at_tokens: int | None = None  # the `max_tokens` at which that holds, where the setting matters
    pairs_enough: int | None = None  # labelled pairs, counted in every pass, from which it has learned what it can
    offered: bool = True  # whether the form of the dashboard lists it

    def epochs(self, pairs: int, most: int) -> int:
        """Passes over so many labelled pairs: `most`, or fewer for a matcher that soon has enough."""
        if self.pairs_enough is None or not pairs:
            return most
        return min(most, max(FEWEST_EPOCHS, -(-self.pairs_enough // pairs)))

    def speed(self, max_tokens: int) -> float:
        """The usual pairs a second at this setting."""
        return self.pairs_per_second * (self.at_tokens / max_tokens if self.at_tokens else 1.0)


@dataclasses.dataclass(frozen=True)
class MethodSpec(Spec):
    """A method: a function `(MethodContext) -> MethodResult` (see `riskcore.training.method`)."""

    step: str = ""  # what the run is doing while the method works, for progress: "Fine-tune by risk"
    colour: str = NEUTRAL_COLOUR
    iterations: str = ""  # the setting that says how many iterations it records for browsing, such as adapt.iterations
    trains_matcher: bool = False  # whether it must train the matcher, which external scores cannot be
    needs_shift: bool = False  # whether it makes sense only where source and target are two data sets
    seconds: str = ""  # "module:function" that estimates its time; without one, a general guess

    @property
    def iterates(self) -> bool:
        return bool(self.iterations)


@dataclasses.dataclass(frozen=True)
class RankingSpec(Spec):
    """A ranking of labels, most likely wrong first: a function `(RankingInput) -> Ranking | None`.

    See `riskcore.risk.rankings`. None means that the ranking cannot be computed from what is known.
    """

    colour: str = NEUTRAL_COLOUR


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

    def package(self, name: str) -> tuple[str, str] | None:
        """Name and version of the package that added the spec; None for one of Riskcore's own."""
        for point in _entry_points(self.group):
            if point.dist is not None and self._read(point).name == name:
                return point.dist.name, point.dist.version
        return None

    def _all(self) -> dict[str, SpecType]:
        return {spec.name: spec for spec in (*self._built_in, *self._added())}

    def _added(self) -> tuple[SpecType, ...]:
        found = tuple(self._read(point) for point in _entry_points(self.group))
        names = [spec.name for spec in found]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ConfigError(
                f"Two entry points of {self.group} take the name {twice!r}. Uninstall one of the packages."
            )
        return found

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
            raise ConfigError(f"{where} takes the name {spec.name!r}, which Riskcore itself uses. Choose another.")
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
            "recurrent layers and attention: the design that the literature compares with",
            "riskcore.matchers.deepmatcher:HybridMatcher",
            pairs_per_second=700,
        ),
        MatcherSpec(
            "attention",
            "aligns the words of both values; faster than hybrid",
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
            "a pre-trained Transformer: strong on long text, minutes to hours without a GPU",
            "riskcore.matchers.ditto:DittoMatcher",
            pairs_per_second=120,
            at_tokens=64,
            pairs_enough=8_000,
        ),
        MatcherSpec(
            "external",
            "another matcher's scores, from a file",
            "riskcore.matchers.external:ExternalMatcher",
            trainable=False,
            offered=False,
        ),
        MatcherSpec(
            "similarity",
            "how alike the records are, without any label: a first answer to draw pairs for labelling by",
            "riskcore.matchers.similarity:SimilarityMatcher",
            trainable=False,
            offered=False,
        ),
        MatcherSpec(
            "toy",
            "logistic regression on word overlaps, for tests and demos",
            "riskcore.matchers.toy:ToyMatcher",
            pairs_per_second=20_000,
            offered=False,
        ),
    ),
)

METHODS = Registry(
    "method",
    "riskcore.methods",
    MethodSpec,
    (
        MethodSpec(
            "tradition",
            "the matcher as trained on the source; validation pairs only choose the epoch",
            "riskcore.training.methods:tradition",
            step="Train the matcher on the source",
            seconds="riskcore.training.costs:tradition",
        ),
        MethodSpec(
            "risk",
            "the matcher fine-tuned on the unlabelled target by risk, as published",
            "riskcore.training.methods:risk",
            step="Fine-tune by risk",
            colour="#2f7fc1",
            iterations="adapt.iterations",
            seconds="riskcore.training.costs:risk",
        ),
        MethodSpec(
            "risk+",
            "risk stacked with base learners (forests, a linear model, the rules, the fine-tuned matcher), out-of-fold",
            "riskcore.training.methods:risk_plus",
            step="Fine-tune by stacked evidence",
            colour="#12a5b5",
            iterations="adapt.stacking_iterations",
            seconds="riskcore.training.costs:risk_plus",
        ),
        MethodSpec(
            "transfer",
            "the matcher trained so that it cannot tell source from target (gradient reversal)",
            "riskcore.training.methods:transfer",
            step="Train for transfer",
            colour="#b07d4f",
            trains_matcher=True,
            needs_shift=True,
            seconds="riskcore.training.costs:transfer",
        ),
        MethodSpec(
            "supervised",
            "the matcher fine-tuned on the validation labels",
            "riskcore.training.methods:supervised",
            step="Fine-tune on validation labels",
            colour="#9a8f2c",
            trains_matcher=True,
            seconds="riskcore.training.costs:supervised",
        ),
        MethodSpec(
            "self-training",
            "the matcher trained on its own most confident labels of the target",
            "riskcore.training.methods:self_training",
            step="Train on its own confident labels",
            colour="#b565a7",
            trains_matcher=True,
            seconds="riskcore.training.costs:self_training",
        ),
        MethodSpec(
            "forest",
            "a random forest on the metrics, trained on source and validation labels",
            "riskcore.training.methods:forest",
            step="Train the forest",
            colour="#5f9e57",
            seconds="riskcore.training.costs:forest",
        ),
        MethodSpec(
            "target forest",
            "a random forest on all of the target's attributes, trained on the validation labels alone",
            "riskcore.training.methods:target_forest",
            step="Train the forest of the target",
            colour="#2e6b4f",
            seconds="riskcore.training.costs:forest",
        ),
    ),
)

RANKINGS = Registry(
    "ranking",
    "riskcore.rankings",
    RankingSpec,
    (
        RankingSpec(
            "risk",
            "probability that the label is wrong, by all the evidence: the order of the review queue",
            "riskcore.risk.rankings:by_risk",
            colour="#e0355a",
        ),
        RankingSpec(
            "learnrisk",
            "Value-at-Risk of the label by the fitted risk model of the rules, as published",
            "riskcore.risk.rankings:by_learnrisk",
            colour="#8a5bd1",
        ),
        RankingSpec(
            "confidence",
            "how far the matcher's probability is from its label",
            "riskcore.risk.rankings:by_confidence",
            colour="#2f7fc1",
        ),
        RankingSpec(
            "static rules",
            "the risk model before any fit: every rule weighs the same",
            "riskcore.risk.rankings:by_static_rules",
            colour="#b07d4f",
        ),
        RankingSpec(
            "trust score",
            "closer to training pairs of the other class than to those of its own",
            "riskcore.risk.rankings:by_trust_score",
            colour="#5f9e57",
        ),
        RankingSpec(
            "uncertainty",
            "disagreement of several matchers; needs their outputs",
            "riskcore.risk.rankings:by_uncertainty",
            colour="#b565a7",
        ),
    ),
)


BASE_LEARNERS_STEP = "base learners"  # of a run, after `tradition`: gathers all the evidence on each pair


def needs_base_learners(methods: Iterable[str]) -> bool:
    """Whether a run gathers all the evidence: where iterations are recorded, whose labels it ranks."""
    return any(METHODS[method].iterates for method in methods)


def outside_packages(matcher: str, methods: Iterable[str]) -> dict[str, str]:
    """The packages, with their versions, that added this matcher or any of these methods."""
    found = [MATCHERS.package(matcher), *(METHODS.package(method) for method in methods)]
    return dict(package for package in found if package is not None)


def iterations_of(config: Any, method: str) -> int:
    """How many iterations a method makes after its starting model, by the settings of a run (a `RunConfig`)."""
    spec = METHODS[method]
    return int(attrgetter(spec.iterations)(config)) if spec.iterates else 0
