"""All results of a benchmark folder as one long table, and their means and deviations over seeds."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from riskcore.bench.run.averaging import GROUP, STAMPS, GroupKey, comparable, stamp_of
from riskcore.bench.run.documents import is_current, read_all, was_resumed
from riskcore.bench.run.schema import Document, MeanRow, Result, Row
from riskcore.storage.files import write_json, write_parquet

RESULTS_JSON, RESULTS_PARQUET = "results.json", "results.parquet"
QUEUE = ("auroc", "auroc_confidence", "ece", "top_tenth")
SCORES = ("f1", "precision", "recall", "unseen_f1", "unseen_precision", "unseen_recall", "f1_without_twins", *QUEUE)

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


def _row(document: Document, result: Result) -> Row:
    unseen: dict[str, Any] = {**(result["unseen"] or {})}
    counts: dict[str, Any] = {**document["counts"]}
    queue: dict[str, Any] = {**result.get("queue", {})}
    found: dict[str, Any] = {
        "f1_without_twins": None,  # documents of earlier versions lack it
        **document,
        **result,
        **{name: queue.get(name) for name in QUEUE},
        **{f"unseen_{name}": unseen.get(name) for name in ("f1", "precision", "recall")},
        **{f"{part}_pairs": counts[part] for part in ("source", "validation", "target", "unseen")},
        "cell_seconds": document["seconds"]["total"],
        "shared_stamp": stamp_of(document),
        "current": is_current(result),
        "resumed": was_resumed(document),
    }
    found |= {name: json.dumps(found[name], sort_keys=True) for name in ("settings", "versions", "hardware")}
    return cast(Row, {name: found[name] for name in COLUMNS})


def summary(rows: Sequence[Row]) -> list[MeanRow]:
    """Mean and standard deviation over seeds, for each method of each group with the same settings and data."""
    groups: dict[GroupKey, list[dict[str, Any]]] = {}
    names = (*GROUP, *STAMPS, "method", "ablation")
    for row in rows:
        fields: dict[str, Any] = {**row}
        groups.setdefault(tuple(fields[name] for name in names), []).append(fields)
    return [_mean_row(dict(zip(names, key, strict=True)), some) for key, some in groups.items()]


def _mean_row(head: dict[str, Any], rows: Sequence[dict[str, Any]]) -> MeanRow:
    found = {**head, "seeds": len(rows), "current": all(row["current"] for row in rows)}
    found["f1_of_seeds"] = {row["seed"]: row["f1"] for row in rows}
    for name in (*SCORES, "seconds", "peak_rss_mb"):
        some = [row for row in rows if not row["resumed"]] if name == "seconds" else rows
        known = [row[name] for row in some if row[name] is not None]
        found[f"{name}_mean"] = statistics.fmean(known) if known else None
        found[f"{name}_deviation"] = statistics.stdev(known) if len(known) > 1 else None
    return cast(MeanRow, found)


def write_tables(out: Path) -> list[Row]:
    """Write results.json and results.parquet from all cells in the folder; the long table. Means are of the newest."""
    documents = read_all(out)
    rows, (newest, left) = long_rows(documents), comparable(documents)
    means = summary(long_rows(newest))
    write_json(out / RESULTS_JSON, {"summary": means, "left_out": left, "cells": documents})
    write_parquet(out / RESULTS_PARQUET, pa.Table.from_pylist(rows, schema=_SCHEMA))
    return rows
