"""The balance sheet of one target pair on demand, for pairs that the worker did not explain: computed from the run's
bundle and kept with the run. As a program, it does that in a process of its own: the web server has no matcher."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from riskcore.columns import LEFT_ID, RIGHT_ID
from riskcore.data.pairs import Pairs
from riskcore.errors import RiskcoreError, StorageError
from riskcore.pair_ids import pair_id
from riskcore.paths import child_environment
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.sheet_files import write_extra_sheet
from riskcore.storage.parquet import load_columns

SECONDS = 120  # a Transformer takes some of them to load


def compute_sheet(folder: RunFolder, method: str, row: int) -> None:
    """Write the sheet of the target pair in this row, for the method's kept iteration."""
    from riskcore.runs.bundle.read import open_bundle  # brings the engine, which the web server does without
    from riskcore.runs.worker.sheets import attributes_of, sheet_facts
    from riskcore.training.balance_sheets import SheetMaker

    bundle = open_bundle(folder)
    name, _ = bundle.method(method)
    ids = read_pair_ids(folder.pairs_file)
    if not 0 <= row < len(ids):
        raise StorageError(f"Run {folder.path.name} has no target pair in row {row}.")
    left, right = bundle.tables
    one, other = (ids.column(side)[row].as_py() for side in (LEFT_ID, RIGHT_ID))
    rows = np.array([left.row_of[one]]), np.array([right.row_of[other]])
    pairs = Pairs(left, right, *rows, np.array([pair_id(one, other)], dtype=object))
    part, model = bundle.evidence(pairs), bundle.answer_model(name)
    probability = load_columns(folder.final_file, columns=[name]).column(name).to_numpy()[[row]]
    maker = SheetMaker(model, attributes_of(bundle), part.all_metrics.metrics)
    known = bundle.known_pairs(name, left, right)
    sheets = maker.make(part, pairs, model.gather(part), probability, known)
    write_extra_sheet(folder, row, sheets, sheet_facts(bundle, model, name, sheets, 1, len(ids)))


def compute_sheet_apart(folder: RunFolder, method: str, row: int) -> None:
    """The same in a process of its own."""
    command = [sys.executable, "-P", "-m", "riskcore.apply.sheets", str(folder.path), method, str(row)]
    try:
        done = subprocess.run(
            command, env=child_environment(), capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise StorageError(
            f"The balance sheet took longer than {SECONDS} s. Try again when the machine is idle."
        ) from error
    if done.returncode:
        raise StorageError(f"The balance sheet cannot be computed: {done.stderr.strip()[-500:] or 'no reason given'}")


def main(arguments: list[str]) -> int:
    path, method, row = arguments
    try:
        compute_sheet(RunFolder(Path(path)), method, int(row))
    except RiskcoreError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
