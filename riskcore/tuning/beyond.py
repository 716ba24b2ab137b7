"""Risk+: adaptive training that combines evidence instead of overruling the stronger by the weaker.

    hear the witnesses (rules, forests), each cross-fitted on the validation pairs;
    repeat:
        the matcher answers for validation and target;
        a jury weighs matcher and witnesses on the validation pairs and gives every pair a probability;
        the risk model, its rule means updated by the validation pairs, ranks the jury's verdicts;
        one pass of the matcher towards the jury's verdicts, on target and validation pairs alike;
    keep the round whose verdicts explain held-out validation labels best; the starting matcher is a candidate.

The validation pairs' own labels reach neither the witnesses asked about them nor the matcher: it is taught their
cross-fitted verdicts. So what is selected on them is honest. No label of the target is at hand here.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence

import numpy as np

from riskcore.config import RunConfig
from riskcore.matchers.base import Arrays, Matcher, ShouldStop, TuningSet, never
from riskcore.risk import RiskScores
from riskcore.risk.ranking import FitResult, fit_risk_model
from riskcore.tuning.checkpoint import Checkpoint
from riskcore.tuning.evidence import Evidence, Part
from riskcore.tuning.folds import folds_of
from riskcore.tuning.jury import Jury, appoint
from riskcore.tuning.listeners import Listener, Record, notify
from riskcore.tuning.records import IterationScores, MethodResult
from riskcore.tuning.rounds import Rounds
from riskcore.tuning.tradition import epoch_seed, validation_scores
from riskcore.tuning.witnesses import NAMES, Testify, hear, log_odds, posterior_means

LABELS_USED = ("source", "validation")


def go_beyond(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
    should_stop: ShouldStop = never,
) -> MethodResult:
    """Run risk+ from the matcher as it is; the answer is the jury's, or the matcher's where no jury can be had."""
    labels = evidence.validation.labels
    if len(set(labels.tolist())) < 2:
        return _matcher_alone(matcher, evidence)
    court = _Court(evidence, matcher, config)
    last_round = config.adapt.beyond_iterations if matcher.trainable else 0
    rounds = Rounds.resume(matcher, checkpoint, config.to_json() + evidence.fingerprint)
    for iteration in range(len(rounds.rows), last_round + 1):
        started = time.perf_counter()
        if iteration:
            _teach(matcher, evidence, rounds.arrays, config, iteration, should_stop)
        sitting = court.sit(matcher)
        scores, row = sitting.scores, sitting.row(iteration, evidence, rounds.arrays.get("label"))
        row["seconds"] = time.perf_counter() - started
        arrays = {"label": scores.label, "verdicts": scores.probability, "held_out": sitting.held_out}
        rounds.advance(matcher, row, arrays, best_round)
        notify(listeners, "on_iteration_end", IterationScores("risk+", iteration, scores, sitting.fit.model, row))
        rounds.save(matcher)
    return _answer(matcher, court, rounds)


def _matcher_alone(matcher: Matcher, evidence: Evidence) -> MethodResult:
    """Without validation labels of both classes there is nothing to weigh witnesses by."""
    unseen = None if evidence.unseen is None else matcher.predict_proba(evidence.unseen.examples)
    lacked = "no validation pairs of both classes: the matcher is left as it was"
    return MethodResult(
        "risk+", matcher.predict_proba(evidence.target.examples), unseen, LABELS_USED, {"lacked": [lacked]}
    )


class _Court:
    """The witnesses, heard once: cross-fitted for the validation pairs, fitted on all of them for any others."""

    def __init__(self, evidence: Evidence, matcher: Matcher, config: RunConfig) -> None:
        self.evidence, self.config = evidence, config
        validation = evidence.validation
        answers = matcher.predict_proba(validation.examples)
        matcher_answers = matcher.predict_proba(evidence.target.examples)
        self.folds = folds_of(validation.labels, config.adapt.witness_folds, config.seed)
        self.rests = [np.setdiff1d(np.arange(len(validation)), fold) for fold in self.folds]
        trees = config.adapt.witness_trees
        said = None
        for fold, rest in zip(self.folds, self.rests, strict=True):
            part = _rows(validation, fold)
            testimony = hear(evidence, rest, answers, config, trees)(part, answers[fold])
            said = np.zeros((len(validation), testimony.shape[1])) if said is None else said
            said[fold] = testimony
        assert said is not None
        self.said = said
        self.testify: Testify = hear(evidence, np.arange(len(validation)), answers, config, trees)
        self.target = self.testify(evidence.target, matcher_answers)

    def sit(self, matcher: Matcher) -> _Sitting:
        """Ask the matcher, weigh all, judge every pair."""
        evidence, config = self.evidence, self.config
        validated = matcher.predict_proba(evidence.validation.examples)
        probability = matcher.predict_proba(evidence.target.examples)
        said = np.column_stack([log_odds(validated), self.said])
        labels = evidence.validation.labels
        jury = appoint(said, labels)
        held_out = self._held_out(said, labels)
        verdicts = jury.verdict(np.column_stack([log_odds(probability), self.target]))
        prior = posterior_means(evidence, evidence.validation.fired, labels, config.adapt.source_worth)
        fit = fit_risk_model(prior, evidence.validation.fired, held_out, labels, config.risk, config.seed)
        scores = fit.model.score(verdicts, evidence.target.fired, config=config.risk)
        return _Sitting(jury, scores, fit, held_out, validated)

    def _held_out(self, said: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The jury's verdict on each validation pair, from a jury that did not see its label."""
        verdicts = np.zeros(len(labels))
        for fold, rest in zip(self.folds, self.rests, strict=True):
            verdicts[fold] = appoint(said[rest], labels[rest]).verdict(said[fold])
        return verdicts

    def judge(self, jury: Jury, part: Part, probability: np.ndarray) -> np.ndarray:
        return jury.verdict(np.column_stack([log_odds(probability), self.testify(part, probability)]))


