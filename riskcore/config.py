"""All settings, as frozen dataclasses split by concern. Each field carries its why.

A config goes to the code it concerns and to nothing else: rule search never sees a matcher's
learning rate. `to_json` / `from_json` round-trip; unknown or out-of-range values are refused by name.
"""

from __future__ import annotations

import dataclasses
import json
import numbers
from typing import Any, Self

from riskcore.errors import ConfigError
from riskcore.registry import METHODS


def setting(default: Any, why: str, low: float | None = None, high: float | None = None) -> Any:
    """A config field with its reason and, for numbers, the closed range it must lie in."""
    return dataclasses.field(default=default, metadata={"why": why, "low": low, "high": high})


@dataclasses.dataclass(frozen=True)
class Config:
    """Base of all configs: range checks on creation, JSON both ways."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, low, high = getattr(self, field.name), field.metadata.get("low"), field.metadata.get("high")
            wanted = _wanted(field, value)
            if wanted:
                raise ConfigError(f"{type(self).__name__}.{field.name} must be {wanted}, not {value!r}.")
            if value is None or isinstance(value, bool) or (low is None and high is None):
                continue
            if not (low is None or value >= low) or not (high is None or value <= high):
                raise ConfigError(
                    f"{type(self).__name__}.{field.name} is {value}; it must lie between "
                    f"{'-inf' if low is None else low} and {'inf' if high is None else high}."
                )

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        known = {field.name: field for field in dataclasses.fields(cls)}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ConfigError(f"{cls.__name__} has no setting named {', '.join(unknown)}. Known: {', '.join(known)}.")
        return cls(**{name: _like(known[name].default, value) for name, value in values.items()})

    @classmethod
    def from_json(cls, text: str) -> Self:
        return cls.from_dict(json.loads(text))


def _wanted(field: dataclasses.Field[Any], value: Any) -> str | None:
    """What a field's value must be, in words, if it is something else."""
    kind, optional = str(field.type).removesuffix(" | None"), str(field.type).endswith(" | None")
    if isinstance(field.default, Config):
        return None if isinstance(value, type(field.default)) else "a group of settings"
    words, types = _KINDS[kind]
    if value is None:
        return None if optional else words
    is_one = isinstance(value, types) and (kind == "bool" or not isinstance(value, bool))
    if kind.startswith("tuple"):
        is_one = is_one and all(isinstance(one, str) for one in value)
    return None if is_one else words


# What a field's annotation asks for.
_KINDS: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "int": ("a whole number", numbers.Integral),
    "float": ("a number", numbers.Real),
    "bool": ("true or false", bool),
    "str": ("text", str),
    "tuple[str, ...]": ("a list of texts", tuple),
}


def _like(default: Any, value: Any) -> Any:
    """JSON knows lists and objects only; fields that default to a tuple or a config get one back."""
    if isinstance(default, Config) and isinstance(value, dict):
        return type(default).from_dict(value)
    return tuple(value) if isinstance(default, tuple) and isinstance(value, list) else value


@dataclasses.dataclass(frozen=True)
class DataConfig(Config):
    """What is accepted as input, and what counts as missing."""

    missing_words: tuple[str, ...] = setting(
        ("null", "nan", "n/a", "n.a.", "#n/a", "<na>", "unknown", "unk."),
        "a whole cell reading one of these (any case, spaces around it ignored) is missing, as is an empty one; "
        "'NA' and 'None' stay text, being real names and country codes",
    )
    max_rows: int = setting(5_000_000, "a table or pair file larger than this does not fit in memory", 1)
    max_columns: int = setting(500, "more columns than this is a broken delimiter, not a schema", 2)
    max_cell_chars: int = setting(1_000_000, "a longer cell is a broken quote, not a value", 1)
    max_file_bytes: int = setting(4_000_000_000, "refuse what cannot be read in minutes", 1)
    examples_per_problem: int = setting(20, "rows named one by one for each kind of problem; the rest are counted", 1)
    type_sample: int = setting(2_000, "values looked at to infer an attribute's type: enough to be stable", 1)


