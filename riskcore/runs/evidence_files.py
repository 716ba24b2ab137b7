"""The files of a run that exist before any matcher is trained: pairs, metrics, rules, which rules fire, the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from scipy import sparse

from riskcore.columns import LEFT, LEFT_ID, PAIR_ID, RIGHT, RIGHT_ID, ROW
from riskcore.rules.rule_set import measure_rules
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import read_text, write_parquet, write_text
from riskcore.storage.parquet import row_groups

if TYPE_CHECKING:
    from riskcore.data.pairs import Pairs
    from riskcore.training.evidence import Evidence

FIRED_ROWS_PER_GROUP = 65_536  # sorted by rule, so a filter on a rule reads its own groups only


def write_pairs(folder: RunFolder, pairs: Pairs) -> None:
    """Both records of every target pair, in order."""
    columns = {ROW: pa.array(np.arange(len(pairs)), pa.int32()), **pair_ids(pairs), **pair_values(pairs)}
    write_parquet(folder.pairs_file, pa.table(columns))


def pair_ids(pairs: Pairs) -> dict[str, pa.Array]:
    """The ids of every pair and of its two records, as columns."""
    left, right = pairs.left.ids[pairs.left_rows], pairs.right.ids[pairs.right_rows]
    return {PAIR_ID: texts(pairs.ids), LEFT_ID: texts(left), RIGHT_ID: texts(right)}


def pair_values(pairs: Pairs) -> dict[str, pa.Array]:
    """Both values of every attribute, as columns."""
    columns: dict[str, pa.Array] = {}
    for side, table, rows in ((LEFT, pairs.left, pairs.left_rows), (RIGHT, pairs.right, pairs.right_rows)):
        columns |= {side + name: texts(table.text(name, rows)) for name in table.attributes}
    return columns


def write_truth(folder: RunFolder, labels: np.ndarray) -> None:
    """The target's labels, -1 where unknown; no file where none is known."""
    if (labels >= 0).any():
        columns = {ROW: pa.array(np.arange(len(labels)), pa.int32()), "label": pa.array(labels, pa.int8())}
        write_parquet(folder.truth_file, pa.table(columns))


def write_evidence(folder: RunFolder, evidence: Evidence) -> None:
    """Metrics, firing and rules of the target; the rules last: readers take them as a sign that the rest is there."""
    matrix = evidence.target.all_metrics
    keys = [metric.key for metric in matrix.metrics]
    arrays = [pa.array(matrix.values[:, place], pa.float32()) for place in range(len(keys))]
    write_parquet(folder.metrics_file, pa.table(arrays, names=keys))
    write_parquet(folder.fired_file, fired_table(evidence.target.fired), FIRED_ROWS_PER_GROUP)
    on_validation = measure_rules(evidence.rules, evidence.validation.fired, evidence.validation.labels)
    write_text(folder.validation_rules_file, on_validation.to_json())
    write_text(folder.rules_file, evidence.rules.to_json())


def fired_table(fired: sparse.sparray) -> pa.Table:
    """The firing matrix as a long table, sorted by rule and then by row."""
    by_rule = sparse.csc_array(fired)
    by_rule.sort_indices()
    rules = np.repeat(np.arange(by_rule.shape[1], dtype=np.int32), np.diff(by_rule.indptr))
    return pa.table({ROW: pa.array(by_rule.indices, pa.int32()), "rule": pa.array(rules, pa.int32())})


def read_fired(folder: RunFolder, pairs: int, rules: int, rows: np.ndarray | None = None) -> sparse.csr_array:
    """The firing matrix of all pairs, or of some rows in rising order: only these rows are held in memory."""
    place = None
    if rows is not None:
        place = np.full(pairs, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
    parts, counts = [np.empty(0, dtype=np.int32)], np.zeros(rules, dtype=np.int64)
    with row_groups(folder.fired_file) as file:
        for batch in file.iter_batches(batch_size=500_000, columns=[ROW, "rule"]):
            pair, rule = (batch.column(at).to_numpy() for at in (0, 1))
            if place is not None:
                kept = place[pair] >= 0
                pair, rule = place[pair[kept]], rule[kept]
            parts.append(pair.astype(np.int32))
            counts += np.bincount(rule, minlength=rules)
    indices, ends = np.concatenate(parts), np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    shape = (pairs if rows is None else len(rows), rules)
    return sparse.csc_array((np.ones(len(indices), dtype=bool), indices, ends), shape=shape).tocsr()


def has_evidence(folder: RunFolder, evidence: Evidence) -> bool:
    """Whether an earlier attempt has written all of it, with the same rules."""
    files = (folder.pairs_file, folder.metrics_file, folder.fired_file, folder.validation_rules_file, folder.rules_file)
    return all(file.exists() for file in files) and read_text(folder.rules_file) == evidence.rules.to_json()


def texts(values: np.ndarray) -> pa.Array:
    """Text as Parquet holds it. A lone surrogate would raise an error here; none gets past the readers of data."""
    return pa.array(values, pa.large_string(), from_pandas=True)
