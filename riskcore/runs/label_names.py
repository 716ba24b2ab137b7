"""What the labels that a method used are called in a run's documents."""

from __future__ import annotations

from collections.abc import Iterable

from riskcore.config import RunConfig
from riskcore.data.workload import Workload
from riskcore.runs.candidate_files import TRAINING

SOURCE = "source"  # the engine's name of the labels that a matcher and rules learn from


def named_labels(labels: Iterable[str], config: RunConfig, workload: Workload) -> list[str]:
    """The labels that were used, by what they are to a person: without a source, those that the engine takes for the
    source's are labels of the target too. Where no pair has them, none were used."""
    used = (one for one in labels if one != SOURCE or len(workload.source))
    return [TRAINING if one == SOURCE and not config.source else one for one in used]
