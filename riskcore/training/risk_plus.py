"""Risk+: adaptive training by stacking, so that a weaker source of evidence does not overrule a stronger one.

    given the base learners' predictions of all pairs (rules, forests, a linear model, the fine-tuned matcher), which
    are out-of-fold on the validation pairs (see `ensemble`),
    repeat:
        the matcher predicts validation and target pairs;
        a stacker, fitted on the validation pairs, combines matcher and base learners into one probability per pair;
        where it helps out-of-fold, competing candidates (other pairs of the same record) count against a pair;
        the risk model, its rule means updated by the validation pairs, explains these predictions;
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
from riskcore.training.base_learners import posterior_means
from riskcore.training.checkpoint import Checkpoint
from riskcore.training.ensemble import Ensemble, Stacked
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.iterations import Iterations
from riskcore.training.label_risk import label_risk
from riskcore.training.listeners import Listener, notify
from riskcore.training.passes import Passes
from riskcore.training.results import IterationRow, IterationScores, LabelRisk, MethodResult, target_figures
from riskcore.training.supervised import validation_scores

NO_BETTER = (
    "No iteration predicts the validation labels better than the starting matcher alone, so its own answers are kept."
)


def train_risk_plus(
    matcher: Matcher,
    ensemble: Ensemble,
    listeners: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
    should_stop: ShouldStop = never,
    start: Arrays | None = None,
) -> MethodResult:
    """Run risk+ from the matcher as it is: the answer is the stacker's, or the matcher's where stacking is no help.

    `start` are the matcher's probabilities of the run's `validation` and `target` pairs, where they are known.
    """
    evidence, config = ensemble.evidence, ensemble.config
    if not ensemble.fitted:
        return _matcher_alone(matcher, ensemble, listeners, [], NOTHING_TO_CHOOSE_BY)
    weights = matcher.snapshot()
    last = config.adapt.stacking_iterations if matcher.trainable else 0
    made_from = config.to_json() + evidence.fingerprint
    done = Iterations.resume(matcher, checkpoint, made_from)
    passes = Passes("risk+", "iteration", last, made_from, listeners, checkpoint, should_stop)
    for iteration in range(len(done.rows), last + 1):
        started, earlier = time.perf_counter(), 0.0
        if iteration:
            earlier = _one_pass(matcher, evidence, done.arrays, config, iteration, passes)
        made = _Iteration.of(ensemble, matcher, None if iteration else start)
        scores, row = made.scores, made.row(iteration, ensemble, done.arrays.get("label"))
        row["seconds"] = earlier + time.perf_counter() - started
        arrays = {
            "label": scores.label,
            "probability": scores.probability,
            "out_of_fold": made.out_of_fold,
            "said": made.said,
            "validated": made.validated,
        }
        done.advance(matcher, row, arrays, lowest_loss)
        learned = matcher.snapshot()
        told = IterationScores("risk+", iteration, scores, made.fit.model, row, made.risk, learned=learned)
        notify(listeners, "on_iteration_end", told)
        done.save(matcher)
        passes.forget()
    return _answer(matcher, ensemble, done, weights, listeners)


def _matcher_alone(
    matcher: Matcher,
    ensemble: Ensemble,
    listeners: Sequence[Listener],
    rejected: Sequence[IterationRow],
    why: str,
) -> MethodResult:
    """The starting matcher's predictions, where no stacker can be fitted or none helps: an iteration of their own."""
    evidence, config = ensemble.evidence, ensemble.config
    started, part = time.perf_counter(), evidence.validation
    validated, probability = (matcher.predict_proba(some.examples) for some in (part, evidence.target))
    drawn = stream_seed(config.seed, Stream.RISK_FIT)
    fit = fit_risk_model(evidence.prior, part.source_fired, validated, part.labels, config.risk, drawn)
    scores = fit.model.score(probability, evidence.target.source_fired, config=config.risk)
    risk = label_risk(ensemble, ensemble.stack(validated, probability), probability, validated)
    row = _row_of_matcher(len(rejected), scores, risk, fit, part, validated)
    row["seconds"] = time.perf_counter() - started
    learned = matcher.snapshot()
    iteration = IterationScores("risk+", row["iteration"], scores, fit.model, row, risk, True, learned)
    notify(listeners, "on_iteration_end", iteration)
    unseen = None if evidence.unseen is None else matcher.predict_proba(evidence.unseen.examples)
    record = {"best_iteration": row["iteration"], "validation_f1": row["validation_f1"], "lacked": [why]}
    chosen = ("source", "validation") if part.has_both_classes else ("source",) if matcher.trainable else ()
    rows = {"rows": [*rejected, row]}
    return MethodResult("risk+", probability, unseen, chosen, {**record, **rows}, learned, validated, risk)


def _row_of_matcher(
    iteration: int, scores: RiskScores, risk: LabelRisk, fit: FitResult, part: EvidencePart, validated: np.ndarray
) -> IterationRow:
    """The row of an iteration that is the starting matcher alone."""
    f1, loss = validation_scores(part.labels, validated, part.weights)
    return {
        "iteration": iteration,
        "validation_f1": f1,
        "validation_loss": loss,
        "matcher_validation_f1": f1,
        "matcher_validation_loss": loss,
        "flips": 0,
        **target_figures(scores, risk),
        "labels_used": list(fit.labels_used),
        "lacked": list(fit.lacked),
    }


