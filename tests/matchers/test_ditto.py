"""Serialisation, summarising, augmentation, and layers that are done once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from torch import Tensor

from riskcore.config import MatcherConfig, TuneConfig
from riskcore.errors import MatcherError
from riskcore.matchers import TuningSet, create, ditto, load, save
from riskcore.matchers.ditto import DittoMatcher
from riskcore.matchers.serialise import (
    LEFT,
    MOVED,
    MOVED_CODE,
    NEAR_CODE,
    OVERLAPS,
    OWN,
    OWN_CODE,
    RIGHT,
    SHARED,
    SHARED_CODE,
    SPECIAL,
    Record,
    Serialiser,
    _shares,
    document_frequency,
    perturbed,
)
from riskcore.matchers.transformer import Inputs, Transformer, _attend, load_encoder, padded
from riskcore.registry import MATCHERS
from riskcore.training.supervised import train_on_labels
from tests.matchers.people import ATTRIBUTES, examples, table


def build(folder: Path | None, **settings: object) -> DittoMatcher:
    config = MatcherConfig(kind="ditto", folder=str(folder) if folder else None, max_tokens=64, **settings)  # type: ignore[arg-type]
    matcher = create(config, ATTRIBUTES)
    assert isinstance(matcher, DittoMatcher)
    return matcher


def text(serialiser: Serialiser, tokens: np.ndarray) -> str:
    return " ".join(serialiser.tokenizer.id_to_token(int(token)) for token in tokens)


def two(serialiser: Serialiser, **columns: list[str | None]) -> list[Record]:
    return serialiser.records(table("a", **columns), np.array([0, 1]))


def marks_of(serialiser: Serialiser, record: Record, other: Record) -> dict[str, int]:
    """The mark of each subword of the first record."""
    joined = serialiser.join(record, other, document_frequency([record, other]))
    return dict(zip(text(serialiser, record.tokens).split(), joined.mark.tolist(), strict=False))


def test_records_are_their_values(tiny_transformer: Path) -> None:
    serialiser = Serialiser(tiny_transformer, ["name", "city"], 64, True)
    left, right = two(serialiser, name=["Anna Abel", "Leo"], city=["Oslo", None])
    assert text(serialiser, left.tokens) == "[CLS] anna abel [SEP] oslo [SEP]"
    assert left.attribute.tolist() == [0, 1, 1, 0, 2, 0]
    assert text(serialiser, right.tokens) == "[CLS] leo [SEP]"
    joined = serialiser.join(left, right, document_frequency([left, right]))
    assert joined.left.tolist() == list(range(6))
    assert joined.right.tolist() == list(range(3))
    assert joined.roles.tolist() == [LEFT] * 6 + [RIGHT] * 3


def test_a_record_without_values_can_be_read(tiny_transformer: Path) -> None:
    serialiser = Serialiser(tiny_transformer, ["name", "city"], 64, True)
    left, right = two(serialiser, name=[None, "Leo"], city=[None, None])
    joined = serialiser.join(left, right, document_frequency([right]))
    assert joined.roles.tolist() == [LEFT] + [RIGHT] * 3
    assert not joined.overlap.any()


def test_words_are_marked_by_what_the_other_record_has(tiny_transformer: Path) -> None:
    serialiser = Serialiser(tiny_transformer, ["name", "city"], 64, True)
    left, right = two(serialiser, name=["anna abel", "anna leo"], city=["oslo rome", "abel rome"])
    marks = marks_of(serialiser, left, right)
    expected = {"[CLS]": SPECIAL, "anna": SHARED, "abel": MOVED, "oslo": OWN, "rome": SHARED}
    assert {word: marks[word] for word in expected} == expected


@pytest.mark.parametrize(
    ("one", "other", "mark"),
    [
        ("x12", "x12", SHARED_CODE),
        ("x12", "x13", OWN_CODE),
        ("x-12", "x12", MOVED_CODE),  # not the same words, but the same between spaces
        ("x123", "x123b", NEAR_CODE),
        ("x12", "x12b", OWN_CODE),  # three characters are part of many codes
    ],
)
def test_codes_have_marks_of_their_own(tiny_transformer: Path, one: str, other: str, mark: int) -> None:
    serialiser = Serialiser(tiny_transformer, ["name"], 64, True)
    left, right = two(serialiser, name=[one, other], city=[None, None])
    assert marks_of(serialiser, left, right)["x"] == mark


def test_overlap_counts_rare_words_more_and_codes_apart(tiny_transformer: Path) -> None:
    serialiser = Serialiser(tiny_transformer, ["name", "city"], 64, True)
    left, right = two(serialiser, name=["anna abel", "anna leo"], city=["oslo a1", "oslo a1"])
    frequency = document_frequency(
        serialiser.records(table("b", name=["anna", "anna", "leo"], city=[None, None, None]), np.arange(3))
    )
    name, city = serialiser.join(left, right, frequency).overlap.reshape(2, OVERLAPS)
    common = float(np.log(2 / 3) / np.log(1 / 3)) + 0.05  # in two records of three; the rarest words are in one
    assert name[0] == pytest.approx(2 * common / (common + 1.05) - 1, abs=1e-6)
    assert name[2:4].tolist() == [0, 0]  # no codes
    assert city.tolist() == pytest.approx([1, 1, 1, 1, 0.3, 1])
    assert name[5] == 0


def test_long_records_keep_their_rarest_words_and_all_attributes(tiny_transformer: Path) -> None:
    name = "oslo oslo oslo oslo anna oslo abel oslo"
    for summarise, kept in ((True, "[CLS] anna abel lima"), (False, "[CLS] oslo oslo oslo")):
        serialiser = Serialiser(tiny_transformer, ["name", "city"], 8, summarise)
        people = table("a", name=[name, "oslo", "oslo"], city=["lima", None, None])
        records = serialiser.records(people, np.array([0, 1, 2]))
        joined = serialiser.join(records[0], records[1], document_frequency(records))
        assert text(serialiser, records[0].tokens[joined.left]) == kept


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(0, 60))
def test_room_is_shared_evenly(counts: list[int], room: int) -> None:
    given_room = _shares(np.array(counts), room)
    assert (given_room <= counts).all()
    assert given_room.sum() == min(room, sum(counts))
    for mine, count in zip(given_room, counts, strict=True):
        assert mine == count or mine >= given_room.max() - 1  # nobody who wants more has less than another


def test_perturbing_hides_a_span_or_an_attribute(tiny_transformer: Path) -> None:
    serialiser = Serialiser(tiny_transformer, ["name", "city"], 64, True)
    left, right = two(serialiser, name=["anna abel leo anna abel leo", "leo"], city=["oslo", "rome"])
    joined = serialiser.join(left, right, document_frequency([left, right]))
    draw, hidden = np.random.default_rng(0), set()
    for _ in range(200):
        seen = perturbed(joined, draw)
        assert seen[joined.attribute == 0].all()
        assert len(np.unique(joined.roles[~seen])) == 1  # one record's
        hidden.add(int((~seen).sum()))
    assert hidden == {1, 2, 3, 4, 6}


def test_what_is_read_of_a_record_does_not_depend_on_others(tiny_transformer: Path) -> None:
    serialiser = Serialiser(tiny_transformer, ["name", "city"], 64, True)
    network = Transformer(tiny_transformer, 2, 0.1, 0, 2)
    people = examples(60).pairs
    records = serialiser.records(people.left, np.unique(people.left_rows))
    together = network.lower(records)
    for one, state in zip(records[::7], together[::7], strict=True):
        assert torch.equal(network.lower([one])[0], state)


def test_frozen_layers_do_not_move_and_read_a_record_once(
    tiny_transformer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matcher, train = build(tiny_transformer, frozen_layers=1), examples(20)
    matcher.begin(train, seed=0)
    network, calls = matcher.network, []
    assert isinstance(network, Transformer)
    lower = Transformer.lower
    monkeypatch.setattr(Transformer, "lower", lambda self, rows: calls.append(len(rows)) or lower(self, rows))
    frozen = {name: p.detach().clone() for name, p in network.named_parameters() if not p.requires_grad}
    matcher.predict_proba(train)  # what was kept while predicting serves training too
    for seed in range(2):
        matcher.fine_tune(TuningSet.from_labels(train), rate=1e-3, seed=seed)
    assert sum(calls) == len(np.unique(train.pairs.left_rows)) + len(np.unique(train.pairs.right_rows))
    assert all((frozen[name] == p).all() for name, p in network.named_parameters() if name in frozen)
    assert not any("layer.0." in name for name in matcher.snapshot())
    answers = matcher.predict_proba(train)
    save(matcher, tmp_path)
    assert np.array_equal(load(tmp_path).predict_proba(train), answers)


def test_what_does_not_fit_in_memory_is_read_again(tiny_transformer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, answers = examples(20), []
    for room in (ditto.STATE_BYTES, 5_000, 10):
        monkeypatch.setattr(ditto, "STATE_BYTES", room)
        matcher = build(tiny_transformer, frozen_layers=1)
        train_on_labels(matcher, train, None, config=TuneConfig(epochs=2, batch_size=16))
        answers.append(matcher.predict_proba(train))
    assert np.array_equal(answers[0], answers[1])
    assert np.array_equal(answers[0], answers[2])


def test_before_any_pass_shared_words_decide(tiny_transformer: Path) -> None:
    """A pass at a rate of 0 leaves what the regression on shared words says, and what the Transformer's fresh head
    adds to it."""
    matcher, train = build(tiny_transformer), examples(60)
    matcher.begin(train, seed=0)
    matcher.fine_tune(TuningSet.from_labels(train), rate=0.0)
    network = matcher.network
    assert isinstance(network, Transformer)
    overlap = np.stack([one.overlap for one in matcher.serialiser.pairs(train.pairs, matcher.frequency)])
    wanted = LogisticRegression(max_iter=2000).fit(overlap, train.labels)
    assert network.overlap.weight.detach().numpy() == pytest.approx(wanted.coef_, abs=1e-3)
    weights = matcher.snapshot()
    matcher.fine_tune(TuningSet.from_labels(train), rate=0.0, seed=1)  # only once
    assert all(np.array_equal(weights[name], array) for name, array in matcher.snapshot().items())


def test_one_class_alone_teaches_shared_words_nothing(tiny_transformer: Path) -> None:
    matcher, train = build(tiny_transformer), examples(20)
    train = train.take(np.flatnonzero(train.labels == 1))
    matcher.begin(train, seed=0)
    matcher.fine_tune(TuningSet.from_labels(train), rate=0.0)
    assert not matcher.snapshot()["network.overlap.weight"].any()


def test_half_precision_is_almost_the_same(tiny_transformer: Path) -> None:
    train, weights, answers = examples(20), [], []
    for half in (False, True):
        matcher = build(tiny_transformer, half=half, dropout=0.0)
        matcher.begin(train, seed=0)
        answers.append(matcher.predict_proba(train))
        matcher.fine_tune(TuningSet.from_labels(train), rate=1e-4)
        weights.append(matcher.snapshot()["network.head.weight"])
    assert answers[0] == pytest.approx(answers[1], abs=5e-3)  # the frozen layers
    assert not np.array_equal(*weights)
    assert weights[0] == pytest.approx(weights[1], abs=2e-3)


@pytest.mark.parametrize("half", [False, True])
def test_what_is_said_of_a_pair_does_not_depend_on_its_company(half: bool, tiny_transformer: Path) -> None:
    matcher, some = build(tiny_transformer, half=half), examples(60)
    train_on_labels(matcher, some, None, config=TuneConfig(epochs=1))
    together, draw = matcher.predict_proba(some), np.random.default_rng(0)
    for size in (1, 5, 33):
        rows = draw.permutation(len(some))[:size]
        assert matcher.predict_proba(some.take(rows)) == pytest.approx(together[rows], abs=1e-6)


def test_plain_attention_is_the_fused_one() -> None:
    draw = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(3, 2, 11, 16, generator=draw).bfloat16() for _ in range(3))
    mask = (torch.arange(11) < torch.tensor([[11], [7], [1]]))[:, None, None, :]
    fused, _ = _attend(torch.nn.Identity(), query, key, value, mask)
    plain, _ = _attend(torch.nn.Identity(), query.requires_grad_(), key, value, mask)
    assert plain.requires_grad
    assert not fused.requires_grad
    assert torch.allclose(plain, fused, atol=2e-2)


def test_precision_follows_the_processor_it_was_trained_on(
    tiny_transformer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    for supported in (True, False):
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda supported=supported: supported)
        matcher = build(tiny_transformer)
        matcher.begin(examples(5), seed=0)
        assert isinstance(matcher.network, Transformer)
        assert matcher.network._half is supported
        learned = matcher.snapshot()
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda supported=supported: not supported)
        moved = build(tiny_transformer)
        moved.restore(learned)  # on another machine
        assert np.array_equal(moved.predict_proba(examples(5)), matcher.predict_proba(examples(5)))


def test_a_graphics_card_is_used_where_there_is_one(tiny_transformer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device whose tensors have no content takes its place: what is left on the processor meets what is not, and
    fails."""
    matcher, train = build(tiny_transformer), examples(8)
    assert matcher._device() == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert matcher._device() == torch.device("cuda")

    monkeypatch.setattr(ditto, "device", lambda: torch.device("meta"))
    monkeypatch.setattr(ditto, "halves_well", lambda where: False)
    monkeypatch.setattr(Tensor, "cpu", lambda tensor: tensor)  # its device is what is asked for
    matcher.begin(train, seed=0)
    network = matcher.network
    assert isinstance(network, Transformer)
    assert {one.device.type for one in network.parameters()} == {"meta"}
    assert network.lower(matcher.serialiser.records(train.pairs.left, np.arange(2)))[0].device.type == "meta"
    texts = matcher.serialiser.pairs(train.pairs, matcher.frequency)
    given, states = (
        Inputs.of(texts, None, None),
        torch.zeros(len(texts), padded(max(len(one.mark) for one in texts)), network.width),
    )
    assert network(states.to("meta"), given.to(torch.device("meta"))).device.type == "meta"


