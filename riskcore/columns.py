"""The names of all columns that runs write or return. Files, queries, screens and tests take them from here."""

from __future__ import annotations

from collections.abc import Iterable

ROW, PAIR_ID = "row", "pair_id"
LEFT, RIGHT = "left_", "right_"  # before an attribute's name
LEFT_ID, RIGHT_ID = "ltable_id", "rtable_id"  # ids of a pair's two records
LEFT_ROW, RIGHT_ROW = "left_row", "right_row"  # their places in the tables

MODEL_COLUMNS = (
    "probability",  # the matcher's
    "label",  # 1 match, 0 non-match
    "mu",
    "sigma",
    "var_match",
    "var_non_match",
    "risk",  # probability that the label is wrong, by all the evidence; up to format 2, its Value at Risk
)
FLIP_COLUMNS = (
    "flipped",  # bool: another label than the matcher's as trained on the source, on screens and in exports alike
    "from_label",  # the label in the iteration before
    "flips",  # how often the label was another than in the iteration before, so far
)
SCORE_COLUMNS = (ROW, PAIR_ID, *MODEL_COLUMNS, *FLIP_COLUMNS)  # a row is a place among the target pairs, from 0
HISTORY_COLUMNS = ("iteration", *MODEL_COLUMNS, *FLIP_COLUMNS)
FIRED_COLUMNS = (ROW, "rule")  # a rule is its place in rules.json
TRUTH_COLUMNS = (ROW, "label")  # -1 where unknown
PART = "part"  # of the target: target, validation, training (without a source) or unseen pairs
OTHER_COLUMNS = (PART, PAIR_ID, LEFT_ID, RIGHT_ID, "label", "rules")  # a label of validation pairs; rules that fire
OTHER_PROBABILITY = "probability_"  # before a method's name, in the same file
SIDE, RECORD_ID = "side", "record_id"
VALUE = "value_"  # before an attribute's name, where a record stands alone
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
    "auroc_learnrisk",  # of the risk model's Value at Risk
    "labels_used",  # by the risk model of the iteration: source, and validation where the fit learned from it
    "seconds",
)
RULE_COLUMNS = (
    "rule",
    "text",
    "outcome",
    "learned_from",  # source, or validation: the rule looks at an attribute that only the target has
    "source_support",  # missing where the source has no such attribute
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
GAIN, RANDOM = "gain", "random"  # orders that are no columns: expected gain of a verdict, and blind random


def pair_columns(attributes: Iterable[str]) -> tuple[str, ...]:
    """Columns of pairs.parquet: the place, the ids of pair and records, and both values of every attribute."""
    names = list(attributes)
    return (ROW, PAIR_ID, LEFT_ID, RIGHT_ID, *(LEFT + name for name in names), *(RIGHT + name for name in names))


# What `import riskcore` hands out beside the frames above; docs/api.md lists them with their meaning.

PUBLIC_SCORE_COLUMNS = tuple(name for name in SCORE_COLUMNS if name != ROW)
LABEL_COLUMNS = (PAIR_ID, LEFT_ID, RIGHT_ID, "probability", "label", "risk", "flipped")
DECISION_COLUMNS = (
    PAIR_ID,
    LEFT_ID,
    RIGHT_ID,
    PART,
    "decision",  # match or non-match
    "decided_by",  # verdict, label given, model or constraint
    "probability",  # the method's; missing where it has none, or was taught by the pair's own label
    "risk",  # that the method's label is wrong; of target pairs
    "flipped",  # the method's label is another than that of the matcher as trained on the source
    VERDICT,  # the current one, also where it is unsure and the model decides
    "method",
    "iteration",  # the kept one
    "reasons",  # in words
)
APPLIED_COLUMNS = (
    PAIR_ID,
    LEFT_ID,
    RIGHT_ID,
    "decision",  # match or non-match, from a probability of 0.5 on
    "probability",
    "risk",  # that the decision is wrong
    "method",
    "iteration",  # the kept one; missing where the method has none
    "reasons",  # in words
)  # of new pairs; then `left_` and `right_` of every attribute
ENTITY_ID = "entity_id"
ENTITY_COLUMNS = (ENTITY_ID, SIDE, RECORD_ID, "records")  # a row per record; `records` is the size of its entity
MERGED_COLUMNS = (ENTITY_ID, "records", "sources")  # a row per entity; then a column per attribute
LEFT_ENTITY, RIGHT_ENTITY = "ltable_entity", "rtable_entity"  # beside decisions: the entities of both records
COMPARE_COLUMNS = (
    "method",
    "f1",  # a fraction, as precision and recall are; NaN without truth
    "precision",
    "recall",
    "f1_low",  # 95 % confidence interval of F1
    "f1_high",
    "changed",  # labels other than tradition's
    "fixed",
    "broken",
    "p_value",  # of fixed against broken: the exact McNemar test
    "kept_iteration",  # None where the method has no iterations
    "labels_used",
    "lacked",  # what the method could not do for lack of labels
)
RECORD_COLUMNS = ("attribute", "left", "right")
BALANCE_COLUMNS = (
    "subject",  # an attribute, the whole record, other candidates, or before comparing
    "voice",  # who says it: the matcher, a forest, the rules, ...
    "contribution",  # in log-odds, above 0 towards a match; they add up to the combined log-odds
)
REASON_COLUMNS = (
    "reason",  # a rule in words, or "the matcher"
    "weight",
    "mean",  # match rate of the training pairs that meet the rule; the matcher's probability
    "mu_share",
    "variance_share",
    "risk_without",
    "drop",  # how far the risk falls without this rule
)
RANK_COLUMNS = (PAIR_ID, LEFT_ID, RIGHT_ID, "probability", "label", "risk", "confidence", "reasons")
