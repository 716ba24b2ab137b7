"""What a run is made from, as run.json; and whether today's code, libraries and data allow it to be resumed."""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from collections.abc import Mapping
from typing import cast

import numpy as np

from riskcore.config import RunConfig
from riskcore.data.workload import TargetTruth, Workload
from riskcore.provenance import code_stamp, differences, versions, versions_now
from riskcore.registry import outside_packages
from riskcore.runs.documents import RunDescription, SampleFacts
from riskcore.runs.formats import FORMAT
from riskcore.runs.starts import start_facts
from riskcore.runs.store.run_record import RunError, RunRecord
from riskcore.storage.jsonable import jsonable

CONTINUES = (
    "Training continues from run {run}, iteration {iteration} of {method}. What is called tradition here is that "
    "matcher."
)


def describe(
    record: RunRecord, config: RunConfig, workload: Workload, truth: TargetTruth, sample: SampleFacts | None = None
) -> RunDescription:
    """What the run is made from."""
    used = {"source": len(workload.source), "validation": len(workload.validation), "target": 0}
    known = int((truth.labels >= 0).sum())
    counts = {**used, "target": len(workload.target), "target_labelled": known}
    counts["unseen"] = 0 if truth.unseen is None else len(truth.unseen)
    counts["twins"] = 0 if truth.twins is None else int(truth.twins.sum())
    start = start_facts(config.start) if config.start else None
    found: RunDescription = {
        "format": FORMAT,
        "run": record.id,
        "name": record.name,
        "created": record.created.isoformat(),
        "config": dataclasses.asdict(config),
        "seed": config.seed,
        "fingerprint": workload.fingerprint,
        "truth_fingerprint": truth_fingerprint(truth),
        "versions": {**versions(), **outside_packages(config.matcher.kind, config.methods)},
        "code": code_stamp(),
        "platform": platform.platform(),
        "labels_used": used,
        "attributes": [
            {"name": one.name, "type": one.type.value, "target_only": one in workload.target_only}
            for one in (*workload.attributes, *workload.target_only)
        ],
        "counts": counts,
        "notices": [*workload.notices, *([] if start is None else [CONTINUES.format(**start)])],
        "self_join": workload.target.left is workload.target.right,
    }
    if start is not None:
        found["continues"] = start
    if sample is not None:
        found["sample"] = sample
    return cast(RunDescription, jsonable(found))


def check_resumable(began: RunDescription, workload: Workload, truth: TargetTruth) -> None:
    """Refuses to continue with other code, libraries or data than the run began with: its results would mix both."""
    found = differences(_libraries(began["versions"]), _libraries(versions_now(began["versions"])))
    if began["code"] != code_stamp():
        found.insert(0, "Riskcore's code has changed")
    if found:
        raise RunError(f"it began with another program ({'; '.join(found)}). Start a new run instead of resuming it.")
    if (began["fingerprint"], began["truth_fingerprint"]) != (workload.fingerprint, truth_fingerprint(truth)):
        raise RunError("the data has changed since the run began. Put the old data back, or start a new run.")


def truth_fingerprint(truth: TargetTruth) -> str:
    """A hash of what scores are measured by. The workload's own leaves it out: nothing that trains depends on it."""
    digest = hashlib.sha256(np.ascontiguousarray(truth.labels, dtype=np.int8).tobytes())
    if truth.unseen is not None:
        digest.update("\x1f".join(map(str, truth.unseen.ids.tolist())).encode("utf-8", "replace"))
        digest.update(np.ascontiguousarray(truth.unseen.labels, dtype=np.int8).tobytes())
    return digest.hexdigest()[:32]


def _libraries(found: Mapping[str, str]) -> dict[str, str]:
    """The versions that are compared; Riskcore itself is compared by the stamp of its code."""
    return {name: version for name, version in found.items() if name != "riskcore"}
