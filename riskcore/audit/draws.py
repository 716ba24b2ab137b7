"""Draws of a run's target pairs for labelling, kept with the run: which pairs, in which order, and how likely each was.

A draw is a file `draws/draw-01.parquet` with a row for every target pair it could draw. Later draws take what earlier
ones left, and state how likely a pair was drawn by any of them, here or in the run whose labels this one began with.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from riskcore.audit.decisions import answer_of
from riskcore.audit.design import combined_inclusion, draw
from riskcore.columns import LEFT_ID, PAIR_ID, RIGHT_ID, ROW
from riskcore.config import RunConfig
from riskcore.data.label_file import INCLUSION, VERDICT, read_labels_text
from riskcore.data.labels import LABEL
from riskcore.runs.evidence_files import read_fired
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids, read_scores
from riskcore.runs.readers.label_rankings import MOST_FIRED, read_columns, read_risks
from riskcore.storage.files import write_parquet
from riskcore.storage.lock import FileLock
from riskcore.storage.parquet import load_columns, row_count, schema_of

ORDER, STRATUM, DRAW = "order", "stratum", "draw"
DEFAULT_SIZE = 100
_PATIENCE = 10.0  # seconds to wait while another draw of the same run is written


@dataclasses.dataclass(frozen=True)
class DrawFacts:
    """One draw of a run."""

    number: int  # from 1
    size: int
    seed: int
    left: int  # pairs that could have been drawn


def draw_pairs(folder: RunFolder, size: int = DEFAULT_SIZE, seed: int | None = None) -> DrawFacts:
    """Draw pairs of the target for labelling, from those that no earlier draw has taken, and keep the draw.

    The probabilities come from the run's own answer and its risk; no label of the target is used. Without a seed, the
    run's seed and the number of the draw give one.
    """
    probability = match_probability(folder)
    folder.draws.mkdir(exist_ok=True)
    with FileLock(folder.draws / ".lock", _PATIENCE):
        earlier = draws_of(folder)
        number = len(earlier) + 1
        seed = int(folder.run()["seed"]) + 1000 * (number - 1) if seed is None else seed
        ids = read_pair_ids(folder.pairs_file).column(PAIR_ID).to_pandas()
        taken = ids.isin(drawn_pairs(folder)[PAIR_ID]).to_numpy()
        made = draw(probability, size, seed, _rule_balance(folder, len(ids)), taken)
        order = np.full(len(ids), -1, dtype=np.int64)
        order[made.rows] = np.arange(size)
        inclusion = combined_inclusion(_inclusion_before(folder, ids), made.inclusion)
        table = pa.table(
            {
                PAIR_ID: pa.array(ids, pa.large_string()),
                INCLUSION: pa.array(inclusion, pa.float64()),
                STRATUM: pa.array(made.stratum, pa.int16()),
                ORDER: pa.array(order, pa.int32(), mask=order < 0),
            }
        )
        facts = DrawFacts(number, size, seed, int((~taken).sum()))
        about = {name: str(value) for name, value in dataclasses.asdict(facts).items()}
        write_parquet(folder.draws / f"draw-{number:02d}.parquet", table.replace_schema_metadata(about))
    return facts


def draws_of(folder: RunFolder) -> list[DrawFacts]:
    """The draws of a run, in order."""
    return [DrawFacts(**facts_in(file)) for file in _files(folder)]


def facts_in(file: Path) -> dict[str, int]:
    """The facts that a file of drawn pairs carries: number, size, seed, and pairs that could have been drawn."""
    about = schema_of(file).metadata or {}
    return {field.name: int(about[field.name.encode()]) for field in dataclasses.fields(DrawFacts)}


def drawn_pairs(folder: RunFolder) -> pd.DataFrame:
    """Every drawn pair in the order of drawing, with its row among the target pairs, its stratum and the number of its
    draw."""
    names = [PAIR_ID, STRATUM, ORDER]
    parts = []
    for number, file in enumerate(_files(folder), start=1):
        table = load_columns(file, columns=names)
        places = np.flatnonzero(table.column(ORDER).is_valid().to_numpy())
        rows = table.take(places).to_pandas().assign(**{ROW: places, DRAW: number})
        parts.append(rows.sort_values(ORDER))
    empty = pd.DataFrame(columns=[*names, ROW, DRAW])
    return pd.concat(parts, ignore_index=True) if parts else empty


def inclusion_of(folder: RunFolder) -> pd.DataFrame | None:
    """How likely each target pair was drawn by any draw so far; None before the first."""
    files = _files(folder)
    return load_columns(files[-1], columns=[PAIR_ID, INCLUSION]).to_pandas() if files else None


def given_labels(folder: RunFolder) -> pd.DataFrame | None:
    """The file of labels that the run began with; None if it had none, or the file is gone."""
    path = RunConfig.from_stored(dict(folder.run().get("config") or {})).labels
    if not path or not Path(path).is_file():
        return None
    frame = read_labels_text(Path(path)).columns.to_pandas()
    if LABEL not in frame and VERDICT in frame:
        frame = frame.rename(columns={VERDICT: LABEL})
    wanted = [name for name in (PAIR_ID, LEFT_ID, RIGHT_ID, LABEL, INCLUSION) if name in frame]
    return frame[wanted]


def match_probability(folder: RunFolder) -> np.ndarray:
    """The best estimate of each target pair's match probability: by the run's answer, and by the risk of its label."""
    answer = answer_of(folder)
    if answer.iteration is None:
        probability = read_columns(folder.final_file)[answer.method]
        label = probability >= 0.5
    else:
        scores = read_scores(folder.scores_file(answer.method, answer.iteration), ("label", "probability"))
        label, probability = scores["label"] == 1, scores["probability"]
    risk = read_risks(folder).get(answer.method)
    return probability if risk is None else np.where(label, 1 - risk, risk)


def _inclusion_before(folder: RunFolder, ids: pd.Series) -> np.ndarray:
    """How likely each pair was drawn by earlier draws, of this run or of those whose labels it began with."""
    known = inclusion_of(folder)
    known = given_labels(folder) if known is None else known
    if known is None or INCLUSION not in known or PAIR_ID not in known:
        return np.zeros(len(ids))
    by_pair = pd.to_numeric(known.set_index(PAIR_ID)[INCLUSION], errors="coerce")
    return ids.map(by_pair[~by_pair.index.duplicated()]).fillna(0.0).to_numpy(dtype=np.float64)


def _rule_balance(folder: RunFolder, pairs: int) -> np.ndarray:
    """Rules for a match less rules against it, of each target pair; 0 where there are too many to hold in memory."""
    if row_count(folder.fired_file) > MOST_FIRED:
        return np.zeros(pairs)
    rules = folder.rules()
    fired = read_fired(folder, pairs, len(rules)).astype(np.float64)
    return np.asarray(fired @ np.where(rules.match_rate >= 0.5, 1.0, -1.0))


def _files(folder: RunFolder) -> list[Path]:
    return sorted(folder.draws.glob("draw-*.parquet"), key=lambda file: int(file.stem.removeprefix("draw-")))