@dataclasses.dataclass(frozen=True, eq=False)
class _Sitting:
    """One round's verdicts on target pairs, and the held-out ones on validation pairs."""

    jury: Jury
    scores: RiskScores
    fit: FitResult
    held_out: np.ndarray
    validated: np.ndarray  # the matcher's own answers for the validation pairs

    def row(self, iteration: int, evidence: Evidence, before: np.ndarray | None) -> Record:
        """What the round did, told without the target's labels."""
        labels, scores = evidence.validation.labels, self.scores
        f1, loss = validation_scores(labels, self.held_out)
        return {
            "iteration": iteration,
            "validation_f1": f1,
            "validation_loss": loss,
            "matcher_validation_f1": validation_scores(labels, self.validated)[0],
            "flips": 0 if before is None else int((scores.label != before).sum()),
            "match_rate": float(scores.label.mean()),
            "mean_risk": float(scores.risk.mean()),
            "disagreement": float(np.mean((scores.mu >= 0.5) != (scores.label == 1))),
            "weights": dict(zip(("matcher", *NAMES), self.jury.weights.tolist(), strict=True)),
            "lacked": list(self.fit.lacked),
        }


def _rows(part: Part, rows: np.ndarray) -> Part:
    metrics = dataclasses.replace(part.metrics, values=part.metrics.values[rows])
    return Part(part.examples.take(rows), metrics, part.rules)


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


def _answer(matcher: Matcher, court: _Court, rounds: Rounds) -> MethodResult:
    """The best round's verdicts on target and unseen pairs."""
    matcher.restore(rounds.best)
    sitting, unseen = court.sit(matcher), court.evidence.unseen
    probability = None
    if unseen is not None:
        probability = court.judge(sitting.jury, unseen, matcher.predict_proba(unseen.examples))
    best = best_round(rounds.rows)
    record = {"best_iteration": best, "validation_f1": rounds.rows[best]["validation_f1"], "rows": rounds.rows}
    return MethodResult("risk+", sitting.scores.probability, probability, LABELS_USED, record)