@dataclasses.dataclass(frozen=True)
class MetricConfig(Config):
    """How record pairs become numbers."""

    chunk_pairs: int = setting(20_000, "pairs scored at a time: memory does not grow with the workload", 1)
    max_chars: int = setting(1_000, "characters of a value that edit-based metrics look at: their cost is quadratic", 8)
    max_tokens: int = setting(5_000, "words of a value that token metrics look at", 8)
    max_elements: int = setting(30, "elements of a set that are compared with each other: cost is quadratic", 1)
    element_match: float = setting(0.85, "similarity at which two set elements are each other's counterpart", 0, 1)
    candidate_records: int = setting(
        200, "competing candidates are searched through words that at most this many records have: cost stays linear", 1
    )
    workers: int = setting(1, "threads for the C++ scorers; the web server wants the other core", 1)
    differences: bool = setting(
        True, "metrics that say how unlike values are; off (an ablation), only similarities are left"
    )


@dataclasses.dataclass(frozen=True)
class RuleConfig(Config):
    """The one-sided rule search."""

    depth: int = setting(2, "conditions in a rule; 3 finds more rules than people read", 1, 4)
    min_support: int = setting(5, "pairs a rule must fire on: with fewer its purity means little", 1)
    match_impurity: float = setting(
        0.3,
        "Gini a match side must stay under: matches are rare, and the published 0.1 left targets without match rules",
        0,
        0.5,
    )
    non_match_impurity: float = setting(0.1, "Gini a non-match side must stay under to be a rule", 0, 0.5)
    class_weight: float = setting(1000.0, "weight of the class that must not end up on the wrong side of a cut", 1)
    merge_overlap: float = setting(
        0.95,
        "rules of a class that share this much of the pairs they fire on are one rule to a reader; 1 keeps all",
        0,
        1,
    )


