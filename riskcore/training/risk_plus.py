"""Risk+: adaptive training that combines evidence instead of overruling the stronger by the weaker.

    hear the witnesses (rules, forests, a linear model, the taught matcher), each cross-fitted on the validation pairs;
    repeat:
        the matcher answers for validation and target;
        a jury weighs matcher and witnesses on the validation pairs and gives every pair a probability;
        the risk model, its rule means updated by the validation pairs, ranks the jury's verdicts;
        one pass of the matcher towards the jury's verdicts, on target and validation pairs alike;
    keep the round whose verdicts explain held-out validation labels best; the starting matcher is a candidate.

Where the starting matcher is kept, its answers are told as one more iteration, the kept one: what is shown of a run is
then always what it answered.

A validation pair's own label does not reach the witnesses asked about it, nor the jury that judges it, nor the matcher,
which is taught cross-fitted verdicts. (It reaches the witnesses of other pairs, and through what the jury learns from
these a trace of it is in its verdict, as in any stacking.) No label of the target is at hand here.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence

import numpy as np

from riskcore.config import RunConfig
from riskcore.matchers.base import Arrays, Matcher, ShouldStop, TuningSet, never
from riskcore.risk import RiskScores
from riskcore.risk.fit import FitResult, fit_risk_model
from riskcore.training.adaptive import NOTHING_TO_CHOOSE_BY
from riskcore.training.base_learners import NAMES, TAUGHT, log_odds, posterior_means
from riskcore.training.checkpoint import Checkpoint, Progress
from riskcore.training.domain_similarity import nearness
from riskcore.training.evidence import Evidence
from riskcore.training.iterations import Rounds
from riskcore.training.listeners import Listener, Record, notify
from riskcore.training.out_of_fold import folds_and_rests, testimony
from riskcore.training.results import IterationScores, MethodResult
from riskcore.training.stacker import Jury, appoint
from riskcore.training.supervised import epoch_seed, validation_scores

NO_BETTER = "No round explains the validation labels better than the matcher alone, so its own answers are kept."


def go_beyond(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
    witnesses: Checkpoint | None = None,
    should_stop: ShouldStop = never,
) -> MethodResult:
    """Run risk+ from the matcher as it is; the answer is the jury's, or the matcher's where no jury can be had.

    `checkpoint` is of the rounds, `witnesses` of what the witnesses said.
    """
    if not evidence.validation.has_both_classes:
        return _matcher_alone(matcher, evidence, config, listeners, [], NOTHING_TO_CHOOSE_BY)
    start = matcher.snapshot()
    court = _Court(matcher, evidence, config, listeners, witnesses, should_stop)
    last_round = config.adapt.beyond_iterations if matcher.trainable else 0
    rounds = Rounds.resume(matcher, checkpoint, config.to_json() + evidence.fingerprint)
    for iteration in range(len(rounds.rows), last_round + 1):
        started = time.perf_counter()
        if iteration:
            _teach(matcher, evidence, rounds.arrays, config, iteration, should_stop)
        sitting = court.sit(matcher)
        scores, row = sitting.scores, sitting.row(iteration, court, rounds.arrays.get("label"))
        row["seconds"] = time.perf_counter() - started
        arrays = {"label": scores.label, "verdicts": scores.probability, "held_out": sitting.held_out}
        rounds.advance(matcher, row, arrays, best_round)
        notify(listeners, "on_iteration_end", IterationScores("risk+", iteration, scores, sitting.fit.model, row))
        rounds.save(matcher)
    return _answer(matcher, court, rounds, start, listeners)


def _matcher_alone(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener],
    rejected: Sequence[Record],
    why: str,
) -> MethodResult:
    """The starting matcher's answers, where witnesses cannot be weighed or do not help: an iteration of their own."""
    started, part = time.perf_counter(), evidence.validation
    validated, probability = (matcher.predict_proba(some.examples) for some in (part, evidence.target))
    fit = fit_risk_model(evidence.prior, part.fired, validated, part.labels, config.risk, config.seed)
    scores = fit.model.score(probability, evidence.target.fired, config=config.risk)
    row = _row_of_matcher(len(rejected), scores, fit, part.labels, validated)
    row["seconds"] = time.perf_counter() - started
    told = IterationScores("risk+", row["iteration"], scores, fit.model, row, fallback=True)
    notify(listeners, "on_iteration_end", told)
    unseen = None if evidence.unseen is None else matcher.predict_proba(evidence.unseen.examples)
    record = {"best_iteration": row["iteration"], "validation_f1": row["validation_f1"], "lacked": [why]}
    chosen = ("source", "validation") if part.has_both_classes else ("source",) if matcher.trainable else ()
    return MethodResult("risk+", probability, unseen, chosen, {**record, "rows": [*rejected, row]})


def _row_of_matcher(
    iteration: int, scores: RiskScores, fit: FitResult, labels: np.ndarray, validated: np.ndarray
) -> Record:
    """What an iteration that only asks the starting matcher tells."""
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


def _of_scores(scores: RiskScores) -> Record:
    return {
        "match_rate": float(scores.label.mean()),
        "mean_risk": float(scores.risk.mean()),
        "disagreement": float(np.mean((scores.mu >= 0.5) != (scores.label == 1))),
    }


