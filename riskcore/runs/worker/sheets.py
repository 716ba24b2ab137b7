"""The balance sheets of a run, once its bundle is there: computed by the worker, which has the matcher at hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from riskcore.risk.scoring import rule_terms
from riskcore.runs.bundle.contents import ABOUT
from riskcore.runs.bundle.read import Bundle
from riskcore.runs.folder import RunFolder
from riskcore.runs.sheet_files import FORMAT, RuleTerm, SheetFacts, write_sheets
from riskcore.training.answer_model import AnswerModel
from riskcore.training.asked import Asked
from riskcore.training.balance_sheets import BalanceSheets, SheetMaker
from riskcore.training.ensemble import Ensemble
from riskcore.training.evidence import Evidence, EvidencePart
from riskcore.training.fitted_learners import RulesLearner
from riskcore.training.resampled_fits import RESAMPLES, Resample, Resamples, resamples_of
from riskcore.training.results import MethodResult

ALL_PAIRS = 20_000  # targets up to this size are explained whole
RISKIEST = 2_000  # of larger ones: more than anyone reviews before the queue is ranked anew
RISKIEST_SLOWLY = 200  # where each view of a pair costs as much as a prediction: a Transformer reads 50 a second
START_METHOD = "tradition"
OnProgress = Callable[[int, int], None]


def explain_run(
    folder: RunFolder,
    evidence: Evidence,
    ensemble: Ensemble | None,
    results: Mapping[str, MethodResult],
    on_progress: OnProgress | None = None,
) -> None:
    """Write the sheets of the methods whose pairs can be browsed, and of the matcher they started from."""
    if not (folder.bundle / ABOUT).is_file():
        return
    bundle = Bundle(folder.bundle)
    resamples = None if ensemble is None else resamples_of(ensemble)
    wanted = [name for name in (START_METHOD, *folder.methods()) if name in bundle.facts["methods"]]
    first: AnswerModel | None = None
    for done, name in enumerate(dict.fromkeys(wanted)):
        model = bundle.answer_model(name)
        first = first or dataclasses.replace(model, asked=Asked())
        model = model.beside(first)
        rows = explained_rows(results[name], model.matcher.hides_cheaply)
        resampled = [] if resamples is None or ensemble is None else _with_matcher(model, ensemble, resamples)
        sheets = _sheets(bundle, model, evidence, name, results[name], rows, resampled)
        write_sheets(folder, rows, sheets, sheet_facts(bundle, model, name, sheets, len(rows), len(evidence.target)))
        if on_progress is not None:
            on_progress(done + 1, len(wanted))


def explained_rows(result: MethodResult, cheap: bool) -> np.ndarray:
    """All pairs, or the riskiest of many, in rising order."""
    pairs = len(result.probability)
    if pairs <= ALL_PAIRS and cheap:
        return np.arange(pairs)
    doubt = np.minimum(result.probability, 1 - result.probability)
    risk = doubt if result.risk is None else result.risk.risk
    riskiest = np.argsort(-risk, kind="stable")[: RISKIEST if cheap else RISKIEST_SLOWLY]
    return np.sort(riskiest)


def _sheets(
    bundle: Bundle,
    model: AnswerModel,
    evidence: Evidence,
    name: str,
    result: MethodResult,
    rows: np.ndarray,
    resampled: list[Resample],
) -> BalanceSheets:
    part = evidence.target if len(rows) == len(evidence.target) else evidence.target.take(rows)
    pairs = part.examples.pairs
    known = bundle.known_pairs(name, pairs.left, pairs.right)
    maker = SheetMaker(model, attributes_of(bundle), part.all_metrics.metrics)
    return maker.make(part, pairs, model.gather(part), result.probability[rows], known, resampled)


def attributes_of(bundle: Bundle) -> list[str]:
    return [one["name"] for one in bundle.facts["attributes"]]


def _with_matcher(model: AnswerModel, ensemble: Ensemble, resamples: Resamples) -> list[Resample]:
    """The resampled fits with the matcher that is among the stacker's inputs."""
    weights = model.start if model.ranked_with_start else model.learned
    validation: EvidencePart = ensemble.evidence.validation
    return resamples.with_matcher(model.predict_with(weights, validation))


def sheet_facts(
    bundle: Bundle, model: AnswerModel, method: str, sheets: BalanceSheets, pairs: int, of: int
) -> SheetFacts:
    """What the columns of a method's sheets stand for."""
    learners = () if model.learners is None else model.learners.learners
    rules = next((one for one in learners if isinstance(one, RulesLearner)), None)
    terms: list[RuleTerm] = []
    if rules is not None:
        weights = rule_terms(rules.model)[:, 0]
        known = zip(weights.tolist(), rules.model.mean.tolist(), strict=True)
        rows = ({"rule": number, "weight": weight, "mean": mean} for number, (weight, mean) in enumerate(known))
        terms = [RuleTerm(**row) for row in rows if row["weight"] > 0]  # type: ignore[typeddict-item]
    stable = bool(len(sheets.stability)) and not np.isnan(sheets.stability).all()
    return {
        "format": FORMAT,
        "method": method,
        "iteration": bundle.facts["methods"][method]["iteration"],
        "pairs": pairs,
        "of": of,
        "subjects": list(sheets.subjects),
        "voices": list(sheets.voices),
        "weights": sheets.weights.tolist(),
        "metrics": list(sheets.metrics),
        "rules": terms,
        "resamples": RESAMPLES if stable else 0,
    }
