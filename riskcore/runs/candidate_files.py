"""The target beyond its target pairs: validation pairs, training pairs of a run without a source, unseen pairs and all
records. With them, a run's result covers every candidate pair and every record.

`other_pairs.parquet` has the labels of the validation and training pairs, which the run was given. It has none of the
unseen pairs: theirs are a benchmark's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

from riskcore.columns import LEFT, LEFT_ID, OTHER_PROBABILITY, PAIR_ID, PART, RECORD_ID, RIGHT, RIGHT_ID, SIDE, VALUE
from riskcore.runs.evidence_files import pair_ids, pair_values, texts
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.storage.files import write_parquet
from riskcore.storage.parquet import column_names, load_columns

if TYPE_CHECKING:
    from riskcore.data.pairs import LabelledPairs, Pairs, Table
    from riskcore.data.workload import Workload
    from riskcore.training.evidence import Evidence, EvidencePart
    from riskcore.training.results import MethodResult

TARGET, VALIDATION, TRAINING, UNSEEN = "target", "validation", "training", "unseen"
PARTS = (TARGET, VALIDATION, TRAINING, UNSEEN)
LEFT_SIDE, RIGHT_SIDE, BOTH_SIDES = "left", "right", "both"  # both: the one table of a self-join


def write_records(folder: RunFolder, pairs: Pairs) -> None:
    """Every record of the target's tables; those of a self-join once."""
    if pairs.left is pairs.right:
        table = _records_of(pairs.left, BOTH_SIDES)
    else:
        sides = (_records_of(pairs.left, LEFT_SIDE), _records_of(pairs.right, RIGHT_SIDE))
        table = pa.concat_tables(sides, promote_options="default")
    write_parquet(folder.records_file, table)


def _records_of(table: Table, side: str) -> pa.Table:
    keys = {SIDE: texts(np.full(len(table), side, dtype=object)), RECORD_ID: texts(table.ids)}
    return pa.table({**keys, **{VALUE + name: texts(table.text(name)) for name in table.attributes}})


def write_other_pairs(
    folder: RunFolder,
    workload: Workload,
    unseen: Pairs | None,
    results: Mapping[str, MethodResult],
    evidence: Evidence | None,
    left_out: Collection[str] = (),
    taught_by_target: bool = False,
) -> None:
    """Validation and unseen pairs with what every method says of them; `left_out` are the ids of validation pairs that
    no learner was given. `taught_by_target`: there is no source, and the training pairs are the target's own. No file
    where the target has no other pairs."""
    validated = {name: one.validated for name, one in results.items()}
    parts = [_validation(workload.validation, validated, evidence, left_out)]
    if taught_by_target:
        part = _part(TRAINING, workload.source, {}, None if evidence is None else evidence.source)
        parts.append(_with_labels(part, workload.source))
    if unseen is not None:
        predicted = {name: one.unseen for name, one in results.items()}
        parts.append(_part(UNSEEN, unseen, predicted, None if evidence is None else evidence.unseen))
    table = pa.concat_tables(parts, promote_options="default")
    if len(table):
        write_parquet(folder.other_pairs_file, table)


def _validation(
    pairs: LabelledPairs,
    validated: Mapping[str, np.ndarray | None],
    evidence: Evidence | None,
    left_out: Collection[str],
) -> pa.Table:
    trusted = np.array([pair not in left_out for pair in pairs.ids], dtype=bool)
    whole = {name: _spread(values, trusted) for name, values in validated.items()}
    return _with_labels(_part(VALIDATION, pairs, whole, None if evidence is None else evidence.validation), pairs)


def _with_labels(table: pa.Table, pairs: LabelledPairs) -> pa.Table:
    at = table.schema.get_field_index("label")
    return table.set_column(at, "label", pa.array(pairs.labels, pa.int8()))


def _spread(values: np.ndarray | None, trusted: np.ndarray) -> np.ndarray | None:
    """Probabilities of the trusted pairs, where they are those of fewer pairs than there are, as those of all."""
    if values is None or len(values) == len(trusted):
        return values
    whole = np.full(len(trusted), np.nan)
    if len(values) == trusted.sum():
        whole[trusted] = values
    return whole


