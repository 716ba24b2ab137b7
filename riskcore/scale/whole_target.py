"""All pairs of the large target of a run that adapted on a sample, scored into its folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from riskcore.runs.folder import RunFolder
from riskcore.scale.folder import ScoredFacts, ScoredFolder
from riskcore.scale.job import OnShare
from riskcore.scale.score import score
from riskcore.storage.parquet import load_columns


def score_whole_target(
    run: RunFolder, pairs: Path, out: Path, on_progress: OnShare
) -> tuple[np.ndarray, ScoredFacts, float]:
    """The label of every pair in the file, which names records of the run; what was scored, and the memory it took. In
    this process: a run may be started by a script that cannot be imported again."""
    done = score(run, out, pairs, processes=1, on_progress=on_progress)
    return scored_labels(done.folder), done.facts, float(done.measured["peak_mb"])


def scored_labels(folder: ScoredFolder) -> np.ndarray:
    """The labels of all pairs, in the order in which they were given."""
    parts = folder.facts()["parts"]
    columns = [load_columns(folder.pairs_file(part), columns=["label"]).column(0).to_numpy() for part in range(parts)]
    return np.concatenate(columns) if columns else np.empty(0, dtype=np.int8)
