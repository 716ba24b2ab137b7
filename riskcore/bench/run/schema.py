"""What a cell's document, a row of the result table and a worker's message hold."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from riskcore.evaluation.truth_scorer import QueueScores


class Scores(TypedDict):
    """Quality of the labels of one set of pairs, as fractions; None where the set has no labels."""

    f1: float | None
    precision: float | None
    recall: float | None


class Hardware(TypedDict):
    """The machine that a result was made on."""

    cpu: str
    cores: int | None
    memory_gb: float
    system: str


class Result(Scores):
    """One method of a cell, or `risk` with one part removed, and what it was made with."""

    method: str
    ablation: str | None
    unseen: Scores | None  # on target pairs that no method was given
    twins: NotRequired[int]  # target pairs with the same content as a labelled pair; older documents lack it
    f1_without_twins: NotRequired[float | None]
    queue: NotRequired[QueueScores]  # how well its labels are ranked; older documents lack it
    seconds: float | None
    labels_used: list[str]
    record: dict[str, Any]  # what the method says of itself; its keys are the method's own
    iterations: list[dict[str, Any]]
    code: str
    versions: dict[str, str]
    hardware: Hardware
    at: str


class PairCounts(TypedDict):
    """Pairs of each part of a workload."""

    source: int
    validation: int
    target: int
    unseen: int


class Facts(TypedDict):
    """What is known of a cell as a whole."""

    counts: PairCounts
    rules: int
    seconds: dict[str, float]  # by phase, and `total`
    peak_rss_mb: float
    resumed: NotRequired[bool]  # then `seconds` lack those before the interruption


class GroupFields(TypedDict):
    """What cells of different seeds have in common."""

    bench: str
    workload: str
    variant: str
    matcher: str
    split: str | None
    train_fraction: float
    validation_size: int | None


class Document(GroupFields, Facts):
    """A cell's result file."""

    format: int
    seed: int
    settings: dict[str, Any]  # those that differ from the defaults, by dotted name
    settings_stamp: str
    shared_stamp: NotRequired[str]  # absent from documents of early versions
    data_stamp: str
    results: list[Result]


class Row(GroupFields, Scores):
    """One result of one cell, as a row of `results.parquet`."""

    seed: int
    method: str
    ablation: str | None
    unseen_f1: float | None
    unseen_precision: float | None
    unseen_recall: float | None
    f1_without_twins: float | None
    auroc: float | None  # of risk, for the labels of the answer
    auroc_confidence: float | None
    ece: float | None
    top_tenth: float | None
    seconds: float | None
    cell_seconds: float
    peak_rss_mb: float
    source_pairs: int
    validation_pairs: int
    target_pairs: int
    unseen_pairs: int
    rules: int
    settings: str
    shared_stamp: str
    data_stamp: str
    code: str
    versions: str
    hardware: str
    at: str
    current: bool
    resumed: bool


class ResultHead(GroupFields):
    """A group of cells made with the same settings and data."""

    shared_stamp: str
    data_stamp: str


class MeanRow(ResultHead):
    """Mean and standard deviation over seeds of one method of one group; None where nothing is known."""

    method: str
    ablation: str | None
    seeds: int
    current: bool
    f1_of_seeds: dict[int, float | None]
    f1_mean: float | None
    f1_deviation: float | None
    precision_mean: float | None
    precision_deviation: float | None
    recall_mean: float | None
    recall_deviation: float | None
    unseen_f1_mean: float | None
    unseen_f1_deviation: float | None
    unseen_precision_mean: float | None
    unseen_precision_deviation: float | None
    unseen_recall_mean: float | None
    unseen_recall_deviation: float | None
    f1_without_twins_mean: float | None
    f1_without_twins_deviation: float | None
    auroc_mean: float | None
    auroc_deviation: float | None
    auroc_confidence_mean: float | None
    auroc_confidence_deviation: float | None
    ece_mean: float | None
    ece_deviation: float | None
    top_tenth_mean: float | None
    top_tenth_deviation: float | None
    seconds_mean: float | None
    seconds_deviation: float | None
    peak_rss_mb_mean: float | None
    peak_rss_mb_deviation: float | None


class WorkerMessage(TypedDict, total=False):
    """One line of JSON from a cell's process."""

    step: str
    share: float
    resumed: bool
    error: str