@dataclasses.dataclass(frozen=True)
class RiskConfig(Config):
    """The risk model: its starting point, its bounds, its fit, its scoring and the baselines it is compared with."""

    confidence: float = setting(0.9, "worst outcomes of combined probability 1 - confidence are set aside", 0.5, 0.999)
    prior_weight: float = setting(0.1, "a rule's weight before any evidence: ten rules weigh as much as a matcher", 0)
    prior_rsd: float = setting(0.5, "relative standard deviation before any evidence: the middle of its bounds", 0, 1)
    lowest_rsd: float = setting(0.1, "no rule and no matcher is taken to be more certain than this", 1e-6, 1)
    highest_rsd: float = setting(
        0.9, "above this a rule carries no information, and a low weight expresses that better", 1e-6, 1
    )
    mean_floor: float = setting(
        0.1, "a mean below this counts as this in s = rsd * mean, so that no deviation is close to 0", 1e-6, 1
    )
    buckets: int = setting(50, "equal slices of the matcher's output, each with its own learned rsd", 1, 1000)
    prior_a: float = setting(1.0, "weight of the matcher at an output of 0.5; learned", 1e-3, 100)
    prior_c: float = setting(0.5, "width of the dip in the matcher's weight around 0.5; learned", 1e-2, 100)
    prior_scale: float = setting(1.0, "steepness of the ranking loss; learned", 1e-3, 100)
    steps: int = setting(200, "Adam steps: what plain gradient descent needs about 1000 epochs for", 0)
    rate: float = setting(0.01, "Adam's rate: 200 steps can carry a weight from 0.1 to about 2", 1e-6, 1)
    l1: float = setting(1e-3, "pull of weights towards exactly zero: fewer rules to read", 0)
    l2: float = setting(1e-3, "pull of large weights towards small ones: no rule decides alone", 0)
    pairs_per_step: int = setting(
        20_000, "pairs of a wrong and a right pair per step; all of them where they are fewer", 1
    )
    few_mispredicted: int = setting(
        10, "with fewer mispredicted validation pairs the fit reports that it has few examples", 1
    )
    pin_weight: float = setting(10.0, "weight of a pinned rule: above the matcher (1 to 2) and learned rules", 0)
    chunk_pairs: int = setting(25_000, "pairs scored at a time: temporary memory does not grow with the workload", 1)
    workers: int = setting(1, "threads that score chunks; a second one gains only on a machine with an idle core", 1)
    mute_sets_tried: int = setting(
        50_000, "sets of rules of one size tried to find the fewest to mute; then greedily", 1
    )
    trust_neighbours: int = setting(10, "nearest training pairs of a class that a trust score averages over", 1)
    bootstrap_samples: int = setting(
        1000, "resamples for a confidence interval: 25 lie outside each end of a 95 % interval", 20
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.lowest_rsd <= self.prior_rsd <= self.highest_rsd:
            raise ConfigError(
                f"RiskConfig.prior_rsd is {self.prior_rsd}; it must lie between lowest_rsd ({self.lowest_rsd}) "
                f"and highest_rsd ({self.highest_rsd})."
            )


@dataclasses.dataclass(frozen=True)
class MatcherConfig(Config):
    """Which matcher, and its shape."""

    kind: str = setting("hybrid", "the design the field compares with; `riskcore.registry.MATCHERS` lists all")
    wide: bool = setting(False, "let the head see the metrics too; off, the matcher is the published design")
    width: int = setting(
        64, "numbers per word and summary: enough to pass the published F1; time grows with its square", 4, 1024
    )
    head: int = setting(64, "numbers per layer of the highway head", 4, 4096)
    dropout: float | None = setting(
        None, "share of numbers hidden while training, against memorising; none is 0.3, ditto 0.1", 0, 0.9
    )
    word_dropout: float = setting(
        0.2, "share of a batch's words that lose their meaning or their spelling: neither is memorised", 0, 1
    )
    max_words: int = setting(80, "words of a value that are read: attention costs their square", 1, 2_000)
    threads: int = setting(1, "torch threads; beside a busy process two were up to ten times slower than one", 1, 256)
    folder: str | None = setting(None, "ditto: a local Hugging Face folder; none is the MiniLM that is installed")
    max_tokens: int = setting(
        64, "ditto: subwords of a pair that are read; time is proportional to it, or worse", 8, 512
    )
    frozen_layers: int = setting(
        2, "ditto: lower layers left as they are and computed once: a third faster, and less able to adapt", 0, 48
    )
    summarise: bool = setting(True, "ditto: of long values keep the rarest words, as many as fit")
    augment: float = setting(0.0, "ditto: share of training pairs that are perturbed in a pass", 0, 1)
    scores: str | None = setting(None, "external: the file of pair ids and probabilities")


@dataclasses.dataclass(frozen=True)
class TuneConfig(Config):
    """How matchers are trained on labels."""

    epochs: int = setting(20, "passes over the labelled pairs; the best by validation F1 is kept", 0, 10_000)
    batch_size: int | None = setting(
        None, "pairs per step; none is up to 128 (ditto 16), fewer where pairs are few", 1, 65_536
    )
    rate: float | None = setting(None, "Adam's rate in the first epoch; none is the matcher's own", 1e-8, 1)
    final_rate: float = setting(0.1, "share of the rate left in the last epoch: late epochs converge", 0, 1)
    match_weight: float = setting(
        1.0,
        "weight of a match in the loss, of a non-match 1; 2 and 3 changed F1 by less than the choice of seed",
        0.01,
        1_000,
    )
    smoothing: float = setting(0.05, "label smoothing: a label counts as 1 minus this", 0, 0.4)


@dataclasses.dataclass(frozen=True)
class AdaptConfig(Config):
    """Adaptive training on the unlabelled target, and the methods it is compared with."""

    iterations: int = setting(10, "each predicts, refits the risk model and makes one pass over the target", 0, 1_000)
    rate: float | None = setting(None, "Adam's rate of the risk phase; none is the matcher's own", 1e-8, 1)
    folds: int = setting(
        2,
        "validation pairs join risk's pass without their labels, their risk from models of other folds; "
        "0 leaves them out, as the paper does, and selection may not see what the pass did",
        0,
    )
    use_rules: bool = setting(True, "risk: off, risk follows from the matcher's output alone; shows what rules add")
    refit: bool = setting(True, "risk: off, the first iteration's risk model is kept; shows what refitting adds")
    confident: float = setting(0.9, "self-training: probability from which the matcher's own label is believed", 0.5, 1)
    var_momentum: float = setting(
        0.5,
        "risk: share of the last pass's VaR in the next one's; without it, refitting makes the matcher oscillate",
        0,
        1,
    )
    stacking_iterations: int = setting(4, "risk+: passes of the matcher towards the stacker's probabilities", 0, 1_000)
    source_prior_pairs: float = setting(20.0, "risk+: a rule's mean on the source counts as this many pairs", 0)
    stacking_folds: int = setting(5, "risk+: folds for the out-of-fold predictions of base learners and stacker", 2)
    fine_tuning_folds: int = setting(
        2, "risk+: folds for those of the fine-tuned matcher; each costs as many passes as `iterations`", 2
    )
    few_validation_pairs: int = setting(
        1_000,
        "risk+: with fewer validation pairs than this, the matcher too is fine-tuned in `stacking_folds`",
        0,
    )
    base_learner_trees: int = setting(
        100, "risk+: trees of a base learner's forest: the stacker averages several and needs no finer probabilities", 1
    )
    near_similarity: float = setting(
        0.5,
        "risk: domain similarity from which a target is near its source; of two data sets it is close to 0",
        0,
        1,
    )
    good_f1: float = setting(
        0.9, "risk: near its source, a matcher with this validation F1 is more likely to get worse than better", 0, 1
    )
    chance_mistakes: int = setting(
        1, "risk: such a matcher is left only for one that makes more than this many validation mistakes fewer", 0
    )
    forest_trees: int = setting(300, "forest: trees, three times scikit-learn's default: a strong baseline", 1)


@dataclasses.dataclass(frozen=True)
class SimilarityConfig(Config):
    """Domain similarity: how well a forest tells the source's pairs from the target's."""

    pairs: int = setting(2_000, "pairs drawn from either side: enough for a stable AUC", 1)
    trees: int = setting(100, "trees of the domain classifier: each pair is out-of-bag in about a third of them", 1)
    leaf: int = setting(5, "pairs in a leaf: smaller leaves fit single pairs and blur the AUC", 1)


@dataclasses.dataclass(frozen=True)
class StackConfig(Config):
    """The base learners of risk+ and its stacker. Penalties are in units of labels.

    `far` is the value at domain similarity 0, `near` the one at similarity 1; between them it is interpolated. They
    were chosen on validation sizes of 100 and of thousands alike.
    """

    source_share: float = setting(
        0.95, "prior weight of the forest trained on the source, at domain similarity 1", 0, 1
    )
    loss_weight_far: float = setting(0.05, "how much of its validation loss lowers a base learner's prior weight", 0)
    loss_weight_near: float = setting(1.0, "the same near the source; 1 is what Bayes' rule would take", 0)
    offset_penalty_far: float = setting(0.3, "pulls the threshold to one half; low: it is calibrated on validation", 0)
    offset_penalty_near: float = setting(30.0, "the same near the source: the threshold learned there still holds", 0)
    scale_penalty_far: float = setting(5.0, "pulls the scale of the combined log-odds to 1", 0)
    scale_penalty_near: float = setting(55.0, "the same near the source", 0)
    weight_penalty: float = setting(
        100.0, "pulls each weight to its prior one: a hundred labels hold too few matches to choose by", 1e-9
    )
    few_labels: float = setting(
        50.0, "near the source, that penalty is doubled at this many labels of the rarer class, and more with fewer", 0
    )
    steps: int = setting(50, "Newton steps at most; it stops as soon as it has converged", 1)
    longest_step: float = setting(2.0, "a first step on very confident base learners would otherwise overshoot", 1e-3)
    probability_floor: float = setting(
        1e-3,
        "no base learner's probability counts as closer to 0 or 1: one confident mistake must not decide",
        1e-9,
        0.49,
    )
    linear_c: float = setting(
        0.1, "C of the linear model: metrics are correlated, and a strongly regularised fit transfers better", 1e-9
    )
    metric_clip: float = setting(
        5.0, "standard deviations at which the linear model clips a metric: one extreme gap must not decide", 1e-3
    )
    source_forest_factor: int = setting(
        3, "times `base_learner_trees`, for the source forest: with 100 it is the method `forest`, tree for tree", 1
    )


@dataclasses.dataclass(frozen=True)
class TransferConfig(Config):
    """The domain classifier of `transfer`."""

    strength: float = setting(0.1, "weight of the reversed gradient at the end of training", 0)
    rise: float = setting(10.0, "how fast the weight rises from 0, as in domain-adversarial training", 0)
    width: int = setting(32, "hidden numbers of the domain classifier", 1)
    rate: float = setting(1e-3, "Adam's rate of the domain classifier", 1e-8, 1)


# Settings that version 0.1 called otherwise, by dotted name. A setting that is renamed belongs here, so that stored
# runs stay readable; nothing else in the code knows the old names.
RENAMED_0_1 = {
    "metric.rival_records": "metric.candidate_records",
    "rule.unmatch_impurity": "rule.non_match_impurity",
    "adapt.hear_rules": "adapt.use_rules",
    "adapt.memory": "adapt.var_momentum",
    "adapt.beyond_iterations": "adapt.stacking_iterations",
    "adapt.source_worth": "adapt.source_prior_pairs",
    "adapt.witness_folds": "adapt.stacking_folds",
    "adapt.taught_folds": "adapt.fine_tuning_folds",
    "adapt.few_pairs": "adapt.few_validation_pairs",
    "adapt.witness_trees": "adapt.base_learner_trees",
}


@dataclasses.dataclass(frozen=True)
class RunConfig(Config):
    """One run: which data, which methods, and the settings of every part."""

    source: str = setting("", "folder or pair file that rules and the matcher are trained on")
    target: str | None = setting(None, "folder or pair file to adapt to; none means the source's own test part")
    attribute_map: tuple[str, ...] = setting((), "SOURCE=TARGET for attributes that are called differently")
    types: tuple[str, ...] = setting((), "ATTRIBUTE=TYPE where the inferred type is wrong")
    split: str | None = setting(None, "re-split by this ratio, such as 2:2:6; none keeps the given parts")
    train_fraction: float = setting(1.0, "share of the training pairs to use", 0, 1)
    validation_size: int | None = setting(None, "validation pairs to use; none means all of them", 0)
    methods: tuple[str, ...] = setting(
        ("tradition", "risk", "risk+", "supervised", "forest"),
        "what is run; tradition always is, the others start from it",
    )
    seed: int = setting(0, "every random choice follows from it", 0)
    data: DataConfig = setting(DataConfig(), "reading")
    metric: MetricConfig = setting(MetricConfig(), "metrics")
    rule: RuleConfig = setting(RuleConfig(), "rules")
    risk: RiskConfig = setting(RiskConfig(), "risk model")
    matcher: MatcherConfig = setting(MatcherConfig(), "matcher")
    tune: TuneConfig = setting(TuneConfig(), "training on labels")
    adapt: AdaptConfig = setting(AdaptConfig(), "adaptive training")
    similarity: SimilarityConfig = setting(SimilarityConfig(), "domain similarity")
    stack: StackConfig = setting(StackConfig(), "base learners and stacker of risk+")
    transfer: TransferConfig = setting(TransferConfig(), "domain classifier of transfer")

    def __post_init__(self) -> None:
        super().__post_init__()
        for method in self.methods:
            _ = METHODS[method]  # refuses an unknown name

    @classmethod
    def from_stored(cls, stored: str | dict[str, Any]) -> Self:
        """The settings of a stored run, as JSON or as a dict: of this version, or of 0.1 with its own names.

        Every reader of stored runs goes through here. Settings that 0.1 did not have get their defaults, which are
        the constants of its code. Settings from a person (a file, an option) go through `from_json`, which refuses
        old names like any other unknown name.
        """
        return cls.from_dict(_renamed(json.loads(stored) if isinstance(stored, str) else stored))


def _renamed(stored: dict[str, Any]) -> dict[str, Any]:
    """The same settings, one or two levels deep, with names of 0.1 replaced by today's."""
    found = {name: dict(value) if isinstance(value, dict) else value for name, value in stored.items()}
    for old, new in RENAMED_0_1.items():
        (group, old_name), (_, new_name) = old.split("."), new.split(".")
        settings = found.get(group)
        if isinstance(settings, dict) and old_name in settings:
            settings.setdefault(new_name, settings.pop(old_name))
    return found
