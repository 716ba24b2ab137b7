"""What a data set is, in figures: for the command line and the screens, which only have to show them."""

from __future__ import annotations

import dataclasses
from typing import Any

from riskcore.config import DataConfig
from riskcore.data.dataset import DataSet
from riskcore.data.labels import UNKNOWN
from riskcore.data.pairs import LabelledPairs, Table
from riskcore.data.schema import infer_types


@dataclasses.dataclass(frozen=True)
class AttributeProfile:
    """One attribute of both tables: its inferred type and the share of records without a value."""

    name: str
    type: str
    missing_left: float
    missing_right: float


@dataclasses.dataclass(frozen=True)
class SplitProfile:
    """The pairs of one split by label. The match rate is of the labelled ones; None if there are none."""

    name: str
    pairs: int
    matches: int
    non_matches: int
    unlabelled: int
    match_rate: float | None


@dataclasses.dataclass(frozen=True)
class DataProfile:
    """All figures of a data set."""

    name: str
    fingerprint: str
    self_join: bool
    records: dict[str, int]  # by table
    attributes: tuple[AttributeProfile, ...]
    splits: tuple[SplitProfile, ...]

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def profile(data: DataSet, config: DataConfig | None = None) -> DataProfile:
    """Count records, values and labels, and infer the attributes' types."""
    tables = [data.left] if data.self_join else [data.left, data.right]
    typed = infer_types(tables, data.attributes, {}, config or DataConfig())
    return DataProfile(
        data.name,
        data.fingerprint,
        data.self_join,
        {table.name: len(table) for table in tables},
        tuple(
            AttributeProfile(a.name, a.type.value, _missing(data.left, a.name), _missing(data.right, a.name))
            for a in typed
        ),
        tuple(_split(name, pairs) for name, pairs in data.splits.items()),
    )


def _missing(table: Table, attribute: str) -> float:
    return float(table.values[attribute].isna().mean())


def _split(name: str, pairs: LabelledPairs) -> SplitProfile:
    matches, non_matches, unlabelled = (int((pairs.labels == label).sum()) for label in (1, 0, UNKNOWN))
    rate = matches / (matches + non_matches) if matches + non_matches else None
    return SplitProfile(name, len(pairs), matches, non_matches, unlabelled, rate)
