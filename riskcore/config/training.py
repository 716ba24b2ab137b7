"""Settings of training: on labels, adaptive, stacked, and the methods it is compared with."""

from __future__ import annotations

import dataclasses

from riskcore.config.base import Config, setting


@dataclasses.dataclass(frozen=True)
class TuneConfig(Config):
    """How matchers are trained on labels."""

    epochs: int = setting(
        20,
        "passes over the labelled pairs, at most (ditto stops earlier where it has seen enough); the best by "
        "validation F1 is kept",
        0,
        10_000,
    )
    batch_size: int | None = setting(
        None, "pairs per step; none means up to 128 (16 for ditto), and fewer if there are few pairs", 1, 65_536
    )
    rate: float | None = setting(None, "Adam's learning rate in the first epoch; none means the matcher's own", 1e-8, 1)
    final_rate: float = setting(
        0.1, "share of the learning rate left in the last epoch, so that training converges", 0, 1
    )
    match_weight: float = setting(
        1.0,
        "weight of a match in the loss (a non-match has 1); 2 and 3 changed F1 by less than the choice of seed",
        0.01,
        1_000,
    )
    smoothing: float = setting(0.05, "label smoothing: a label of 1 counts as 1 minus this", 0, 0.4)


@dataclasses.dataclass(frozen=True)
class AdaptConfig(Config):
    """Adaptive training on the unlabelled target, and the methods it is compared with."""

    iterations: int = setting(10, "each predicts, refits the risk model and makes one pass over the target", 0, 1_000)
    rate: float | None = setting(None, "Adam's learning rate in the risk phase; none means the matcher's own", 1e-8, 1)
    folds: int = setting(
        2,
        "risk: validation pairs take part in the passes without their labels, their risk coming from models of other "
        "folds; 0 leaves them out, as in the paper, and selection may then miss what a pass did",
        0,
    )
    use_rules: bool = setting(
        True, "risk: off (an ablation), risk follows from the matcher's output alone; shows what rules add"
    )
    refit: bool = setting(
        True, "risk: off (an ablation), the first iteration's risk model is kept; shows what refitting adds"
    )
    confident: float = setting(
        0.9, "self-training: the matcher's own label is used if its probability is at least this", 0.5, 1
    )
    var_momentum: float = setting(
        0.5,
        "risk: share of the previous pass's VaR in the next one's; without it, refitting makes the matcher oscillate",
        0,
        1,
    )
    stacking_iterations: int = setting(4, "risk+: passes of the matcher towards the stacker's probabilities", 0, 1_000)
    source_prior_pairs: float = setting(
        20.0, "risk+: a rule's mean on the source counts as much as this many validation pairs", 0
    )
    stacking_folds: int = setting(5, "risk+: folds for the out-of-fold predictions of base learners and stacker", 2)
    fine_tuning_folds: int = setting(
        2, "risk+: the same for the fine-tuned matcher, where each fold costs as many passes as `iterations`", 2
    )
    few_validation_pairs: int = setting(
        1_000,
        "risk+: with fewer validation pairs than this, the matcher is fine-tuned in `stacking_folds` folds too",
        0,
    )
    base_learner_trees: int = setting(
        100, "risk+: trees of a base learner's forest: the stacker averages several and needs no finer probabilities", 1
    )
    near_similarity: float = setting(
        0.5,
        "risk: domain similarity from which a target counts as near its source; between two data sets it is close to 0",
        0,
        1,
    )
    good_f1: float = setting(
        0.9, "risk: near its source, a matcher with this validation F1 is more likely to get worse than better", 0, 1
    )
    chance_mistakes: int = setting(
        1,
        "risk: such a matcher is replaced only by one that makes fewer validation mistakes by more than this number",
        0,
    )
    forest_trees: int = setting(
        300, "forest: number of trees, three times scikit-learn's default: a strong baseline", 1
    )
    target_sample: int | None = setting(
        None,
        "pairs to adapt on, drawn by risk, where the target has more than this; all are scored at the end; none means "
        "`large_sample` pairs of a target with more than `large_target`; 0 adapts to all",
        0,
    )
    large_target: int = setting(
        100_000, "pairs from which a target is adapted to on a sample, unless `target_sample` says otherwise", 1
    )
    large_sample: int = setting(
        10_000, "pairs of that sample: the passes over them take minutes, whatever the target has", 1
    )
    sample_floor: float = setting(
        0.5,
        "share of a sample that is spread evenly over all pairs, the rest by risk: easy pairs keep the matcher as it "
        "is where it is right",
        0.01,
        1,
    )
    states_mb: float = setting(
        200.0,
        "the matcher of every iteration is stored, to continue from, where those of a method take no more than this",
        0,
    )


