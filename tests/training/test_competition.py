"""Competing candidates: the strongest other pair of each record, and a model in which it may only count against."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.config import CompetitionConfig, MatcherConfig, RunConfig, TuneConfig
from riskcore.data.pairs import Pairs, Table
from riskcore.data.reading import open_data
from riskcore.data.samples import find_sample
from riskcore.data.workload import build_workload
from riskcore.training import competition as module
from riskcore.training.competition import CandidatePool, CompetingCandidates, competitor_inputs, fit_competition
from riskcore.training.gather import gather


def table(size: int) -> Table:
    ids = np.array([str(row) for row in range(size)], dtype=object)
    return Table("made up", ids, pd.DataFrame({"name": ["x"] * size}))


def pairs_of(left: Table, right: Table, rows: list[tuple[int, int]]) -> Pairs:
    one, other = (np.array([row[side] for row in rows], dtype=np.int64) for side in (0, 1))
    return Pairs(left, right, one, other, np.array([f"{a}:{b}" for a, b in rows], dtype=object))


ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=25)


@settings(max_examples=150, deadline=None)
@given(ROWS, ROWS, st.booleans(), st.integers(0, 9))
def test_the_strongest_other_pair_by_brute_force(
    first: list[tuple[int, int]], second: list[tuple[int, int]], self_join: bool, seed: int
) -> None:
    left = table(5)
    right = left if self_join else table(5)
    parts = [pairs_of(left, right, first), pairs_of(left, right, second)]
    log_odds = np.random.default_rng(seed).integers(-3, 4, len(first) + len(second)).astype(float)
    found = CandidatePool(parts).strongest(log_odds)
    records = [({("L", a)}, {("L" if self_join else "R", b)}) for a, b in first + second]
    for pair, sides in enumerate(records):
        for side in (0, 1):
            others = [
                log_odds[other]
                for other, both in enumerate(records)
                if other != pair and sides[side] & set.union(*both)
            ]
            assert found[pair, side] == max(others, default=-np.inf)


def test_tables_of_other_data_sets_share_no_record() -> None:
    left, right = table(3), table(3)
    pool = CandidatePool([pairs_of(left, right, [(0, 0)]), pairs_of(table(3), table(3), [(0, 0)])])
    assert np.isneginf(pool.strongest(np.zeros(2))).all()


def test_inputs_run_from_nothing_to_a_certain_competitor() -> None:
    config = CompetitionConfig(clip=3.0)
    found = competitor_inputs(np.array([[-np.inf, -3.0], [0.0, 99.0]]), config)
    assert found.tolist() == [[0.0, 0.0], [3.0, 6.0]]


def test_a_competitor_never_counts_in_favour_of_a_pair() -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(500) < 0.5).astype(np.int8)
    competitors = np.column_stack([6.0 * labels, 6.0 * (1 - labels)])  # left speaks for a match, right against one
    fitted = fit_competition(rng.normal(size=500), competitors, labels, CompetitionConfig())
    assert fitted.left == 0
    assert fitted.right < -0.3


def test_without_penalty_it_is_logistic_regression() -> None:
    rng = np.random.default_rng(1)
    stacked, competitors = rng.normal(0, 2, 4000), rng.uniform(0, 6, (4000, 2))
    margin = 1.0 + 0.8 * stacked - 0.5 * competitors[:, 0] - 0.2 * competitors[:, 1]
    labels = (rng.random(4000) < 1 / (1 + np.exp(-margin))).astype(np.int8)
    free = CompetitionConfig(penalty=0, offset_penalty=0, scale_penalty=0)
    found = dataclasses.astuple(fit_competition(stacked, competitors, labels, free))
    assert found == pytest.approx((1.0, 0.8, -0.5, -0.2), abs=0.15)
    held = CompetitionConfig(penalty=1e9, offset_penalty=1e9, scale_penalty=1e9)
    assert dataclasses.astuple(fit_competition(stacked, competitors, labels, held)) == pytest.approx(
        (0, 1, 0, 0), abs=1e-3
    )


@pytest.fixture(scope="module")
def candidates() -> tuple[CompetingCandidates, np.ndarray, np.ndarray, np.ndarray]:
    """The products, each of which has at most one counterpart, with noisy predictions; and the target's truth."""
    data = open_data(find_sample("products").path)
    workload, truth = build_workload(data)
    config = RunConfig(matcher=MatcherConfig(kind="toy"), tune=TuneConfig(epochs=1))
    evidence = gather(workload, config)
    rng = np.random.default_rng(0)

    def predicted(labels: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-(np.where(labels == 1, 1.5, -1.5) + rng.normal(0, 1.5, len(labels)))))

    return (
        CompetingCandidates(evidence, config),
        predicted(workload.validation.labels),
        predicted(truth.labels),
        truth.labels,
    )


