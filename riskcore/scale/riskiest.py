"""The riskiest pairs of a folder, with reasons in words: what people read first, in one small file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riskcore.audit.reasons import RankedRules, without_rules
from riskcore.columns import LEFT_ROW, RIGHT_ROW
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.parts import PartScorer
from riskcore.storage.files import write_parquet
from riskcore.storage.parquet import load_columns

PART, PLACE = "part", "place"  # where a pair is stored
_ROWS_PER_GROUP = 2_048
_CHUNK = 20_000  # pairs whose metrics are held in memory at a time


def riskiest(folder: ScoredFolder, parts: int, count: int) -> pa.Table:
    """The `count` riskiest pairs, riskiest first; of the same risk, in the order in which they came."""
    held: pa.Table | None = None
    for part in range(parts):
        table = load_columns(folder.pairs_file(part))
        place = pa.array(np.arange(len(table)), pa.int32())
        table = table.append_column(PART, pa.array(np.full(len(table), part), pa.int32())).append_column(PLACE, place)
        held = _top(table if held is None else pa.concat_tables([held, _top(table, count)]), count)
    assert held is not None
    return held


def _top(table: pa.Table, count: int) -> pa.Table:
    order = [("risk", "descending"), (PART, "ascending"), (PLACE, "ascending")]
    return table.take(pc.sort_indices(table, sort_keys=order)[:count])


def write_riskiest(folder: ScoredFolder, opened: PartScorer, parts: int, count: int) -> None:
    """Write them, with the reasons of each label."""
    found = riskiest(folder, parts, count)
    write_parquet(folder.riskiest_file, found.append_column("reasons", _reasons(opened, found)), _ROWS_PER_GROUP)


def _reasons(opened: PartScorer, pairs: pa.Table) -> pa.Array:
    scorer, bundle = opened.scorer, opened.scorer.bundle
    words = without_rules(scorer.method, pairs.column("probability").to_numpy())
    model = bundle.explaining_model(scorer.method)
    if model is None:
        return pa.array(words, pa.large_string())
    ranked = RankedRules(bundle.rules.rules, model)
    left, right, label = (pairs.column(name).to_numpy() for name in (LEFT_ROW, RIGHT_ROW, "label"))
    for start in range(0, len(words), _CHUNK):
        rows = slice(start, start + _CHUNK)
        fired = scorer.evidence(scorer.pairs(left[rows], right[rows])).fired
        words[rows] = ranked.words(fired, label[rows] == 1, words[rows])
    return pa.array(words, pa.large_string())