@dataclasses.dataclass(frozen=True)
class SimilarityConfig(Config):
    """Domain similarity: how well a forest tells the source's pairs from the target's."""

    pairs: int = setting(2_000, "pairs sampled from each side: enough for a stable AUC", 1)
    trees: int = setting(
        100, "number of trees of the domain classifier: each pair is out-of-bag in about a third of them", 1
    )
    leaf: int = setting(5, "minimum number of pairs in a leaf: smaller leaves fit single pairs and blur the AUC", 1)


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
    loss_weight_near: float = setting(1.0, "the same near the source; 1 is what Bayes' rule gives", 0)
    offset_penalty_far: float = setting(
        0.3, "pulls the threshold towards one half; low, because it is calibrated on the validation pairs", 0
    )
    offset_penalty_near: float = setting(30.0, "the same near the source: the threshold learned there still holds", 0)
    scale_penalty_far: float = setting(5.0, "pulls the scale of the combined log-odds towards 1", 0)
    scale_penalty_near: float = setting(55.0, "the same near the source", 0)
    weight_penalty: float = setting(
        100.0,
        "pulls each weight towards its prior: a hundred labels contain too few matches to learn weights from",
        1e-9,
    )
    few_labels: float = setting(
        50.0,
        "near the source, `weight_penalty` is doubled at this many labels of the rarer class, and higher with fewer",
        0,
    )
    doubted_share: float = setting(
        0.03,
        "validation labels that every learner contradicts are left out if they are at least this share of few labels: "
        "of correct ones, at most one in a hundred was contradicted by all",
        0,
        1,
    )
    doubting_rounds: int = setting(
        3, "how often that is repeated: learners without some wrong labels contradict others", 0, 100
    )
    steps: int = setting(50, "maximum number of Newton steps; the fit stops as soon as it has converged", 1)
    longest_step: float = setting(
        2.0, "limit on a Newton step: with very confident base learners the first one would overshoot", 1e-3
    )
    probability_floor: float = setting(
        1e-3,
        "a base learner's probability counts as at least this far from 0 and 1: one confident mistake must not decide",
        1e-9,
        0.49,
    )
    linear_c: float = setting(
        0.1, "C of the linear model: metrics are correlated, and a strongly regularised fit transfers better", 1e-9
    )
    metric_clip: float = setting(
        5.0, "standard deviations at which the linear model clips a metric: one extreme value must not decide", 1e-3
    )
    source_forest_factor: int = setting(
        3,
        "the source forest has this many times `base_learner_trees`: with 100 it is the method `forest`, tree for tree",
        1,
    )


@dataclasses.dataclass(frozen=True)
class CompetitionConfig(Config):
    """Competing candidates in risk+: how other pairs of a record count against a pair. Penalties are in labels."""

    use: bool = setting(True, "let competing candidates count where that lowers the out-of-fold validation loss")
    clip: float = setting(
        4.0, "log-odds at which a competitor counts fully: beyond it, confidence varies more than correctness", 0.1
    )
    penalty: float = setting(10.0, "pulls both coefficients towards 0: with few labels, competitors count little", 0)
    offset_penalty: float = setting(
        1.0, "pulls the offset towards 0; low, because pairs without a competitor gain what others lose", 0
    )
    scale_penalty: float = setting(10.0, "pulls the scale of the stacked log-odds towards 1", 0)


@dataclasses.dataclass(frozen=True)
class RankConfig(Config):
    """The risk of labels by all the evidence, which orders the review queue. Penalties are in units of labels."""

    quantile: float = setting(0.9, "quantile of the evidence against a label: the Value at Risk", 0.5, 0.999)
    spread_share: float = setting(
        0.05, "how much of the inputs' disagreement counts as deviation: larger shares ranked errors worse", 0
    )
    errors_to_choose: int = setting(
        7, "wrong validation labels needed to choose confidence over stacked evidence: fewer choose by chance", 1
    )
    offset_penalty: float = setting(1.0, "pulls the offset of the calibration towards 0", 1e-9)
    scale_penalty: float = setting(5.0, "pulls the slope of the calibration towards 1", 1e-9)
    least_scale: float = setting(0.05, "the slope stays above this, so that calibration never reverses an order", 1e-6)


@dataclasses.dataclass(frozen=True)
class TransferConfig(Config):
    """The domain classifier of `transfer`."""

    strength: float = setting(0.1, "weight of the reversed gradient at the end of training", 0)
    rise: float = setting(10.0, "how fast the weight rises from 0, as in domain-adversarial training", 0)
    width: int = setting(32, "hidden units of the domain classifier", 1)
    rate: float = setting(1e-3, "Adam's learning rate of the domain classifier", 1e-8, 1)


@dataclasses.dataclass(frozen=True)
class EngineConfig(Config):
    """How a run uses the machine. No result depends on it."""

    processes: int | None = setting(
        None,
        "processes that work on a run side by side; none means as many as there are free cores, and one while another "
        "run is under way on the machine",
        1,
        256,
    )
    least_seconds: float = setting(
        60.0, "estimated seconds of work beside the matcher's training from which a second process pays off", 0
    )
