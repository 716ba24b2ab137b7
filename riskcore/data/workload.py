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
from riskcore.data.label_file import read_label_file
from riskcore.data.labels import SPLITS, UNKNOWN, UNSPLIT
from riskcore.data.mapping import (
    one_sided_attributes,
    parse_map,
    restricted,
    shared_attributes,
    target_only_attributes,
)
from riskcore.data.overlap import is_among, told_apart
from riskcore.data.pairs import LabelledPairs, Pairs, concatenated
from riskcore.data.problems import shown
from riskcore.data.schema import Attribute, check_types, infer_types
from riskcore.data.scored_ids import ScoredIds
from riskcore.data.splits import fraction_sample, half_split, parse_ratio, ratio_split, size_sample
from riskcore.errors import ConfigError

NO_VALIDATION = (
    "The target has no validation labels. Nothing can choose between iterations, so the matcher as trained on the "
    "source is kept. Label about a hundred pairs to adapt it."
)
NO_LABELS = "There is no label to learn from. Label about a hundred pairs first."


@dataclasses.dataclass(frozen=True, eq=False)
class TargetSample:
    """What a workload's target is drawn from, where it is a sample of a large target."""

    rows: np.ndarray  # int64, ascending: the place of each drawn pair among all target pairs
    inclusion: np.ndarray  # how likely each was to be drawn
    pairs: int  # of the whole target
    similarity: float  # domain similarity of source and whole target


@dataclasses.dataclass(frozen=True, eq=False)
class Workload:
    """Everything that may choose or learn. Tables hold the shared attributes under the source's names; those of the
    target also hold the attributes that only the target has."""

    attributes: tuple[Attribute, ...]  # shared by source and target
    source: LabelledPairs  # Ds
    validation: LabelledPairs  # Dv, empty where there are no labels or a validation size of 0 was asked for
    target: Pairs  # Dt, without labels
    notices: tuple[str, ...] = ()
    target_only: tuple[Attribute, ...] = ()  # of validation, target and unseen pairs
    scored_ids: ScoredIds | None = None  # where the matcher is a file of scores: how that names the pairs
    sample: TargetSample | None = None  # where the target is a sample of a larger one

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
    source: DataSet | None,
    target: DataSet | None = None,
    *,
    attribute_map: Mapping[str, str] | None = None,
    split: str | None = None,
    train_fraction: float = 1.0,
    validation_size: int | None = None,
    seed: int = 0,
    types: Mapping[str, str] | None = None,
    labels: LabelledPairs | None = None,
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

    `labels` are further labels of pairs of the target, read over its tables (see `label_file`): they join the
    validation pairs and leave the target. Without a source (None, or a data set without training labels), one half of
    all labels is learned from and the other half validates; without any label, both are empty.
    """
    if source is None or (target is None and not _teaches(source, split)):
        data = target if source is None else source
        if data is None:
            raise ConfigError("A run needs data: a source with labels, a target, or both.")
        return _without_source(data, split, validation_size, seed, types or {}, labels, config or DataConfig())
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
    _require(train, test)
    train = train.take(fraction_sample(train.labels, train_fraction, seed))
    valid, test = _with_labels(_validation(valid, validation_size, seed, notices), test, labels, notices)
    if not len(valid):
        notices.append(NO_VALIDATION)
    attributes, target_only = _typed(ours, list(names), theirs, list(own.values()), types or {}, config or DataConfig())
    workload = Workload(attributes, train, valid, test.without_labels(), tuple(notices), target_only)
    twins = is_among(workload.target, train, list(names)) | is_among(workload.target, valid, list(names))
    return workload, TargetTruth(test.labels, unseen, twins)


def configured_workload(
    source: DataSet | None, target: DataSet | None, config: RunConfig
) -> tuple[Workload, TargetTruth]:
    """The workload that a run's settings ask for."""
    data = source if target is None else target
    labels = None if not config.labels or data is None else read_label_file(config.labels, data, config.data)
    return build_workload(
        source,
        target,
        attribute_map=parse_map(config.attribute_map),
        split=config.split,
        train_fraction=config.train_fraction,
        validation_size=config.validation_size,
        seed=config.seed,
        types=parse_map(config.types),
        labels=labels,
        config=config.data,
    )


