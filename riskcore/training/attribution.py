"""What each subject, an attribute as a rule, contributes to the log-odds of one model, so that the parts add up.

Linear models and rules decompose as they are. A forest's share of matches changes from question to question along a
pair's path, and each change belongs to the metric that was asked about. A matcher is asked again with attributes
hidden; each gets its Shapley value, the mean of what it changes over all orders of showing them. Forests and rules
decompose as probabilities: their parts are stretched by one factor per pair, so that they add up as log-odds.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from riskcore.matchers.base import Examples, Matcher, Views
from riskcore.metrics.kinds import LEAD_KINDS, Metric
from riskcore.risk import RiskModel
from riskcore.risk.balance import BROUGHT, OTHER_CANDIDATES, WHOLE_RECORD
from riskcore.risk.scoring import matcher_terms, rule_terms
from riskcore.rules.rule import Rule
from riskcore.rules.simplification import points_to
from riskcore.training.fitted_learners import LinearLearner, log_odds
from riskcore.training.stored_forest import StoredForest

EXACT_PLAYERS = 6  # attributes up to which all orders are taken: 64 views of a pair
TREE_GROUPS = 20  # a forest is resampled by groups of its trees
SAMPLED_ORDERS = 4  # with more, this many orders, each forwards and backwards
CLOSEST = float(np.finfo(np.float64).eps)  # to 0 and 1 that a probability counts as
_SAME = 1e-9  # two log-odds or probabilities closer than this are one


@dataclasses.dataclass(frozen=True, eq=False)
class Parts:
    """Log-odds of some pairs as a sum: `base`, before anything is compared, and one part per subject."""

    base: np.ndarray  # (pairs,)
    parts: np.ndarray  # pairs x subjects

    @property
    def total(self) -> np.ndarray:
        found: np.ndarray = self.base + self.parts.sum(axis=1)
        return found


class Subjects:
    """What parts are about: the attributes, the whole record, other candidates, and scores that were brought."""

    def __init__(self, attributes: Sequence[str]) -> None:
        self.attributes = tuple(attributes)
        self.names = (*self.attributes, WHOLE_RECORD, OTHER_CANDIDATES, BROUGHT)
        self._place = {name: place for place, name in enumerate(self.attributes)}

    def __len__(self) -> int:
        return len(self.names)

    def of(self, attribute: str, kind: str) -> int:
        """The subject of a metric, or of a condition on one."""
        if attribute in self._place:
            return self._place[attribute]
        return self.names.index(OTHER_CANDIDATES if kind in LEAD_KINDS else WHOLE_RECORD)

    def of_metrics(self, metrics: Sequence[Metric]) -> np.ndarray:
        return np.array([self.of(one.attribute, one.kind) for one in metrics], dtype=np.int64)

    def of_rules(self, rules: Sequence[Rule]) -> sparse.csr_array:
        """Rules x subjects: each rule is about the subjects of the conditions that point to its outcome, alike."""
        rows, columns, shares = [], [], []
        for number, rule in enumerate(rules):
            telling = [one for one in rule.conditions if points_to(one, rule.outcome)] or list(rule.conditions)
            for condition in telling:
                rows.append(number)
                columns.append(self.of(condition.attribute, condition.kind))
                shares.append(1 / len(telling))
        return sparse.csr_array((shares, (rows, columns)), shape=(len(rules), len(self)))


def grouped(parts: np.ndarray, subject_of: np.ndarray, subjects: int) -> np.ndarray:
    """Columns added up by the subject they belong to."""
    found = np.zeros((len(parts), subjects))
    np.add.at(found.T, subject_of, parts.T)
    return found


def stretched(values: np.ndarray, base: np.ndarray, total: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Parts of `total - base`, multiplied so that they are parts of what `values` (total, base) became: a column each
    of the same quantities on another scale, in the same order."""
    distance = total - base
    wanted = values[:, 0] - values[:, 1]
    factor = np.divide(wanted, distance, out=np.ones(len(total)), where=np.abs(distance) > _SAME)
    return parts * factor[:, None]


# Matchers.


