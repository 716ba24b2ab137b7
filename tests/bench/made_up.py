"""Documents of cells that were never run, with scores that were made up, to test what is said about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riskcore.bench.run.stamps import hardware, result_stamp
from riskcore.provenance import versions


def document(
    bench: str, workload: str, variant: str, seed: int, scores: Mapping[str | tuple[str, str], float], **facts: Any
) -> dict[str, Any]:
    """A cell with these F1s in %, by method or by (method, ablation)."""
    return {
        "format": 1,
        "bench": bench,
        "workload": workload,
        "variant": variant,
        "matcher": "hybrid",
        "seed": seed,
        "split": None,
        "train_fraction": 1.0,
        "validation_size": None,
        "settings": {"seed": seed},
        "settings_stamp": f"made up {seed}",
        "data_stamp": "made up",
        "counts": {"source": 10, "validation": 10, "target": 10, "unseen": 10},
        "rules": 5,
        "seconds": {"risk": 30.0, "total": 60.0},
        "peak_rss_mb": 500.0,
        **facts,
        "results": [_result(method, f1, bench) for method, f1 in scores.items()],
    }


def _result(method: str | tuple[str, str], f1: float, bench: str) -> dict[str, Any]:
    name, ablation = (method, None) if isinstance(method, str) else method
    score = {"f1": f1 / 100, "precision": f1 / 100, "recall": f1 / 100}
    return {
        "method": name,
        "ablation": ablation,
        **score,
        "unseen": {**score, "f1": (f1 - 1) / 100} if bench == "shift" else None,
        "seconds": 10.0,
        "labels_used": ["source", "validation"],
        "record": {},
        "iterations": [],
        "code": result_stamp(ablation),
        "versions": versions(),
        "hardware": hardware(),
        "at": "2000-01-01T00:00:00Z",
    }
