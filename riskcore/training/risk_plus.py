"""Risk+: adaptive training by stacking, so that a weaker source of evidence does not overrule a stronger one.

    predict all pairs with the base learners (rules, forests, a linear model, the fine-tuned matcher), out-of-fold on
    the validation pairs;
    repeat:
        the matcher predicts validation and target pairs;
        a stacker, fitted on the validation pairs, combines matcher and base learners into one probability per pair;
        where it helps out-of-fold, competing candidates (other pairs of the same record) count against a pair;
        the risk model, its rule means updated by the validation pairs, ranks these predictions;
        one pass of the matcher towards the stacker's probabilities, on target and validation pairs alike;
    keep the iteration with the lowest out-of-fold loss on the validation labels; the starting matcher is a candidate.

Where the starting matcher is kept, its predictions are reported as one more iteration, the kept one: what is shown of
a run is then always its answer.

A validation pair's own label does not reach the base learners that predict it, nor the stacker that combines them, nor
the matcher, which is fine-tuned towards out-of-fold probabilities. (It reaches the base learners of other pairs, and
through what the stacker learns from these it has a slight influence, as in any stacking.) No label of the target is
available here.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence

import numpy as np

from riskcore.config import RunConfig
from riskcore.matchers.base import Arrays, Matcher, ShouldStop, TuningSet, never
from riskcore.random_streams import Stream, stream_seed
from riskcore.risk import RiskScores
from riskcore.risk.fit import FitResult, fit_risk_model
from riskcore.training.adaptive import NOTHING_TO_CHOOSE_BY
from riskcore.training.base_learners import BASE_LEARNERS, FINE_TUNED, SOURCE_FOREST, log_odds, posterior_means
from riskcore.training.checkpoint import Checkpoint, Progress
from riskcore.training.competition import CompetingCandidates, Competition
from riskcore.training.domain_similarity import domain_similarity
from riskcore.training.evidence import Evidence
from riskcore.training.iterations import Iterations
from riskcore.training.listeners import Listener, notify
from riskcore.training.out_of_fold import folds_and_rests, out_of_fold_log_odds
from riskcore.training.results import IterationRow, IterationScores, MethodResult, TargetFigures
from riskcore.training.stacker import Stacker, fit_stacker
from riskcore.training.supervised import validation_scores

NO_BETTER = (
    "No iteration predicts the validation labels better than the starting matcher alone, so its own answers are kept."
)


def train_risk_plus(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
    base_learners: Checkpoint | None = None,
    should_stop: ShouldStop = never,
) -> MethodResult:
    """Run risk+ from the matcher as it is; the answer is the stacker's, or the matcher's where stacking does not help.

    `checkpoint` keeps the iterations, `base_learners` the predictions of the base learners.
    """
    if not evidence.validation.has_both_classes:
        return _matcher_alone(matcher, evidence, config, listeners, [], NOTHING_TO_CHOOSE_BY)
    start = matcher.snapshot()
    ensemble = _Ensemble(matcher, evidence, config, listeners, base_learners, should_stop)
    last = config.adapt.stacking_iterations if matcher.trainable else 0
    done = Iterations.resume(matcher, checkpoint, config.to_json() + evidence.fingerprint)
    for iteration in range(len(done.rows), last + 1):
        started = time.perf_counter()
        if iteration:
            _one_pass(matcher, evidence, done.arrays, config, iteration, should_stop)
        stacked = ensemble.stack(matcher)
        scores, row = stacked.scores, stacked.row(iteration, ensemble, done.arrays.get("label"))
        row["seconds"] = time.perf_counter() - started
        arrays = {"label": scores.label, "probability": scores.probability, "out_of_fold": stacked.out_of_fold}
        done.advance(matcher, row, arrays, lowest_loss)
        notify(listeners, "on_iteration_end", IterationScores("risk+", iteration, scores, stacked.fit.model, row))
        done.save(matcher)
    return _answer(matcher, ensemble, done, start, listeners)


def _matcher_alone(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener],
    rejected: Sequence[IterationRow],
    why: str,
) -> MethodResult:
    """The starting matcher's predictions, where no stacker can be fitted or none helps: an iteration of their own."""
    started, part = time.perf_counter(), evidence.validation
    validated, probability = (matcher.predict_proba(some.examples) for some in (part, evidence.target))
    drawn = stream_seed(config.seed, Stream.RISK_FIT)
    fit = fit_risk_model(evidence.prior, part.fired, validated, part.labels, config.risk, drawn)
    scores = fit.model.score(probability, evidence.target.fired, config=config.risk)
    row = _row_of_matcher(len(rejected), scores, fit, part.labels, validated)
    row["seconds"] = time.perf_counter() - started
    iteration = IterationScores("risk+", row["iteration"], scores, fit.model, row, fallback=True)
    notify(listeners, "on_iteration_end", iteration)
    unseen = None if evidence.unseen is None else matcher.predict_proba(evidence.unseen.examples)
    record = {"best_iteration": row["iteration"], "validation_f1": row["validation_f1"], "lacked": [why]}
    chosen = ("source", "validation") if part.has_both_classes else ("source",) if matcher.trainable else ()
    return MethodResult("risk+", probability, unseen, chosen, {**record, "rows": [*rejected, row]})