def test_augmentation_is_seeded(tiny_transformer: Path) -> None:
    train, answers = examples(20), []
    for augment, seed in ((0.8, 1), (0.8, 1), (0.8, 2), (0.0, 1)):
        matcher = build(tiny_transformer, augment=augment, dropout=0.0)
        matcher.begin(train, seed=0)
        matcher.fine_tune(TuningSet.from_labels(train), rate=1e-3, seed=seed)
        answers.append(matcher.predict_proba(train))
    assert np.array_equal(answers[0], answers[1])
    assert not np.array_equal(answers[0], answers[2])
    assert not np.array_equal(answers[0], answers[3])


@pytest.mark.parametrize("family", ["roberta", "distilbert"])
def test_other_families_are_read_from_a_folder(family: str, tiny_transformer: Path, tmp_path: Path) -> None:
    from transformers import DistilBertConfig, DistilBertModel, RobertaConfig, RobertaModel

    words = json.loads((tiny_transformer / "config.json").read_text())["vocab_size"]
    torch.manual_seed(0)
    if family == "roberta":
        shape = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 64}
        model = RobertaModel(RobertaConfig(vocab_size=words, max_position_embeddings=514, type_vocab_size=1, **shape))
    else:
        model = DistilBertModel(DistilBertConfig(vocab_size=words, dim=32, n_layers=3, n_heads=2, hidden_dim=64))
    model.save_pretrained(tmp_path)
    shutil.copy(tiny_transformer / "tokenizer.json", tmp_path)
    matcher, train = build(tmp_path), examples(60)
    train_on_labels(matcher, train, None, config=TuneConfig(epochs=5, rate=1e-3, batch_size=16))
    network = matcher.network
    assert isinstance(network, Transformer)
    assert network.frozen_layers == 2
    answers = matcher.predict_proba(train)
    assert f1_score(train.labels, answers >= 0.5) > 0.8
    save(matcher, tmp_path / "saved")
    assert np.array_equal(load(tmp_path / "saved").predict_proba(train), answers)


