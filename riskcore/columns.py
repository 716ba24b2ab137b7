"""The names of all columns that runs write or hand out. Files, queries, screens and tests take them from here."""

from __future__ import annotations

from collections.abc import Iterable

ROW, PAIR_ID = "row", "pair_id"
LEFT, RIGHT = "left_", "right_"  # before an attribute's name

MODEL_COLUMNS = (
    "probability",  # the matcher's
    "label",  # 1 match, 0 non-match
    "mu",
    "sigma",
    "var_match",
    "var_non_match",
    "risk",
)
FLIP_COLUMNS = (
    "flipped",  # bool: another label than in iteration 0, on screens and in exports alike
    "from_label",  # the label in the iteration before
    "flips",  # how often the label was another than in the iteration before, so far
)
SCORE_COLUMNS = (ROW, PAIR_ID, *MODEL_COLUMNS, *FLIP_COLUMNS)  # a row is a place among the target pairs, from 0
HISTORY_COLUMNS = ("iteration", *MODEL_COLUMNS, *FLIP_COLUMNS)
FIRED_COLUMNS = (ROW, "rule")  # a rule is its place in rules.json
TRUTH_COLUMNS = (ROW, "label")  # -1 where unknown
TRUTH, WRONG, VERDICT = "truth", "wrong", "verdict"  # beside the scores, where they are known

SUMMARY_COLUMNS = (
    "method",
    "iteration",
    "f1",
    "precision",
    "recall",
    "validation_f1",
    "flips",  # against the iteration before
    "fixed",  # against iteration 0: wrong there, right here
    "broken",  # right there, wrong here
    "tp_flipped",  # of the broken: true matches that were right
    "tn_flipped",  # of the broken: true non-matches that were right
    "mean_risk",
    "match_rate",
    "disagreement",
    "mispredicted",
    "auroc_risk",
    "auroc_confidence",
    "labels_used",  # by the risk model of the iteration: source, and validation where the fit learned from it
    "seconds",
)
RULE_COLUMNS = (
    "rule",
    "text",
    "outcome",
    "source_support",
    "source_purity",
    "validation_fired",
    "validation_purity",  # None where no validation pair meets the rule
    "target_fired",
    "target_purity",  # None without truth
    "conflicts",  # fired target pairs whose label is not the rule's
    "weight",
    "rsd",
    "mean",
)

SORT_COLUMNS = ("risk", "probability", "mu", "sigma", "var_match", "var_non_match", "flips", ROW, PAIR_ID)


def pair_columns(attributes: Iterable[str]) -> tuple[str, ...]:
    """Columns of pairs.parquet: the place, the id, and both values of every attribute."""
    names = list(attributes)
    return (ROW, PAIR_ID, *(LEFT + name for name in names), *(RIGHT + name for name in names))
