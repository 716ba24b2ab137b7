"""Scoring against a plain re-implementation; bounds; JSON; a person's decisions."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from riskcore.config import RiskConfig
from riskcore.risk import RiskModel, RiskModelError, prior_model
from tests.risk.synthetic import plain_scores, random_model, random_pairs


def same(one: RiskModel, other: RiskModel) -> bool:
    return all(
        np.array_equal(getattr(one, f.name), getattr(other, f.name), equal_nan=f.name == "decided")
        for f in dataclasses.fields(RiskModel)
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 12), st.integers(1, 25), st.sampled_from([1, 3, 7, 1000]))
def test_every_pair_scores_as_the_formulas_say(seed, rules, pairs, chunk):
    model, (x, fired) = random_model(rules, seed), random_pairs(pairs, rules, seed)
    if rules > 4:
        model = model.with_rules(muted=["rule 0"], pinned=["rule 1"], weights={"rule 2": 0.4})
    scores = model.score(x, fired, config=RiskConfig(chunk_pairs=chunk))
    dense = fired.toarray()
    for i in range(pairs):
        label = int(x[i] >= 0.5)
        expected = plain_scores(model, x[i], dense[i], label)
        found = [scores.mu[i], scores.sigma[i], scores.var_match[i], scores.var_non_match[i], scores.risk[i]]
        assert np.allclose(found, expected, rtol=0, atol=1e-10)
        assert scores.label[i] == label


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("kind", [np.uint8, bool, np.float32, np.int64])
def test_threads_and_the_type_of_the_ones_change_nothing(workers, kind):
    model, (x, fired) = random_model(40), random_pairs(1000, 40)
    reference = model.score(x, fired, config=RiskConfig(chunk_pairs=10_000))
    scores = model.score(x, fired.astype(kind), config=RiskConfig(chunk_pairs=64, workers=workers))
    assert np.array_equal(scores.risk, reference.risk)


def test_other_sparse_formats_stored_zeros_and_unsorted_columns_are_understood():
    model, (x, fired) = random_model(20), random_pairs(50, 20)
    reference = model.score(x, fired).risk
    assert np.array_equal(model.score(x, fired.tocoo()).risk, reference)
    assert np.array_equal(model.score(x, sparse.csr_matrix(fired)).risk, reference)
    with_zeros = sparse.csr_array(np.ones((50, 20)))
    with_zeros.data[:] = fired.toarray().ravel()
    assert np.allclose(model.score(x, with_zeros).risk, reference, rtol=0, atol=1e-15)
    backwards = fired[:, ::-1][:, ::-1]
    assert np.allclose(model.score(x, backwards).risk, reference, rtol=0, atol=1e-15)
    twice = sparse.csr_array((np.ones(2), np.array([3, 3]), np.array([0, 2])), shape=(1, 20))
    once = sparse.csr_array((np.ones(1), np.array([3]), np.array([0, 1])), shape=(1, 20))
    assert model.score(x[:1], twice).risk == model.score(x[:1], once).risk
    assert twice.nnz == 2  # the caller's matrix is left as it was


def test_without_rules_the_matcher_speaks_alone():
    model = prior_model([], np.empty(0), np.empty(0))
    x = np.array([0.0, 0.3, 0.5, 1.0])
    scores = model.score(x, sparse.csr_array((4, 0)))
    assert np.allclose(scores.mu, x)
    assert np.allclose(scores.sigma, 0.5 * np.maximum(x, 0.1))


def test_no_pairs_is_no_error():
    scores = random_model(3).score(np.empty(0), sparse.csr_array((0, 3)))
    assert len(scores) == 0
    assert scores.top(10).tolist() == []


def test_given_labels_choose_the_risk():
    model, (x, fired) = random_model(10), random_pairs(30, 10)
    scores = model.score(x, fired, labels=np.ones(30))
    assert np.array_equal(scores.risk, scores.var_match)
    assert np.array_equal(model.score(x, fired, labels=np.zeros(30)).risk, scores.var_non_match)


@pytest.mark.parametrize(
    ("x", "shape", "labels", "says"),
    [
        ([0.1, np.nan], (2, 3), None, "pair 1"),
        ([0.1, 1.5], (2, 3), None, "pair 1"),
        ([0.1, 0.5], (2, 4), None, "2 x 4"),
        ([0.1, 0.5], (3, 3), None, "3 x 3"),
        ([0.1, 0.5], (2, 3), [0, 2], "0 or 1"),
        ([0.1, 0.5], (2, 3), [0], "0 or 1"),
    ],
)
def test_what_cannot_be_scored_is_refused_by_name(x, shape, labels, says):
    with pytest.raises(RiskModelError, match=says):
        random_model(3).score(np.array(x), sparse.csr_array(shape), None if labels is None else np.array(labels))


def test_an_unsure_matcher_weighs_less():
    model = prior_model(["r"], np.array([0.9]), np.array([10]))
    weight = model.matcher_weight(np.array([0.0, 0.2, 0.5, 0.8, 1.0]))
    assert weight[2] == pytest.approx(1.0)  # a
    assert weight[0] == weight[4] == pytest.approx(2 - np.exp(-0.5))
    assert weight[1] == pytest.approx(weight[3])
    assert weight[0] > weight[1] > weight[2]


def test_slices_of_the_matchers_output():
    model = random_model(1)
    assert model.bucket(np.array([0.0, 0.0199, 0.02, 0.5, 0.999, 1.0])).tolist() == [0, 0, 1, 25, 49, 49]


def test_saved_and_loaded_is_the_same_to_the_last_bit():
    model = random_model(30).with_rules(muted=["rule 3"], pinned=["rule 4"], weights={"rule 5": 1 / 3})
    again = RiskModel.from_json(model.to_json())
    assert same(model, again)
    x, fired = random_pairs(200, 30)
    assert np.array_equal(model.score(x, fired).risk, again.score(x, fired).risk)


def test_the_saved_model_names_and_bounds_every_parameter():
    saved = json.loads(random_model(2).with_rules(muted=["rule 1"]).to_json())
    assert saved["rules"][1]["rule"] == "rule 1"
    assert saved["rules"][1]["state"] == "muted"
    assert {"mean", "support", "rsd", "weight"} <= set(saved["rules"][0])
    assert saved["bounds"]["rsd"] == [0.1, 0.9]
    assert saved["bounds"]["weight"] == [0.0, None]
    assert {"a", "c", "slices"} == set(saved["matcher"])
    assert saved["matcher"]["slices"][49]["to"] == 1.0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda saved: saved["rules"][0].update(rsd=0.95), "rsd is 0.95"),
        (lambda saved: saved["rules"][0].update(weight=-1), "weight is -1"),
        (lambda saved: saved["rules"][0].update(mean=float("nan")), "mean is nan"),
        (lambda saved: saved["rules"][0].update(rule="rule 1"), "twice"),
        (lambda saved: saved["matcher"].update(a=0), "a is 0"),
        (lambda saved: saved["matcher"].update(slices=[]), "slice"),
        (lambda saved: saved.update(format=99), "format 99"),
        (lambda saved: saved.pop("rules"), "rules"),
    ],
)
def test_a_broken_saved_model_is_refused_by_name(change, says):
    saved = json.loads(random_model(2).to_json())
    change(saved)
    with pytest.raises(RiskModelError, match=says):
        RiskModel.from_json(json.dumps(saved))


def test_text_that_is_no_model_is_refused():
    for text in ("", "[]", "{}", "3"):
        with pytest.raises(RiskModelError):
            RiskModel.from_json(text)


def test_parameters_cannot_be_changed_in_place():
    model = random_model(3)
    with pytest.raises(ValueError, match="read-only"):
        model.weight[0] = 5
    mean = np.array([0.5])
    kept = prior_model(["r"], mean, np.array([1]))
    mean[0] = 0.9
    assert kept.mean[0] == 0.5


def test_muting_is_scoring_without_the_column():
    model, (x, fired) = random_model(12), random_pairs(60, 12)
    dense = fired.toarray()
    dense[:, [2, 7]] = 0
    muted = model.with_rules(muted=["rule 2", "rule 7"]).score(x, fired)
    assert np.allclose(muted.risk, model.score(x, sparse.csr_array(dense)).risk, rtol=0, atol=1e-14)


def test_a_pinned_rule_is_heard_above_the_others():
    model = prior_model(["yes", "no"], np.array([1.0, 0.0]), np.array([50, 50]))
    both = sparse.csr_array(np.ones((1, 2)))
    x = np.array([0.2])
    assert model.with_rules(pinned=["yes"]).score(x, both).mu[0] > 0.8
    assert model.with_rules(pinned=["no"]).score(x, both).mu[0] < 0.1
    assert model.with_rules(pinned=["yes"]).score(x, both).risk[0] > 0.85 > model.score(x, both).risk[0]


def test_decisions_are_pure_replaceable_and_can_be_taken_back():
    model = random_model(6)
    decided = model.with_rules(muted=["rule 0"], pinned=["rule 1"], weights={"rule 2": 0.5})
    assert model.states == ("learned",) * 6
    assert decided.states[:3] == ("muted", "pinned", "weighted")
    assert decided.with_rules(pinned=["rule 0"], muted=["rule 1"]).states[:2] == ("pinned", "muted")
    assert same(decided.with_rules(released=["rule 0", "rule 1", "rule 2"]), model)


def test_impossible_decisions_are_refused():
    model = random_model(3)
    with pytest.raises(RiskModelError, match="no rule named: nonsense"):
        model.with_rules(muted=["nonsense"])
    with pytest.raises(RiskModelError, match="two about: rule 1"):
        model.with_rules(muted=["rule 1"], weights={"rule 1": 2})
    with pytest.raises(RiskModelError, match="decided is -1"):
        model.with_rules(weights={"rule 1": -1})
