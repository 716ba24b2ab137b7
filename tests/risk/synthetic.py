"""Small risk models and pairs that follow a seed, and a slow, plain re-implementation to check against."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.stats import truncnorm

from riskcore.risk import RiskModel, prior_model


def random_model(rules: int, seed: int = 0, learned: bool = True) -> RiskModel:
    chance = np.random.default_rng(seed)
    model = prior_model([f"rule {i}" for i in range(rules)], chance.random(rules), chance.integers(5, 100, size=rules))
    if not learned:
        return model
    return RiskModel(
        rules=model.rules,
        mean=model.mean,
        support=model.support,
        rsd=chance.uniform(0.1, 0.9, rules),
        weight=chance.exponential(0.3, rules),
        decided=model.decided,
        pinned=model.pinned,
        matcher_rsd=chance.uniform(0.1, 0.9, 50),
        a=0.7,
        c=0.3,
    )


def random_pairs(pairs: int, rules: int, seed: int = 0, share: float = 0.2) -> tuple[np.ndarray, sparse.csr_array]:
    chance = np.random.default_rng(seed + 1)
    fired = sparse.csr_array((chance.random((pairs, rules)) < share).astype(np.uint8))
    return chance.beta(0.4, 0.4, pairs), fired


def learnable(pairs: int, rules: int, seed: int = 0) -> tuple[RiskModel, sparse.csr_array, np.ndarray, np.ndarray]:
    """Half of the rules tell the truth and half are noise; the matcher errs with full confidence on some pairs."""
    chance = np.random.default_rng(seed)
    truth = (chance.random(pairs) < 0.4).astype(np.int8)
    says_match = chance.random(rules) < 0.5
    informed = np.arange(rules) % 2 == 0
    agrees = truth[:, None] == says_match[None, :]
    fired = chance.random((pairs, rules)) < np.where(informed[None, :], np.where(agrees, 0.4, 0.02), 0.2)
    missed = chance.random(pairs) < 0.2
    probability = np.clip(np.where(missed, 1 - truth, truth) + chance.normal(0, 0.2, pairs), 0, 1)
    mean = np.where(says_match, 0.95, 0.05)
    model = prior_model([f"rule {i}" for i in range(rules)], mean, np.full(rules, 50))
    return model, sparse.csr_array(fired), probability, truth


def plain_scores(model: RiskModel, x: float, fired: np.ndarray, label: int) -> tuple[float, float, float, float, float]:
    """One pair, one rule after the other, straight from the formulas: mu, sigma, VaR+, VaR-, risk."""
    terms = []
    for f in np.flatnonzero(fired):
        weight = model.weight[f] if np.isnan(model.decided[f]) else model.decided[f]
        rsd = 0.1 if model.pinned[f] else model.rsd[f]
        terms.append((weight, model.mean[f], rsd * max(model.mean[f], 0.1)))
    w_x = 1 + model.a - np.exp(-((x - 0.5) ** 2) / (2 * model.c**2))
    terms.append((w_x, x, model.matcher_rsd[min(int(x * 50), 49)] * max(x, 0.1)))
    total = sum(w for w, _, _ in terms)
    mu = sum(w * m for w, m, _ in terms) / total
    sigma = np.sqrt(sum((w * s) ** 2 for w, _, s in terms)) / total
    bell = truncnorm(-mu / sigma, (1 - mu) / sigma, loc=mu, scale=sigma)
    var_match, var_non_match = 1 - bell.ppf(1 - model.confidence), bell.ppf(model.confidence)
    return mu, sigma, var_match, var_non_match, var_match if label else var_non_match
