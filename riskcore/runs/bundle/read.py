"""Reading a run's bundle: the metrics, rules and models that new pairs are scored with."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from riskcore.columns import LEFT_ROW, RECORD_ID, RIGHT_ROW, SIDE, VALUE
from riskcore.config import RunConfig
from riskcore.data.numbers import NumberFormat
from riskcore.data.pairs import Pairs, Table
from riskcore.data.schema import Attribute, AttributeType
from riskcore.errors import ConfigError, StorageError
from riskcore.matchers import create
from riskcore.matchers.base import Arrays, Examples, Matcher
from riskcore.metrics.comparison import Statistics
from riskcore.metrics.matrix import MetricSpace, SpaceFacts
from riskcore.metrics.words import Rarity
from riskcore.risk import RiskModel
from riskcore.rules.rule_set import RuleSet
from riskcore.runs.bundle import contents
from riskcore.runs.bundle.contents import BundleFacts, MethodFacts, SpaceDocument
from riskcore.runs.candidate_files import RIGHT_SIDE
from riskcore.runs.folder import RunFolder
from riskcore.storage.arrays import read_arrays
from riskcore.storage.files import read_json, read_text
from riskcore.storage.parquet import column_names, load_columns
from riskcore.training.answer_model import AnswerModel, KnownPairs
from riskcore.training.evidence import EvidencePart
from riskcore.training.fitted_learners import FittedLearners
from riskcore.training.results import RankingModel

_CURE = "Run again to have a bundle."


def open_bundle(folder: RunFolder) -> Bundle:
    """The bundle of a finished run."""
    if not (folder.bundle / contents.ABOUT).is_file():
        reason = "is not done" if folder.results() is None else "has no bundle: it was recorded by an older version"
        raise StorageError(f"Run {folder.path.name} {reason}, so it cannot be applied to new records. {_CURE}")
    return Bundle(folder.bundle)


class Bundle:
    """What a run answers with. Files are read when they are needed."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.facts: BundleFacts = read_json(self.path / contents.ABOUT, _CURE)
        found = self.facts.get("format")
        if found != contents.FORMAT:
            raise StorageError(
                f"{self.path} has format {found!r}, and this version of Riskcore reads format {contents.FORMAT}. "
                "Use the version it was made with, or run again."
            )
        self.config = RunConfig.from_stored(self.facts["config"])

    # What it is made of.

    @cached_property
    def attributes(self) -> dict[str, Attribute]:
        """The attributes that a record must have, under the run's names."""
        return {one["name"]: Attribute(one["name"], AttributeType(one["type"])) for one in self.facts["attributes"]}

    @cached_property
    def tables(self) -> tuple[Table, Table]:
        """The run's records; one table twice in a self-join."""
        records = load_columns(self.path / contents.RECORDS).to_pandas()
        right = records[SIDE] == RIGHT_SIDE
        left_table = _table("left", records[~right])
        return (left_table, left_table) if self.facts["self_join"] else (left_table, _table("right", records[right]))

    @cached_property
    def rules(self) -> RuleSet:
        return RuleSet.from_json(read_text(self.path / contents.RULES))

    @cached_property
    def spaces(self) -> tuple[MetricSpace, ...]:
        """The metrics of shared attributes, then of those that only the target has."""
        words = load_columns(self.path / contents.WORDS).to_pandas()
        found = []
        for number, one in enumerate(self.facts["spaces"]):
            own = words[words[contents.SPACE] == number]
            counts = {name: _counts(some) for name, some in own.groupby(contents.ATTRIBUTE, sort=False)}
            found.append(MetricSpace.of(self._space(one, counts), self.config.metric))
        return tuple(found)

    def _space(self, one: SpaceDocument, counts: dict[Any, dict[str, int]]) -> SpaceFacts:
        formats = zip(one["years"], one["durations"], strict=True)
        statistics = (
            Statistics(Rarity(documents, counts.get(name, {})), NumberFormat(*numbers))
            for name, documents, numbers in zip(one["attributes"], one["documents"], formats, strict=True)
        )
        return SpaceFacts(
            tuple(self.attributes[name] for name in one["attributes"]),
            tuple(statistics),
            tuple(one["record_attributes"]),
            Rarity(one["record_documents"], counts.get(contents.WHOLE_RECORD, {})),
            one["leads"],
            one["record_name"],
        )

    # What it answers with.

    def method(self, name: str | None = None) -> tuple[str, MethodFacts]:
        """A method of the bundle; by default the one whose answer is the run's."""
        wanted, known = name or self.facts["answer"], self.facts["methods"]
        if wanted not in known:
            able = ", ".join(known)
            raise ConfigError(f"Run {self.facts['run']} cannot apply {wanted!r} to new records. It can apply: {able}.")
        return wanted, known[wanted]

    def explaining_model(self, name: str) -> RiskModel | None:
        """The risk model of the method's kept iteration; None where the method has none."""
        file = self.path / contents.MODELS / f"{name}.json"
        return RiskModel.from_json(read_text(file)) if file.exists() else None

    def evidence(self, pairs: Pairs) -> EvidencePart:
        """The metrics of pairs, and the rules that fire on them."""
        found = [space.transform(pairs) for space in self.spaces]
        own = found[1] if len(found) > 1 else None
        return EvidencePart(Examples(pairs, found[0].values), found[0], self.rules, own)

    def answer_model(self, name: str, matcher: Matcher | None = None) -> AnswerModel:
        """What the method answers with; `matcher` stands in for the run's own, as scores of new pairs do."""
        _, facts = self.method(name)
        shared = [self.attributes[one["name"]] for one in self.facts["attributes"] if not one["target_only"]]
        start = self._weights(contents.START)
        given = None if matcher is None else matcher.snapshot()
        return AnswerModel(
            matcher or create(self.config.matcher, tuple(shared)),
            given or (start if facts["weights"] == contents.START else self._weights(facts["weights"])),
            given or start,
            facts["stacked"],
            facts["ranked_with_start"],
            self._learners(),
            _ranking(facts),
            facts["ranked_by"] or "",
            self.config,
        )

    def known_pairs(self, name: str, left: Table, right: Table) -> KnownPairs | None:
        """The run's pairs, over tables that begin with the run's records; None where they do not compete."""
        file, column = self.path / contents.KNOWN_PAIRS, contents.BEFORE_COMPETITION + name
        if not file.exists() or column not in column_names(file):
            return None
        columns = [LEFT_ROW, RIGHT_ROW, contents.KNOWN_LABEL, column]
        frame = load_columns(file, columns=columns).to_pandas()
        rows = [frame[one].to_numpy(dtype=np.int64) for one in (LEFT_ROW, RIGHT_ROW)]
        pairs = Pairs(left, right, rows[0], rows[1], np.full(len(frame), "", dtype=object))
        return KnownPairs(pairs, frame[column].fillna(frame[contents.KNOWN_LABEL]).to_numpy(dtype=np.float64))

    def _learners(self) -> FittedLearners | None:
        facts = self.facts["learners"]
        if facts is None:
            return None
        tuned = self.path / contents.MATCHERS / f"{contents.FINE_TUNED}.safetensors"
        arrays = read_arrays(self.path / contents.LEARNERS)
        return FittedLearners.stored(arrays, read_arrays(tuned) if tuned.exists() else {}, facts, self.config)

    def _weights(self, state: str) -> Arrays:
        arrays: Arrays = read_arrays(self.path / contents.MATCHERS / f"{state}.safetensors")
        return arrays


def _ranking(facts: MethodFacts) -> RankingModel | None:
    stored = facts["ranking"]
    if stored is None:
        return None
    competition = stored["competition"]
    return RankingModel(
        stored["stacker_offset"],
        tuple(stored["stacker_weights"]),
        None if competition is None else tuple(competition),
        stored["offset"],
        stored["scale"],
        None,
    )


def _table(name: str, records: pd.DataFrame) -> Table:
    columns = [column for column in records if column.startswith(VALUE)]
    values = records[columns].set_axis([column.removeprefix(VALUE) for column in columns], axis=1)
    ids = records[RECORD_ID].to_numpy(dtype=object)
    return Table(name, ids, values.reset_index(drop=True).astype("str"))


def _counts(words: pd.DataFrame) -> dict[str, int]:
    return dict(zip(words[contents.WORD].tolist(), words[contents.COUNT].tolist(), strict=True))