@dataclasses.dataclass(frozen=True, eq=False)
class MatcherViews:
    """A matcher's probability of some pairs, and what each attribute contributes to it, on both scales."""

    nothing: np.ndarray  # probability with everything hidden
    shares: np.ndarray  # pairs x subjects: parts of probability - nothing
    log_odds: Parts  # exact: not clipped


def look(
    matcher: Matcher, examples: Examples, probability: np.ndarray, metrics: Sequence[Metric], subjects: Subjects
) -> MatcherViews:
    """Ask the matcher about these pairs with attributes hidden. `probability` is its answer with all of them seen."""
    whole = log_odds(probability, CLOSEST)
    if not matcher.looks_at_records:
        at = subjects.names.index(BROUGHT)
        parts, shares = np.zeros((2, len(whole), len(subjects)))
        parts[:, at], shares[:, at] = whole, probability - 0.5
        return MatcherViews(np.full(len(whole), 0.5), shares, Parts(np.zeros(len(whole)), parts))
    names = [attribute.name for attribute in matcher.attributes]
    players = len(names) + int(matcher.sees_metrics)
    orders = _orders(players)
    sets = _shown(players, orders)
    seen = np.zeros((len(sets), len(names) + 1), dtype=bool)
    seen[:, :players] = [[player in one for player in range(players)] for one in sets]
    owner = np.array([names.index(one.attribute) if one.attribute in names else len(names) for one in metrics])
    answers = matcher.predict_views(examples, Views(seen, owner.astype(np.int64)))
    answers[:, sets.index(frozenset(range(players)))] = probability
    place = [subjects.of(name, "") for name in names] + [subjects.names.index(WHOLE_RECORD)] * (players - len(names))
    nothing = answers[:, sets.index(frozenset())]
    values = [shapley(some, sets, orders, players) for some in (answers, log_odds(answers, CLOSEST))]
    shares, parts = (grouped(one, np.array(place), len(subjects)) for one in values)
    return MatcherViews(nothing, shares, Parts(whole - parts.sum(axis=1), parts))


def _orders(players: int) -> list[tuple[int, ...]] | None:
    """Orders of showing the attributes; None stands for all of them."""
    if players <= EXACT_PLAYERS:
        return None
    draw = np.random.default_rng(0)  # fixed: the same attributes are always asked about in the same way
    forwards = [tuple(draw.permutation(players).tolist()) for _ in range(SAMPLED_ORDERS)]
    return [order for one in forwards for order in (one, one[::-1])]


def _shown(players: int, orders: Sequence[tuple[int, ...]] | None) -> list[frozenset[int]]:
    """The sets of attributes that are shown on the way."""
    if orders is None:
        sizes = range(players + 1)
        return [frozenset(one) for size in sizes for one in itertools.combinations(range(players), size)]
    found = [frozenset(order[:size]) for order in orders for size in range(players + 1)]
    return list(dict.fromkeys(found))


def shapley(
    values: np.ndarray, sets: Sequence[frozenset[int]], orders: Sequence[tuple[int, ...]] | None, players: int
) -> np.ndarray:
    """Pairs x players: what each adds to the value of those shown before it, in the mean of the orders. They add up to
    the value of all minus that of none."""
    at = {one: place for place, one in enumerate(sets)}
    found = np.zeros((len(values), players))
    if orders is not None:
        for order in orders:
            for size, player in enumerate(order):
                before, after = at[frozenset(order[:size])], at[frozenset(order[: size + 1])]
                found[:, player] += values[:, after] - values[:, before]
        return found / len(orders)
    for one, place in at.items():
        for player in set(range(players)) - one:
            share = math.factorial(len(one)) * math.factorial(players - len(one) - 1) / math.factorial(players)
            found[:, player] += share * (values[:, at[one | {player}]] - values[:, place])
    return found


def matcher_parts(views: MatcherViews, floor: float) -> Parts:
    """A matcher's log-odds as the stacker takes them: none beyond those of `floor`."""
    exact = views.log_odds
    low, high = log_odds(np.array([floor, 1 - floor]), floor)
    total, base = np.clip(exact.total, low, high), np.clip(exact.base, low, high)
    return Parts(base, stretched(np.column_stack([total, base]), exact.base, exact.total, exact.parts))


# Models on the metrics.


