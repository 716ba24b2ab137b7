"""Balance sheets of real runs: they add up to what the screens show, on every pair and for every method."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from riskcore.config import MatcherConfig
from riskcore.data import find_sample
from riskcore.risk.balance import BEFORE, BROUGHT, COMPETITION
from riskcore.rules.firing import fired_on
from riskcore.runs import PairQuery, RunFolder, query_pairs
from riskcore.runs.readers.pair_detail import pair_detail, pair_records
from riskcore.runs.readers.pair_sheet import (
    count_leading,
    pair_sheet,
    reasons_of_rows,
    sheet_facts,
    sheet_method,
)
from riskcore.runs.worker import sheets
from riskcore.training.fitted_learners import log_odds
from tests.apply.finished import finished, shifted

EXACT = 1e-6
CLOSEST = float(np.finfo(float).eps)
METHODS = ("tradition", "risk", "risk+")
ATTRIBUTES = ("title", "authors", "venue", "year")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return finished(tmp_path_factory.mktemp("runs"), shifted())


@pytest.fixture(scope="module")
def external(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Scores that another matcher might have given: right as a rule, some of them certain."""
    root = tmp_path_factory.mktemp("external")
    sample, chance = find_sample("bibliography_scraped").path, np.random.default_rng(0)
    parts = [pd.read_csv(sample / f"{split}.csv", dtype=str) for split in ("train", "valid", "test")]
    pairs = pd.concat(parts, ignore_index=True)
    likely = np.clip(pairs["label"].astype(float) * 0.6 + chance.normal(0.2, 0.3, len(pairs)), 0, 1)
    ids = pairs["ltable_id"] + ":" + pairs["rtable_id"]
    pd.DataFrame({"id": ids, "probability": likely}).to_csv(root / "scores.csv", index=False)
    matcher = MatcherConfig(kind="external", scores=str(root / "scores.csv"))
    return finished(root / "runs", shifted(matcher=matcher))


def shown_log_odds(folder: RunFolder, method: str) -> np.ndarray:
    """Of the probabilities that the screens show."""
    probability = pq.read_table(folder.final_file, columns=[method]).column(method).to_numpy()
    return log_odds(probability, CLOSEST)


@pytest.mark.parametrize("method", METHODS)
def test_sheets_add_up_to_the_shown_log_odds(run: RunFolder, method: str) -> None:
    shown, facts = shown_log_odds(run, method), sheet_facts(run, method)
    assert facts["pairs"] == facts["of"] == len(shown) == 600
    for row in range(len(shown)):
        sheet = pair_sheet(run, method, row)
        assert sheet is not None
        total = sheet.total if sheet.matcher_alone is None else sum(sheet.matcher_alone.values())
        assert abs(total - shown[row]) < EXACT
        assert abs(sheet.prior + sum(sheet.by_subject.values()) - sheet.total) < EXACT
        assert abs(sheet.offset + sum(voice.total for voice in sheet.voices) - sheet.total) < EXACT


def test_external_scores_are_one_part_and_add_up(external: RunFolder) -> None:
    shown = shown_log_odds(external, "tradition")
    for row in range(0, len(shown), 7):
        sheet = pair_sheet(external, "tradition", row)
        assert sheet is not None
        assert sheet.matcher_alone is not None
        assert abs(sheet.matcher_alone[BROUGHT] - shown[row]) < EXACT
        assert sum(abs(part) for name, part in sheet.matcher_alone.items() if name != BROUGHT) == 0
    stacked = shown_log_odds(external, "risk+")
    sheet = pair_sheet(external, "risk+", 0)
    assert sheet is not None
    assert abs(sheet.total - stacked[0]) < EXACT


def test_the_offset_is_the_same_for_every_pair(run: RunFolder) -> None:
    """It takes what rounding leaves: if it took more, a voice would not add up. Competition squeezes certain pairs."""
    table = pq.read_table(run.sheets_file("risk")).to_pandas()
    assert COMPETITION in sheet_facts(run, "risk")["voices"]
    usual = np.median(table["offset"])
    assert (np.abs(table["offset"] - usual) < 1e-6).mean() > 0.3
    assert np.abs(table["offset"]).max() < 5


