"""Drawn pairs as a file for people who label in a spreadsheet, and the verdicts that come back in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from riskcore.audit.decisions import values_of
from riskcore.audit.draws import DRAW, drawn_pairs, inclusion_of
from riskcore.audit.export import ExportError
from riskcore.audit.result_files import write_csv_chunks, write_parquet_chunks, write_workbook
from riskcore.audit.verdicts import VerdictError, VerdictLog, verdicts_in
from riskcore.columns import LEFT, LEFT_ID, PAIR_ID, RIGHT, RIGHT_ID, ROW, VERDICT
from riskcore.config import DataConfig
from riskcore.data.label_file import INCLUSION, MEANT, as_known, read_labels_text
from riskcore.data.labels import LABEL
from riskcore.data.problems import DataFormatError, ProblemLog, shown
from riskcore.data.text_file import TextFile, missing_columns
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.store.run_store import RunStore

FORMATS = (".csv", ".parquet", ".xlsx")


def check_work_list(path: Path) -> None:
    """Refuse a file that cannot be written."""
    if path.suffix.lower() not in FORMATS:
        raise ExportError(f"{path.name} has no known ending. Use one of {', '.join(FORMATS)}.")
    if not path.absolute().parent.is_dir():
        raise ExportError(f"The folder {path.absolute().parent} does not exist. Create it first.")


def work_list(folder: RunFolder, draw: int | None = None, who: str | None = None) -> pd.DataFrame:
    """The drawn pairs (of one draw, or of all) in their order: ids, this person's verdict so far, and both records,
    each attribute's two values side by side. Verdicts of others are left out: they would come back under one name."""
    drawn = drawn_pairs(folder)
    drawn = drawn if draw is None else drawn[drawn[DRAW] == draw]
    ids = read_pair_ids(folder.pairs_file).to_pandas()
    places = drawn[ROW].to_numpy(dtype=np.int64)
    current = {} if who is None else verdicts_in(folder.path, who)
    frame = ids.iloc[places][[PAIR_ID, LEFT_ID, RIGHT_ID]].reset_index(drop=True)
    frame[VERDICT] = [current[pair].verdict if pair in current else "" for pair in frame[PAIR_ID]]
    values = values_of(folder, places).reset_index(drop=True)
    names = [name.removeprefix(LEFT) for name in values if name.startswith(LEFT)]
    ordered = [side + name for name in names for side in (LEFT, RIGHT) if side + name in values]
    known = inclusion_of(folder)  # of every target pair, in their order
    inclusion = None if known is None else known[INCLUSION].to_numpy()[places]
    return pd.concat([frame, values[ordered]], axis=1).assign(**{INCLUSION: inclusion})


def write_work_list(folder: RunFolder, path: Path, draw: int | None = None, who: str | None = None) -> int:
    """Write the work list in the form that the file's ending names; returns its number of pairs."""
    check_work_list(path)
    frame = work_list(folder, draw, who)
    return write_rows(folder, path, frame)


def write_rows(folder: RunFolder, path: Path, frame: pd.DataFrame) -> int:
    """Write a frame as a work list; returns the number of its rows."""
    ending = path.suffix.lower()
    if ending == ".csv":
        write_csv_chunks(path, [frame])
    elif ending == ".parquet":
        write_parquet_chunks(path, [frame], {"run": folder.path.name})
    else:
        write_workbook(path, {"work list": [frame]})
    return len(frame)


def import_work_list(folder: RunFolder, path: Path, who: str = "") -> int:
    """Record every filled-in verdict of the file that this person has not given already; returns how many.

    All of the file is checked first: with a single bad row nothing is recorded.
    """
    store = RunStore(folder.path.absolute().parent)
    run, log = store.get(folder.path.absolute().name).id, VerdictLog(store)
    given = _read(folder, Path(path))
    before = {pair: one.verdict for pair, one in log.current(run, who).items()}
    new = [(pair, verdict) for pair, verdict in given if before.get(pair) != verdict]
    for pair, verdict in new:
        log.add(run, pair, verdict, who=who)
    return len(new)


def _read(folder: RunFolder, path: Path) -> list[tuple[str, str]]:
    """Pair and verdict of every filled-in row; one error lists all faults."""
    log = ProblemLog(DataConfig().examples_per_problem)
    file = read_labels_text(path)
    found: list[tuple[str, str]] = []
    column = VERDICT if VERDICT in file.names else LABEL
    by_records = LEFT_ID in file.names or RIGHT_ID in file.names
    needed = (PAIR_ID,) if PAIR_ID in file.names or not by_records else (LEFT_ID, RIGHT_ID)
    if not missing_columns(file, (column, *needed), log):
        pairs, verdicts = _pairs(folder, file, log), _verdicts(file, column, log)
        found = [(pair, one) for pair, one in zip(pairs, verdicts, strict=True) if one]
    if log.has_errors:
        raise DataFormatError([problem for problem in log.problems if problem.severity == "error"])
    if not found:
        raise VerdictError(f"{path.name} has no verdict. Fill in the column {VERDICT}: match, non-match or unsure.")
    twice = pd.Series(dict.fromkeys(found)).index.get_level_values(0)
    again = twice[twice.duplicated()]
    if len(again):
        raise VerdictError(f"{path.name} has two different verdicts on {shown(str(again[0]))}. Keep one.")
    return list(dict.fromkeys(found))


def _pairs(folder: RunFolder, file: TextFile, log: ProblemLog) -> list[str]:
    """The id of each row's pair in the run: by those of its records, which a spreadsheet leaves alone, or by its own,
    which one may have taken for a time of day (1:2)."""
    ids = read_pair_ids(folder.pairs_file).to_pandas()
    found: list[str | None] = [None] * len(file)
    wanted = file.ids(PAIR_ID) if PAIR_ID in file.names else np.full(len(file), "", dtype=object)
    if LEFT_ID in file.names and RIGHT_ID in file.names:
        of_records = dict(zip(zip(ids[LEFT_ID], ids[RIGHT_ID], strict=True), ids[PAIR_ID], strict=True))
        left, right = (as_known(file.ids(column), ids[column]) for column in (LEFT_ID, RIGHT_ID))
        found = [of_records.get(one) for one in zip(left, right, strict=True)]
        wanted = np.array([f"{a}:{b}" for a, b in zip(left, right, strict=True)], dtype=object)
    if PAIR_ID in file.names:
        known, own = set(ids[PAIR_ID]), as_known(file.ids(PAIR_ID), ids[PAIR_ID])
        found = [one or (other if other in known else None) for one, other in zip(found, own, strict=True)]
    odd = [place for place, one in enumerate(found) if one is None]
    cure = "Import the work list into the run that it was drawn from."
    log.add_rows(
        "unknown_id",
        file.rows[odd],
        lambda n: f"The run has no pair {shown(wanted[odd[n]])}.",
        cure,
        file.name,
        PAIR_ID,
    )
    return ["" if one is None else one for one in found]


def _verdicts(file: TextFile, column: str, log: ProblemLog) -> list[str]:
    texts = [text.strip().lower() for text in file.text(column, DataConfig())]
    odd = [place for place, text in enumerate(texts) if text not in MEANT]
    cure = "Write match, non-match or unsure (m, n, u), or leave it empty."
    log.add_rows(
        "bad_label", file.rows[odd], lambda n: f"The verdict is {shown(texts[odd[n]])}.", cure, file.name, column
    )
    return [MEANT.get(text, "") for text in texts]
