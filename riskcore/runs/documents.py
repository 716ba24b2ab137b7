"""The JSON documents of a run, field by field: what it was made from, its results, and the comparison of methods.

A field that needs missing labels is None, never 0.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from riskcore.training.results import DoubtedLabel


class AttributeRow(TypedDict):
    """An attribute of the target."""

    name: str
    type: str
    target_only: NotRequired[bool]  # the source lacks it


class StartFacts(TypedDict):
    """A trained matcher that another run continues from."""

    run: str
    name: str  # of the run
    method: str
    iteration: int


class SampleFacts(TypedDict):
    """The sample of a large target that a run adapted on; the run's target pairs are these."""

    pairs: int  # of the whole target
    drawn: int
    floor: float  # share that is spread evenly over all pairs
    smallest_inclusion: float  # how likely the least likely of the drawn pairs was to be drawn
    domain_similarity: float  # of source and whole target
    labels_used: list[str]  # that the risk which it was drawn by is learned from


class RunDescription(TypedDict):
    """run.json: what the run was made from."""

    format: int
    run: str
    name: str
    created: str
    config: dict[str, Any]
    seed: int
    fingerprint: str  # of the data
    truth_fingerprint: str  # of the labels that scores are measured by
    versions: dict[str, str]
    code: str  # stamp of the engine's code; "" where version 0.1 wrote the run
    platform: str
    labels_used: dict[str, int]  # pairs whose labels training could use, by part
    attributes: list[AttributeRow]
    counts: dict[str, int]
    notices: list[str]
    self_join: NotRequired[bool]  # both records of a pair come from one table; older runs lack it
    sample: NotRequired[SampleFacts]  # where the run adapted on a sample of a large target
    continues: NotRequired[StartFacts]  # the matcher that training began with, where it is another run's


class MethodRow(TypedDict):
    """A method in the results. Methods add fields of their own, such as `best_epoch`."""

    f1: float | None
    precision: float | None
    recall: float | None
    labels_used: list[str]
    twins: NotRequired[int]  # target pairs with the same content as a labelled pair; older runs lack it
    f1_without_twins: NotRequired[float | None]
    lacked: NotRequired[list[str]]  # sentences about what could not be done for lack of labels
    best_iteration: NotRequired[int]  # the kept iteration
    validation_f1: NotRequired[float | None]
    unseen: NotRequired[dict[str, float | None]]
    ranked: NotRequired[RankedBy]  # older runs lack it


class RankedBy(TypedDict):
    """How the risk of a method's labels was found."""

    by: str  # "stacked evidence" or "confidence"
    labels_used: list[str]
    calibrated: bool  # on validation labels; otherwise only the order means something
    choice: dict[str, float | None] | None  # wrong validation labels, and the AUROC of either ranking on them


class KeptRanking(TypedDict):
    """How well the labels of a method's answer are ranked; None without truth."""

    errors: int | None  # wrong labels
    auroc: float | None  # of risk
    confidence: float | None
    rivals: dict[str, float | None]  # the other baselines
    ece: float | None  # expected calibration error of risk
    top_100: int | None  # wrong labels among the hundred riskiest


class RankingRow(TypedDict):
    """How well risk finds the mistakes of iteration 0, and how well the baselines do; then for every answer."""

    auroc: float | None
    rivals: dict[str, float | None]  # the baselines; scripts rely on this name
    mispredicted: int | None
    top_1000_hits: int | None
    kept: NotRequired[dict[str, KeptRanking]]  # by method; older runs lack it


class SummaryRow(TypedDict):
    """A method and an iteration in summary.json; `columns.SUMMARY_COLUMNS` says what each field means."""

    method: str
    iteration: int
    f1: float | None
    precision: float | None
    recall: float | None
    validation_f1: float | None
    flips: int
    fixed: int | None
    broken: int | None
    tp_flipped: int | None
    tn_flipped: int | None
    mean_risk: float
    match_rate: float
    disagreement: float | None
    mispredicted: int | None
    auroc_risk: float | None
    auroc_confidence: float | None
    auroc_learnrisk: float | None
    labels_used: list[str] | None
    seconds: float


