"""How fast a large set of scored pairs opens, filters, pages, searches and explains a pair.

    python -m benchmarks.scored_screen BASE --pairs 10000000 --folder /tmp/scored --out measured.json

BASE is a set that `riskcore score` has written. A larger one is made of it without the engine: its records are copied
under new ids, its pairs with scores that are moved by less than a millionth, so that few are the same. Every question
is asked several times, each time another one, and every answer is what the screen shows.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riskcore.columns import LEFT_ID, LEFT_ROW, RECORD_ID, RIGHT_ID, RIGHT_ROW
from riskcore.pair_ids import pair_id
from riskcore.scale.explanations import end_processes, explaining_process, read_explanation
from riskcore.scale.folder import PAIR_SCHEMA, ScoredFolder
from riskcore.scale.queries import ScoredQuery, _counted, _rows_with
from riskcore.scale.reading import (
    _histogram,
    _kinds,
    _stored_places,
    count_kinds,
    histogram,
    position_of,
    read_page,
    read_pair,
)
from riskcore.storage.files import write_json, write_parquet
from riskcore.storage.parquet import load_columns

PART_PAIRS, RECORD_COPIES, RISKIEST = 50_000, 40, 10_000


def enlarge(base: ScoredFolder, folder: ScoredFolder, pairs: int) -> None:
    """A set with this many pairs, made of a smaller one."""
    facts, random = base.facts(), np.random.default_rng(0)
    folder.path.mkdir(parents=True)
    shutil.copytree(base.bundle, folder.bundle)
    sizes = {side: _copy_records(base, folder, side) for side in ("left", "right")}
    known = pa.concat_tables([load_columns(base.pairs_file(part)) for part in range(facts["parts"])])
    rows = [known.column(name).to_numpy().astype(np.int64) for name in (LEFT_ROW, RIGHT_ROW)]
    ids = {side: load_columns(folder.records_file(side), columns=[RECORD_ID]).column(0) for side in sizes}
    counts = {"matches": 0, "spared": 0, "unasked": 0}
    top: pa.Table | None = None
    parts = -(-pairs // PART_PAIRS)
    for part in range(parts):
        place = np.arange(part * PART_PAIRS, min(pairs, (part + 1) * PART_PAIRS))
        copy, of_base = place // len(known), place % len(known)
        left = rows[0][of_base] + (copy % RECORD_COPIES) * (sizes["left"] // RECORD_COPIES)
        right = rows[1][of_base] + ((copy + copy // RECORD_COPIES) % RECORD_COPIES) * (sizes["right"] // RECORD_COPIES)
        taken = known.take(pa.array(of_base))
        moved = {
            name: np.clip(taken.column(name).to_numpy() * (1 + 1e-6 * random.standard_normal(len(place))), 0, 1)
            for name in ("probability", "risk")
        }
        found = {
            **{name: taken.column(name) for name in ("label", "asked", "bound")},
            **moved,
            LEFT_ROW: pa.array(left, pa.int32()),
            RIGHT_ROW: pa.array(right, pa.int32()),
            LEFT_ID: ids["left"].take(pa.array(left)),
            RIGHT_ID: ids["right"].take(pa.array(right)),
        }
        table = pa.table({name: found[name] for name in PAIR_SCHEMA.names}).cast(PAIR_SCHEMA)
        write_parquet(folder.pairs_file(part), table, 16_384)
        counts["matches"] += pc.sum(table.column("label")).as_py()
        counts["spared"] += pc.sum(table.column("bound")).as_py()
        counts["unasked"] += pc.sum(pc.equal(table.column("asked"), 0)).as_py()
        here = table.append_column("part", pa.array(np.full(len(table), part), pa.int32())).append_column(
            "place", pa.array(np.arange(len(table)), pa.int32())
        )
        top = _top(here if top is None else pa.concat_tables([top, _top(here)]))
    assert top is not None
    reasons = pa.array(["risk+ gives " + f"{p:.2f}" for p in top.column("probability").to_pylist()], pa.large_string())
    write_parquet(folder.riskiest_file, top.append_column("reasons", reasons), 2_048)
    records = dict(sizes)
    about = {**facts, **counts, "pairs": pairs, "parts": parts, "part_pairs": PART_PAIRS, "records": records}
    write_json(folder.about_file, about)


def _top(table: pa.Table) -> pa.Table:
    order = [("risk", "descending"), ("part", "ascending"), ("place", "ascending")]
    return table.take(pc.sort_indices(table, sort_keys=order)[:RISKIEST])


def _copy_records(base: ScoredFolder, folder: ScoredFolder, side: str) -> int:
    """Copies of a table under new ids; how many records there are then."""
    table = load_columns(base.records_file(side))
    ids = table.column(RECORD_ID).to_pylist()
    copies = []
    for copy in range(RECORD_COPIES):
        named = ids if copy == 0 else [f"{one}-{copy}" for one in ids]
        copies.append(table.set_column(0, RECORD_ID, pa.array(named, pa.large_string())))
    whole = pa.concat_tables(copies)
    write_parquet(folder.records_file(side), whole, 2_048)
    return len(whole)


def measure(folder: ScoredFolder, repeats: int) -> dict[str, list[float]]:
    """Seconds of every question, each asked `repeats` times with other values, so that no answer is remembered."""
    random = np.random.default_rng(1)
    found: dict[str, list[float]] = {}
    pairs, ids = folder.facts()["pairs"], _some_pairs(folder, repeats)
    texts = _some_words(folder, repeats)
    one = partial(dataclasses.replace, ScoredQuery())
    risks = random.uniform(0.001, 0.2, repeats)

    def asked(name: str, ask: Callable[[int], Any]) -> None:
        found[name] = []
        for number in range(repeats):
            started = time.perf_counter()
            ask(number)
            found[name].append(time.perf_counter() - started)

    def opened(number: int) -> None:
        for cached in (_counted, _kinds, _histogram, _rows_with, _stored_places):
            cached.cache_clear()
        count_kinds(folder, ScoredQuery())
        read_page(folder, ScoredQuery())

    def charted(number: int) -> None:
        _histogram.cache_clear()
        histogram(folder, one(), "risk")
        histogram(folder, one(), "probability")

    asked("open: figures and first page", opened)
    asked("charts of the whole set", charted)
    asked("filter by label and risk", lambda n: read_page(folder, one(label=n % 2, risk_min=float(risks[n]))))
    asked("page: next ones", lambda n: read_page(folder, one(page=2 + n)))
    asked("page: anywhere", lambda n: read_page(folder, one(page=int(random.integers(1, pages_of(pairs))))))
    lowest = partial(one, sort="probability", descending=False)
    asked("page: by probability", lambda n: read_page(folder, lowest(page=int(random.integers(1, pages_of(pairs))))))
    asked("search for a word", lambda n: read_page(folder, one(text=texts[n])))
    asked("search for a pair", lambda n: read_page(folder, one(text=ids[n])))
    asked("open a pair and its place", lambda n: (read_pair(folder, ids[n]), position_of(folder, one(), ids[n])))
    return found


def measure_explaining(folder: ScoredFolder, repeats: int) -> dict[str, list[float]]:
    """Seconds until the first explanation, which opens the models, and of the next ones."""
    shutil.rmtree(folder.path / "explained", ignore_errors=True)
    seconds = []
    for pair in _some_pairs(folder, repeats + 1):
        started, scores = time.perf_counter(), read_pair(folder, pair).scores
        left, right = int(scores["left_row"]), int(scores["right_row"])
        process = explaining_process(folder)
        process.ask(left, right)
        while read_explanation(folder, left, right) is None:
            if not process.alive or process.refused(left, right):
                raise SystemExit(process.refused(left, right) or process.ended_because())
            time.sleep(0.02)
        seconds.append(time.perf_counter() - started)
    end_processes()
    return {"explain: the first pair": seconds[:1], "explain: the next ones": seconds[1:]}


def measure_export(folder: ScoredFolder, kind: str) -> dict[str, float]:
    """Seconds, size and memory of an export of all pairs, in a process of its own."""
    file = folder.path.with_name(f"{folder.path.name}-export.{kind}")
    code = (
        "import resource, sys; from pathlib import Path; from riskcore.scale.exporting import export_pairs; "
        "from riskcore.scale.folder import ScoredFolder; "
        "export_pairs(ScoredFolder(Path(sys.argv[1])), Path(sys.argv[2])); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    started = time.perf_counter()
    command = [sys.executable, "-c", code, str(folder.path), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, size = time.perf_counter() - started, file.stat().st_size / 1e6
    file.unlink()
    return {"seconds": round(seconds, 1), "megabytes": round(size, 1), "peak_mb": round(float(done.stdout), 1)}


def pages_of(pairs: int) -> int:
    return max(2, -(-pairs // ScoredQuery().page_size))


def _some_pairs(folder: ScoredFolder, count: int) -> list[str]:
    """Ids of pairs from all over the set."""
    random, facts = np.random.default_rng(2), folder.facts()
    found = []
    for part in random.integers(0, facts["parts"], count):
        table = load_columns(folder.pairs_file(int(part)), columns=[LEFT_ID, RIGHT_ID])
        row = int(random.integers(0, len(table)))
        found.append(pair_id(*(table.column(name)[row].as_py() for name in (LEFT_ID, RIGHT_ID))))
    return found


def _some_words(folder: ScoredFolder, count: int) -> list[str]:
    """Two words, one after the other, from values of records."""
    table = load_columns(folder.records_file("left"))
    random = np.random.default_rng(3)
    texts: list[str] = []
    while len(texts) < count:
        value = table.column(1)[int(random.integers(0, len(table)))].as_py() or ""
        some = value.split()
        if len(some) > 2:
            at = int(random.integers(0, len(some) - 1))
            texts.append(" ".join(some[at : at + 2]))
    return texts


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path, help="a set that `riskcore score` has written")
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument(
        "--folder", type=Path, required=True, help="where the larger set goes; used again if it is there"
    )
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    folder = ScoredFolder(asked.folder)
    if not folder.is_complete:
        enlarge(ScoredFolder(asked.base), folder, asked.pairs)
    found = measure(folder, asked.repeats) | measure_explaining(folder, asked.repeats)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    exports = {kind: measure_export(folder, kind) for kind in ("csv", "parquet")}
    print(f"{folder.facts()['pairs']:,} pairs, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name, seconds in found.items():
        print(f"{name:32} p50 {np.median(seconds):6.2f} s   p95 {np.quantile(seconds, 0.95):6.2f} s")
    for kind, one in exports.items():
        print(f"export {kind:25} {one['seconds']} s, {one['megabytes']} MB, peak memory {one['peak_mb']} MB")
    print(f"memory of the process that asked: {memory:.0f} MB")
    if asked.out is not None:
        document = {"pairs": folder.facts()["pairs"], "seconds": found, "exports": exports, "peak_mb": memory}
        asked.out.write_text(json.dumps(document, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
