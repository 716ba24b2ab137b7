"""What each brought file is: a table of records, pairs of records, pairs of ids, labels, or the scores of a matcher."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from riskcore.data.bring.columns import ColumnFacts, name_words, named_like_id, plain_name
from riskcore.data.bring.files import BroughtFile
from riskcore.data.bring.sides import Sides, sides_of

LABEL_NAMES = ("label", "is_match", "match", "gold", "truth", "y", "is_duplicate", "duplicate", "verdict", "class")
CLUSTER_NAMES = ("z_cluster", "cluster_id", "cluster", "zingg_id")
UNREADABLE = "it cannot be read"  # the reason of a file that no person decided not to use
_TRUE = frozenset(("1", "1.0", "true", "yes", "y", "match", "t"))
_FALSE = frozenset(("0", "0.0", "false", "no", "n", "non-match", "nonmatch", "non match", "f"))
_KNOWN_MATCHES = frozenset(("match", "matches", "mapping", "perfectmapping", "gold", "golden", "truth", "groundtruth"))
_CONTAINED = 0.9  # share of a column's values that are ids of a table, from which it refers to that table


class Role(StrEnum):
    """What a file is used as."""

    LEFT = "left table"
    RIGHT = "right table"
    RECORD_PAIRS = "pairs of records"  # both records of a pair in one row
    CANDIDATES = "candidate pairs"
    LABELS = "labels"  # become validation labels
    MATCHES = "known matches"  # for the recall of blocking
    TRAIN = "train"
    VALID = "valid"
    TEST = "test"
    SCORES = "scores of a matcher"
    UNUSED = "not used"


ID_PAIRS = (Role.CANDIDATES, Role.LABELS, Role.MATCHES, Role.TRAIN, Role.VALID, Role.TEST)
_BY_NAME = {
    "tablea": Role.LEFT,
    "tableb": Role.RIGHT,
    "train": Role.TRAIN,
    "valid": Role.VALID,
    "test": Role.TEST,
    "pairs": Role.CANDIDATES,
}


@dataclasses.dataclass(frozen=True)
class Recognised:
    """A file's role with its columns of ids and labels, and why."""

    file: str
    role: Role
    reason: str
    left_id: str | None = None
    right_id: str | None = None
    label: str | None = None


def recognise(files: Sequence[BroughtFile]) -> tuple[Recognised, ...]:
    """The role of each file, by the names of files and columns and by which values refer to which table."""
    shapes = [_Shape.of(file) for file in files]
    tables = [shape.file for shape in shapes if shape.is_table]
    found = {shape.file.name: _pairs(shape, tables) for shape in shapes if not shape.is_table or _refers(shape, tables)}
    tables = [table for table in tables if table.name not in found]
    found |= _sides(tables)
    return tuple(found[file.name] for file in files)


@dataclasses.dataclass(frozen=True)
class _Shape:
    """What a file is by its own columns."""

    file: BroughtFile
    sides: Sides
    probability: ColumnFacts | None
    cluster: ColumnFacts | None

    @classmethod
    def of(cls, file: BroughtFile) -> _Shape:
        probability = next((column for column in file.columns if column.is_probability), None)
        cluster = next((column for column in file.columns if plain_name(column.name) in CLUSTER_NAMES), None)
        return cls(file, sides_of(file.columns), probability, cluster)

    @property
    def is_clusters(self) -> bool:
        """Whether it is what dedupe and Zingg write: records with a cluster and a score."""
        named = {plain_name(column.name) for column in self.file.columns}
        scored = {"confidence_score", "z_min_score", "z_max_score", "z_minscore", "z_maxscore", "link_score"}
        return self.cluster is not None and bool(named & scored)

    @property
    def is_table(self) -> bool:
        if _BY_NAME.get(self.file.stem.lower()) in (Role.LEFT, Role.RIGHT):
            return True
        paired = self.sides.ids is not None or len(self.sides.attributes) > 0
        return not paired and not self.is_clusters


def label_column(file: BroughtFile) -> str | None:
    """The column of labels: by its name, and because it holds yes and no in one way or another."""
    for wanted in LABEL_NAMES:
        for column in file.columns:
            if plain_name(column.name) == wanted and all(map(is_label, column.values)):
                return column.name
    return None


def is_label(text: str) -> bool:
    return text.lower() in _TRUE or text.lower() in _FALSE


def label_text(text: str | None) -> str | None:
    """A label as 1 or 0; None where there is none, and text that is no label as it is."""
    plain = (text or "").strip().lower()
    return "1" if plain in _TRUE else "0" if plain in _FALSE else (text if plain else None)


