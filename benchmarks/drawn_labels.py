"""F1 after labelling: an unlabelled target, a draft, N drawn pairs labelled by the benchmark's truth, an adapted run.

    python benchmarks/drawn_labels.py --source DA --target DS --sizes 100,50 --seeds 5 --json

The target's test pairs are the unlabelled target; its other labels are not used. F1 is measured on the target pairs
that were not drawn. `--random` draws as many pairs with equal chances instead, for comparison. Without `--source` the
labels alone teach. Results are kept in `--out` as they come, and what is there is not computed again.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import typer

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script from anywhere

from benchmarks.arguments import JsonOption, report
from riskcore.audit.draws import draw_pairs, drawn_pairs, inclusion_of
from riskcore.audit.labels import LABEL_COLUMNS, adapting_config, draft_config
from riskcore.columns import LEFT_ID, PAIR_ID, RIGHT_ID
from riskcore.config import RunConfig
from riskcore.data.label_file import INCLUSION
from riskcore.data.labels import LABEL
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import execute
from riskcore.storage.files import write_json, write_parquet

METHODS = ("tradition", "risk+", "forest", "target forest")


def main(
    target: Annotated[Path, typer.Option(help="A data set with test labels; the target.")],
    source: Annotated[Path | None, typer.Option(help="A labelled data set; none learns from the labels alone.")] = None,
    sizes: Annotated[str, typer.Option(help="Numbers of labels, separated by commas.")] = "100",
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds, counted from 0.")] = 5,
    attribute_map: Annotated[list[str] | None, typer.Option("--map", help="SOURCE=TARGET; repeatable.")] = None,
    random: Annotated[bool, typer.Option("--random", help="Draw with equal chances instead.")] = False,
    methods: Annotated[str, typer.Option(help="Separated by commas.")] = ",".join(METHODS),
    out: Annotated[Path, typer.Option(help="The folder of results and runs.")] = Path("bench/drawn"),
    as_json: JsonOption = False,
) -> None:
    """Measure F1 with drawn labels."""
    found = [
        _cell(source, target, attribute_map or [], seed, size, random, methods.split(","), out)
        for seed in range(seeds)
        for size in map(int, sizes.split(","))
    ]
    named = sorted({method for cell in found for method in cell["f1"]})
    means = {
        f"{size} labels": {
            method: float(np.mean([cell["f1"][method] for cell in found if cell["size"] == size])) for method in named
        }
        for size in map(int, sizes.split(","))
    }
    report({"cells": found, "means": means}, as_json)


def _cell(
    source: Path | None,
    target: Path,
    attribute_map: list[str],
    seed: int,
    size: int,
    random: bool,
    methods: list[str],
    out: Path,
) -> dict[str, Any]:
    name = f"{source.name if source else 'none'}-{target.name}-{seed}"
    file = out / f"{name}-{size}-{'random' if random else 'design'}.json"
    if file.exists():
        done: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return done
    folder, config = _draft(source, target, attribute_map, seed, out / name)
    labels = _labels(
        folder, size, seed, random, out / name / f"labels-{size}-{'random' if random else 'design'}.parquet"
    )
    store = RunStore(out / name)
    wanted = dataclasses.replace(adapting_config(config, labels), methods=tuple(methods))
    run = store.create(wanted, f"{size} labels")
    results = execute(store, run.id)
    known = pd.read_parquet(labels)[LABEL].dropna()
    found = {
        "workload": name,
        "seed": seed,
        "size": size,
        "drawn": "random" if random else "design",
        "matches": int(known.sum()),
        "f1": {method: 100 * float(row["f1"] or 0.0) for method, row in results["methods"].items()},
        "seconds": results["seconds"]["total"],
    }
    write_json(file, found)
    shutil.rmtree(run.folder)
    return found


def _draft(
    source: Path | None, target: Path, attribute_map: list[str], seed: int, root: Path
) -> tuple[RunFolder, RunConfig]:
    """The draft of a seed, made once for all sizes."""
    settings = draft_config(
        RunConfig(
            source=str(source.absolute()) if source else "",
            target=str(target.absolute()),
            attribute_map=tuple(attribute_map),
            validation_size=0,
            seed=seed,
        )
    )
    store, note = RunStore(root), root / "draft.json"
    if not note.exists():
        run = store.create(settings, "draft")
        execute(store, run.id)
        write_json(note, {"run": run.id})
    return RunFolder(store.get(json.loads(note.read_text(encoding="utf-8"))["run"]).folder), settings


def _labels(folder: RunFolder, size: int, seed: int, random: bool, file: Path) -> Path:
    """The drawn pairs with the benchmark's labels, as a person who never errs would give them."""
    ids = read_pair_ids(folder.pairs_file).to_pandas()[[PAIR_ID, LEFT_ID, RIGHT_ID]]
    truth = pq.read_table(folder.truth_file).column(LABEL).to_numpy()
    if random:
        rows = np.random.default_rng(seed).permutation(len(ids))[:size]
        inclusion = np.full(len(ids), size / len(ids))
    else:
        shutil.rmtree(folder.draws, ignore_errors=True)
        draw_pairs(folder, size, seed)
        rows = np.flatnonzero(ids[PAIR_ID].isin(drawn_pairs(folder)[PAIR_ID]))
        known = inclusion_of(folder)
        assert known is not None
        inclusion = known[INCLUSION].to_numpy()
    label = np.full(len(ids), np.nan)
    label[rows] = truth[rows]
    frame = ids.assign(**{LABEL: pd.array(label, "Int8"), INCLUSION: inclusion})[list(LABEL_COLUMNS)]
    write_parquet(file, pa.Table.from_pandas(frame, preserve_index=False))
    return file


if __name__ == "__main__":
    typer.run(main)