def _without_source(
    data: DataSet,
    split: str | None,
    validation_size: int | None,
    seed: int,
    types: Mapping[str, str],
    labels: LabelledPairs | None,
    config: DataConfig,
) -> tuple[Workload, TargetTruth]:
    """The workload of a data set that is to be learned from its own few labels."""
    notices = one_sided_attributes(data)
    names = list(data.attributes)
    data = restricted(data, {name: name for name in names})
    first, valid, test = _thirds(data, split, seed)
    known = _validation(concatenated([first, valid]), validation_size, seed, notices)
    known, test = _with_labels(known, test, labels, notices)
    _require_target(test)
    if not len(known):
        notices.append(NO_LABELS)
    learned, checked = half_split(known.labels, seed)
    attributes = infer_types([data.left, data.right], names, dict(types), config)
    check_types(types, names)
    train, valid = dataclasses.replace(known.take(learned), inclusion=None), known.take(checked)
    workload = Workload(attributes, train, valid, test.without_labels(), tuple(notices))
    twins = is_among(workload.target, known, names)
    return workload, TargetTruth(test.labels, None, twins)


def _teaches(data: DataSet, split: str | None) -> bool:
    """Whether a data set has training labels of its own, or is split so that it has."""
    return (
        split is not None
        or "train" in data.splits
        or all((pairs.labels != UNKNOWN).all() for pairs in data.splits.values())
    )


def _validation(pairs: LabelledPairs, size: int | None, seed: int, notices: list[str]) -> LabelledPairs:
    """The data set's own labelled pairs that validate, as many as were asked for."""
    known = _labelled(pairs, "validation", notices)
    return known if size is None else known.take(size_sample(len(known), size, seed))


def _with_labels(
    valid: LabelledPairs, test: LabelledPairs, labels: LabelledPairs | None, notices: list[str]
) -> tuple[LabelledPairs, LabelledPairs]:
    """Validation pairs joined by labels from a file, and the target without the pairs that these label."""
    if labels is None or not len(labels):
        return valid, test
    labels = dataclasses.replace(labels, left=test.left, right=test.right)
    again = np.isin(_keys(valid), _keys(labels))
    if again.any():
        notices.append(
            f"{int(again.sum()):,} validation pairs are labelled again by the file of labels, which decides."
        )
    joined = concatenated([valid.take(~again), labels])
    if not (~again).any():  # with labels of unknown origin beside them, no label's share is known
        joined = dataclasses.replace(joined, inclusion=labels.inclusion)
    return joined, test.take(~np.isin(_keys(test), _keys(labels)))


def _keys(pairs: Pairs) -> np.ndarray:
    """One number per pair of records; within one table, (a, b) is (b, a)."""
    left, right = pairs.left_rows.astype(np.int64), pairs.right_rows.astype(np.int64)
    if pairs.left is pairs.right:
        left, right = np.minimum(left, right), np.maximum(left, right)
    return left * max(1, len(pairs.right)) + right


def _thirds(data: DataSet, split: str | None, seed: int) -> tuple[LabelledPairs, LabelledPairs, LabelledPairs]:
    """The data set's train, valid and test: its own, or all pairs pooled and split by the ratio.

    Nothing can be learned from a pair without a label, so all of these go to the last part, the target. Of pairs that
    no split names, those with a label validate.
    """
    pool = pooled(data)
    if split is not None:
        known = np.flatnonzero(pool.labels != UNKNOWN)
        first, second, third = (known[rows] for rows in ratio_split(pool.labels[known], parse_ratio(split), seed))
        third = np.sort(np.concatenate([third, np.flatnonzero(pool.labels == UNKNOWN)]))
        return pool.take(first), pool.take(second), pool.take(third)
    nothing = pool.take(slice(0))
    train, valid, test = (data.splits.get(name, nothing) for name in SPLITS)
    if UNSPLIT in data.splits:
        rest = data.splits[UNSPLIT]
        known = rest.labels != UNKNOWN
        if known.all():
            raise ConfigError(
                f"{shown(data.name)} has labels and no splits. Add splits, or give a ratio such as 2:2:6."
            )
        valid, test = concatenated([valid, rest.take(known)]), concatenated([test, rest.take(~known)])
    return train, valid, test


def pooled(data: DataSet) -> LabelledPairs:
    """All pairs of the data set, split after split."""
    parts = list(data.splits.values())
    if not parts:
        raise ConfigError(f"{shown(data.name)} has no candidate pairs. Find them with `riskcore block`, or add a file.")
    return concatenated(parts)


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


def _require(train: Pairs, test: Pairs) -> None:
    if not len(train):
        raise ConfigError("There is no training pair to work with. Add some, or split by a ratio such as 2:2:6.")
    _require_target(test)


def _require_target(test: Pairs) -> None:
    if not len(test):
        raise ConfigError("There is no target pair to work with. Add some, or split by a ratio such as 2:2:6.")
