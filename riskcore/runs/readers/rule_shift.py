"""How far muting and pinning rules moves the evidence on each pair.

The rules are one of the learners whose log-odds the stacker adds up. With a rule muted or pinned, that learner says
something else of the pairs on which the rule fires, and the stacked log-odds move by its weight times the difference.
What competing candidates would change in turn is not followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from scipy import sparse

from riskcore.columns import ROW
from riskcore.config import RunConfig
from riskcore.errors import StorageError
from riskcore.risk import RiskModel
from riskcore.risk.log_odds import log_odds
from riskcore.runs.bundle.contents import MethodFacts, read_facts
from riskcore.runs.evidence_files import read_fired
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.label_rankings import START, read_columns
from riskcore.storage.parquet import load_columns
from riskcore.training.results import STACKED

_KINDS = ("rules", "target rules")  # learners that rules speak through


def why_rules_do_not_count(folder: RunFolder, method: str) -> str | None:
    """Why muting and pinning cannot change a method's queue, in a sentence; None where they can."""
    facts = read_facts(folder.bundle)
    if facts is None or method not in facts["methods"]:
        return (
            "The run has no bundle, which says how its rules count: it is the packed example, or an older version "
            "recorded it. Run again."
        )
    of_method = facts["methods"][method]
    by_rules = of_method["stacked"] or of_method["ranked_by"] == STACKED  # a stacked answer's confidence has them too
    if of_method["ranking"] is None or not by_rules:
        return "This queue is ranked by the confidence of the matcher alone, in which rules do not count."
    return None


def rule_shift(folder: RunFolder, method: str, muted: Sequence[str], pinned: Sequence[str]) -> np.ndarray:
    """By how much the log-odds of a match change, in the scale of the method's risk, for every target pair."""
    why, facts = why_rules_do_not_count(folder, method), read_facts(folder.bundle)
    if why is not None or facts is None:
        raise StorageError(f"Rules cannot change the queue of {method!r} in run {folder.path.name}. {why}")
    of_method, start = facts["methods"][method], read_columns(folder.final_file)[START]
    weights = (of_method["ranking"] or {})["stacker_weights"]
    shift, rules = np.zeros(len(start)), folder.rules()
    keys = [rule.key for rule in rules.rules]
    decided = [keys.index(key) for key in (*muted, *pinned) if key in keys]
    rows = _rows_of(folder, decided)
    if not len(rows):
        return shift
    config = RunConfig.from_stored(facts["config"])
    fired = read_fired(folder, len(start), len(keys), rows)
    for place, learner in enumerate(facts["learners"] or []):
        if learner["kind"] not in _KINDS:
            continue
        model = RiskModel.from_json(learner["model"])
        known = set(model.rules)
        columns = [keys.index(key) if key in keys else -1 for key in model.rules]
        own = _columns(fired, columns, rules.from_validation if learner["kind"] == "rules" else None)
        changed = model.with_rules(
            muted=sorted(known & set(muted)), pinned=sorted(known & set(pinned)), config=config.risk
        )
        before, after = (one.score(start[rows], own, config=config.risk).mu for one in (model, changed))
        floor = config.stack.probability_floor
        shift[rows] += weights[place + 1] * (log_odds(after, floor) - log_odds(before, floor))
    return shift * _scale(of_method)


def _scale(of_method: MethodFacts) -> float:
    """What the stacked log-odds are multiplied by on their way to the risk."""
    ranking: dict[str, Any] = of_method["ranking"] or {}
    competition = ranking["competition"]
    return float(ranking["scale"]) * (1.0 if competition is None else float(competition[1]))


def _rows_of(folder: RunFolder, rules: Sequence[int]) -> np.ndarray:
    """Target pairs on which one of these rules fires, in rising order."""
    fired = load_columns(folder.fired_file, filters=pc.field("rule").isin(list(rules)), columns=[ROW])
    rows: np.ndarray = np.unique(fired.column(ROW).to_numpy())
    return rows


def _columns(fired: sparse.csr_array, columns: Sequence[int], without: np.ndarray | None) -> sparse.csr_array:
    """The firing matrix with the columns of a model; those of unknown rules, and of `without`, are empty."""
    there = np.array([at >= 0 and not (without is not None and without[at]) for at in columns], dtype=np.float64)
    picked = fired[:, np.maximum(columns, 0)].astype(np.float64) @ sparse.diags_array(there)
    found = sparse.csr_array(picked)
    found.eliminate_zeros()
    return found.astype(bool)
