"""The function that scores some pairs of two tables: the same in this process, in several, and on a cluster.

Cheap evidence comes first: metrics, rules, forests, the linear model. The deep matcher, which costs more than all of
these together, is asked only about pairs whose label it could still turn, or whose risk it could still raise
(`riskcore.scale.bounds`), and of its states the one that can say most comes first.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from scipy.special import expit

from riskcore.config import ScaleConfig
from riskcore.data.pairs import Pairs, Table
from riskcore.matchers.base import Arrays, Examples
from riskcore.metrics.matrix import PreparedMetrics
from riskcore.risk.log_odds import log_odds
from riskcore.runs.bundle.read import Bundle
from riskcore.scale.bounds import SLACK, Bounds, rule_bounds
from riskcore.training.answer_model import AnswerModel, Answers
from riskcore.training.competition import Competition, competitor_inputs
from riskcore.training.evidence import EvidencePart
from riskcore.training.fitted_learners import FittedLearner, RulesLearner, ScoredPart, TargetRulesLearner

OWN, START, TUNED = "own", "start", "fine-tuned"  # the matcher's states: as it answers, as trained, tuned on labels


@dataclasses.dataclass(frozen=True, eq=False)
class GatheredPairs:
    """What is known of each pair by itself. Where the matcher was asked, both ends are the same."""

    own: np.ndarray  # the matcher's probability; NaN where it was not asked
    low: np.ndarray  # stacked log-odds, at least
    high: np.ndarray  # and at most
    spread: np.ndarray  # how far the evidence disagrees; where the matcher was not asked, at most
    asked: np.ndarray  # uint8: how many of the matcher's states were asked

    def __len__(self) -> int:
        return len(self.low)


Settled = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # rows, low, high, spread: which are


@dataclasses.dataclass(frozen=True, eq=False)
class PreparedTables:
    """Two tables and the metrics of a bundle, prepared for any pairs of their records."""

    left: Table  # without ids: these are below, as texts side by side, which processes can share
    right: Table
    left_ids: pa.Array
    right_ids: pa.Array
    metrics: tuple[PreparedMetrics, ...]

    @classmethod
    def of(cls, bundle: Bundle, left: Table, right: Table) -> PreparedTables:
        ids = [pa.array(table.ids, pa.large_string()) for table in (left, right)]
        one = _without_ids(left)
        other = one if right is left else _without_ids(right)
        with _without_garbage_collection():
            metrics = tuple(space.prepared(one, other) for space in bundle.spaces)
        return cls(one, other, ids[0], ids[1], metrics)


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Preparing makes millions of short lists and no cycles. To look through them for cycles took two fifths of it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _without_ids(table: Table) -> Table:
    return dataclasses.replace(table, ids=np.full(len(table), "", dtype=object))


class PairScorer:
    """A method of a bundle, ready to score any pairs of two tables."""

    def __init__(
        self, bundle: Bundle, tables: PreparedTables, method: str | None = None, config: ScaleConfig | None = None
    ) -> None:
        self.config = config or ScaleConfig()
        self.bundle, self.left, self.right = bundle, tables.left, tables.right
        self.method, self.facts = bundle.method(method)
        self.model: AnswerModel = bundle.answer_model(self.method)
        self.voices = _Voices(self.model)
        self.states = len(self.voices.all_states())  # of the matcher, that may be asked
        self._metrics = tables.metrics

    def pairs(self, left_rows: np.ndarray, right_rows: np.ndarray) -> Pairs:
        """These pairs, without ids: nothing here looks at them."""
        return Pairs(self.left, self.right, left_rows, right_rows, np.full(len(left_rows), "", dtype=object))

    def evidence(self, pairs: Pairs) -> EvidencePart:
        """Their metrics, and the rules that fire on them."""
        found = [metrics.transform(pairs) for metrics in self._metrics]
        own = found[1] if len(found) > 1 else None
        return EvidencePart(Examples(pairs, found[0].values), found[0], self.bundle.rules, own)

    def gather(self, left_rows: np.ndarray, right_rows: np.ndarray) -> GatheredPairs:
        """What is known of pairs by themselves, given by the rows of their records. Without competition, their labels
        are settled; with it, how much each counts as a competitor is."""
        return self._ask(left_rows, right_rows, self._labels_settled if self.competition is None else self._clipped)

    def settle(
        self, left_rows: np.ndarray, right_rows: np.ndarray, gathered: GatheredPairs, competitors: np.ndarray
    ) -> GatheredPairs:
        """The same pairs with their labels settled, given the strongest competitors of each (pairs x 2)."""

        settled = partial(self._labels_settled, competitors=competitors)
        everyone = np.arange(len(gathered))
        unknown = gathered.low < gathered.high
        open_ = np.flatnonzero(unknown & ~settled(everyone, gathered.low, gathered.high, gathered.spread))
        if not len(open_):
            return gathered
        of_open = partial(self._labels_settled, competitors=competitors[open_])
        asked = self._ask(left_rows[open_], right_rows[open_], of_open)
        return _replaced(gathered, open_, asked)

    def answers(self, gathered: GatheredPairs, competitors: np.ndarray | None = None) -> Answers:
        """Probability and risk of pairs whose labels are settled."""
        model = self.model
        if model.ranking is None:
            return Answers(gathered.own, np.minimum(gathered.own, 1 - gathered.own))
        low, high = (self._after_competition(end, competitors) for end in (gathered.low, gathered.high))
        stacked = expit(np.where(low >= 0, low, high))
        probability = stacked if model.stacked else gathered.own
        return Answers(probability, model.risk_of(probability, stacked, gathered.spread))

    @property
    def competition(self) -> Competition | None:
        """How other candidates count, where they do."""
        ranking = self.model.ranking
        return None if ranking is None or ranking.competition is None else Competition(*ranking.competition)

    def _ask(self, left_rows: np.ndarray, right_rows: np.ndarray, settled: Settled) -> GatheredPairs:
        part = self.evidence(self.pairs(left_rows, right_rows))
        if self.model.ranking is None or self.model.learners is None:
            own = self.model.predict_with(self.model.learned, part)
            margin, ones = log_odds(own, np.finfo(float).tiny), np.ones(len(part), dtype=np.uint8)
            return GatheredPairs(own, margin, margin, np.zeros(len(part)), ones)
        return _Asking(self, part).gathered(settled)

    def _clipped(self, rows: np.ndarray, low: np.ndarray, high: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Whether a pair counts as a hopeless or as a certain competitor, wherever its log-odds lie."""
        clip = self.model.config.competition.clip
        settled: np.ndarray = (high + SLACK <= -clip) | (low - SLACK >= clip)
        return settled

    def _labels_settled(
        self,
        rows: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        spread: np.ndarray,
        competitors: np.ndarray | None = None,
    ) -> np.ndarray:
        """Whether both ends give the same label, at a risk that is small at the worse of them."""
        competitors = None if competitors is None else competitors[rows]
        low, high = self._after_competition(low, competitors), self._after_competition(high, competitors)
        is_match = low - SLACK >= 0
        worst = expit(np.where(is_match, low, high))
        small: np.ndarray = self.model.risk_of(worst, worst, spread) <= self.config.spared_risk
        settled: np.ndarray = (is_match | (high + SLACK < 0)) & small
        return settled

    def _after_competition(self, margin: np.ndarray, competitors: np.ndarray | None) -> np.ndarray:
        """The log-odds that answer, from stacked ones and the strongest competitors, where these count."""
        if self.competition is None:
            return margin
        assert competitors is not None
        inputs = competitor_inputs(competitors, self.model.config.competition)
        heard = log_odds(expit(margin), self.model.config.stack.probability_floor)
        found: np.ndarray = self.competition.log_odds(heard, inputs)
        return found


