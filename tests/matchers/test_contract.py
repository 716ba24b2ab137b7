"""One contract for all matchers: add a new one to `TRAINABLE` and everything here applies to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riskcore.config import MatcherConfig, TuneConfig
from riskcore.errors import CancelledError, MatcherError
from riskcore.matchers import Examples, Matcher, TuningSet, create, load, save
from riskcore.registry import MATCHERS
from riskcore.training.supervised import train_on_labels
from tests.matchers.people import ATTRIBUTES, examples, pairs_of, table

TRAINABLE = ["sif", "rnn", "attention", "hybrid", "ditto", "toy"]
EPOCHS = {"ditto": 2, "toy": 30}
RATE = {"ditto": 2e-3}


def build(kind: str, tiny: Path, wide: bool = False) -> Matcher:
    folder = str(tiny) if kind == "ditto" else None
    return create(MatcherConfig(kind=kind, wide=wide, width=16, head=16, max_tokens=64, folder=folder), ATTRIBUTES)


def tune(kind: str) -> TuneConfig:
    return TuneConfig(epochs=EPOCHS.get(kind, 12), rate=RATE.get(kind, 5e-3 if kind != "toy" else None), batch_size=16)


@pytest.fixture(params=TRAINABLE)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def matcher(kind: str, tiny_transformer: Path) -> Matcher:
    return build(kind, tiny_transformer)


def test_every_kind_is_under_contract() -> None:
    assert set(MATCHERS.names()) == {*TRAINABLE, "external", "similarity"}  # those two have tests of their own


def test_it_learns_saves_and_loads(matcher: Matcher, kind: str, tmp_path: Path) -> None:
    train, validation = examples(seed=0), examples(30, seed=1)
    history = train_on_labels(matcher, train, validation, config=tune(kind), seed=3)
    probabilities = matcher.predict_proba(validation)
    assert probabilities.dtype == np.float64
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert history.best is not None
    assert history.best["validation_f1"] > 0.75 or kind == "ditto", "a random Transformer this small learns nothing"
    save(matcher, tmp_path / "saved")
    again = load(tmp_path / "saved")
    assert type(again) is type(matcher)
    assert np.array_equal(again.predict_proba(validation), probabilities)


def test_same_seed_same_bits_and_other_seed_other_bits(kind: str, tiny_transformer: Path) -> None:
    train, validation, config = examples(20), examples(20, seed=1), TuneConfig(epochs=2, batch_size=16)
    answers = []
    for seed in (5, 5, 6):
        matcher = build(kind, tiny_transformer)
        train_on_labels(matcher, train, validation, config=config, seed=seed)
        answers.append(matcher.predict_proba(validation))
    assert np.array_equal(answers[0], answers[1])
    assert not np.array_equal(answers[0], answers[2])


def test_answers_do_not_depend_on_what_was_asked_before(matcher: Matcher) -> None:
    matcher.begin(examples(20), seed=0)
    validation = examples(20, seed=1)
    before = matcher.predict_proba(validation)
    matcher.predict_proba(examples(40, seed=2))
    assert np.array_equal(matcher.predict_proba(validation), before)


def test_fine_tuning_follows_soft_targets(matcher: Matcher, kind: str) -> None:
    """Pairs pulled towards match rise, the others fall; and labels are never looked at."""
    train = examples(20)
    matcher.begin(train, seed=0)
    before = matcher.predict_proba(train)
    unlabelled = Examples(train.pairs.without_labels())  # type: ignore[attr-defined]
    goal = TuningSet(unlabelled, np.full(len(train), 0.9), np.full(len(train), 0.1))
    for step in range(4):
        loss = matcher.fine_tune(goal, rate=matcher.rates.train * 10, seed=step)
    assert np.isfinite(loss)
    assert matcher.predict_proba(train).mean() > before.mean()


def test_several_sets_at_once(matcher: Matcher) -> None:
    train, other = examples(10), examples(12, seed=4)
    matcher.begin(train, seed=0)
    labelled = TuningSet.from_labels(train, share=0.5)
    soft = TuningSet(other, np.full(len(other), 0.7), np.full(len(other), 0.2))
    nothing = TuningSet(other.take(slice(0)), np.zeros(0), np.zeros(0))
    assert np.isfinite(matcher.fine_tune([labelled, soft, nothing]))
    assert matcher.fine_tune(nothing) == 0.0


def test_wide_takes_metrics(kind: str, tiny_transformer: Path, tmp_path: Path) -> None:
    matcher = build(kind, tiny_transformer, wide=True)
    train = examples(30, wide=True)
    train_on_labels(matcher, train, None, config=TuneConfig(epochs=3, batch_size=16))
    answers = matcher.predict_proba(train)
    moved = Examples(train.pairs, train.metrics + 1)  # type: ignore[operator]
    assert not np.array_equal(matcher.predict_proba(moved), answers)
    save(matcher, tmp_path)
    assert np.array_equal(load(tmp_path).predict_proba(train), answers)
    with pytest.raises(MatcherError, match="metrics"):
        matcher.predict_proba(Examples(train.pairs))
    with pytest.raises(MatcherError, match="trained with 3 metrics"):
        matcher.predict_proba(Examples(train.pairs, train.metrics[:, :2]))  # type: ignore[index]


def test_snapshots_are_copies_and_go_back(matcher: Matcher) -> None:
    train = examples(20)
    matcher.begin(train, seed=0)
    start, kept = matcher.predict_proba(train), matcher.snapshot()
    matcher.fine_tune(TuningSet.from_labels(train), rate=0.01)
    assert not np.array_equal(matcher.predict_proba(train), start)
    matcher.restore(kept)
    assert np.array_equal(matcher.predict_proba(train), start)


def test_cancelling_stops_within_a_batch(matcher: Matcher) -> None:
    train = examples(20)
    matcher.begin(train, seed=0)
    with pytest.raises(CancelledError):
        matcher.fine_tune(TuningSet.from_labels(train), should_stop=lambda: True)


def test_untrained_says_so(matcher: Matcher) -> None:
    with pytest.raises(MatcherError, match="never trained"):
        matcher.predict_proba(examples(5))


ODD = ["", "   ", "😀 🚀", "数据库 系统", "---", "word " * 5000, "x" * 10_000, "e\u0301 ﬁ \u200b", "1,299.00", None]


@pytest.mark.parametrize("attributes", [2, 20])
def test_odd_values(kind: str, tiny_transformer: Path, attributes: int) -> None:
    """Whatever stands in a cell: no crash, no NaN; and one pair is as good as many."""
    from riskcore.data.schema import Attribute, AttributeType

    names = [f"c{place}" for place in range(attributes)]
    columns = {name: [None if odd == "" and place % 2 else odd for odd in ODD] for place, name in enumerate(names)}
    left, right = table("a", **columns), table("b", **{name: values[::-1] for name, values in columns.items()})
    pairs = pairs_of(left, right, [(i, j, int(i == j)) for i in range(len(ODD)) for j in range(0, len(ODD), 3)])
    config = MatcherConfig(
        kind=kind, width=16, head=16, max_tokens=64, folder=str(tiny_transformer) if kind == "ditto" else None
    )
    matcher = create(config, [Attribute(name, AttributeType.TEXT) for name in names])
    train_on_labels(matcher, Examples(pairs), None, config=TuneConfig(epochs=1))
    answers = matcher.predict_proba(Examples(pairs))
    assert np.isfinite(answers).all()
    alone = Examples(pairs.take(slice(3, 4)))
    assert np.isfinite(matcher.fine_tune(TuningSet.from_labels(alone)))
    assert matcher.predict_proba(alone).shape == (1,)
    assert matcher.predict_proba(alone.take(slice(0))).shape == (0,)


def test_a_rate_of_zero_teaches_nothing(matcher: Matcher) -> None:
    train = examples(20)
    matcher.begin(train, seed=0)
    before = matcher.predict_proba(train)
    matcher.fine_tune(TuningSet(train, np.ones(len(train)), np.zeros(len(train))), rate=0.0)
    assert np.array_equal(matcher.predict_proba(train), before)
