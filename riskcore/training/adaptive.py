"""Algorithm 1: fine-tune a matcher on a target it has no labels for, by minimising the risk of its own predictions.

    repeat:
        predict the validation and the target pairs;
        fit the risk model on the validation pairs: which predictions of this matcher are wrong?
        score the target pairs: VaR+ if labelled match, VaR- if labelled non-match;
        one pass over the target with the loss  -(1 - VaR+) log g - (1 - VaR-) log(1 - g);
    keep the iteration with the best validation F1, of equals the one with the lowest loss, the starting model included.
    Where the target is similar to the source, the starting model is good and the validation pairs are few, another has
    to be better by more than chance. Without validation labels of both classes the starting model is kept: nothing
    shows which iteration is better.

The validation pairs take part in the pass as unlabelled pairs, their VaR coming from risk models fitted on the other
folds: fine-tuning on the target alone overfits the target pairs, and a selection on pairs that took no part in it would
miss what it gained there. No label of the target is available here.

Two settings are ablations: without `use_rules` every rule is muted and the matcher's output is all there is; without
`refit` the risk model of the first iteration scores all later ones.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from riskcore.config import AdaptConfig, RunConfig
from riskcore.matchers.base import Arrays, Matcher, ShouldStop, TuningSet, never
from riskcore.random_streams import Stream, stream_seed
from riskcore.risk import RiskModel, RiskScores
from riskcore.risk.fit import FitResult, fit_risk_model
from riskcore.training.checkpoint import Checkpoint
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.folds import folds_of
from riskcore.training.iterations import Iterations
from riskcore.training.listeners import Listener, notify
from riskcore.training.passes import Passes
from riskcore.training.results import (
    IterationChoice,
    IterationRow,
    IterationScores,
    LabelRisk,
    target_figures,
)
from riskcore.training.supervised import validation_scores

Ranker = Callable[[np.ndarray, np.ndarray], LabelRisk]  # of the probabilities of target and validation pairs

NOTHING_TO_CHOOSE_BY = (
    "There are no validation labels of both classes to choose an iteration by, so iteration 0, the matcher before "
    "adaptation, is kept."
)


@dataclasses.dataclass(frozen=True, eq=False)
class Adapted:
    """The history of adaptive training, one row per iteration, and the iteration kept."""

    rows: tuple[IterationRow, ...]
    best: int

    @property
    def lacked(self) -> list[str]:
        """Why later iterations, if there are any, were not considered; in sentences for the reader of the results."""
        return [NOTHING_TO_CHOOSE_BY] if len(self.rows) > 1 and self.rows[0]["validation_f1"] is None else []


def adapt(
    matcher: Matcher,
    evidence: Evidence,
    config: RunConfig,
    listeners: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
    should_stop: ShouldStop = never,
    rank: Ranker | None = None,
    start: Arrays | None = None,
    can_rank: Callable[[], bool] = lambda: True,
) -> Adapted:
    """Run Algorithm 1 from the matcher as it is; leave it at its best iteration.

    `rank` gives the risk of each iteration's labels by all the evidence; it takes no part in the training, which does
    not wait for it: iterations are reported, and saved, once `can_rank` says so. `start` are the matcher's
    probabilities of `validation` and `target` pairs, where they are known.
    """
    evidence = evidence if config.adapt.use_rules else _without_rules(evidence)
    made_from = config.to_json() + evidence.fingerprint
    done = Iterations.resume(matcher, checkpoint, made_from)
    last = config.adapt.iterations if matcher.trainable else 0  # external scores are ranked as they are
    passes = Passes("risk", "iteration", last, made_from, listeners, checkpoint, should_stop)
    near, best = near_source(evidence, config), partial(best_iteration, config=config.adapt)
    untold: list[_Untold] = []
    for iteration in range(len(done.rows), last + 1):
        started, earlier = time.perf_counter(), 0.0
        weights = _loss_weights(evidence, done.arrays, config) if iteration else {}
        if iteration:
            earlier = _one_pass(matcher, evidence, weights, done.arrays, config, iteration, passes)
        known = start if start is not None and not iteration else {}
        probability, validated = (
            known[name] if name in known else matcher.predict_proba(part.examples)
            for name, part in (("target", evidence.target), ("validation", evidence.validation))
        )
        fitted_on = validated if config.adapt.refit else done.arrays.get("fitted_on", validated)
        fit = _fit(evidence.prior, evidence.validation, fitted_on, config)
        scores = fit.model.score(probability, evidence.target.source_fired, config=config.risk)
        row = _row(iteration, scores, fit, evidence, validated, done.arrays.get("label", scores.label))
        row |= {"near_source": near, "seconds": earlier + time.perf_counter() - started}
        arrays = {name: getattr(scores, name) for name in ("label", "probability", "var_match", "var_non_match")}
        done.advance(matcher, row, {**arrays, "validated": validated, "fitted_on": fitted_on, **weights}, best)
        told = IterationScores("risk", iteration, scores, fit.model, row, learned=matcher.snapshot())
        untold.append(_Untold(told, validated))
        if can_rank() or iteration == last:
            for one in untold:
                one.tell(rank, listeners)
            untold.clear()
            done.save(matcher)
            passes.forget()
    matcher.restore(done.best)
    return Adapted(tuple(done.rows), best(done.rows))


@dataclasses.dataclass(frozen=True, eq=False)
class _Untold:
    """An iteration that was not reported yet."""

    scores: IterationScores
    validated: np.ndarray  # the matcher's probabilities of the validation pairs

    def tell(self, rank: Ranker | None, listeners: Sequence[Listener]) -> None:
        """Rank its labels, complete its row and report it."""
        one, started = self.scores, time.perf_counter()
        risk = rank(one.scores.probability, self.validated) if rank else None
        seconds = one.record["seconds"] + time.perf_counter() - started
        one.record.update({**target_figures(one.scores, risk), "seconds": seconds})
        notify(listeners, "on_iteration_end", dataclasses.replace(one, risk=risk))


def on_validation(part: EvidencePart, validated: np.ndarray) -> IterationChoice:
    """What an iteration is chosen by."""
    f1, loss = validation_scores(part.labels, validated, part.weights)
    mistakes = int(((validated >= 0.5) != part.labels).sum())
    return {"validation_f1": f1, "validation_loss": loss, "validation_mistakes": mistakes}


def best_iteration(rows: Sequence[IterationRow], config: AdaptConfig) -> int:
    """Highest validation F1, then lowest validation loss, then the earliest: with a hundred labels many iterations have
    the same F1. A good matcher near its source is more likely to get worse than better: there an iteration must make
    fewer mistakes by more than chance, and one of fifty validation pairs is not enough. Without validation pairs of
    both classes, iteration 0: nothing shows which iteration is better."""
    scored = [
        (row["validation_f1"], -(row.get("validation_loss") or 0.0), -row["iteration"], row)
        for row in rows
        if row["validation_f1"] is not None
    ]
    if not scored:
        return 0
    start_f1, _, _, start = scored[0]
    if start.get("near_source") and start_f1 >= config.good_f1:
        fewer = start["validation_mistakes"] - config.chance_mistakes
        scored = [scored[0], *(one for one in scored if one[3]["validation_mistakes"] < fewer)]
    return max(scored, key=lambda one: one[:3])[3]["iteration"]


def near_source(evidence: Evidence, config: RunConfig) -> bool:
    """Whether the target is similar to the source and there are fewer validation than training pairs. Where the
    validation pairs outnumber the training pairs, they decide alone. Without folds, the paper's selection.
    """
    if not config.adapt.folds or len(evidence.source) <= len(evidence.validation):
        return False
    return evidence.domain_similarity(config) >= config.adapt.near_similarity


def _loss_weights(evidence: Evidence, last: Arrays, config: RunConfig) -> Arrays:
    """The weight of either label in a pair's loss: 1 - VaR, averaged with the weights of the pass before.

    A risk model fitted to a matcher that has just moved one way moves it back; the average damps the oscillation.
    """
    now = {"target_match": 1 - last["var_match"], "target_non_match": 1 - last["var_non_match"]}
    if config.adapt.folds:
        now |= _cross_fitted(evidence, last["validated"], last["fitted_on"], config)
    momentum = config.adapt.var_momentum
    return {name: (1 - momentum) * some + momentum * last.get(name, some) for name, some in now.items()}


def _one_pass(
    matcher: Matcher,
    evidence: Evidence,
    weights: Arrays,
    last: Arrays,
    config: RunConfig,
    iteration: int,
    passes: Passes,
) -> float:
    """One pass over target and, where they join, validation pairs with the risk loss; VaR is held constant. Returns the
    seconds it had taken when it was interrupted."""
    parts = [("target", evidence.target, last["probability"])]
    if config.adapt.folds:
        parts.append(("validation", evidence.validation, last["validated"]))
    sets = [
        TuningSet(part.examples, weights[f"{name}_match"], weights[f"{name}_non_match"]).pulled(
            said, matcher.least_pull
        )
        for name, part, said in parts
    ]
    seed = stream_seed(config.seed, Stream.RISK_PASS, iteration)
    return passes.make(matcher, sets, iteration, rate=config.adapt.rate, seed=seed).earlier


def _without_rules(evidence: Evidence) -> Evidence:
    """The same evidence with every rule muted: the matcher's output is all that risk can follow from."""
    return dataclasses.replace(evidence, prior=evidence.prior.with_rules(muted=evidence.prior.rules))