def _replaced(gathered: GatheredPairs, rows: np.ndarray, new: GatheredPairs) -> GatheredPairs:
    """What was gathered, with more known of these rows."""
    columns = {field.name: getattr(gathered, field.name).copy() for field in dataclasses.fields(gathered)}
    for name, values in columns.items():
        values[rows] = getattr(new, name)
    return GatheredPairs(**columns)


class _Voices:
    """The matcher's states among the stacker's inputs, and the inputs that each decides."""

    def __init__(self, model: AnswerModel) -> None:
        self.weights: dict[str, Arrays] = {OWN: model.learned, START: model.start}
        self.own_is_start = model.learned is model.start
        learners: tuple[FittedLearner, ...] = model.learners.learners if model.learners else ()
        self.rules = [place for place, one in enumerate(learners, start=1) if isinstance(one, _BY_RULES)]
        first = START if model.ranked_with_start or self.own_is_start else OWN
        self.columns: dict[int, str] = {0: first}
        if model.learners is not None and model.learners.fine_tuned:
            self.weights[TUNED] = model.learners.fine_tuned
            self.columns[len(learners) + 1] = TUNED

    def states(self) -> tuple[str, ...]:
        """Those that count, the starting matcher among them where rules weigh its probability."""
        wanted = {*self.columns.values(), *([START] if self.rules else [])}
        return tuple(state for state in (OWN, START, TUNED) if state in wanted)

    def all_states(self) -> tuple[str, ...]:
        """Those that count, and the one that answers."""
        states = self.states()
        return states if OWN in states or (START in states and self.own_is_start) else (*states, OWN)


