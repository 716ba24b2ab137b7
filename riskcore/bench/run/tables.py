"""All results of a benchmark folder as one long table, and their means and deviations over seeds."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from riskcore.bench.run.averaging import GROUP, STAMPS, agreeing, stamp_of
from riskcore.bench.run.documents import Document, is_current, read_all, was_resumed
from riskcore.storage.files import write_json, write_parquet

RESULTS_JSON, RESULTS_PARQUET = "results.json", "results.parquet"
SCORES = ("f1", "precision", "recall", "unseen_f1", "unseen_precision", "unseen_recall")
Row = dict[str, Any]

_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("bench", "workload", "variant", "matcher", "split")),
        ("train_fraction", pa.float64()),
        ("validation_size", pa.int64()),
        ("seed", pa.int64()),
        *((name, pa.string()) for name in ("method", "ablation")),
        *((name, pa.float64()) for name in (*SCORES, "seconds", "cell_seconds", "peak_rss_mb")),
        *((name, pa.int64()) for name in ("source_pairs", "validation_pairs", "target_pairs", "unseen_pairs", "rules")),
        *((name, pa.string()) for name in ("settings", *STAMPS, "code", "versions", "hardware", "at")),
        *((name, pa.bool_()) for name in ("current", "resumed")),
    ]
)
COLUMNS = tuple(_SCHEMA.names)


def long_rows(documents: Sequence[Document]) -> list[Row]:
    """A row per cell, method and ablation."""
    return [_row(document, result) for document in documents for result in document["results"]]


def _row(document: Document, result: dict[str, Any]) -> Row:
    unseen = result["unseen"] or {}
    counts = document["counts"]
    found = {
        **document,
        **result,
        **{f"unseen_{name}": unseen.get(name) for name in ("f1", "precision", "recall")},
        **{f"{part}_pairs": counts[part] for part in ("source", "validation", "target", "unseen")},
        "cell_seconds": document["seconds"]["total"],
        "shared_stamp": stamp_of(document),
        "current": is_current(result),
        "resumed": was_resumed(document),
    }
    found |= {name: json.dumps(found[name], sort_keys=True) for name in ("settings", "versions", "hardware")}
    return {name: found[name] for name in COLUMNS}


def summary(rows: Sequence[Row]) -> list[Row]:
    """Mean and standard deviation over seeds, for each method of each group of cells made with the same."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    names = (*GROUP, *STAMPS, "method", "ablation")
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return [_summed(dict(zip(names, key, strict=True)), some) for key, some in groups.items()]


def _summed(head: Row, rows: Sequence[Row]) -> Row:
    found: Row = {**head, "seeds": len(rows), "current": all(row["current"] for row in rows)}
    found["f1_of_seeds"] = {row["seed"]: row["f1"] for row in rows}
    for name in (*SCORES, "seconds", "peak_rss_mb"):
        some = [row for row in rows if not row["resumed"]] if name == "seconds" else rows
        known = [row[name] for row in some if row[name] is not None]
        found[f"{name}_mean"] = statistics.fmean(known) if known else None
        found[f"{name}_deviation"] = statistics.stdev(known) if len(known) > 1 else None
    return found


def write_tables(out: Path) -> list[Row]:
    """results.json and results.parquet, from all cells that are there; the long table. Means are of the newest."""
    documents = read_all(out)
    rows, (newest, left) = long_rows(documents), agreeing(documents)
    means = summary(long_rows(newest))
    write_json(out / RESULTS_JSON, {"summary": means, "left_out": left, "cells": documents})
    write_parquet(out / RESULTS_PARQUET, pa.Table.from_pylist(rows, schema=_SCHEMA))
    return rows