def _cross_fitted(evidence: Evidence, validated: np.ndarray, fitted_on: np.ndarray, config: RunConfig) -> Arrays:
    """The validation pairs as unlabelled ones: each fold's risk from a model that saw the other folds only."""
    part = evidence.validation
    weights = {name: np.zeros(len(part)) for name in ("validation_match", "validation_non_match")}
    folds = folds_of(part.labels, config.adapt.folds, stream_seed(config.seed, Stream.RISK_FOLDS))
    for number, fold in enumerate(folds):
        rest = np.setdiff1d(np.arange(len(part)), fold)
        drawn = stream_seed(config.seed, Stream.CROSS_FIT, number)
        fired, labels = part.source_fired[rest], part.labels[rest]
        fit = fit_risk_model(evidence.prior, fired, fitted_on[rest], labels, config.risk, drawn)
        scores = fit.model.score(validated[fold], part.source_fired[fold], config=config.risk)
        weights["validation_match"][fold] = 1 - scores.var_match
        weights["validation_non_match"][fold] = 1 - scores.var_non_match
    return weights


def _fit(prior: RiskModel, part: EvidencePart, validated: np.ndarray, config: RunConfig) -> FitResult:
    drawn = stream_seed(config.seed, Stream.RISK_FIT)
    return fit_risk_model(prior, part.source_fired, validated, part.labels, config.risk, drawn)


def _row(
    iteration: int,
    scores: RiskScores,
    fit: FitResult,
    evidence: Evidence,
    validated: np.ndarray,
    before: np.ndarray,
) -> IterationRow:
    """A row on one iteration, without the target's labels; before its labels are ranked."""
    return {
        "iteration": iteration,
        **on_validation(evidence.validation, validated),
        "flips": int((scores.label != before).sum()),
        **target_figures(scores, None),
        "labels_used": [name for name in fit.labels_used if name != "source" or len(evidence.source)],
        "lacked": list(fit.lacked),
    }