def test_one_counterpart_each_makes_competitors_count(candidates) -> None:
    competing, out_of_fold, probability, truth = candidates
    fitted, validated, adjusted = competing.compete(out_of_fold, probability)
    assert fitted is not None
    assert min(fitted.left, fitted.right) < -0.1
    assert ((adjusted >= 0.5) != truth).sum() < 0.9 * ((probability >= 0.5) != truth).sum()
    assert competing._loss(np.log(validated / (1 - validated))) < competing._loss(competing._log_odds(out_of_fold))


def test_competitors_that_say_nothing_are_left_out(candidates, monkeypatch: pytest.MonkeyPatch) -> None:
    competing, out_of_fold, probability, _ = candidates
    noise = np.random.default_rng(3).normal(0, 3, (10_000, 2))
    monkeypatch.setattr(module.CandidatePool, "strongest", lambda self, log_odds: noise[: len(log_odds)])
    fitted, validated, adjusted = competing.compete(out_of_fold, probability)
    assert fitted is None
    assert validated is out_of_fold
    assert adjusted is probability


def test_it_can_be_switched_off(candidates) -> None:
    competing, out_of_fold, probability, _ = candidates
    off = CompetingCandidates(
        competing._evidence, dataclasses.replace(competing._config, competition=CompetitionConfig(use=False))
    )
    assert off.compete(out_of_fold, probability) == (None, out_of_fold, probability)


def test_a_pairs_own_label_does_not_reach_its_out_of_fold_probability(candidates) -> None:
    """Flip one validation label: its own input does not move, whatever the others' do."""
    competing, out_of_fold, probability, _ = candidates
    validation, target = competing._log_odds(out_of_fold), competing._log_odds(probability)
    fold, rest = competing._folds[0]
    before = competing._inputs(validation, target, rest)
    flipped = CompetingCandidates(competing._evidence, competing._config)
    flipped._labels = competing._labels.copy()
    flipped._labels[fold[0]] = 1 - flipped._labels[fold[0]]
    after = flipped._inputs(validation, target, rest)
    np.testing.assert_array_equal(before, after)


def test_unseen_pairs_meet_the_same_model(candidates) -> None:
    competing, out_of_fold, probability, _ = candidates
    fitted, _, adjusted = competing.compete(out_of_fold, probability)
    assert fitted is not None
    target = competing._parts[1]
    twin = competing.predict_unseen(fitted, np.full(len(target), 1e-9), target, probability)
    assert twin == pytest.approx(adjusted, abs=1e-6)  # the same pairs, offered as unseen in place of the target's


def test_source_pairs_teach_where_they_share_records(candidates) -> None:
    """With forty validation labels the model still learns that products have one counterpart each."""
    competing, out_of_fold, probability, _ = candidates
    few = CompetingCandidates(competing._evidence, competing._config)
    alone = CompetingCandidates(competing._evidence, competing._config)
    alone._source_predicted = None
    rows = np.arange(40)
    inputs = few._inputs(few._log_odds(out_of_fold), few._log_odds(probability), rows)
    taught, untaught = (one._fit(one._log_odds(out_of_fold), inputs, rows) for one in (few, alone))
    assert taught.left + taught.right < 1.5 * (untaught.left + untaught.right) < 0


def test_source_pairs_of_another_data_set_do_not_teach() -> None:
    source, target = (open_data(find_sample(name).path) for name in ("bibliography_clean", "bibliography_scraped"))
    workload, _ = build_workload(source, target)
    config = RunConfig(matcher=MatcherConfig(kind="toy"), tune=TuneConfig(epochs=1))
    assert CompetingCandidates(gather(workload, config), config)._source_predicted is None


def test_a_target_without_unseen_pairs_has_none_to_predict(candidates) -> None:
    competing, out_of_fold, probability, _ = candidates
    fitted, _, _ = competing.compete(out_of_fold, probability)
    assert fitted is not None
    nothing = competing._parts[1].take(slice(0))
    assert len(competing.predict_unseen(fitted, probability, nothing, np.zeros(0))) == 0
