"""A workload: what training is given. Source pairs with labels (Ds), validation pairs with labels (Dv), and the
target's pairs without (Dt).

The target's labels, where there are any, live in `TargetTruth` and never in a `Workload`: code that is handed
one cannot see them, and shuffling them changes nothing in it, its fingerprint included. (A ratio split is where they
are used, as in benchmarks: each part gets its share of either class.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from riskcore.config import DataConfig, RunConfig
from riskcore.data.dataset import DataSet
from riskcore.data.fingerprint import Fingerprint
from riskcore.data.labels import SPLITS, UNKNOWN, UNSPLIT
from riskcore.data.mapping import (
    one_sided_attributes,
    parse_map,
    restricted,
    shared_attributes,
    target_only_attributes,
)
from riskcore.data.overlap import is_among, told_apart
from riskcore.data.pairs import LabelledPairs, Pairs
from riskcore.data.problems import shown
from riskcore.data.schema import Attribute, check_types, infer_types
from riskcore.data.splits import fraction_sample, parse_ratio, ratio_split, size_sample
from riskcore.errors import ConfigError


@dataclasses.dataclass(frozen=True, eq=False)
class Workload:
    """Everything that may choose or learn. Tables hold the shared attributes under the source's names; those of the
    target also hold the attributes that only the target has."""

    attributes: tuple[Attribute, ...]  # shared by source and target
    source: LabelledPairs  # Ds
    validation: LabelledPairs  # Dv, empty if a validation size of 0 was asked for
    target: Pairs  # Dt, without labels
    notices: tuple[str, ...] = ()
    target_only: tuple[Attribute, ...] = ()  # of validation, target and unseen pairs

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of types, records, pairs, and the labels that training may see."""
        digest = Fingerprint()
        every = (*self.attributes, *self.target_only)
        digest.add_words(*(word for attribute in every for word in (attribute.name, attribute.type.value)))
        for name, pairs in (("source", self.source), ("validation", self.validation), ("target", self.target)):
            digest.add_table(pairs.left)
            digest.add_table(pairs.right)
            digest.add_pairs(name, pairs)
        return digest.hexdigest()


@dataclasses.dataclass(frozen=True, eq=False)
class TargetTruth:
    """The target's labels, for evaluation only."""

    labels: np.ndarray  # int8, one per target pair; -1 where unknown
    unseen: LabelledPairs | None = None  # the target's own training part, which no method is given
    twins: np.ndarray | None = None  # bool, one per target pair: a labelled pair of Ds or Dv has the same content


def build_workload(
    source: DataSet,
    target: DataSet | None = None,
    *,
    attribute_map: Mapping[str, str] | None = None,
    split: str | None = None,
    train_fraction: float = 1.0,
    validation_size: int | None = None,
    seed: int = 0,
    types: Mapping[str, str] | None = None,
    config: DataConfig | None = None,
) -> tuple[Workload, TargetTruth]:
    """Ds, Dv and Dt from one data set, or from a source and a target; and apart from them the target's labels.

    Without a target the three parts are the data set's own, or with a `split` such as '2:2:6' all its pairs pooled,
    shuffled and stratified. With a target, Ds is all of the source, Dv and Dt are the target's valid and test, and a
    `split` is the target's. Pairs of the source that the target has too are left out, since their labels would reveal
    the target's: the same two records by the values of the shared attributes, where these are most of one data set's
    attributes and tell a record apart from the others of its table. `attribute_map` gives source names their target
    names; `types` overrides the types inferred from the source, or from the target for attributes that only the target
    has. Target pairs whose shared values are those of a labelled pair stay in the target; `TargetTruth.twins` marks
    them.
    """
    names, notices = shared_attributes(source, target, attribute_map or {})
    ours = restricted(source, {name: name for name in names})
    own = {} if target is None else target_only_attributes(target, names)
    theirs = ours if target is None else restricted(target, {theirs: name for name, theirs in names.items()} | own)
    notices += [] if target is None else one_sided_attributes(target)
    first, valid, test = _thirds(theirs, split, seed)
    unseen = _labelled(first, "unseen", notices) if target is not None else None
    train = _labelled(first if target is None else pooled(ours), "training", notices)
    if target is not None and _share_most(len(names), source, target):
        pool = pooled(theirs)
        known = pool.take(_identified(target, pool, list(names.values())))
        train = _apart(train, _identified(source, train, list(names)), known, list(names), notices)
    valid = _labelled(valid, "validation", notices)
    _require(train, valid, test, validation_size)
    train = train.take(fraction_sample(train.labels, train_fraction, seed))
    if validation_size is not None:
        valid = valid.take(size_sample(len(valid), validation_size, seed))
    attributes, target_only = _typed(ours, list(names), theirs, list(own.values()), types or {}, config or DataConfig())
    workload = Workload(attributes, train, valid, test.without_labels(), tuple(notices), target_only)
    twins = is_among(workload.target, train, list(names)) | is_among(workload.target, valid, list(names))
    return workload, TargetTruth(test.labels, unseen, twins)


