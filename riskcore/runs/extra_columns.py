"""Columns of a file of scores that a run keeps, so that what went in comes out: `extra.parquet`, by pair id."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from riskcore.columns import PAIR_ID
from riskcore.config import RunConfig
from riskcore.data.pairs import Pairs
from riskcore.data.scored_ids import fitted_ids
from riskcore.data.scored_pairs import extra_columns
from riskcore.data.workload import Workload
from riskcore.matchers.external import ExternalMatcher, check_scores
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import write_parquet
from riskcore.storage.parquet import load_columns


def write_extra(folder: RunFolder, workload: Workload, config: RunConfig, unseen: Pairs | None) -> None:
    """All columns of the scores for every pair of the result; nothing where the matcher is the project's own."""
    if config.matcher.kind != ExternalMatcher.kind:
        return
    scores = check_scores(config.matcher)
    parts = [workload.target, workload.validation]
    parts += [] if config.source else [workload.source]  # without a source, labels of the target teach
    parts += [] if unseen is None else [unseen]
    found = extra_columns(scores, workload.scored_ids or fitted_ids(scores.ids, parts), parts)
    names = {name: f"{name}_" if name == PAIR_ID else str(name) for name in found}
    columns = {names[name]: pa.array(found[name], pa.large_string(), from_pandas=True) for name in found}
    write_parquet(folder.extra_file, pa.table({PAIR_ID: pa.array(found.index, pa.large_string()), **columns}))


def read_extra(folder: RunFolder) -> pd.DataFrame | None:
    """The columns by pair id; None for a run that has none."""
    if not folder.extra_file.exists():
        return None
    return load_columns(folder.extra_file).to_pandas().set_index(PAIR_ID)