@dataclasses.dataclass(frozen=True, eq=False)
class ForestParts:
    """A forest's probability by metric, and by subject for groups of its trees: a forest of other trees is a mean of
    groups in other proportions."""

    by_metric: Parts  # log-odds
    sizes: np.ndarray  # (groups,) trees
    bases: np.ndarray  # (groups,) share of matches before any question
    moved: np.ndarray  # groups x pairs x subjects: changes of that share

    def of_groups(self, counts: np.ndarray, floor: float) -> Parts:
        """Log-odds by subject of a forest in which each group occurs as often as `counts` say."""
        shares = counts * self.sizes / (counts * self.sizes).sum()
        moved = np.tensordot(shares, self.moved, axes=1)
        base = np.full(len(moved), float(shares @ self.bases))
        return _as_log_odds(base, moved, floor)


def forest_parts(
    forest: StoredForest, metrics: np.ndarray, subject_of: np.ndarray, subjects: int, floor: float
) -> ForestParts:
    """A forest's log-odds by metric, and what its groups of trees say by subject."""
    trees = len(forest.starts) - 1
    groups = np.array_split(np.arange(trees), min(TREE_GROUPS, trees))
    sizes = np.array([len(one) for one in groups], dtype=np.float64)
    total, bases, by_subject = np.zeros(metrics.shape), [], []
    for group in groups:
        base, moved = forest.some_trees(group).contributions(metrics)
        total += len(group) * moved
        bases.append(base)
        by_subject.append(grouped(moved, subject_of, subjects))
    share = float(sizes @ np.array(bases)) / trees
    by_metric = _as_log_odds(np.full(len(metrics), share), total / trees, floor)
    return ForestParts(by_metric, sizes, np.array(bases), np.array(by_subject))


def _as_log_odds(base: np.ndarray, moved: np.ndarray, floor: float) -> Parts:
    """Parts of a probability as parts of its log-odds."""
    total = base + moved.sum(axis=1)
    scaled = np.column_stack([log_odds(total, floor), log_odds(base, floor)])
    return Parts(scaled[:, 1], stretched(scaled, base, total, moved))


def linear_parts(linear: LinearLearner, metrics: np.ndarray, floor: float) -> Parts:
    """A linear model's log-odds by metric; that a metric is missing is part of it."""
    base, moved = linear.contributions(metrics)
    total = base + moved.sum(axis=1)
    low, high = log_odds(np.array([floor, 1 - floor]), floor)
    scaled = np.column_stack([np.clip(total, low, high), np.clip(base, low, high)])
    return Parts(scaled[:, 1], stretched(scaled, base, total, moved))


# Rules.


@dataclasses.dataclass(frozen=True, eq=False)
class RuleParts:
    """The rules' log-odds by subject, and the factor that turns what a rule says into its part."""

    parts: Parts
    factor: np.ndarray  # a fired rule's part is factor * weight * (mean - 1/2)


def rule_parts(
    model: RiskModel,
    fired: sparse.csr_array,
    views: MatcherViews,
    rules: Sequence[Rule],
    subjects: Subjects,
    floor: float,
) -> RuleParts:
    """The expected probability of a risk model as log-odds. The matcher's output, one of its features, is split as the
    matcher's own parts are; what the matcher says before it has compared anything is the base."""
    probability = views.nothing + views.shares.sum(axis=1)
    terms, own = rule_terms(model), matcher_terms(model, np.clip(probability, 0, 1))
    counted = fired.astype(np.float64)
    weight = counted @ terms[:, 0] + own[:, 0]
    says = terms[:, 1] - terms[:, 0] / 2  # weight * (mean - 1/2)
    mu = 0.5 + (counted @ says + own[:, 1] - own[:, 0] / 2) / weight
    away = mu - 0.5
    slope = np.divide(log_odds(mu, floor), away, out=np.full(len(mu), 4.0), where=np.abs(away) > _SAME)
    factor = slope / weight
    parts = np.zeros((len(mu), len(subjects)))
    if len(rules):
        parts += (counted @ sparse.diags_array(says) @ subjects.of_rules(rules)).toarray()
    parts += own[:, :1] * views.shares
    base = own[:, 0] * (views.nothing - 0.5)
    return RuleParts(Parts(base * factor, parts * factor[:, None]), factor)
