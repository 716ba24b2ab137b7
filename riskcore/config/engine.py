"""Settings of what a run is made from: reading, metrics, rules, the risk model, the matcher."""

from __future__ import annotations

import dataclasses

from riskcore.config.base import Config, setting
from riskcore.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class DataConfig(Config):
    """What is accepted as input, and what counts as missing."""

    missing_words: tuple[str, ...] = setting(
        ("null", "nan", "n/a", "n.a.", "#n/a", "<na>", "unknown", "unk."),
        "a whole cell reading one of these (any case, spaces around it ignored) is missing, as is an empty one; "
        "'NA' and 'None' stay text, since they are real names and country codes",
    )
    leave_out: tuple[str, ...] = setting(
        (), "attributes that are not read, such as one that holds the entity's identity and with it the answer"
    )
    max_rows: int = setting(5_000_000, "a table or pair file larger than this does not fit in memory", 1)
    max_columns: int = setting(500, "more columns than this mean a wrong delimiter, not a real schema", 2)
    max_cell_chars: int = setting(1_000_000, "a longer cell comes from an unclosed quote, not from a real value", 1)
    max_file_bytes: int = setting(4_000_000_000, "larger files cannot be read within minutes", 1)
    max_decoded_bytes: int = setting(
        600_000_000,
        "what a file may take in memory beyond its own size: a few bytes of parquet or xlsx can stand for gigabytes",
        1,
    )
    examples_per_problem: int = setting(20, "rows listed for each kind of problem; the rest are only counted", 1)
    type_sample: int = setting(2_000, "values sampled to infer an attribute's type: enough for a stable result", 1)


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
    workers: int = setting(1, "threads for the C++ scorers; the web server needs the other core", 1)
    differences: bool = setting(True, "metrics of how unlike values are; off (an ablation), only similarities are left")


@dataclasses.dataclass(frozen=True)
class RuleConfig(Config):
    """The one-sided rule search."""

    depth: int = setting(2, "conditions in a rule; 3 finds more rules than people read", 1, 4)
    min_support: int = setting(5, "pairs a rule must fire on: with fewer, its purity means little", 1)
    match_impurity: float = setting(
        0.3,
        "Gini that a match side must stay below: matches are rare, and the published 0.1 left targets without match "
        "rules",
        0,
        0.5,
    )
    non_match_impurity: float = setting(0.1, "Gini that a non-match side must stay below to be a rule", 0, 0.5)
    simplify: bool = setting(
        True, "drop conditions that a rule is as good without, and rules that are pure on a few pairs by chance"
    )
    bound_z: float = setting(
        1.0, "standard deviations of the lower bound that rules are judged by: 1 counts 8 of 8 as 89 %", 0, 5
    )
    class_weight: float = setting(1000.0, "weight of the class that must not end up on the wrong side of a cut", 1)
    same_overlap: float = setting(
        0.95, "rules of a class that share this much of the pairs they fire on are one rule, found twice", 0, 1
    )
    merge_overlap: float = setting(
        0.9, "rules that share this much are merged into one that counts as much as they did: fewer to read", 0, 1
    )
    muted: tuple[str, ...] = setting((), "rules, by their exact text, that do not count: a person muted them")
    pinned: tuple[str, ...] = setting((), "rules, by their exact text, that count most: a person vouches for them")

    def __post_init__(self) -> None:
        super().__post_init__()
        both = sorted(set(self.muted) & set(self.pinned))
        if both:
            raise ConfigError(f"RuleConfig: a rule is either muted or pinned, not both: {'; '.join(both)}.")


@dataclasses.dataclass(frozen=True)
class RiskConfig(Config):
    """The risk model: its starting point, its bounds, its fit, its scoring and the baselines it is compared with."""

    confidence: float = setting(
        0.9, "the worst outcomes, with a total probability of 1 - confidence, are set aside", 0.5, 0.999
    )
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
    rate: float = setting(0.01, "Adam's learning rate: 200 steps can move a weight from 0.1 to about 2", 1e-6, 1)
    l1: float = setting(1e-3, "L1 penalty, which sets weights to exactly zero: fewer rules to read", 0)
    l2: float = setting(1e-3, "L2 penalty, which shrinks large weights: no rule decides alone", 0)
    pairs_per_step: int = setting(
        20_000, "comparisons of a wrong with a right pair per step; all of them if there are fewer", 1
    )
    few_mispredicted: int = setting(
        10, "with fewer mispredicted validation pairs the fit reports that it has few examples", 1
    )
    pin_weight: float = setting(10.0, "weight of a pinned rule: above the matcher (1 to 2) and learned rules", 0)
    chunk_pairs: int = setting(25_000, "pairs scored at a time: temporary memory does not grow with the workload", 1)
    workers: int = setting(1, "threads that score chunks; a second one helps only on a machine with an idle core", 1)
    mute_sets_tried: int = setting(
        50_000, "sets of rules of one size tried to find the fewest to mute; beyond that, the search is greedy", 1
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

    kind: str = setting(
        "hybrid", "the design that the literature compares with; `riskcore.registry.MATCHERS` lists all"
    )
    wide: bool = setting(False, "give the metrics to the head too; off, the matcher is the published design")
    width: int = setting(
        64, "size of word and summary vectors: enough to pass the published F1; time grows with its square", 4, 1024
    )
    head: int = setting(64, "units per layer of the highway head", 4, 4096)
    dropout: float | None = setting(
        None, "dropout rate, against overfitting; none means 0.3, and 0.1 for ditto", 0, 0.9
    )
    word_dropout: float = setting(
        0.2,
        "share of a batch's words that lose one half of their vector, meaning or spelling: neither is memorised",
        0,
        1,
    )
    max_words: int = setting(80, "words read of each value: the cost of attention grows with their square", 1, 2_000)
    threads: int = setting(1, "torch threads; next to a busy process, two were up to ten times slower than one", 1, 256)
    folder: str | None = setting(None, "ditto: a local Hugging Face folder; none means the installed MiniLM")
    max_tokens: int = setting(
        64, "ditto: subwords read of each pair, half of them of either record; time grows in proportion", 8, 512
    )
    frozen_layers: int | None = setting(
        None,
        "ditto: lower layers that are frozen and read each record once; none means two thirds of all: three times as "
        "fast as with none, and no worse",
        0,
        48,
    )
    half: bool | None = setting(
        None,
        "ditto: whether matrix products use bfloat16; none means where the processor has instructions for it, which "
        "makes training and prediction two to three times as fast",
    )
    summarise: bool = setting(True, "ditto: shorten long values to their rarest words, as many as fit")
    augment: float = setting(0.0, "ditto: share of training pairs of which a part is hidden in each pass", 0, 1)
    scores: str | None = setting(None, "external: the file of ids and probabilities")
    score_columns: str | None = setting(
        None, "external: its columns, such as left=id_a,right=id_b,probability=p,missing=0; none detects them"
    )
