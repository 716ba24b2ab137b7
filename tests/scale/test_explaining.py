"""Explanations of scored pairs: the numbers that scoring has stored, and those it had spared."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from riskcore.config import CompetitionConfig, ScaleConfig
from riskcore.errors import StorageError
from riskcore.scale.explaining import Explainer
from riskcore.scale.explanations import end_processes, explaining_process, read_explanation, running_process
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.score import score
from tests.apply.finished import finished, shifted
from tests.scale.made_up import all_pairs, write_scored


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run on the sample, and pairs of its records scored with it: some of the run, some that it has never seen."""
    root = tmp_path_factory.mktemp("explained")
    run = finished(root / "runs", shifted(competition=CompetitionConfig(penalty=0.01)))
    pairs = run.bundle.parent / "pairs.parquet"
    known = pd.read_parquet(pairs, columns=["ltable_id", "rtable_id"]).head(120)
    mixed = pd.DataFrame({"ltable_id": known["ltable_id"], "rtable_id": np.roll(known["rtable_id"], 1)})
    given = pd.concat([known, mixed]).drop_duplicates()
    given.to_csv(root / "given.csv", index=False)
    config = ScaleConfig(part_pairs=1_000, reasons=20)
    return score(run, root / "set", root / "given.csv", config=config).folder


def test_an_explanation_has_the_stored_numbers(made):
    explainer, pairs = Explainer(made), all_pairs(made, made.facts()["parts"])
    exact = pairs[~pairs["bound"]].head(12)
    assert len(exact)
    for row in exact.itertuples():
        explainer.explain(row.left_row, row.right_row)
        found = read_explanation(made, row.left_row, row.right_row)
        assert found is not None
        assert found.about["probability"] == pytest.approx(row.probability, abs=1e-6)
        assert found.about["risk"] == pytest.approx(row.risk, abs=1e-6)
        assert found.sheet.total == pytest.approx(np.log(row.probability / (1 - row.probability)), abs=1e-4)


def test_a_bound_holds(made):
    """What scoring did not ask the matcher about lies within what it said."""
    explainer, pairs = Explainer(made), all_pairs(made, made.facts()["parts"])
    bound = pairs[pairs["bound"]].head(12)
    if bound.empty:
        pytest.skip("the matcher was asked about every pair")
    for row in bound.itertuples():
        explainer.explain(row.left_row, row.right_row)
        found = read_explanation(made, row.left_row, row.right_row)
        assert found is not None
        assert (found.about["probability"] >= 0.5) == (row.label == 1)
        assert found.about["risk"] <= row.risk + 1e-9


def test_a_process_explains_one_pair_after_the_other(made):
    rows = all_pairs(made, made.facts()["parts"])[["left_row", "right_row"]].to_numpy()[-2:].tolist()
    assert running_process(made) is None
    try:
        for left, right in rows:
            process = explaining_process(made)
            process.ask(left, right)
            until = time.monotonic() + 120
            while read_explanation(made, left, right) is None and time.monotonic() < until:
                assert process.alive, process.ended_because()
                time.sleep(0.05)
            assert process.loaded
            assert read_explanation(made, left, right) is not None
            assert running_process(made) is process is explaining_process(made)
    finally:
        end_processes()
    assert running_process(made) is None


def test_a_set_whose_models_are_gone_says_so(tmp_path):
    folder = write_scored(tmp_path / "set", 50, 1)
    try:
        process = explaining_process(folder)
        until = time.monotonic() + 120
        while process.alive and time.monotonic() < until:
            time.sleep(0.05)
        assert not process.alive
        assert process.ended_because()
        with pytest.raises(StorageError):
            _ask_often(process)
    finally:
        end_processes()


def _ask_often(process):
    """The first words to a process that has just ended may still be taken."""
    for _ in range(3):
        process.ask(0, 0)


def test_asking_needs_no_engine():
    """What the web server imports brings no torch."""
    names = ("explanations", "reading", "known", "export_jobs")
    code = f"import sys, {', '.join(f'riskcore.scale.{one}' for one in names)}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_pair_that_nobody_asked_about(tmp_path):
    assert read_explanation(ScoredFolder(tmp_path), 1, 2) is None
