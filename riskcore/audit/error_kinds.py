"""Errors by kind: groups of target pairs, named by conditions on their metrics, in which wrong labels gather.

A queue by risk shows one pair after the other; many of its pairs are wrong for one reason. A group says that reason
once ("the titles are the same, the venues differ") and counts what it covers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from riskcore.audit.splitting import grow
from riskcore.columns import PAIR_ID
from riskcore.metrics.kinds import KINDS, Metric
from riskcore.metrics.values import MetricMatrix
from riskcore.rules.rule import Condition, Rule
from riskcore.rules.sentences import condition_sentence
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_scores
from riskcore.runs.readers.queries import rows_of_kind
from riskcore.storage.parquet import row_groups

FLAGGED_RISK = 0.5  # from here on a label is more likely wrong than right
DEPTH, LEAVES = 3, 8  # a name of more conditions is no name, and a longer list is not read
LEAST, LEAST_SHARE = 5, 0.01  # pairs of a group: so many, and this share of the flagged pairs
MOST_FLAGGED, MOST_OTHERS = 50_000, 20_000  # pairs that the groups are found on
_OF_VERDICT = {"match": 1, "non-match": 0}


@dataclasses.dataclass(frozen=True)
class ErrorKind:
    """One group: the conditions that its pairs meet, and what is known of its labels."""

    conditions: tuple[Condition, ...]
    pairs: int
    flagged: int  # risk of `flagged_risk` or more, or judged wrong
    expected: float  # wrong labels to expect: the sum of the risks
    judged: int  # pairs with a verdict, also an unsure one
    wrong: int  # pairs whose verdict differs from the label
    label: int  # that most of the pairs have
    flagged_label: int  # that most of the flagged pairs have

    @property
    def sentence(self) -> str:
        """The conditions for people."""
        return ", ".join(condition_sentence(condition) for condition in self.conditions)

    @property
    def text(self) -> str:
        """The conditions exactly; `Rule.parse(text + " -> match").conditions` gives them back."""
        return " and ".join(condition.text for condition in self.conditions)

    @property
    def name(self) -> str:
        """ "the titles are the same, the venues differ: 41 pairs, 12 judged, 11 wrong" """
        judged = f", {self.judged:,} judged, {self.wrong:,} wrong" if self.judged else ", none judged"
        return f"{self.sentence}: {self.pairs:,} {'pair' if self.pairs == 1 else 'pairs'}{judged}"


def error_kinds(
    folder: RunFolder,
    method: str,
    iteration: int | None,
    verdicts: Mapping[str, Any],
    flagged_risk: float = FLAGGED_RISK,
    seed: int = 0,
) -> list[ErrorKind]:
    """Groups of pairs in which flagged pairs are more frequent than among all pairs, found by a shallow tree on the
    metrics that separates them from the rest. Those with the most flagged pairs come first; no pair is in two groups.

    A pair is flagged if its risk is `flagged_risk` or more, or if its verdict differs from its label. `verdicts` gives
    a pair's id its verdict (a text, or something with a `verdict`). The tree is grown on all flagged pairs (on 50,000
    of them if there are more) and on 20,000 of the others, drawn with the seed; the counts are those of all pairs. A
    pair that lacks a metric meets no condition on it and may be in no group. Metrics of attributes alone are looked at:
    those of the whole record separate as well, but their names say nothing of what is wrong.
    """
    facts = _facts(folder, method, iteration, verdicts, flagged_risk)
    found = _measured(folder, facts, _groups(folder, facts.flagged, seed))
    usual = facts.flagged.mean() if found else 0.0
    return [one for one in found if one.flagged > usual * one.pairs]


def measure_kinds(
    folder: RunFolder,
    method: str,
    iteration: int | None,
    verdicts: Mapping[str, Any],
    kinds: Sequence[tuple[Condition, ...]],
    flagged_risk: float = FLAGGED_RISK,
) -> list[ErrorKind]:
    """Groups that were found before, all of them, counted again: with other verdicts, or in another iteration."""
    return _measured(folder, _facts(folder, method, iteration, verdicts, flagged_risk), kinds)


def count_flagged(
    folder: RunFolder,
    method: str,
    iteration: int | None,
    verdicts: Mapping[str, Any],
    flagged_risk: float = FLAGGED_RISK,
) -> int:
    """All flagged pairs, in a group or not."""
    return int(_facts(folder, method, iteration, verdicts, flagged_risk).flagged.sum())


@dataclasses.dataclass(frozen=True, eq=False)
class _Facts:
    """What is known of every target pair, in the order of rows."""

    label: np.ndarray
    risk: np.ndarray
    judged: np.ndarray
    wrong: np.ndarray
    flagged: np.ndarray


def _facts(
    folder: RunFolder, method: str, iteration: int | None, verdicts: Mapping[str, Any], flagged_risk: float
) -> _Facts:
    file = folder.scores_file(method, folder.iteration(method, iteration))
    scores = read_scores(file, ("label", "risk"))
    label, risk = scores["label"], np.nan_to_num(scores["risk"])
    judged, wrong = np.zeros(len(label), dtype=bool), np.zeros(len(label), dtype=bool)
    if verdicts:
        words = [str(getattr(one, "verdict", one)) for one in verdicts.values()]
        rows = pd.Index(read_scores(file, (PAIR_ID,))[PAIR_ID]).get_indexer(list(verdicts))
        there = rows >= 0
        decided = np.array([_OF_VERDICT.get(word, -1) for word in words])
        judged[rows[there]] = True
        wrong[rows[there]] = (decided[there] >= 0) & (decided[there] != label[rows[there]])
    return _Facts(label, risk, judged, wrong, (risk >= flagged_risk) | wrong)


def _groups(folder: RunFolder, flagged: np.ndarray, seed: int) -> list[tuple[Condition, ...]]:
    chance = np.random.default_rng(seed)
    parts = (np.flatnonzero(flagged), np.flatnonzero(~flagged))
    drawn = [
        rows if len(rows) <= most else np.sort(chance.choice(rows, most, replace=False))
        for rows, most in zip(parts, (MOST_FLAGGED, MOST_OTHERS), strict=True)
    ]
    rows = np.concatenate(drawn)
    least = max(LEAST, int(np.ceil(LEAST_SHARE * len(drawn[0]))))
    if len(drawn[0]) < LEAST or len(rows) < 2 * least:
        return []
    leaves = grow(_metrics(folder, rows), flagged[rows], DEPTH, LEAVES, least)
    return [Rule(conditions, "match").conditions for conditions in leaves]  # sorted, the tightest of each side


def _metrics(folder: RunFolder, rows: np.ndarray) -> MetricMatrix:
    """The metrics of these pairs, read column by column: those of all pairs may not fit into memory."""
    with row_groups(folder.metrics_file) as file:
        metrics = [Metric(*key.rpartition(".")[::2]) for key in file.schema_arrow.names]
        attributes = set(folder.attributes())
        known = [metric for metric in metrics if metric.kind in KINDS and metric.attribute in attributes]
        values = np.empty((len(rows), len(known)), dtype=np.float32)
        for place, metric in enumerate(known):
            values[:, place] = file.read(columns=[metric.key]).column(0).to_numpy()[rows]
    return MetricMatrix(values, tuple(known))


def _measured(folder: RunFolder, facts: _Facts, kinds: Sequence[tuple[Condition, ...]]) -> list[ErrorKind]:
    found = [_kind(facts, conditions, rows_of_kind(folder, conditions)) for conditions in kinds]
    return sorted(found, key=lambda one: (-one.flagged, one.pairs, one.text))


def _kind(facts: _Facts, conditions: tuple[Condition, ...], rows: np.ndarray) -> ErrorKind:
    label, flagged = facts.label[rows], facts.flagged[rows]
    return ErrorKind(
        conditions=conditions,
        pairs=len(rows),
        flagged=int(flagged.sum()),
        expected=float(facts.risk[rows].sum()),
        judged=int(facts.judged[rows].sum()),
        wrong=int(facts.wrong[rows].sum()),
        label=_mostly(label),
        flagged_label=_mostly(label[flagged]),
    )


def _mostly(label: np.ndarray) -> int:
    return int(2 * label.sum() > len(label))
