"""Groups of errors against the same counts taken from whole tables, and the review of a group by a sample."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from riskcore.audit import VerdictLog
from riskcore.audit.draws import draw_pairs, drawn_pairs
from riskcore.audit.error_kinds import count_flagged, error_kinds, measure_kinds
from riskcore.audit.estimate import draw_audit
from riskcore.audit.estimate.runs import audited_pairs
from riskcore.audit.group_review import SAMPLE, review_group
from riskcore.audit.outside_draws import AUDITS
from riskcore.audit.verdicts import bulk_note, is_bulk
from riskcore.rules.rule import Condition, Rule
from riskcore.rules.sentences import condition_sentence
from riskcore.runs import PairQuery, RunFolder, RunStore, query_pairs
from riskcore.storage.files import write_parquet
from tests.pages.synthetic_run import write_run

PAIRS = 600
PLANTED = (Condition("title", "jaccard", ">", 0.5), Condition("year", "differs", ">", 0.5))


@pytest.fixture(scope="module")
def planted_once(tmp_path_factory):
    """A run in which nearly all likely errors have similar titles and different years."""
    root = tmp_path_factory.mktemp("kinds") / "runs"
    return root, write_run(root, PAIRS, 2, methods=("risk",))


@pytest.fixture
def folder(planted_once, tmp_path):
    """The scores are written again for each test: some change them."""
    folder = RunFolder(planted_once[1].folder)
    table = pq.read_table(folder.scores_file("risk", 1)).to_pandas()
    metrics = pq.read_table(folder.metrics_file).to_pandas()
    wrong = (metrics["title.jaccard"] > 0.5) & (metrics["year.differs"] > 0.5)
    risk = np.where(wrong, 0.9, 0.05)
    risk[np.flatnonzero(~wrong)[:4]] = 0.7  # and a few of any kind
    write_parquet(folder.scores_file("risk", 1), pa.Table.from_pandas(table.assign(risk=risk), preserve_index=False))
    return folder


@pytest.fixture
def whole(folder):
    """Scores and metrics of all pairs, in memory."""
    scores = pq.read_table(folder.scores_file("risk", 1)).to_pandas()
    return pd.concat([scores, pq.read_table(folder.metrics_file).to_pandas()], axis=1)


def met(whole, conditions):
    holds = [
        whole[one.metric.key] > one.cut if one.side == ">" else whole[one.metric.key] <= one.cut for one in conditions
    ]
    return np.logical_and.reduce(holds)


def verdicts_on(whole, count=60):
    words = np.resize(["match", "non-match", "unsure"], count)
    return dict(zip(whole["pair_id"][:count], words.tolist(), strict=True))


def test_the_planted_kind_leads(folder, whole):
    first = error_kinds(folder, "risk", 1, {})[0]
    assert {(one.metric.key, one.side) for one in PLANTED} <= {(one.metric.key, one.side) for one in first.conditions}
    planted = met(whole, PLANTED)
    assert (met(whole, first.conditions) & planted).sum() >= 0.9 * planted.sum()


def test_counts_are_those_of_the_whole_table(folder, whole):
    verdicts = verdicts_on(whole)
    kinds = error_kinds(folder, "risk", 1, verdicts)
    assert kinds
    said = whole["pair_id"].map(verdicts)
    wrong = said.isin(["match", "non-match"]) & ((said == "match") != (whole["label"] == 1))
    assert wrong.any()
    flagged = (whole["risk"] >= 0.5) | wrong
    for kind in kinds:
        rows = met(whole, kind.conditions)
        assert kind.pairs == rows.sum()
        assert kind.flagged == flagged[rows].sum()
        assert kind.expected == pytest.approx(whole["risk"][rows].sum())
        assert kind.judged == said[rows].notna().sum()
        assert kind.wrong == wrong[rows].sum()
        assert kind.label == int(whole["label"][rows].mean() > 0.5)
        assert kind.flagged_label == int(whole["label"][rows & flagged].mean() > 0.5)
        assert kind.flagged / kind.pairs > flagged.mean()
    assert [kind.flagged for kind in kinds] == sorted((kind.flagged for kind in kinds), reverse=True)
    assert count_flagged(folder, "risk", 1, verdicts) == flagged.sum()


def test_groups_are_disjoint_and_are_what_the_queue_shows(folder, whole):
    kinds = error_kinds(folder, "risk", 1, verdicts_on(whole))
    members = np.array([met(whole, kind.conditions) for kind in kinds])
    assert members.sum(axis=0).max() == 1
    for kind in kinds:
        assert query_pairs(folder, PairQuery(iteration=1, kind=kind.conditions)).total == kind.pairs
        assert Rule.parse(f"{kind.text} -> match").conditions == kind.conditions


def test_a_kind_has_a_name(folder, whole):
    (kind,) = measure_kinds(folder, "risk", 1, verdicts_on(whole), [PLANTED])
    sentence = ", ".join(map(condition_sentence, PLANTED))
    assert kind.name == f"{sentence}: {kind.pairs} pairs, {kind.judged} judged, {kind.wrong} wrong"
    (alone,) = measure_kinds(folder, "risk", 1, {}, [PLANTED])
    assert alone.name == f"{sentence}: {kind.pairs} pairs, none judged"


def test_verdicts_alone_flag_pairs(folder, whole):
    """Where no risk is high, what people found wrong still forms groups."""
    low = pa.Table.from_pandas(
        whole[list(pq.read_schema(folder.scores_file("risk", 1)).names)].assign(risk=0.01), preserve_index=False
    )
    write_parquet(folder.scores_file("risk", 1), low)
    assert error_kinds(folder, "risk", 1, {}) == []
    rows = whole[met(whole, PLANTED)]
    labels = rows.set_index("pair_id")["label"]
    verdicts = {pair: "non-match" if label else "match" for pair, label in labels.items()}
    kinds = error_kinds(folder, "risk", 1, verdicts)
    assert sum(kind.wrong for kind in kinds) >= 0.9 * len(rows)
    assert all(kind.wrong == kind.flagged for kind in kinds)


def test_the_same_seed_gives_the_same_groups(folder, monkeypatch):
    monkeypatch.setattr("riskcore.audit.error_kinds.MOST_OTHERS", 150)
    monkeypatch.setattr("riskcore.audit.error_kinds.MOST_FLAGGED", 20)
    assert error_kinds(folder, "risk", 1, {}, seed=3) == error_kinds(folder, "risk", 1, {}, seed=3)
    assert error_kinds(folder, "risk", 1, {}, seed=3)[0].flagged > 20  # counted on all pairs


def test_too_few_flagged_pairs_are_no_kind(folder):
    assert error_kinds(folder, "risk", 1, {}, flagged_risk=0.99) == []


@pytest.fixture
def log(planted_once):
    log = VerdictLog(RunStore(planted_once[0]))
    run = planted_once[1].id
    yield log
    for who in {entry.who for entry in log.entries(run)}:
        for pair in log.current(run, who):
            log.undo(run, pair, who)


def judged_sample(log, folder, words):
    """Judge the sample of the planted group with these words, the last one for all that are left."""
    run, review = folder.path.name, review_group(folder, PLANTED, {})
    for place, pair in enumerate(review.sample):
        log.add(run, pair, words[min(place, len(words) - 1)], who="ann")
    return review_group(folder, PLANTED, log.current(run))


def test_a_sample_is_drawn_once_for_everyone(folder, whole, log):
    members = whole[met(whole, PLANTED)]
    review = review_group(folder, PLANTED, {})
    assert list(review.sample) == list(review_group(folder, PLANTED, {}).sample)
    assert len(review.sample) == SAMPLE < len(members)
    assert {pair: whole["pair_id"][row] for pair, row in review.sample.items()} == {
        pair: pair for pair in review.sample
    }
    assert set(review.sample) < set(members["pair_id"])
    assert list(review.sample) != list(members["pair_id"][:SAMPLE])
    assert list(review_group(folder, PLANTED, {}, 2 * SAMPLE).sample)[:SAMPLE] == list(review.sample)
    assert (review.agreed, review.next, review.judged) == (None, next(iter(review.sample)), 0)
    assert set(review.unjudged) == set(members["pair_id"])


def test_only_a_sample_that_agrees_speaks_for_the_others(folder, log):
    review = judged_sample(log, folder, ["match"])
    assert (review.agreed, review.next, review.judged) == ("match", None, SAMPLE)
    assert not set(review.unjudged) & set(review.sample)
    assert review.most_different == pytest.approx(0.2589, abs=1e-4)
    assert (1 - review.most_different) ** SAMPLE == pytest.approx(0.05)


@pytest.mark.parametrize("words", [["non-match", "match"], ["unsure", "match"], ["unsure"]])
def test_a_sample_that_differs_or_is_unsure_does_not(folder, log, words):
    review = judged_sample(log, folder, words)
    assert (review.agreed, review.next) == (None, None)
    assert sum(review.counts.values()) == SAMPLE


def test_bulk_verdicts_are_known_and_are_never_a_sample(folder, log):
    run, review = folder.path.name, judged_sample(log, folder, ["match"])
    added = log.add_many(run, review.unjudged, "match", bulk_note(SAMPLE, "match"), "ann")
    assert all(map(is_bulk, added))
    after = review_group(folder, PLANTED, log.current(run))
    assert after.unjudged == ()
    assert list(after.sample) == list(review.sample)
    assert list(after.bulk) == list(review.unjudged)
    assert set(review_group(folder, PLANTED, log.current(run), 3 * SAMPLE).sample) == set(review.sample)


@pytest.mark.parametrize("draw", [draw_pairs, draw_audit])
def test_drawn_pairs_are_left_to_be_judged_alone(folder, planted_once, draw):
    before = review_group(folder, PLANTED, {})
    draw(folder, 100, seed=1)
    try:
        drawn = {*drawn_pairs(folder)["pair_id"], *audited_pairs(folder)["pair_id"]}
        after = review_group(folder, PLANTED, {})
        assert drawn & set(before.unjudged)
        assert set(after.unjudged) == set(before.unjudged) - drawn
        assert after.held_back == len(drawn & set(before.unjudged))
    finally:
        for file in (*folder.draws.glob("draw-*.parquet"), *(folder.path / AUDITS).glob("*.parquet")):
            file.unlink()


def test_a_group_smaller_than_a_sample_is_judged_whole(folder, whole):
    few = (
        *PLANTED,
        Condition("title", "jaccard", ">", float(whole["title.jaccard"][met(whole, PLANTED)].nlargest(5).iloc[-1])),
    )
    review = review_group(folder, few, {})
    assert 0 < len(review.sample) < SAMPLE
    assert set(review.sample) == set(review.unjudged)
