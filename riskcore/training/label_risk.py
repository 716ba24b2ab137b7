"""How likely each label is wrong, by everything that is known: the ranking of the review queue, for any labels.

The stacked evidence gives each pair a match probability, and how far its inputs disagree is the deviation: the Value at
Risk of the label, in log-odds, is the evidence against it plus a margin for that. Where the matcher's own confidence
ranks the validation labels better, out-of-fold, it is used instead; with a handful of errors there is nothing to choose
by. A logistic curve, fitted to the validation labels, turns the result into a probability: of pairs shown with risk
0.3, three in ten are wrong. No label of the target is available here.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, ndtri

from riskcore.config import RankConfig
from riskcore.risk import auroc
from riskcore.training.ensemble import Ensemble, Stacked, stacked_log_odds
from riskcore.training.newton import ridge_logistic
from riskcore.training.results import CONFIDENCE, STACKED, LabelRisk, RankingModel, RiskChoice


def label_risk(
    ensemble: Ensemble,
    stacked: Stacked,
    probability: np.ndarray,
    validated: np.ndarray | None = None,
) -> LabelRisk:
    """The risk of the labels that `probability` gives the target pairs.

    `validated` are probabilities of the validation pairs from the same model, none taught by the pair's own label.
    Without them (None) the ranking cannot be checked on validation pairs, and the stacked evidence is used as it is.
    """
    config = ensemble.config.rank
    against = evidence_against(stacked.probability, stacked.spread, probability >= 0.5, config)
    if stacked.out_of_fold is None or validated is None:
        calibrated, model = stacked.out_of_fold is not None, _model(stacked, 0.0, 1.0)
        return LabelRisk(expit(against), STACKED, ensemble.labels_used, calibrated, model=model)
    label = validated >= 0.5
    part = ensemble.evidence.validation
    wrong = label != (part.labels == 1)
    on_validation = evidence_against(stacked.out_of_fold, stacked.validation_spread, label, config)
    doubt = evidence_against(validated, None, label, config)
    choice: RiskChoice = {
        "errors": int(wrong.sum()),
        "stacked": auroc(on_validation, wrong),
        "confidence": auroc(doubt, wrong),
    }
    if _prefers_confidence(choice, config):
        target_doubt = evidence_against(probability, None, probability >= 0.5, config)
        model = _model(stacked, *_calibration(doubt, wrong, part.weights, config))
        risk = expit(model.offset + model.scale * target_doubt)
        return LabelRisk(risk, CONFIDENCE, ensemble.labels_used, True, choice, model)
    model = _model(stacked, *_calibration(on_validation, wrong, part.weights, config))
    risk = expit(model.offset + model.scale * against)
    return LabelRisk(risk, STACKED, ensemble.labels_used, True, choice, model)


def evidence_against(
    probability: np.ndarray, spread: np.ndarray | None, label: np.ndarray, config: RankConfig
) -> np.ndarray:
    """Log-odds that the label is wrong, at the quantile that Value at Risk takes."""
    found = stacked_log_odds(probability)
    margin = 0.0 if spread is None else float(ndtri(config.quantile)) * config.spread_share * spread
    against: np.ndarray = np.where(label, -found, found) + margin
    return against


def _prefers_confidence(choice: RiskChoice, config: RankConfig) -> bool:
    stacked, confidence = choice["stacked"], choice["confidence"]
    if choice["errors"] < config.errors_to_choose or stacked is None or confidence is None:
        return False
    return confidence > stacked


def _calibration(
    against: np.ndarray, wrong: np.ndarray, weights: np.ndarray, config: RankConfig
) -> tuple[float, float]:
    """Platt's logistic curve, pulled towards "as it is"; it never reverses the order. `weights` say how many pairs a
    validation pair stands for."""
    penalty = np.array([config.offset_penalty, config.scale_penalty])
    inputs = np.column_stack([np.ones(len(against)), against])
    offset, scale = ridge_logistic(inputs, wrong.astype(np.float64), np.array([0.0, 1.0]), penalty, weights=weights)
    return float(offset), max(float(scale), config.least_scale)


def _model(stacked: Stacked, offset: float, scale: float) -> RankingModel:
    """What ranks other pairs in the same way."""
    stacker, competition = stacked.stacker, stacked.competition
    weights = tuple(stacker.weights.tolist())
    if competition is None:
        return RankingModel(stacker.offset, weights, None, offset, scale, None)
    counts = (competition.offset, competition.scale, competition.left, competition.right)
    return RankingModel(stacker.offset, weights, counts, offset, scale, stacked.alone)