_BY_RULES = (RulesLearner, TargetRulesLearner)


class _Asking:
    """The pairs of a part while the matcher is asked about those that need it."""

    def __init__(self, scorer: PairScorer, part: EvidencePart) -> None:
        self.scorer, self.part, self.model = scorer, part, scorer.model
        assert self.model.learners is not None
        self.learners = self.model.learners.learners
        self.floor = self.model.config.stack.probability_floor
        self.voices = scorer.voices
        self.own = np.full(len(part), np.nan)
        self.asked = np.zeros(len(part), dtype=np.uint8)
        self.low, self.high = self._before_asking()

    def gathered(self, settled: Settled) -> GatheredPairs:
        count = len(self.part)
        low, high, spread = np.empty(count), np.empty(count), np.empty(count)
        rows, waiting = np.arange(count), list(self.voices.all_states())
        while waiting and len(rows):
            if self.model.stacked and self.scorer.config.spare:  # else the matcher's own word is the answer
                low[rows], high[rows], spread[rows] = self._ends(rows)
                rows = rows[~settled(rows, low[rows], high[rows], spread[rows])]
            state = max(waiting, key=lambda one: self._reach(one, rows)) if len(rows) else waiting[0]
            waiting.remove(state)
            self._ask(state, rows)
        low[rows], spread[rows] = self._exact(rows)
        high[rows] = low[rows]
        return GatheredPairs(self.own, low, high, spread, self.asked)

    def _ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        bounds, stacker = Bounds(self.low[rows], self.high[rows]), self.model.stacker
        return *bounds.margins(stacker.offset, stacker.weights), bounds.widest_spread()

    def _before_asking(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of every input: cheap learners are known, the others lie anywhere within the floor."""
        widest = float(log_odds(np.array([1.0]), self.floor)[0])
        inputs = 1 + len(self.learners) + (TUNED in self.voices.weights)
        low = np.full((len(self.part), inputs), -widest)
        high = np.full((len(self.part), inputs), widest)
        unknown = ScoredPart(self.part, np.empty(0))
        for place, learner in enumerate(self.learners, start=1):
            if isinstance(learner, RulesLearner):
                ends = rule_bounds(learner.model, self.part.source_fired, self.floor)
            elif isinstance(learner, TargetRulesLearner):
                ends = rule_bounds(learner.model, learner.fired(self.part), self.floor)
            else:
                known = log_odds(learner.predict_proba(unknown), self.floor)
                ends = known, known
            low[:, place], high[:, place] = ends
        return low, high

    def _reach(self, state: str, rows: np.ndarray) -> float:
        """How far a state of the matcher can still move the sum, in the mean."""
        weights = np.abs(self.model.stacker.weights)
        open_inputs = [column for column, one in self.voices.columns.items() if one == state]
        open_inputs += self.voices.rules if state == START else []
        reach = (self.high[rows][:, open_inputs] - self.low[rows][:, open_inputs]) @ weights[open_inputs]
        return float(reach.mean())

    def _ask(self, state: str, rows: np.ndarray) -> None:
        """Ask the matcher in one of its states about these pairs, and close the inputs that follow from it."""
        if not len(rows):
            return
        everyone = len(rows) == len(self.part)
        part = self.part if everyone else self.part.take(rows)
        probability = self.model.predict_with(self.voices.weights[state], part)
        self.asked[rows] += 1
        if state == OWN or (state == START and self.voices.own_is_start):
            self.own[rows] = probability
        for column, one in self.voices.columns.items():
            if one == state:
                self._close(rows, column, probability)
        if state == START:
            scored = ScoredPart(part, probability)
            for column in self.voices.rules:
                self._close(rows, column, self.learners[column - 1].predict_proba(scored))

    def _close(self, rows: np.ndarray, column: int, probability: np.ndarray) -> None:
        self.low[rows, column] = self.high[rows, column] = log_odds(probability, self.floor)

    def _exact(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Margin and spread where all inputs are known."""
        inputs, stacker = self.low[rows], self.model.stacker
        return stacker.offset + inputs @ stacker.weights, inputs.std(axis=1)
