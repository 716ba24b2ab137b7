"""Small finished runs of the real engine, and their answers to compare with."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd

from riskcore.audit.decisions import decisions
from riskcore.config import AdaptConfig, CompetitionConfig, MatcherConfig, RiskConfig, RunConfig, TuneConfig
from riskcore.data import find_sample
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import execute

QUICK = RunConfig(
    matcher=MatcherConfig(kind="toy"),
    methods=("tradition", "risk", "risk+"),
    tune=TuneConfig(epochs=2),
    risk=RiskConfig(steps=10),
    adapt=AdaptConfig(iterations=1, stacking_iterations=1, base_learner_trees=5, stacking_folds=2),
    # Competitors count wherever they are of any help, so that the tests see them.
    competition=CompetitionConfig(penalty=0.1),
)


def shifted(**changes: object) -> RunConfig:
    """Clean bibliography to scraped one: 300 training pairs, 100 validation pairs."""
    folders = {name: str(find_sample(f"bibliography_{name}").path) for name in ("clean", "scraped")}
    parts = {"source": folders["clean"], "target": folders["scraped"], "train_fraction": 0.1, "validation_size": 100}
    return dataclasses.replace(QUICK, **{**parts, **changes})


def finished(root: Path, config: RunConfig) -> RunFolder:
    store = RunStore(root)
    run = store.create(config, "tomorrow")
    execute(store, run.id)
    return RunFolder(run.folder)


def assert_same_answers(folder: RunFolder, applied: pd.DataFrame, method: str, part: str = "target") -> None:
    """The applied pairs have the run's own probability, risk, decision and reasons."""
    own = decisions(folder, method, {}, values=False)
    own = own[own["part"] == part].set_index("pair_id")
    found = applied.set_index("pair_id").loc[own.index]
    assert len(own) > 0
    np.testing.assert_allclose(found["probability"], own["probability"], rtol=0, atol=1e-6)
    if part == "target":
        np.testing.assert_allclose(found["risk"], own["risk"], rtol=0, atol=1e-6)
    sure = (own["probability"] - 0.5).abs() > 1e-6
    assert (found["decision"] == own["decision"])[sure].all()
    assert (found["reasons"] == own["reasons"])[sure].all()
    assert set(found["method"]) == {method}
