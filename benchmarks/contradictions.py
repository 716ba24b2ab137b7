"""How many of the decisions in contradictions are wrong, on runs of a benchmark with truth.

python benchmarks/contradictions.py RUN_FOLDER ... [--method risk+] [--constraint auto] [--json]

Beside the wrong decisions in contradictions stand those of all pairs, and those of as many pairs with the highest risk.
Sure errors are wrong decisions of a risk below 0.1. Also measured: the time on 100,000 made pairs.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.arguments import JsonOption, report
from riskcore.audit.contradictions import contradicting_pairs, find_contradictions
from riskcore.audit.decisions import decisions
from riskcore.audit.resolve import AUTO, checked_constraint
from riskcore.runs.folder import RunFolder

SURE = 0.1


def of_run(path: Path, method: str | None, constraint: str) -> dict[str, Any]:
    """The target pairs of a run by what is known of them."""
    frame = decisions(RunFolder(path), method, {}, reasons=False, values=False, truth=True)
    chosen = checked_constraint(frame, constraint, False)
    found = find_contradictions(frame, chosen)
    frame = frame[frame["truth"].notna() & frame["risk"].notna()]
    wrong = ((frame["decision"] == "match").to_numpy() != (frame["truth"] == 1).to_numpy()).astype(bool)
    risk = frame["risk"].to_numpy(dtype=float)
    inside = frame["pair_id"].isin(contradicting_pairs(found)).to_numpy()
    riskiest = np.zeros(len(frame), dtype=bool)
    riskiest[np.argsort(-risk, kind="stable")[: inside.sum()]] = True
    sure = wrong & (risk < SURE)
    is_wrong = dict(zip(frame["pair_id"], wrong, strict=True))
    whole = [[is_wrong[pair] for pair in one.pairs] for one in found if is_wrong.keys() >= set(one.pairs)]
    return {
        "method": frame["method"].iat[0],
        "constraint": chosen,
        "contradictions": len(found),
        "contradictions of target pairs alone": len(whole),
        "of these with an error": sum(map(any, whole)),
        "target pairs": len(frame),
        "wrong": int(wrong.sum()),
        "pairs in contradictions": int(inside.sum()),
        "wrong in contradictions": int((wrong & inside).sum()),
        "wrong among as many riskiest": int((wrong & riskiest).sum()),
        "sure errors": int(sure.sum()),
        "sure errors in contradictions": int((sure & inside).sum()),
        "pairs of risk below 0.1": int((risk < SURE).sum()),
        "pairs of risk below 0.1 in contradictions": int((inside & (risk < SURE)).sum()),
    }


def speed(pairs: int = 100_000) -> dict[str, float]:
    """Seconds for made decisions: 2 % and 30 % matches, free and one-to-one."""
    chance, found = np.random.default_rng(0), {}
    for share in (0.02, 0.3):
        probability = np.where(
            chance.random(pairs) < share, chance.uniform(0.5, 1, pairs), chance.uniform(0, 0.5, pairs)
        )
        left, right = (chance.integers(0, pairs // 10, pairs).astype(str) for _ in range(2))
        frame = pd.DataFrame({"ltable_id": left, "rtable_id": right, "probability": probability})
        frame = frame.drop_duplicates(["ltable_id", "rtable_id"])
        frame["pair_id"] = frame["ltable_id"] + ":" + frame["rtable_id"]
        frame = frame.assign(decision=np.where(frame["probability"] >= 0.5, "match", "non-match"), decided_by="model")
        for constraint in ("free", "one-to-one"):
            began = time.perf_counter()
            count = len(find_contradictions(frame, constraint))
            found[f"{share:.0%} matches, {constraint}: {count:,} found"] = round(time.perf_counter() - began, 2)
    return found


def main(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs with truth.")],
    method: Annotated[str | None, typer.Option(help="Whose decisions; the run's answer by default.")] = None,
    constraint: Annotated[str, typer.Option(help="auto, free, one-to-one, one-to-many or many-to-one.")] = AUTO,
    as_json: JsonOption = False,
) -> None:
    report({**{path.name: of_run(path, method, constraint) for path in runs}, "seconds": speed()}, as_json)


if __name__ == "__main__":
    typer.run(main)
