"""Why a method gives its label, for all pairs at once: the heaviest fired rules that point to it, in words.

What a rule adds to a pair's expected probability is the same for every pair it fires on, so rules are ranked once; a
pair's reasons are the first of them that fire on it. One pair's full balance is in `riskcore.risk.explain`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from riskcore.risk import RiskModel
from riskcore.risk.scoring import rule_terms
from riskcore.rules.rule import Rule
from riskcore.rules.sentences import rule_sentence
from riskcore.runs.candidate_files import read_other_fired
from riskcore.runs.evidence_files import read_fired
from riskcore.runs.folder import RunFolder
from riskcore.storage.parquet import row_count

REASONS = 2  # per pair: the next ones add little, and a cell stays readable
LEAST_WEIGHT = 0.0005  # as on the command line: below it every figure of a rule reads 0.000
CHUNK = 250_000  # pairs whose fired rules are held in memory at a time


def model_reasons(folder: RunFolder, method: str, iteration: int | None, frame: pd.DataFrame) -> np.ndarray:
    """The reasons of these pairs, whose index is their place among the stored pairs, for their `decision`."""
    words = without_rules(method, frame["probability"].to_numpy())
    if iteration is None or not folder.fired_file.exists():
        return words
    places, is_match = frame.index.to_numpy(), (frame["decision"] == "match").to_numpy()
    count = row_count(folder.pairs_file)
    ranked = RankedRules(folder.rules().rules, folder.model(method, iteration))
    target = np.flatnonzero(places < count)
    for start in range(0, len(target), CHUNK):
        some = target[start : start + CHUNK]
        fired = read_fired(folder, count, ranked.rules, places[some])
        words[some] = ranked.words(fired, is_match[some], words[some])
    other = np.flatnonzero(places >= count)
    if len(other):
        fired = read_other_fired(folder, ranked.rules)[places[other] - count]
        words[other] = ranked.words(fired, is_match[other], words[other])
    return words


def without_rules(method: str, probability: np.ndarray) -> np.ndarray:
    """The reason of a pair where no rule gives one."""
    return np.array([f"{method} gives {p:.2f}" for p in probability], dtype=object)


class RankedRules:
    """The rules of an iteration's risk model by what they add to a match, and to a non-match."""

    def __init__(self, rules: Sequence[Rule], model: RiskModel) -> None:
        terms = rule_terms(model)
        weight, towards = terms[:, 0], terms[:, 1]
        self.rules = len(rules)
        self._texts = np.array([rule_sentence(rule) for rule in rules], dtype=object)
        outcome = np.array([rule.outcome == "match" for rule in rules], dtype=bool)
        heavy = weight >= LEAST_WEIGHT
        self._rank = np.full((2, len(rules)), len(rules))  # by label; rules that point elsewhere come last
        for label, share in ((0, weight - towards), (1, towards)):
            agreeing = np.flatnonzero((outcome == bool(label)) & heavy)
            self._rank[label, agreeing[np.argsort(-share[agreeing], kind="stable")]] = np.arange(len(agreeing))

    def words(self, fired: sparse.csr_array, is_match: np.ndarray, words: np.ndarray) -> np.ndarray:
        """The pairs' reasons: the first rules that agree; `words` where none does."""
        pair = np.repeat(np.arange(fired.shape[0]), np.diff(fired.indptr))
        rank = self._rank[is_match[pair].astype(int), fired.indices]
        agreeing = rank < self.rules
        pair, rule, rank = pair[agreeing], fired.indices[agreeing], rank[agreeing]
        order = np.argsort(pair * (self.rules + 1) + rank, kind="stable")
        pair, rule = pair[order], rule[order]
        first = np.searchsorted(pair, np.arange(fired.shape[0]))
        found = words.copy()
        for place in range(REASONS):
            at = first + place
            there = at < len(pair)
            there[there] = pair[at[there]] == np.flatnonzero(there)
            texts = self._texts[rule[at[there]]]
            found[there] = texts if place == 0 else found[there] + "; " + texts
        return found