def _pairs(shape: _Shape, tables: Sequence[BroughtFile]) -> Recognised:
    """The role of a file that is no table."""
    file, label = shape.file, label_column(shape.file)
    ids = shape.sides.ids or _refers(shape, tables)
    left, right = ids or (None, None)
    if shape.is_clusters:
        return Recognised(file.name, Role.SCORES, "its records have clusters and scores")
    if shape.probability is not None and ids is not None:
        reason = f"it has two columns of ids and the probability {shape.probability.name}"
        return Recognised(file.name, Role.SCORES, reason, left, right)
    others = [table for table in tables if table.name != file.name]
    if shape.sides.attributes and not (others and ids):
        return Recognised(file.name, Role.RECORD_PAIRS, "it has both records of a pair in one row", left, right, label)
    role, reason = _id_pair_role(file, label)
    return Recognised(file.name, role, reason, left, right, label)


def _id_pair_role(file: BroughtFile, label: str | None) -> tuple[Role, str]:
    by_name = _BY_NAME.get(file.stem.lower())
    if by_name is not None:
        return by_name, "its name says so"
    if label is not None:
        return Role.LABELS, f"it has two columns of ids and the labels {label}"
    if _KNOWN_MATCHES & set(name_words(file.stem)):
        return Role.MATCHES, "it has two columns of ids, and its name says that they match"
    return Role.CANDIDATES, "it has two columns of ids"


def _refers(shape: _Shape, tables: Sequence[BroughtFile]) -> tuple[str, str] | None:
    """Two columns of a narrow file whose values are ids of other tables, the left table's first."""
    others = [table for table in tables if table.name != shape.file.name]
    if not others or len(shape.file.columns) > 6:
        return None
    keys = [_keys(table) for table in others]
    found: list[tuple[int, str]] = []
    for column in shape.file.columns:
        if column.is_numeric and not named_like_id(column.name) and "id" not in column.name.lower():
            continue
        hit = next((place for place, known in enumerate(keys) if known and _contained(column, known)), None)
        if hit is not None:
            found.append((hit, column.name))
    if len(found) < 2 or (len(shape.file.columns) > len(found) + 2):
        return None
    first, second = sorted(found[:2], key=lambda one: one[0])
    return first[1], second[1]


def _keys(table: BroughtFile) -> set[str]:
    """All values of the table's column of ids."""
    column = id_column(table)
    return set() if column is None or table.text is None else set(table.text.ids(column).tolist())


def _contained(column: ColumnFacts, known: set[str]) -> bool:
    return len(column.values) > 0 and float(np.mean([value in known for value in column.values])) >= _CONTAINED


def id_column(file: BroughtFile) -> str | None:
    """The column that identifies the records: it has a value of its own in every row, and is named like an id, or is
    the first and holds codes, or numbers the rows. None where there is no such column: the rows are numbered instead.
    """
    keys = [column for column in file.columns if column.is_key]
    exact = [column for column in keys if plain_name(column.name) in ("id", "unique_id", "record_id", "rec_id")]
    named = [column for column in keys if named_like_id(column.name)]
    first = [column for column in keys[:1] if column.name == file.columns[0].name and _are_codes(column)]
    counting = [column for column in keys if column.counts_rows]
    found = (exact or named or first or counting)[:1]
    return found[0].name if found else None


def _are_codes(column: ColumnFacts) -> bool:
    return all(" " not in value and any(char.isdigit() for char in value) for value in column.values)


def _sides(tables: Sequence[BroughtFile]) -> dict[str, Recognised]:
    """Left and right among the tables: by their names, else in the order given."""
    by_name = {table.name: _BY_NAME.get(table.stem.lower()) for table in tables}
    left = next((name for name, role in by_name.items() if role is Role.LEFT), None)
    right = next((name for name, role in by_name.items() if role is Role.RIGHT), None)
    usable = [table.name for table in tables if table.text is not None]
    left = left or next((name for name in usable if name != right), None)
    right = right or next((name for name in usable if name != left), None)
    found: dict[str, Recognised] = {}
    for table in tables:
        if table.text is None:
            found[table.name] = Recognised(table.name, Role.UNUSED, UNREADABLE)
        elif table.name == left:
            alone = "" if right else "; the only one, so duplicates are searched within it"
            found[table.name] = Recognised(table.name, Role.LEFT, f"it is a table of records{alone}")
        elif table.name == right:
            found[table.name] = Recognised(table.name, Role.RIGHT, "it is the other table of records")
        else:
            found[table.name] = Recognised(table.name, Role.UNUSED, "two tables were found already")
    return found