def _row_of_matcher(
    iteration: int, scores: RiskScores, fit: FitResult, labels: np.ndarray, validated: np.ndarray
) -> IterationRow:
    """The row of an iteration that is the starting matcher alone."""
    f1, loss = validation_scores(labels, validated)
    return {
        "iteration": iteration,
        "validation_f1": f1,
        "validation_loss": loss,
        "matcher_validation_f1": f1,
        "matcher_validation_loss": loss,
        "flips": 0,
        **_of_scores(scores),
        "labels_used": list(fit.labels_used),
        "lacked": list(fit.lacked),
    }


def _of_scores(scores: RiskScores) -> TargetFigures:
    return {
        "match_rate": float(scores.label.mean()),
        "mean_risk": float(scores.risk.mean()),
        "disagreement": float(np.mean((scores.mu >= 0.5) != (scores.label == 1))),
    }


class _Ensemble:
    """The base learners' predictions, made once, and the stacker that combines them with the matcher's."""

    def __init__(
        self,
        matcher: Matcher,
        evidence: Evidence,
        config: RunConfig,
        listeners: Sequence[Listener],
        checkpoint: Checkpoint | None,
        should_stop: ShouldStop,
    ) -> None:
        self.evidence, self.config = evidence, config
        self.similarity = domain_similarity(
            evidence.source.metrics.values, evidence.target.metrics.values, config.seed, config.similarity
        )
        self.names = ("matcher", *BASE_LEARNERS, *((FINE_TUNED,) if matcher.trainable else ()))
        made_from = config.to_json() + evidence.fingerprint
        predicted = checkpoint.read(made_from) if checkpoint is not None else None
        if predicted is None:
            found = out_of_fold_log_odds(matcher, evidence, config, listeners, should_stop)
            predicted = Progress({"log_odds": found}, {})
            if checkpoint is not None:
                checkpoint.write(predicted, made_from)
        self.log_odds: Arrays = dict(predicted.groups["log_odds"])  # of `validation`, `target`, `unseen`
        self.candidates = CompetingCandidates(evidence, config)

    def stack(self, matcher: Matcher) -> _Stacked:
        """Predict with the matcher, fit the stacker, predict every pair with it."""
        evidence, config = self.evidence, self.config
        validated = matcher.predict_proba(evidence.validation.examples)
        inputs, labels = self._with_matcher("validation", validated), evidence.validation.labels
        stacker = self._fit(inputs, labels)
        out_of_fold = self._out_of_fold(inputs, labels)
        alone = self.predict_proba(stacker, "target", matcher.predict_proba(evidence.target.examples))
        competition, out_of_fold, probability = self.candidates.compete(out_of_fold, alone)
        prior = posterior_means(evidence, evidence.validation.fired, labels, config.adapt.source_prior_pairs)
        drawn = stream_seed(config.seed, Stream.RISK_FIT)
        fit = fit_risk_model(prior, evidence.validation.fired, out_of_fold, labels, config.risk, drawn)
        scores = fit.model.score(probability, evidence.target.fired, config=config.risk)
        return _Stacked(stacker, competition, alone, scores, fit, out_of_fold, validated)

    def predict_proba(self, stacker: Stacker, part: str, matcher_probability: np.ndarray) -> np.ndarray:
        return stacker.predict_proba(self._with_matcher(part, matcher_probability))

    def _fit(self, inputs: np.ndarray, labels: np.ndarray) -> Stacker:
        return fit_stacker(inputs, labels, self.similarity, self.names.index(SOURCE_FOREST), self.config.stack)

    def _out_of_fold(self, inputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The probability of each validation pair from a stacker that was fitted without its label."""
        probability = np.zeros(len(labels))
        drawn = stream_seed(self.config.seed, Stream.STACKING_FOLDS)
        for fold, rest in folds_and_rests(labels, self.config.adapt.stacking_folds, drawn):
            probability[fold] = self._fit(inputs[rest], labels[rest]).predict_proba(inputs[fold])
        return probability

    def _with_matcher(self, part: str, matcher_probability: np.ndarray) -> np.ndarray:
        own = log_odds(matcher_probability, self.config.stack.probability_floor)
        return np.column_stack([own, self.log_odds[part]])


@dataclasses.dataclass(frozen=True, eq=False)
class _Stacked:
    """One iteration: the stacker, its scores of target pairs, and out-of-fold probabilities of validation pairs."""

    stacker: Stacker
    competition: Competition | None  # None where competing candidates do not help
    alone: np.ndarray  # the stacker's probabilities of target pairs, before competition
    scores: RiskScores
    fit: FitResult
    out_of_fold: np.ndarray
    validated: np.ndarray  # the matcher's own probabilities of the validation pairs

    def row(self, iteration: int, ensemble: _Ensemble, before: np.ndarray | None) -> IterationRow:
        """A row on the iteration, without the target's labels."""
        labels, scores = ensemble.evidence.validation.labels, self.scores
        f1, loss = validation_scores(labels, self.out_of_fold)
        matcher_f1, matcher_loss = validation_scores(labels, self.validated)
        return {
            "iteration": iteration,
            "validation_f1": f1,
            "validation_loss": loss,
            "matcher_validation_f1": matcher_f1,
            "matcher_validation_loss": matcher_loss,
            "flips": 0 if before is None else int((scores.label != before).sum()),
            **_of_scores(scores),
            "domain_similarity": ensemble.similarity,
            "stacker_weights": dict(zip(ensemble.names, self.stacker.weights.tolist(), strict=True)),
            "competition": None if self.competition is None else dataclasses.asdict(self.competition),
            "labels_used": ["source", "validation"],  # the rules' means are updated by the validation labels
            "lacked": list(self.fit.lacked),
        }


def lowest_loss(rows: Sequence[IterationRow]) -> int:
    """The iteration with the lowest out-of-fold loss on the validation labels, the earliest of equals."""
    return min(rows, key=lambda row: (_loss(row["validation_loss"]), row["iteration"]))["iteration"]


def _loss(loss: float | None) -> float:
    assert loss is not None  # stacking needs validation pairs of both classes
    return loss


def _one_pass(
    matcher: Matcher, evidence: Evidence, last: Arrays, config: RunConfig, iteration: int, should_stop: ShouldStop
) -> None:
    """One pass towards the last probabilities: the stacker's for the target, out-of-fold ones for validation pairs."""
    sets = [
        TuningSet(evidence.target.examples, last["probability"], 1 - last["probability"]),
        TuningSet(evidence.validation.examples, last["out_of_fold"], 1 - last["out_of_fold"]),
    ]
    seed = stream_seed(config.seed, Stream.STACKING_PASS, iteration)
    matcher.fine_tune(sets, rate=config.adapt.rate, seed=seed, should_stop=should_stop)


def _answer(
    matcher: Matcher, ensemble: _Ensemble, done: Iterations, start: Arrays, listeners: Sequence[Listener]
) -> MethodResult:
    """The best iteration's probabilities of target and unseen pairs; the starting matcher's if they fit no better."""
    best = lowest_loss(done.rows)
    if _loss(done.rows[best]["validation_loss"]) > _loss(done.rows[0]["matcher_validation_loss"]):
        matcher.restore(start)
        return _matcher_alone(matcher, ensemble.evidence, ensemble.config, listeners, done.rows, NO_BETTER)
    matcher.restore(done.best)
    stacked, unseen = ensemble.stack(matcher), ensemble.evidence.unseen
    probability = None
    if unseen is not None:
        probability = ensemble.predict_proba(stacked.stacker, "unseen", matcher.predict_proba(unseen.examples))
        if stacked.competition is not None:
            pairs = unseen.examples.pairs
            probability = ensemble.candidates.predict_unseen(stacked.competition, stacked.alone, pairs, probability)
    record = {"best_iteration": best, "validation_f1": done.rows[best]["validation_f1"], "rows": done.rows}
    return MethodResult("risk+", stacked.scores.probability, probability, ("source", "validation"), record)
