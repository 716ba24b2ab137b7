"""`audit estimate --outside`: pairs outside the candidates as a work list, and estimates with what blocking missed."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table as Grid

from riskcore.cli.console import console, counted, print_json, say

if TYPE_CHECKING:
    from riskcore.audit.estimate import Estimate
    from riskcore.runs.folder import RunFolder


def draw_outside_list(folder: RunFolder, run: str, size: int, out: Path, seed: int | None, as_json: bool) -> None:
    """Draw pairs outside the candidates and write their work list."""
    from riskcore.audit.estimate.outside import draw_outside
    from riskcore.audit.estimate.work_list import write_audit_list
    from riskcore.audit.work_list import check_work_list

    check_work_list(out)  # before anything is drawn
    facts = draw_outside(folder, size, seed)
    rows = write_audit_list(folder, out, facts.number, outside=True)
    if as_json:
        print_json({"run": folder.path.name, "draw": facts.number, "pairs": rows, "file": str(out), "outside": True})
        return
    say(f"{counted(rows, 'pair')} outside the candidates, of draw {facts.number}, are in {out}.")
    say("Fill in the column verdict: match, non-match or unsure (m, n, u).")
    say(f"Then: riskcore audit import {run} {out} and riskcore audit estimate {run}")


def with_recapture(folder: RunFolder, found: Estimate) -> Estimate:
    """The estimate with what blocking missed: by verdicts where there are some, else by capture and recapture."""
    from riskcore.audit.estimate.outside import recaptured

    if found.with_missed is not None:
        return found
    return dataclasses.replace(found, with_missed=recaptured(folder, found))


def print_with_missed(found: Estimate) -> None:
    """Recall and F1 with what blocking missed, beside those on candidates."""
    one = found.with_missed
    if one is None:
        return
    grid = Grid("with what blocking missed", "estimate", "95 % interval", box=None)
    for name, interval in (("recall", one.recall), ("F1", one.f1)):
        grid.add_row(name, f"{100 * interval.value:.1f}", f"{100 * interval.low:.1f} to {100 * interval.high:.1f}")
    console().print(grid)
    say(one.sentence)