class _Court:
    """The witnesses, heard once: cross-fitted for the validation pairs, fitted on all of them for any others."""

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
        self.nearness = nearness(evidence.source.metrics.values, evidence.target.metrics.values, config.seed)
        self.names = ("matcher", *NAMES, *((TAUGHT,) if matcher.trainable else ()))
        made_from = config.to_json() + evidence.fingerprint
        heard = checkpoint.read(made_from) if checkpoint is not None else None
        if heard is None:
            said = testimony(matcher, evidence, config, listeners, should_stop)
            heard = Progress({"testimony": said}, {})
            if checkpoint is not None:
                checkpoint.write(heard, made_from)
        self.said: Arrays = dict(heard.groups["testimony"])  # log-odds of `validation`, `target`, `unseen`

    def sit(self, matcher: Matcher) -> _Sitting:
        """Ask the matcher, weigh all, judge every pair."""
        evidence, config = self.evidence, self.config
        validated = matcher.predict_proba(evidence.validation.examples)
        said, labels = self._with_matcher("validation", validated), evidence.validation.labels
        jury = self._appoint(said, labels)
        held_out = self._held_out(said, labels)
        verdicts = self.judge(jury, "target", matcher.predict_proba(evidence.target.examples))
        prior = posterior_means(evidence, evidence.validation.fired, labels, config.adapt.source_worth)
        fit = fit_risk_model(prior, evidence.validation.fired, held_out, labels, config.risk, config.seed)
        scores = fit.model.score(verdicts, evidence.target.fired, config=config.risk)
        return _Sitting(jury, scores, fit, held_out, validated)

    def judge(self, jury: Jury, part: str, probability: np.ndarray) -> np.ndarray:
        return jury.verdict(self._with_matcher(part, probability))

    def _appoint(self, said: np.ndarray, labels: np.ndarray) -> Jury:
        return appoint(said, labels, self.nearness, self.names.index("forest"))

    def _held_out(self, said: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The jury's verdict on each validation pair, from a jury that did not see its label."""
        verdicts = np.zeros(len(labels))
        for fold, rest in folds_and_rests(labels, self.config.adapt.witness_folds, self.config.seed):
            verdicts[fold] = self._appoint(said[rest], labels[rest]).verdict(said[fold])
        return verdicts

    def _with_matcher(self, part: str, probability: np.ndarray) -> np.ndarray:
        return np.column_stack([log_odds(probability), self.said[part]])


@dataclasses.dataclass(frozen=True, eq=False)
class _Sitting:
    """One round's verdicts on target pairs, and the held-out ones on validation pairs."""

    jury: Jury
    scores: RiskScores
    fit: FitResult
    held_out: np.ndarray
    validated: np.ndarray  # the matcher's own answers for the validation pairs

    def row(self, iteration: int, court: _Court, before: np.ndarray | None) -> Record:
        """What the round did, told without the target's labels."""
        labels, scores = court.evidence.validation.labels, self.scores
        f1, loss = validation_scores(labels, self.held_out)
        matcher_f1, matcher_loss = validation_scores(labels, self.validated)
        return {
            "iteration": iteration,
            "validation_f1": f1,
            "validation_loss": loss,
            "matcher_validation_f1": matcher_f1,
            "matcher_validation_loss": matcher_loss,
            "flips": 0 if before is None else int((scores.label != before).sum()),
            **_of_scores(scores),
            "nearness": court.nearness,
            "weights": dict(zip(court.names, self.jury.weights.tolist(), strict=True)),
            "labels_used": ["source", "validation"],  # the rules' means are updated by the validation labels
            "lacked": list(self.fit.lacked),
        }


def best_round(rows: Sequence[Record]) -> int:
    """The round whose held-out verdicts fit the validation labels best, the earliest of equals."""
    return int(min(rows, key=lambda row: (row["validation_loss"], row["iteration"]))["iteration"])


def _teach(
    matcher: Matcher, evidence: Evidence, last: Arrays, config: RunConfig, iteration: int, should_stop: ShouldStop
) -> None:
    """One pass towards the last verdicts: the jury's for the target, held-out ones for the validation pairs."""
    sets = [
        TuningSet(evidence.target.examples, last["verdicts"], 1 - last["verdicts"]),
        TuningSet(evidence.validation.examples, last["held_out"], 1 - last["held_out"]),
    ]
    seed = epoch_seed(config.seed, 40_000 + iteration)
    matcher.fine_tune(sets, rate=config.adapt.rate, seed=seed, should_stop=should_stop)


def _answer(
    matcher: Matcher, court: _Court, rounds: Rounds, start: Arrays, listeners: Sequence[Listener]
) -> MethodResult:
    """The best round's verdicts on target and unseen pairs; the starting matcher's own if they fit no better."""
    best = best_round(rounds.rows)
    if rounds.rows[best]["validation_loss"] > rounds.rows[0]["matcher_validation_loss"]:
        matcher.restore(start)
        return _matcher_alone(matcher, court.evidence, court.config, listeners, rounds.rows, NO_BETTER)
    matcher.restore(rounds.best)
    sitting, unseen = court.sit(matcher), court.evidence.unseen
    probability = None
    if unseen is not None:
        probability = court.judge(sitting.jury, "unseen", matcher.predict_proba(unseen.examples))
    record = {"best_iteration": best, "validation_f1": rounds.rows[best]["validation_f1"], "rows": rounds.rows}
    return MethodResult("risk+", sitting.scores.probability, probability, ("source", "validation"), record)