def test_rules_and_metrics_are_the_parts_that_voices_say(run: RunFolder) -> None:
    facts, rules = sheet_facts(run, "risk+"), run.rules().rules
    for row in (0, 17, 333):
        detail = pair_detail(
            run,
            query_pairs(run, PairQuery(method="risk+", sort="row", descending=False, page_size=600))
            .rows["pair_id"]
            .iloc[row],
            "risk+",
            row=row,
        )
        sheet = pair_sheet(run, "risk+", row, detail.fired)
        assert sheet is not None
        of_metrics = [voice for voice in sheet.voices if "forest" in voice.name or voice.name == "linear model"]
        expected = sum(part for voice in of_metrics for name, part in voice.parts.items() if name != BEFORE)
        assert abs(sum(sheet.metrics.values()) - expected) < EXACT
        assert set(sheet.rules) <= set(fired_on(rules, detail.metrics))
        # What the rules say beside the matcher's output, which is one of their inputs.
        told = {term["rule"] for term in facts["rules"]}
        assert all(
            (sheet.rules[number] > 0) == (_mean(facts, number) > 0.5) or sheet.rules[number] == 0
            for number in sheet.rules
            if _weight(facts, "rules") > 0
        )
        assert set(sheet.rules) == set(detail.fired) & told


def _has_no_value(folder: RunFolder, row: int, name: str) -> bool:
    left, right = pair_records(folder, row)
    return left[name] is None or right[name] is None


def _mean(facts, number: int) -> float:
    return next(term["mean"] for term in facts["rules"] if term["rule"] == number)


def _weight(facts, voice: str) -> float:
    return facts["weights"][facts["voices"].index(voice)]


def test_the_leading_subject_is_the_strongest_one(run: RunFolder) -> None:
    told = reasons_of_rows(run, "risk+", list(range(600)))
    for row in range(0, 600, 29):
        sheet = pair_sheet(run, "risk+", row)
        assert sheet is not None
        towards = {name: part * (1 if sheet.says_match else -1) for name, part in sheet.by_subject.items()}
        missing = {name for name in ATTRIBUTES if _has_no_value(run, row, name)}
        said = {name: part for name, part in towards.items() if name in ATTRIBUTES and name not in missing}
        assert sheet.leading not in missing
        if sheet.leading in said:
            assert said[sheet.leading] == pytest.approx(max(said.values()))
        elif sheet.leading:  # another candidate, or the whole record: clearly more than any attribute
            assert towards[sheet.leading] > 1.9 * max(said.values(), default=0)
        assert told.loc[row, "leading"] == sheet.leading
        assert 0 <= told.loc[row, "stability"] <= 1
    counts = count_leading(run, "risk+")
    assert sum(counts.values()) == (told["leading"] != "").sum()


def test_iterations_know_whose_sheets_explain_them(run: RunFolder) -> None:
    kept = run.kept("risk")
    assert sheet_method(run, "risk") == "risk"
    assert sheet_method(run, "risk", kept) == "risk"
    others = [one for one in run.iterations("risk") if one not in (kept, 0)]
    assert all(sheet_method(run, "risk", one) is None for one in others)
    if kept != 0:
        assert sheet_method(run, "risk", 0) == "tradition"


def test_of_a_large_target_the_riskiest_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    from riskcore.training.results import LabelRisk, MethodResult

    risk = LabelRisk(np.array([0.1, 0.9, 0.3, 0.8]), "stacked evidence", (), True)
    result = MethodResult("risk", np.full(4, 0.5), None, (), {}, risk=risk)
    assert sheets.explained_rows(result, cheap=True).tolist() == [0, 1, 2, 3]
    monkeypatch.setattr(sheets, "ALL_PAIRS", 3)
    monkeypatch.setattr(sheets, "RISKIEST", 2)
    monkeypatch.setattr(sheets, "RISKIEST_SLOWLY", 1)
    assert sheets.explained_rows(result, cheap=True).tolist() == [1, 3]
    assert sheets.explained_rows(result, cheap=False).tolist() == [1]
