"""The files of a run on a sample of a large target: which pairs were drawn, and how likely each was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from riskcore.columns import ROW
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import read_json, write_json, write_parquet
from riskcore.storage.parquet import load_columns

if TYPE_CHECKING:
    from riskcore.data.workload import TargetSample

INCLUSION = "inclusion"


def write_sample(folder: RunFolder, sample: TargetSample, about: dict[str, Any]) -> None:
    """The sample, and with `about` what it was drawn from; that last: it says that the rest is there."""
    columns = {ROW: pa.array(sample.rows, pa.int64()), INCLUSION: pa.array(sample.inclusion, pa.float64())}
    write_parquet(folder.sample_file, pa.table(columns))
    write_json(folder.sample_facts_file, about)


def read_sample(folder: RunFolder) -> tuple[np.ndarray, np.ndarray, dict[str, Any]] | None:
    """Places of the drawn pairs among all, how likely each was to be drawn, and what was stored about them; None where
    nothing was drawn."""
    if not folder.sample_facts_file.exists():
        return None
    table = load_columns(folder.sample_file)
    rows, inclusion = (table.column(name).to_numpy() for name in (ROW, INCLUSION))
    return rows, inclusion, read_json(folder.sample_facts_file)


def sample_sentence(folder: RunFolder) -> str:
    """What the run is a sample of, in words; empty where it works on its whole target."""
    about = folder.run().get("sample") if folder.run_file.exists() else None
    if about is None:
        return ""
    done = (folder.scored_target / "scored.json").exists()
    where = "all of them are scored in scored/all of its folder" if done else "all of them are scored at the end"
    return f"on a sample of {about['drawn']:,} of {about['pairs']:,} target pairs; {where}"