class IterationRow(TypedDict):
    """An iteration of `risk` in the results."""

    f1: float | None
    validation_f1: float | None
    flips: int
    fixed: int | None
    broken: int | None
    mean_risk: float
    seconds: float


class RunFindings(TypedDict):
    """The results without the figures that are known only at the very end."""

    methods: dict[str, MethodRow]
    risk: RankingRow | None
    iterations: list[IterationRow]
    rules: int | None
    doubted_labels: NotRequired[list[DoubtedLabel]]  # validation labels that every learner contradicts


class WholeTargetRow(TypedDict):
    """All pairs of a large target, scored with what a run on a sample of them answers with."""

    method: str  # whose answer it is
    pairs: int
    sample: int  # pairs that the run adapted on
    matches: int
    match_rate: float
    labelled: int  # pairs whose truth is known
    f1: float | None  # over all of them
    precision: float | None
    recall: float | None
    scored: str  # the folder, below that of the run
    peak_mb: float


class RunResults(RunFindings):
    """results.json, and what `run --json` prints."""

    target: NotRequired[WholeTargetRow | None]  # where the run adapted on a sample; `methods` is about the sample

    run: str
    seconds: dict[str, float]  # by phase, and in `total`
    peak_rss_mb: float


class MethodScores(TypedDict):
    """One method against the truth; None where the target has no labels."""

    f1: float | None
    precision: float | None
    recall: float | None
    tp: int | None
    fp: int | None
    fn: int | None
    tn: int | None
    f1_interval: tuple[float, float] | None
    average_precision: float | None
    changed: int | None  # pairs labelled differently from tradition
    labels_used: list[str]
    lacked: list[str]  # what the method could not do, in sentences


class CurvePoints(TypedDict):
    """Points of a precision-recall curve."""

    recall: list[float]
    precision: list[float]


class ReliabilityBinRecord(TypedDict):
    """Pairs of similar probability: the mean prediction, and the observed share of matches with its 95 % interval."""

    pairs: int
    predicted: float
    observed: float
    low: float
    high: float


class Reliability(TypedDict):
    """How well a method's probabilities are calibrated; without truth, no bins and None."""

    ece: float | None  # expected calibration error
    pairs: int
    bins: list[ReliabilityBinRecord]


class RuleCredit(TypedDict):
    """A rule, by its number, and its share of the changed pairs."""

    rule: int
    credit: float


class ResponsibleRules(TypedDict):
    """The rules responsible for the changes of an adaptive method, in its kept iteration."""

    iteration: int
    flipped: list[RuleCredit]
    fixed: list[RuleCredit]
    broken: list[RuleCredit]
    unexplained: int


class LabelChangeRecord(TypedDict):
    """One method compared with tradition; what needs the truth is None without it."""

    flipped: int
    fixed: int | None
    broken: int | None
    p_value: float | None
    f1_before: float | None
    f1_after: float | None
    f1_change_interval: tuple[float, float] | None
    rows: dict[str, list[int] | None]  # flipped, fixed, broken: some pairs of each, by row
    responsible: ResponsibleRules | None


class ReviewBudget(TypedDict):
    """Errors found by the number of pairs reviewed in the order of one ranking."""

    ranking: str
    labels_used: list[str]
    reviewed: list[int]
    found: list[float]
    needed: dict[str, int | None]  # share of the errors: reviews needed to find it


class Comparison(TypedDict):
    """All of comparison.json, by method where it is about methods."""

    methods: dict[str, MethodScores]
    curves: dict[str, CurvePoints]
    reliability: dict[str, Reliability]
    changes: dict[str, LabelChangeRecord]
    budgets: dict[str, list[ReviewBudget]]  # by the method whose labels are reviewed; none without truth