@dataclasses.dataclass(frozen=True, eq=False)
class _Iteration:
    """The stacker's answers with a matcher in some state, ranked by the rules and by all the evidence."""

    stacked: Stacked
    said: np.ndarray  # the matcher's own probabilities of the target pairs
    validated: np.ndarray  # and of the validation pairs
    scores: RiskScores
    fit: FitResult
    risk: LabelRisk

    @classmethod
    def of(cls, ensemble: Ensemble, matcher: Matcher, known: Arrays | None = None) -> _Iteration:
        """`known` are the matcher's probabilities of all validation and target pairs."""
        evidence, config = ensemble.evidence, ensemble.config
        if known is None or not ensemble.trusts_all:
            parts = {"validation": evidence.validation, "target": evidence.target}
            known = {name: matcher.predict_proba(part.examples) for name, part in parts.items()}
        validated = known["validation"]
        stacked = ensemble.stack(validated, known["target"])
        fit = _explaining_fit(evidence, stacked, config)
        scores = fit.model.score(stacked.probability, evidence.target.fired, config=config.risk)
        risk = label_risk(ensemble, stacked, stacked.probability, stacked.out_of_fold)
        return cls(stacked, known["target"], validated, scores, fit, risk)

    @property
    def out_of_fold(self) -> np.ndarray:
        assert self.stacked.out_of_fold is not None  # stacking needs validation pairs of both classes
        return self.stacked.out_of_fold

    def row(self, iteration: int, ensemble: Ensemble, before: np.ndarray | None) -> IterationRow:
        """A row on the iteration, without the target's labels."""
        part, scores, competition = ensemble.evidence.validation, self.scores, self.stacked.competition
        f1, loss = validation_scores(part.labels, self.out_of_fold, part.weights)
        matcher_f1, matcher_loss = validation_scores(part.labels, self.validated, part.weights)
        return {
            "iteration": iteration,
            "validation_f1": f1,
            "validation_loss": loss,
            "matcher_validation_f1": matcher_f1,
            "matcher_validation_loss": matcher_loss,
            "flips": 0 if before is None else int((scores.label != before).sum()),
            **target_figures(scores, self.risk),
            "domain_similarity": ensemble.similarity,
            "stacker_weights": dict(zip(ensemble.names, self.stacked.stacker.weights.tolist(), strict=True)),
            "competition": None if competition is None else dataclasses.asdict(competition),
            "labels_used": ["source", "validation"],  # the rules' means are updated by the validation labels
            "lacked": list(self.fit.lacked),
        }


def _explaining_fit(evidence: Evidence, stacked: Stacked, config: RunConfig) -> FitResult:
    """The risk model that explains these answers. Rules that the validation pairs taught look too good on them: they
    take no part in the fit and get the weight of a rule before any evidence."""
    part, adapt = evidence.validation, config.adapt
    prior = posterior_means(evidence, part.source_fired, part.labels, adapt.source_prior_pairs)
    drawn = stream_seed(config.seed, Stream.RISK_FIT)
    assert stacked.out_of_fold is not None
    fit = fit_risk_model(prior, part.source_fired, stacked.out_of_fold, part.labels, config.risk, drawn)
    taught = evidence.rules.from_validation
    weight = np.where(taught, config.risk.prior_weight, fit.model.weight)
    return dataclasses.replace(fit, model=dataclasses.replace(fit.model, weight=weight))


def lowest_loss(rows: Sequence[IterationRow]) -> int:
    """The iteration with the lowest out-of-fold loss on the validation labels, the earliest of equals."""
    return min(rows, key=lambda row: (_loss(row["validation_loss"]), row["iteration"]))["iteration"]


def _loss(loss: float | None) -> float:
    assert loss is not None  # stacking needs validation pairs of both classes
    return loss


def _one_pass(
    matcher: Matcher, evidence: Evidence, last: Arrays, config: RunConfig, iteration: int, passes: Passes
) -> float:
    """One pass towards the last probabilities: the stacker's for the target, out-of-fold ones for validation pairs.
    Returns the seconds it had taken when it was interrupted."""
    parts = (
        (evidence.target, last["probability"], last["said"]),
        (evidence.validation, last["out_of_fold"], last["validated"]),
    )
    sets = [TuningSet(part.examples, aim, 1 - aim).pulled(said, matcher.least_pull) for part, aim, said in parts]
    seed = stream_seed(config.seed, Stream.STACKING_PASS, iteration)
    return passes.make(matcher, sets, iteration, rate=config.adapt.rate, seed=seed).earlier


def _answer(
    matcher: Matcher, ensemble: Ensemble, done: Iterations, start: Arrays, listeners: Sequence[Listener]
) -> MethodResult:
    """The best iteration's probabilities of target and unseen pairs; the starting matcher's if they fit no better."""
    best = lowest_loss(done.rows)
    if _loss(done.rows[best]["validation_loss"]) > _loss(done.rows[0]["matcher_validation_loss"]):
        matcher.restore(start)
        return _matcher_alone(matcher, ensemble, listeners, done.rows, NO_BETTER)
    matcher.restore(done.best)
    made, unseen = _Iteration.of(ensemble, matcher), ensemble.evidence.unseen
    of_unseen = None
    if unseen is not None:
        of_unseen = ensemble.predict_unseen(made.stacked, matcher.predict_proba(unseen.examples))
    record = {"best_iteration": best, "validation_f1": done.rows[best]["validation_f1"], "rows": done.rows}
    return MethodResult(
        "risk+",
        made.scores.probability,
        of_unseen,
        ("source", "validation"),
        record,
        matcher.snapshot(),
        made.out_of_fold,
        made.risk,
        stacked=True,
    )