def _part(
    part: str, pairs: Pairs, predicted: Mapping[str, np.ndarray | None], evidence: EvidencePart | None
) -> pa.Table:
    columns = {PART: texts(np.full(len(pairs), part, dtype=object)), **pair_ids(pairs)}
    columns["label"] = pa.nulls(len(pairs), pa.int8())
    columns["rules"] = _rule_lists(None if evidence is None else evidence.fired, len(pairs))
    columns |= pair_values(pairs)
    for method, values in predicted.items():
        known = values is not None and len(values) == len(pairs)
        found = pa.array(values, pa.float64(), from_pandas=True) if known else pa.nulls(len(pairs), pa.float64())
        columns[OTHER_PROBABILITY + method] = found
    return pa.table(columns)


def _rule_lists(fired: sparse.sparray | None, pairs: int) -> pa.Array:
    """The numbers of the rules that fire on each pair."""
    if fired is None:
        return pa.nulls(pairs, pa.large_list(pa.int32()))
    matrix = sparse.csr_array(fired)
    offsets = pa.array(matrix.indptr.astype(np.int64), pa.int64())
    return pa.LargeListArray.from_arrays(offsets, pa.array(matrix.indices.astype(np.int32), pa.int32()))


# Reading.


def read_other_pairs(folder: RunFolder, method: str) -> pd.DataFrame | None:
    """Part, ids, label (missing for unseen pairs) and the method's probability of every other pair.

    None for runs that were recorded before other pairs were: their result has the target pairs only.
    """
    file = folder.other_pairs_file
    if not file.exists():
        return None
    column = OTHER_PROBABILITY + method
    stored = column_names(file)
    names = [PART, PAIR_ID, LEFT_ID, RIGHT_ID, "label", *([column] if column in stored else [])]
    frame = load_columns(file, columns=names).to_pandas().rename(columns={column: "probability"})
    return frame if column in stored else frame.assign(probability=np.nan)


def read_other_fired(folder: RunFolder, rules: int) -> sparse.csr_array:
    """Which rules fire on the other pairs."""
    lists = load_columns(folder.other_pairs_file, columns=["rules"]).column("rules").combine_chunks()
    lengths = np.array(lists.value_lengths().fill_null(0), dtype=np.int64)
    indices = np.asarray(lists.flatten(), dtype=np.int32)
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_array((np.ones(len(indices), dtype=bool), indices, pointers), shape=(len(lengths), rules))


def has_all_parts(folder: RunFolder) -> bool:
    """Whether the run stored every part of the target; older runs stored the target pairs only."""
    return folder.records_file.exists()


def is_self_join(folder: RunFolder) -> bool:
    """Whether both records of a pair come from one table. Of an older run: whether every id that both sides have
    stands for the same values on both."""
    stated = folder.run().get("self_join")
    return _looks_like_self_join(folder) if stated is None else bool(stated)


def _looks_like_self_join(folder: RunFolder) -> bool:
    left, right = (_records_in_pairs(folder, side) for side in (LEFT_SIDE, RIGHT_SIDE))
    names = [name for name in left if name in right and name.startswith(VALUE)]
    both = left.merge(right, on=RECORD_ID, suffixes=("", " of the other"))
    if both.empty:
        return False
    return all((both[name].fillna("") == both[f"{name} of the other"].fillna("")).all() for name in names)


def read_records(folder: RunFolder) -> pd.DataFrame:
    """Every record of the target: its side, its id, and its values. Of an older run, those in pairs."""
    if folder.records_file.exists():
        return load_columns(folder.records_file).to_pandas()
    if is_self_join(folder):
        sides = [_records_in_pairs(folder, side).assign(**{SIDE: BOTH_SIDES}) for side in (LEFT_SIDE, RIGHT_SIDE)]
    else:
        sides = [_records_in_pairs(folder, side) for side in (LEFT_SIDE, RIGHT_SIDE)]
    return pd.concat(sides, ignore_index=True).drop_duplicates([SIDE, RECORD_ID], ignore_index=True)


def _records_in_pairs(folder: RunFolder, side: str) -> pd.DataFrame:
    """The records of one side of the target pairs."""
    prefix, column = (LEFT, LEFT_ID) if side == LEFT_SIDE else (RIGHT, RIGHT_ID)
    names = [name for name in column_names(folder.pairs_file) if name.startswith(prefix)]
    ids = read_pair_ids(folder.pairs_file).column(column).to_pandas()
    values = load_columns(folder.pairs_file, columns=names).to_pandas()
    values.columns = pd.Index([VALUE + name.removeprefix(prefix) for name in names])
    values.insert(0, RECORD_ID, ids.to_numpy())
    values.insert(0, SIDE, side)
    return values.drop_duplicates(RECORD_ID, ignore_index=True)
