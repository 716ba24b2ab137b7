"""The network computes the same numbers as a plain reading of its definition, padding or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.train_speed import Naive
from riskcore.config import MatcherConfig
from riskcore.matchers import create, load, neural
from riskcore.matchers.deepmatcher import DeepMatcher, _Ready
from riskcore.matchers.encode import Encoder
from riskcore.matchers.frequency import Frequency
from riskcore.matchers.layout import Batch
from riskcore.matchers.network import Network
from riskcore.matchers.neural import _shuffled_batches, weighted_loss
from riskcore.matchers.recurrent import Reader
from riskcore.matchers.vectors import pretrained
from riskcore.matchers.wide import Standardiser
from tests.matchers.people import ATTRIBUTES, examples, people

KINDS = ["sif", "rnn", "attention", "hybrid"]


def ready(kind: str, size: int = 20) -> DeepMatcher:
    matcher = create(MatcherConfig(kind=kind, width=16, head=16), ATTRIBUTES)
    assert isinstance(matcher, DeepMatcher)
    matcher.begin(examples(size), seed=0)
    return matcher


def test_attention_equals_its_naive_version() -> None:
    matcher, several = ready("attention"), [examples(20, seed=1)]
    network = matcher.network
    assert isinstance(network, Network)
    network.eval()
    work = matcher._work(several, training=True)
    assert isinstance(work, _Ready)
    rows = np.arange(len(several[0]))
    naive = Naive(network, work.corpus, work.weights)
    assert torch.allclose(work.logits(rows), naive.logits(rows), atol=1e-5)
    gradients = []
    for way in (work, naive):
        network.zero_grad()
        way.logits(rows).square().mean().backward()
        gradients.append(torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None]))
    assert torch.allclose(*gradients, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pairs_answer_does_not_depend_on_its_batch(kind: str) -> None:
    matcher, many = ready(kind), examples(20, seed=1)
    together = matcher.predict_proba(many)
    alone = [matcher.predict_proba(many.take(slice(row, row + 1)))[0] for row in range(0, 60, 7)]
    assert together[::7][: len(alone)] == pytest.approx(alone, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_training_and_predicting_see_the_same_network(kind: str) -> None:
    matcher, several = ready(kind), [examples(20, seed=1)]
    assert matcher.network is not None
    matcher.network.eval()
    rows = np.arange(30)
    with torch.no_grad():
        batchwise, once = (matcher._work(several, training=way).logits(rows) for way in (True, False))
    assert torch.allclose(batchwise, once, atol=1e-5)


def torch_gru(reader: Reader) -> torch.nn.GRU:
    """Torch's own GRU with the reader's weights."""
    gru = torch.nn.GRU(2 * reader.direction, reader.direction, bidirectional=True, dtype=reader.weight.dtype)
    with torch.no_grad():
        for place, end in enumerate(("", "_reverse")):
            part = slice(place * 3 * reader.direction, (place + 1) * 3 * reader.direction)
            getattr(gru, f"weight_ih_l0{end}").copy_(reader.enter.weight[part])
            getattr(gru, f"bias_ih_l0{end}").copy_(reader.enter.bias[part])
            getattr(gru, f"weight_hh_l0{end}").copy_(reader.weight[place].T)
            getattr(gru, f"bias_hh_l0{end}").copy_(reader.bias[place, 0])
    return gru


def test_reading_equals_torchs_gru_one_value_at_a_time() -> None:
    corpus = Encoder(pretrained(), 80).corpus([people(8)], ["name", "city"])
    torch.manual_seed(0)
    reader, batch = Reader(16).double(), Batch.of(corpus, np.arange(len(corpus)), recurrent=True)
    gru, values = torch_gru(reader), torch.randn(len(corpus.features), 16, dtype=torch.double)
    fast, slow = values.clone().requires_grad_(), values.clone().requires_grad_()
    read, parts, start = reader(batch, fast), [], 0
    for slot, length in enumerate(batch.lengths.tolist()):
        words = batch.words[start : start + length]
        assert (batch.slots[start : start + length] == slot).all()
        if length:
            parts.append(slow[words] + gru(slow[words].unsqueeze(1))[0].squeeze(1))
        start += length
    expected = torch.cat(parts)
    assert torch.allclose(read, expected)
    goal = torch.randn_like(expected)
    (read * goal).sum().backward()
    (expected * goal).sum().backward()
    assert torch.allclose(fast.grad, slow.grad)
    assert torch.allclose(reader.weight.grad[1].T, gru.weight_hh_l0_reverse.grad)
    assert torch.allclose(reader.bias.grad[0, 0], gru.bias_hh_l0.grad)
    assert torch.allclose(reader.enter.weight.grad[:24], gru.weight_ih_l0.grad)


def test_the_grids_hold_the_words() -> None:
    corpus = Encoder(pretrained(), 80).corpus([people(8)], ["name", "city"])
    rows = np.array([5, 0, 17])
    batch = Batch.of(corpus, rows)
    for attribute, sides in enumerate(batch.grids):
        for side, grid in enumerate(sides):
            values = corpus.values[rows, attribute, side]
            assert np.array_equal(grid.words.numpy(), corpus.padded(values))
            tokens = grid.tokens.numpy()
            assert np.array_equal(np.where(tokens > 0, batch.words.numpy()[tokens - 1], 0), grid.words.numpy())


def test_weighted_loss_by_hand() -> None:
    logits, match, non_match = torch.tensor([2.0, -1.0]), torch.tensor([0.7, 0.0]), torch.tensor([0.1, 0.9])
    g = 1 / (1 + np.exp([-2.0, 1.0]))
    expected = -(np.array([0.7, 0]) * np.log(g) + np.array([0.1, 0.9]) * np.log(1 - g)).mean()
    assert weighted_loss(logits, match, non_match).item() == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(weighted_loss(torch.tensor([200.0, -200.0]), match, non_match).item())


def test_every_pair_is_in_one_batch() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 333)
    batches = list(_shuffled_batches(lengths, 16, np.random.default_rng(1)))
    assert sorted(np.concatenate(batches)) == list(range(333))
    assert max(map(len, batches)) == 16
    spread = np.mean([np.ptp(lengths[batch]) for batch in batches])
    assert spread < 15  # alike lengths stand together


def test_long_pairs_come_in_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neural, "MAX_WORDS", 1000)
    lengths = np.array([10] * 30 + [400] * 10 + [5000])
    batches = list(_shuffled_batches(lengths, 16, np.random.default_rng(1)))
    assert sorted(np.concatenate(batches)) == list(range(41))
    assert all(lengths[batch].sum() <= 1400 or len(batch) == 1 for batch in batches)
    matcher, many = ready("hybrid"), examples(20, seed=1)
    whole = matcher.predict_proba(many)
    monkeypatch.setattr(neural, "MAX_WORDS", 20)
    assert matcher.predict_proba(many) == pytest.approx(whole, abs=1e-5)


def test_rare_words_weigh_more() -> None:
    corpus = Encoder(pretrained(), 80).corpus([people(30)], ["name", "city"])
    frequency = Frequency.of(corpus.hashes[corpus.words])
    weights = frequency.weights(corpus.hashes)
    counts = np.bincount(corpus.words, minlength=len(weights))
    assert weights[0] == 0
    assert weights[1:][np.argmax(counts[1:])] == weights[1:].min()
    assert frequency.weights(np.array([0, 12345])).tolist() == [0, 1]
    assert Frequency.none().weights(np.array([0, 12345])).tolist() == [0, 1]


def test_standardised_metrics() -> None:
    metrics = np.array([[1, np.nan, 5], [3, np.nan, 5], [np.nan, np.nan, 5], [2, np.nan, 5]], dtype=np.float32)
    standardiser = Standardiser.fit(metrics)
    wide = standardiser.transform(metrics)
    assert wide.shape == (4, standardiser.width)
    assert wide[:, 0] == pytest.approx([-1.2247, 1.2247, 0, 0], abs=1e-3)
    assert wide[:, 3] == pytest.approx([-0.577, -0.577, 1.732, -0.577], abs=1e-3)
    assert not wide[:, [1, 2, 4, 5]].any()  # never seen, never varied, always or never missing
    wild = standardiser.transform(np.array([[1e9, 7, np.nan]], dtype=np.float32))
    assert wild[0, :6].tolist() == [5.0, 0, 0, pytest.approx(-0.577, abs=1e-3), 0, 0]


def test_steps_rise_one_after_the_other() -> None:
    column = np.random.default_rng(0).normal(size=(500, 1)).astype(np.float32)
    standardiser = Standardiser.fit(column)
    values = np.array([[-9.0], [0.0], [9.0], [np.nan]], dtype=np.float32)
    steps = standardiser.transform(values)[:, 2:]
    assert steps.shape == (4, 16)
    assert not steps[0].any()
    assert steps[2].all()
    assert not steps[3].any()
    assert (np.diff(steps[1]) <= 0).all()
    assert steps[1].sum() == pytest.approx(8, abs=1)  # the median has climbed half of the quantiles
    flag = Standardiser.fit(np.array([[0], [1], [1]], dtype=np.float32))
    assert flag.width == 2 + 1


def test_weights_of_another_shape_are_refused(tmp_path: Path) -> None:
    from riskcore.errors import MatcherError

    other = create(MatcherConfig(kind="attention", width=8, head=16), ATTRIBUTES)
    other.begin(examples(5), seed=0)
    with pytest.raises(MatcherError, match="another shape"):
        other.restore(ready("attention").snapshot())
    with pytest.raises(MatcherError, match="No matcher can be read"):
        load(tmp_path)
