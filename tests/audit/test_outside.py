"""Looking outside the candidates: which pairs are drawn, and recall and F1 with what blocking missed."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from riskcore import cli
from riskcore.audit import VerdictLog
from riskcore.audit.estimate import Estimate, draw_audit, estimate_run
from riskcore.audit.estimate.calibration import calibrated
from riskcore.audit.estimate.missed import ring_audit
from riskcore.audit.estimate.outside import draw_outside, outside_audits, outside_design, recaptured
from riskcore.audit.estimate.outside_files import BY_RECAPTURE, read_outside
from riskcore.audit.estimate.runs import audited_pairs
from riskcore.audit.estimate.tables import OutsideTables, outside_tables
from riskcore.audit.exchange import FORMATS, export_verdicts, read_verdicts
from riskcore.audit.exchange.bring import bring_verdicts, record_import
from riskcore.audit.outside_draws import FAR, RING, outside_pairs, outside_records
from riskcore.blocking.block import block
from riskcore.blocking.likeness import cosines
from riskcore.config import BlockConfig
from riskcore.data.pairs import Table
from riskcore.errors import ConfigError
from riskcore.runs.candidate_files import read_other_pairs
from riskcore.runs.formats import read_pair_ids
from tests.audit.example_runs import finished, run, store, unpacked

__all__ = ["finished", "run", "store", "unpacked"]

WORDS = ["alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "yew"]


def made_tables(records=200, seed=0):
    """Two tables of titles, whose rows with the same number match, though some words differ."""
    generator = np.random.default_rng(seed)
    titles = [f"{' '.join(generator.choice(WORDS, 4))} {generator.integers(10_000)}" for _ in range(records)]
    other = [" ".join(word for word in title.split() if generator.random() < 0.8) or title for title in titles]
    return [
        Table(name, np.array([f"{name}{n}" for n in range(records)], dtype=object), pd.DataFrame({"title": texts}))
        for name, texts in (("a", titles), ("b", other))
    ]


def tables_of(left, right, keys):
    return OutsideTables(left, right, np.unique(np.asarray(keys, dtype=np.int64)), frozenset())


def test_likeness_is_the_score_that_a_search_gives():
    left, right = made_tables(60)
    config = BlockConfig(top=3, blockers=("words",))
    found = block(left, right, config)
    assert cosines(left, right, found.left_rows, found.right_rows, config) == pytest.approx(found.score, abs=1e-6)


@pytest.mark.parametrize("one_table", [False, True])
def test_the_wider_search_leaves_candidates_out_and_counts_every_pair(one_table):
    left, right = made_tables(80)
    right = None if one_table else right
    width = 80
    possible = 80 * 79 // 2 if one_table else 80 * 80
    candidates = [row * width + other for row in range(80) for other in (row + 1, row + 2) if other < 80]
    tables = tables_of(left, right, candidates)
    assert tables.possible == possible
    design = outside_design(tables, 1.0, seed=1)
    keys = tables.keys(design.left_rows, design.right_rows)
    assert len(np.unique(keys)) == len(keys) == design.pairs.sum() == design.facts.near
    assert not np.isin(keys, tables.candidates).any()
    assert design.facts.far == possible - len(tables.candidates) - len(keys)
    if one_table:
        assert (design.left_rows < design.right_rows).all()
    assert (np.diff(design.pairs) <= 0).all()  # the most alike are few
    assert (np.diff(design.expected) > 0).all()


def test_a_part_of_the_candidates_has_the_same_part_of_the_outside():
    left, right = made_tables(150)
    tables = tables_of(left, right, np.arange(150) * 150 + np.arange(150))
    whole, half = (outside_design(tables, share, seed=2) for share in (1.0, 0.5))
    assert half.facts.near == pytest.approx(whole.facts.near / 2, rel=0.1)
    assert half.facts.far == pytest.approx(whole.facts.far / 2, rel=0.01)
    assert outside_design(tables, 0.5, seed=2).pairs.tolist() == half.pairs.tolist()


def test_the_interval_holds_the_matches_that_blocking_missed():
    from riskcore.audit.estimate.missed import Ring
    from riskcore.audit.estimate.outside import _near
    from riskcore.audit.outside_draws import LEFT_ROW, RIGHT_ROW

    left, right = made_tables(300)
    matches = np.arange(300) * 300 + np.arange(300)
    tables = tables_of(left, right, matches[30:])  # 30 of 300 are lost
    design = outside_design(tables, 1.0, seed=0)
    lost = np.isin(tables.keys(design.left_rows, design.right_rows), matches[:30])
    assert lost.sum() >= 28  # few are beyond the wider search
    nothing, held = pd.DataFrame({"pair_id": [], LEFT_ROW: [], RIGHT_ROW: [], RING: []}), []
    for seed in range(30):
        drawn = np.array(_near(design, nothing, {}, 150, seed))
        match = drawn[:, 0] == drawn[:, 1]
        judged = np.bincount(drawn[:, 2], minlength=len(design.pairs))
        found = np.bincount(drawn[:, 2], weights=match, minlength=len(design.pairs)).astype(int)
        counts = zip(design.pairs.tolist(), judged.tolist(), found.tolist(), design.expected.tolist(), strict=True)
        side = ring_audit([Ring(*one) for one in counts])
        _, low, high = calibrated(270, [side], 400, np.random.default_rng(seed))["missed"]
        held.append(low[0] <= lost.sum() <= high[0])
    assert np.mean(held) >= 0.9


# ---- a run


def audit(store, folder, size=60):
    draw_audit(folder, size)
    for pair in audited_pairs(folder)["pair_id"]:
        VerdictLog(store).add(folder.path.name, pair, "match", who="ann")


def judge_outside(store, folder, word="non-match"):
    for pair in outside_pairs(folder)["pair_id"]:
        VerdictLog(store).add(folder.path.name, pair, word, who="ann")


def test_draws_are_never_candidates_and_never_repeat(finished):
    first, second = draw_outside(finished, 40, seed=5), draw_outside(finished, 30)
    assert outside_audits(finished) == [first, second]
    drawn = outside_pairs(finished)
    assert len(drawn) == 70
    assert drawn["pair_id"].is_unique
    assert (drawn[RING] == FAR).sum() == 4 + 3
    ids = read_pair_ids(finished.pairs_file).to_pandas()
    other = read_other_pairs(finished, "risk")
    known = {*zip(ids["ltable_id"], ids["rtable_id"], strict=True)}
    known |= set() if other is None else {*zip(other["ltable_id"], other["rtable_id"], strict=True)}
    assert not known & {*zip(drawn["ltable_id"], drawn["rtable_id"], strict=True)}
    left, right = outside_records(finished)[drawn["pair_id"][0]]
    assert set(left) == set(finished.attributes())
    assert set(right) == set(finished.attributes())
    with pytest.raises(ConfigError, match="cannot be drawn outside"):
        draw_outside(finished, 100_000)


def test_recall_with_what_blocking_missed_stands_beside_that_on_candidates(store, finished):
    audit(store, finished)
    before = estimate_run(finished)
    assert before.with_missed is None
    draw_outside(finished, 60)
    assert estimate_run(finished) == before  # nothing outside is judged yet
    judge_outside(store, finished)
    found = estimate_run(finished)
    assert dataclasses.replace(found, with_missed=None) == before
    missed = found.with_missed
    assert (missed.verdicts, missed.matches, missed.checked, missed.contrary, missed.open) == (54, 0, 6, 0, 0)
    assert missed.recall.value < found.recall.value
    assert missed.f1.value < found.f1.value
    assert missed.missed.low == 0
    assert "6 of them were drawn at random and judged, and none is a match" in missed.sentence
    assert Estimate.from_dict(json.loads(json.dumps(found.to_dict()))).with_missed.recall == missed.recall
    far = outside_pairs(finished).loc[lambda one: one[RING] == FAR, "pair_id"].iloc[0]
    VerdictLog(store).add(finished.path.name, far, "match", who="ann")
    assert "That does not hold: 1 of 6" in estimate_run(finished).with_missed.sentence


@pytest.mark.parametrize("form", FORMATS)
def test_verdicts_outside_the_candidates_are_exchanged_too(store, finished, tmp_path, form):
    audit(store, finished, 20)
    draw_outside(finished, 20)
    judge_outside(store, finished)
    entries = VerdictLog(store).entries(finished.path.name)
    assert export_verdicts(finished, entries, form, tmp_path / "verdicts") == 40
    found = {one.pair_id: one for one in read_verdicts(tmp_path / "verdicts")}
    drawn = outside_pairs(finished).iloc[0]
    one = found[drawn["pair_id"]]
    assert (one.left_id, one.right_id, one.verdict, one.who) == (
        *drawn[["ltable_id", "rtable_id"]], "non-match", "ann",
    )  # fmt: skip
    records = [{k: v for k, v in side.items() if v} for side in outside_records(finished)[drawn["pair_id"]]]
    assert [one.left, one.right] == records
    brought = bring_verdicts(finished, tmp_path / "verdicts")
    assert dataclasses.asdict(record_import(finished, brought))["before"] == 40


def test_unsure_pairs_widen_the_interval(store, finished):
    audit(store, finished)
    draw_outside(finished, 60)
    judge_outside(store, finished)
    sure = estimate_run(finished).with_missed
    near = outside_pairs(finished).loc[lambda one: one[RING] >= 0, "pair_id"].iloc[0]
    VerdictLog(store).add(finished.path.name, near, "unsure", who="ann")
    unsure = estimate_run(finished).with_missed
    assert (unsure.verdicts, unsure.unsure) == (53, 1)
    assert unsure.recall.low < sure.recall.low


def test_later_draws_use_the_same_rings(finished):
    draw_outside(finished, 30)
    before = read_outside(finished)
    draw_outside(finished, 30)
    after = read_outside(finished)
    assert before.facts == after.facts
    assert np.array_equal(before.ring, after.ring)


def test_capture_and_recapture_states_its_assumption(store, finished):
    audit(store, finished)
    found = recaptured(finished, estimate_run(finished))
    assert found.source == BY_RECAPTURE
    assert "Assumes that the two searches miss matches independently" in found.sentence
    assert found.recall.low <= found.recall.value <= estimate_run(finished).recall.value


def test_old_runs_cannot_look_outside(finished):
    finished.records_file.unlink()
    with pytest.raises(ConfigError, match="Run again"):
        outside_tables(finished)


def test_the_commands(store, finished, tmp_path):
    audit(store, finished)
    name, runs, file = finished.path.name, ("--runs", str(finished.path.parent)), tmp_path / "list.csv"
    asked = ["audit", "estimate", name, *runs, "--outside"]
    drawn = CliRunner().invoke(cli.app, [*asked, "--draw", "40", "--out", str(file)])
    assert drawn.exit_code == 0, drawn.output
    assert "40 pairs outside the candidates" in drawn.output
    frame = pd.read_csv(file, dtype=str)
    assert not {RING, "lrow", "likeness"} & set(frame.columns)
    frame.assign(verdict="n").to_csv(file, index=False)
    assert record_import(finished, bring_verdicts(finished, file, who="ann")).added == 40
    shown = CliRunner().invoke(cli.app, ["audit", "estimate", name, *runs])
    assert "with what blocking missed" in shown.output, shown.output
    assert "36 verdicts on pairs outside the candidates (0 matches)" in shown.output
