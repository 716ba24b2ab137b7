"""Flips that nothing confirms: those of a run without validation labels of both classes.

Without such labels nothing shows whether fine-tuning made the answers better or worse. The run keeps iteration 0, and
what later iterations would flip is a proposal for a person to judge.
"""

from __future__ import annotations

import dataclasses

from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_scores


@dataclasses.dataclass(frozen=True)
class Proposal:
    """What the last iteration of a method would flip, compared with iteration 0."""

    method: str
    iteration: int
    flips: int
    kept: int | None  # the kept iteration, 0; None while the run is active. Version 0.1 could keep another one


def lacks_validation(folder: RunFolder) -> bool:
    """Whether iterations were made without validation labels of both classes to choose one by."""
    rows = folder.summary_rows()
    return bool(rows) and all(row["validation_f1"] is None for row in rows)


def proposals(folder: RunFolder) -> list[Proposal]:
    """The last iteration of each method that has several; none where validation labels choose the iteration."""
    if not lacks_validation(folder):
        return []
    last = {method: folder.iterations(method)[-1] for method in folder.methods()}
    return [
        Proposal(method, at, int(read_scores(folder.scores_file(method, at), ("flipped",))["flipped"].sum()), kept)
        for method, at in last.items()
        if at > 0 and (kept := folder.kept(method)) != at
    ]