def test_soon_enough_is_learned(tiny_transformer: Path) -> None:
    spec = MATCHERS["ditto"]
    assert [spec.epochs(pairs, 20) for pairs in (0, 50, 2_000, 100_000)] == [20, 20, 4, 3]
    assert spec.epochs(100_000, 2) == 2
    assert MATCHERS["hybrid"].epochs(100_000, 20) == 20
    history = train_on_labels(build(tiny_transformer), examples(20), None, config=TuneConfig(epochs=2))
    assert len(history.rows) == 2


def test_wrong_folders_are_told(tmp_path: Path, tiny_transformer: Path) -> None:
    with pytest.raises(MatcherError, match=r"no tokenizer\.json"):
        build(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((tiny_transformer / "tokenizer.json").read_bytes())
    with pytest.raises(MatcherError, match="No Transformer can be loaded"):
        build(tmp_path).begin(examples(3), seed=0)
    with pytest.raises(MatcherError, match="leave at least one"):
        build(tiny_transformer, frozen_layers=3).begin(examples(3), seed=0)


@pytest.fixture
def copied(tiny_transformer: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_transformer, tmp_path / "copied"))


def test_pickled_weights_are_refused(copied: Path) -> None:
    weights = copied / "model.safetensors"
    torch.save(load_file(weights), copied / "pytorch_model.bin")
    weights.unlink()
    with pytest.raises(MatcherError, match=r"No Transformer can be loaded .* weights as \.safetensors"):
        load_encoder(copied, 0.1)


def test_damaged_weights_are_refused_in_words(copied: Path) -> None:
    weights = copied / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(MatcherError, match="No Transformer can be loaded"):
        load_encoder(copied, 0.1)


def test_code_in_a_folder_is_never_run(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it is told not to, transformers asks on the terminal, and runs it after a "y"."""
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda *words: asked.append("input") or "y")
    ran = copied / "ran"
    (copied / "own.py").write_text(f"open({str(ran)!r}, 'w')\nclass Model: pass\nclass Config: pass\n")
    config = json.loads((copied / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoModel": "own.Model", "AutoConfig": "own.Config"}}
    (copied / "config.json").write_text(json.dumps(config))
    with pytest.raises(MatcherError, match="code in it is never run"):
        load_encoder(copied, 0.1)
    assert not ran.exists()
    assert asked == []


def test_the_installed_weights_learn_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    matcher, train = build(None), examples(15)
    history = train_on_labels(matcher, train, None, config=TuneConfig(epochs=3, rate=5e-4, batch_size=8))
    assert history.rows[-1]["loss"] < history.rows[0]["loss"] < 0.3  # it begins with what shared words say
    assert capfd.readouterr() == ("", "")
