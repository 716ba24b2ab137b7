"""One run's settings, and how those of a stored run are read."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Self

from riskcore.config.base import Config, setting
from riskcore.config.engine import DataConfig, MatcherConfig, MetricConfig, RiskConfig, RuleConfig
from riskcore.config.training import (
    AdaptConfig,
    CompetitionConfig,
    EngineConfig,
    RankConfig,
    SimilarityConfig,
    StackConfig,
    TransferConfig,
    TuneConfig,
)
from riskcore.registry import METHODS

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

    source: str = setting(
        "", "folder or pair file that the rules and the matcher are learned from; empty learns from the target's labels"
    )
    target: str | None = setting(None, "folder or pair file to adapt to; none means the source's own test split")
    labels: str | None = setting(None, "file of labels of target pairs, which join the validation pairs")
    start: str | None = setting(
        None, "file of a trained matcher to continue from, stored beside the runs; none trains one on the source"
    )
    attribute_map: tuple[str, ...] = setting((), "SOURCE=TARGET for attributes with different names")
    types: tuple[str, ...] = setting((), "ATTRIBUTE=TYPE where the inferred type is wrong")
    split: str | None = setting(None, "split again by this ratio, such as 2:2:6; none keeps the given splits")
    train_fraction: float = setting(1.0, "share of the training pairs to use", 0, 1)
    validation_size: int | None = setting(None, "validation pairs to use; none means all of them", 0)
    methods: tuple[str, ...] = setting(
        ("tradition", "risk", "risk+", "supervised", "forest", "target forest"),
        "the methods to run; tradition always runs, since the others start from it",
    )
    seed: int = setting(0, "every random choice follows from it; libraries accept no larger seed", 0, 2**31 - 1)
    data: DataConfig = setting(DataConfig(), "reading")
    metric: MetricConfig = setting(MetricConfig(), "metrics")
    rule: RuleConfig = setting(RuleConfig(), "rules")
    risk: RiskConfig = setting(RiskConfig(), "risk model")
    matcher: MatcherConfig = setting(MatcherConfig(), "matcher")
    tune: TuneConfig = setting(TuneConfig(), "training on labels")
    adapt: AdaptConfig = setting(AdaptConfig(), "adaptive training")
    similarity: SimilarityConfig = setting(SimilarityConfig(), "domain similarity")
    stack: StackConfig = setting(StackConfig(), "base learners and stacker of risk+")
    competition: CompetitionConfig = setting(CompetitionConfig(), "competing candidates in risk+")
    rank: RankConfig = setting(RankConfig(), "risk of labels by all the evidence")
    transfer: TransferConfig = setting(TransferConfig(), "domain classifier of transfer")
    engine: EngineConfig = setting(EngineConfig(), "use of the machine")

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
