"""Ranking another matcher's answers, with and without labels."""

import numpy as np
import pandas as pd
import pytest

import riskcore as rc
from riskcore import columns
from riskcore.errors import ConfigError, MatcherError
from riskcore.risk import auroc
from tests.api.conftest import SCRIPT


@pytest.fixture(scope="module")
def data(target):
    return rc.from_frames(target.left, target.right, target.unlabelled, name="new")


@pytest.fixture(scope="module")
def answers(target):
    """Every seventh answer is wrong, and none says so itself."""
    truth = target.truth.to_numpy()
    said = np.where(np.arange(len(truth)) % 7 == 0, 1 - truth, truth)
    chance = np.random.default_rng(0).uniform(0.6, 0.9, len(truth))
    return pd.Series(np.where(said == 1, chance, 1 - chance), index=target.truth.index)


def quality(ranked, target):
    wrong = ranked.frame["label"].to_numpy() != target.truth.loc[ranked.frame["pair_id"]].to_numpy()
    return auroc(ranked.frame["risk"].to_numpy(), wrong)


def test_without_labels_by_confidence(data, answers):
    ranked = rc.rank(data, answers)
    assert list(ranked.frame) == list(columns.RANK_COLUMNS)
    assert (ranked.ranked_by, ranked.labels_used) == ("confidence", ())
    assert "confidence" in ranked.notices[0]
    assert np.allclose(ranked.frame["risk"], 1 - ranked.frame["confidence"])
    assert len(ranked) == 150


def test_by_rules_of_the_validation_labels(data, answers, target):
    ranked = rc.rank(data, answers, validation=target.truth[:75])
    assert (ranked.ranked_by, ranked.labels_used) == ("risk", ("validation",))
    assert len(ranked) == 75
    assert not set(ranked.frame["pair_id"]) & set(target.truth.index[:75])
    assert quality(ranked, target) > 0.75  # by confidence it is about 0.5
    first = ranked.top(1)
    assert first["reasons"][0].endswith(": match" if first["label"][0] == 0 else ": non-match")


def test_by_rules_of_a_source(data, answers, source, target):
    labelled = rc.from_frames(*source)
    fitted = rc.rank(data, answers, source=labelled, validation=target.truth[:75])
    assert fitted.labels_used == ("source", "validation")
    prior = rc.rank(data, answers, source=labelled)
    assert prior.labels_used == ("source",)
    assert len(prior) == 150
    assert min(quality(fitted, target), quality(prior, target)) > 0.9


def test_scores_in_every_form(data, answers, target):
    expected = rc.rank(data, answers).frame
    records = target.unlabelled.assign(probability=answers.to_numpy())
    ids = pd.DataFrame({"pair_id": answers.index, "probability": answers.to_numpy()})
    by_records = records.set_index(["ltable_id", "rtable_id"])["probability"]
    forms = (answers.to_dict(), records, ids, ids.rename(columns={"pair_id": "id"}), by_records, by_records.to_dict())
    for form in forms:
        pd.testing.assert_frame_equal(rc.rank(data, form).frame, expected)


def test_bad_scores(data, answers):
    with pytest.raises(MatcherError, match="1 of 150 pairs have no probability"):
        rc.rank(data, answers[1:])
    with pytest.raises(MatcherError, match="not a number from 0 to 1 in record 3 "):
        rc.rank(data, answers.where(np.arange(150) != 3, 1.5))
    with pytest.raises(ConfigError, match="no column 'probability'"):
        rc.rank(data, pd.DataFrame({"pair_id": answers.index, "score": answers.to_numpy()}))
    with pytest.raises(ConfigError, match="names no pairs"):
        rc.rank(data, pd.DataFrame({"probability": answers.to_numpy()}))


@pytest.mark.parametrize("bad", [np.nan, np.inf, None])
def test_pairs_that_name_no_record_are_told(data, answers, target, bad):
    validation = target.pairs[:3].assign(ltable_id=[1.0, 2.0, bad])
    with pytest.raises(rc.DataFormatError) as raised:
        rc.rank(data, answers, validation=validation)
    assert [problem.kind for problem in raised.value.problems] == ["unknown_id"] * 3


def test_a_column_that_is_there_twice_is_told(data, answers, target):
    with pytest.raises(ConfigError, match="validation has two columns named 'label'"):
        rc.rank(data, answers, validation=pd.concat([target.pairs, target.pairs[["label"]]], axis=1)[:9])


def test_labels_without_a_rule_are_not_said_to_be_used(data, answers, target, source):
    one_class = target.truth[target.truth == 1][:3]
    alone = rc.rank(data, answers, validation=one_class)
    assert alone.labels_used == ()
    assert len(alone.notices) == 1
    assert "No rule was found" in alone.notices[0]
    matches = source.pairs[source.pairs["label"] == 1]
    with_source = rc.rank(data, answers, source=rc.from_frames(source.left, source.right, matches))
    assert with_source.labels_used == ()


def test_a_file_without_splits_is_ranked_whole(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("id,left_name,right_name\n1,red cup,red cup\n2,red cup,blue pot\n", encoding="utf-8")
    ranked = rc.rank(rc.read(file), {"1": 0.9, "2": 0.4})
    assert list(ranked.frame["pair_id"]) == ["2", "1"]


def test_no_validation_labels_are_as_good_as_none(data, answers, source):
    labelled = rc.from_frames(*source)
    assert rc.rank(data, answers, source=labelled, validation={}).labels_used == ("source",)


def test_a_ranking_shows_itself_without_markup(source, answers, target):
    pairs = target.unlabelled.replace({"a0": SCRIPT})
    hostile = rc.from_frames(target.left.replace({"a0": SCRIPT}), target.right, pairs)
    ranked = rc.rank(hostile, dict(zip(hostile.splits["test"].ids, [0.5] * 150, strict=True)))
    assert "150 pairs ranked by confidence" in repr(ranked)
    assert "<script>" not in ranked._repr_html_()
    assert "&lt;script&gt;" in ranked._repr_html_()
