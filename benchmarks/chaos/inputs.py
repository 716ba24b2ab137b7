"""Sound inputs of every kind that a person can hand to Riskcore, and how each is spoilt."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import openpyxl
import pandas as pd

from benchmarks.chaos.mutations import Mutation, of_archive, of_bytes, of_cells, of_json, of_lines
from benchmarks.chaos.site import Site
from riskcore.audit import VerdictLog
from riskcore.audit.dossier import write_dossier
from riskcore.audit.exchange import export_verdicts
from riskcore.audit.work_list import write_rows
from riskcore.runs import PairQuery, RunStore, query_pairs
from tests.data.bring.brought import LABELLED, LEFT, PAIRS, RIGHT, text, zipped

SETTINGS = (
    "risk.confidence=0.95",
    "adapt.iterations=4",
    "data.max_file_bytes=1000",
    "stack.folds=5",
    "matcher.kind=toy",
)


@dataclasses.dataclass(frozen=True)
class Input:
    """A kind of input: the file it is, sound examples of it, and the door it goes through with what else it needs."""

    name: str
    file: str
    sound: Sequence[bytes]
    door: str
    more: tuple[str, ...] = ()
    how: tuple[Mutation, ...] = (of_bytes, of_cells)


@cache
def inputs_of(site: Site) -> list[Input]:
    """All kinds; made once for a site."""
    return [*_brought(site), *_judged(site), *_typed(site)]


def _brought(site: Site) -> list[Input]:
    tables = [text(rows).encode() for rows in (LEFT, RIGHT, PAIRS, LABELLED)]
    foreign = [text(LEFT, ";").encode("latin-1"), text(RIGHT, "\t").encode("utf-16"), *tables]
    pairs = _pair_file()
    archive = zipped({f"{number}.csv": one for number, one in enumerate(tables)})
    packed, cells = (of_archive, of_archive, of_bytes), (of_bytes, of_cells, of_cells)
    labels = (site.data / "valid.csv").read_bytes()
    scores = labels.replace(b"label", b"match_probability")
    files = [
        Input(f"{name}.csv in a folder", f"set/{name}.csv", [(site.data / f"{name}.csv").read_bytes()], "check_data")
        for name in ("tableA", "tableB", "train", "test")
    ]
    return [
        *files,
        Input("pair file, csv", "pairs.csv", [pairs.to_csv(index=False).encode()], "check_data", how=cells),
        Input("pair file, parquet", "pairs.parquet", [_parquet(pairs)], "check_data", how=(of_bytes,)),
        Input("table, csv", "brought.csv", foreign, "bring_file", how=cells),
        Input("table, parquet", "brought.parquet", [_parquet(pairs)], "bring_file", how=(of_bytes,)),
        Input("workbook", "brought.xlsx", [_workbook(LEFT), _workbook(LABELLED)], "bring_file", how=packed),
        Input("archive", "brought.zip", [archive], "bring_file", how=packed),
        Input("labels", "labels.csv", [labels], "check_labels", (str(site.data),), cells),
        Input("scores", "scores.csv", [scores], "check_scores", how=cells),
    ]


def _judged(site: Site) -> list[Input]:
    """Files about a finished run."""
    run, place = site.finished, site.folder("sound")
    store = RunStore(run.path.parent)
    entries = VerdictLog(store).entries(run.path.name)
    rows = query_pairs(run, PairQuery(page_size=20)).rows[["pair_id"]].assign(verdict="match", note="n", who="Ann")
    write_rows(run, place / "list.csv", rows)
    write_rows(run, place / "list.xlsx", rows)
    write_dossier(run, store, place / "dossier.html")
    names = {"splink": "csv", "label-studio": "json", "argilla": "json", "zingg": "csv", "csv": "csv"}
    files = {form: place / f"{form}.{ending}" for form, ending in names.items()}
    files["argilla, lines"] = place / "argilla.jsonl"
    for form, file in files.items():
        export_verdicts(run, entries, form.partition(",")[0], file)
    here = (str(run.path),)
    found = []
    for form, file in files.items():
        how: tuple[Mutation, ...] = {".json": (of_json, of_json, of_bytes), ".jsonl": (of_lines, of_bytes)}.get(
            file.suffix, (of_bytes, of_cells)
        )
        found.append(Input(f"verdicts, {form}", f"x{file.suffix}", [file.read_bytes()], "import_verdicts", here, how))
    work_list, dossier = (place / "list.csv").read_bytes(), (place / "dossier.html").read_bytes()
    packed = (of_archive, of_bytes)
    return [
        *found,
        Input("work list, csv", "x.csv", [work_list], "import_verdicts", here),
        Input("work list, xlsx", "x.xlsx", [(place / "list.xlsx").read_bytes()], "import_verdicts", here, packed),
        Input("pairs to assign", "assign.csv", [work_list], "assign_pairs", here),
        Input("dossier", "dossier.html", [dossier], "check_dossier"),
    ]


def _typed(site: Site) -> list[Input]:
    """Settings and ids."""
    pairs = [str(one).encode() for one in query_pairs(site.finished, PairQuery(page_size=5)).rows["pair_id"]]
    how = (of_json, of_json, of_cells, of_bytes)
    return [
        Input("run settings", "run.json", [site.config.to_json().encode()], "read_settings", how=how),
        Input("--set", "set.txt", [one.encode() for one in SETTINGS], "change_settings"),
        Input("pair id", "pair.txt", pairs, "show_pair", (str(site.finished.path),)),
    ]


def _pair_file() -> pd.DataFrame:
    """Records side by side."""
    return pd.DataFrame(
        {
            "id": [f"p{n}" for n in range(12)],
            "left_title": [f"Café machine {n}" for n in range(12)],
            "right_title": [f"café machine {n} new" for n in range(12)],
            "left_year": [str(1990 + n) for n in range(12)],
            "right_year": [None if n == 3 else str(1990 + n) for n in range(12)],
            "label": [n % 2 for n in range(12)],
            "split": ["train", "valid", "test"] * 4,
        }
    )


def _parquet(frame: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return stream.getvalue()


def _workbook(rows: list[list[str]]) -> bytes:
    book, stream = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.worksheets[0].append(row)
    book.save(stream)
    return stream.getvalue()


def write_sound(site: Site, folder: Path) -> None:
    """What the files of an input lie beside: a sound data set."""
    (folder / "set").mkdir(parents=True)
    for file in site.data.glob("*.csv"):
        (folder / "set" / file.name).write_bytes(file.read_bytes())