def configured_workload(source: DataSet, target: DataSet | None, config: RunConfig) -> tuple[Workload, TargetTruth]:
    """The workload that a run's settings ask for."""
    return build_workload(
        source,
        target,
        attribute_map=parse_map(config.attribute_map),
        split=config.split,
        train_fraction=config.train_fraction,
        validation_size=config.validation_size,
        seed=config.seed,
        types=parse_map(config.types),
        config=config.data,
    )


def _thirds(data: DataSet, split: str | None, seed: int) -> tuple[LabelledPairs, LabelledPairs, LabelledPairs]:
    """The data set's train, valid and test: its own, or all pairs pooled and split by the ratio.

    Nothing can be learned from a pair without a label, so all of these go to the last part, the target.
    """
    pool = pooled(data)
    if split is not None:
        known = np.flatnonzero(pool.labels != UNKNOWN)
        first, second, third = (known[rows] for rows in ratio_split(pool.labels[known], parse_ratio(split), seed))
        third = np.sort(np.concatenate([third, np.flatnonzero(pool.labels == UNKNOWN)]))
        return pool.take(first), pool.take(second), pool.take(third)
    if UNSPLIT in data.splits:
        raise ConfigError(f"{shown(data.name)} has no split column. Add one, or give a ratio such as 2:2:6.")
    nothing = pool.take(slice(0))
    train, valid, test = (data.splits.get(name, nothing) for name in SPLITS)
    return train, valid, test


def pooled(data: DataSet) -> LabelledPairs:
    """All pairs of the data set, split after split."""
    parts = list(data.splits.values())
    fields = ("left_rows", "right_rows", "ids", "labels")
    return LabelledPairs(
        data.left, data.right, *(np.concatenate([getattr(part, field) for part in parts]) for field in fields)
    )


def _labelled(pairs: LabelledPairs, part: str, notices: list[str]) -> LabelledPairs:
    """The pairs that have a label; a notice says how many were left out."""
    known = pairs.labels != UNKNOWN
    if not known.all():
        notices.append(f"{int((~known).sum()):,} {part} pairs have no label and are left out.")
    return pairs.take(known)


def _share_most(shared: int, source: DataSet, target: DataSet) -> bool:
    """Whether the shared attributes are most of what one of the two data sets knows of a record. With fewer, such as
    a year alone, equal values do not mean equal records."""
    return any(2 * shared > len({*data.left.attributes, *data.right.attributes}) for data in (source, target))


def _typed(
    ours: DataSet,
    shared: Sequence[str],
    theirs: DataSet,
    target_only: Sequence[str],
    types: Mapping[str, str],
    config: DataConfig,
) -> tuple[tuple[Attribute, ...], tuple[Attribute, ...]]:
    """The shared attributes, typed by the source's values, and the target's own, typed by the target's."""
    check_types(types, (*shared, *target_only))
    given = ({name: types[name] for name in names if name in types} for names in (shared, target_only))
    return (
        infer_types([ours.left, ours.right], shared, next(given), config),
        infer_types([theirs.left, theirs.right], target_only, next(given), config),
    )


def _identified(data: DataSet, pairs: Pairs, shared: Sequence[str]) -> np.ndarray:
    """Which pairs of a data set have two records that the shared attributes (its own names) tell from all others."""
    left, right = told_apart(data.left, shared), told_apart(data.right, shared)
    return left[pairs.left_rows] & right[pairs.right_rows]


def _apart(
    train: LabelledPairs, identified: np.ndarray, target: Pairs, attributes: Sequence[str], notices: list[str]
) -> LabelledPairs:
    """The training pairs that are not also pairs of the target."""
    shared = is_among(train, target, attributes) & identified
    if len(train) and shared.all():
        raise ConfigError(
            "Every labelled pair of the source is also a pair of the target. "
            "Leave the target out to train and adapt within one data set."
        )
    if shared.any():
        notices.append(f"{int(shared.sum()):,} training pairs are also pairs of the target and are left out.")
    return train.take(~shared)


def _require(train: Pairs, valid: Pairs, test: Pairs, validation_size: int | None) -> None:
    needed = [("training", train), ("target", test)]
    if validation_size != 0:
        needed.append(("validation", valid))
    for part, pairs in needed:
        if not len(pairs):
            none = " To do without them, ask for a validation size of 0." if part == "validation" else ""
            cure = f"Add some, or split by a ratio such as 2:2:6.{none}"
            raise ConfigError(f"There is no {part} pair to work with. {cure}")
