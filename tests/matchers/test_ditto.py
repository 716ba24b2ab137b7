"""Serialisation, summarising, augmentation, and layers that are done once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from riskcore.config import MatcherConfig, TuneConfig
from riskcore.errors import MatcherError
from riskcore.matchers import TuningSet, create, ditto, load, save
from riskcore.matchers.ditto import DittoMatcher
from riskcore.matchers.serialise import LEFT, RIGHT, SHARED, Serialiser, document_frequency, perturbed
from riskcore.matchers.transformer import Transformer, load_encoder
from riskcore.training.supervised import train_on_labels
from tests.matchers.people import ATTRIBUTES, examples, table


def build(folder: Path | None, **settings: object) -> DittoMatcher:
    config = MatcherConfig(kind="ditto", folder=str(folder) if folder else None, max_tokens=64, **settings)  # type: ignore[arg-type]
    matcher = create(config, ATTRIBUTES)
    assert isinstance(matcher, DittoMatcher)
    return matcher


def text(serialiser: Serialiser, tokens: np.ndarray) -> str:
    return " ".join(serialiser.tokenizer.id_to_token(int(token)) for token in tokens)


def test_records_become_columns_and_values(tiny_transformer: Path) -> None:
    serialiser = Serialiser(tiny_transformer, ["name", "city"], 64, True)
    people = table("a", name=["Anna Abel", "Leo"], city=["Oslo", None])
    left, right = serialiser.records(people, np.array([0, 1]))
    joined = serialiser.join(left, right, document_frequency([left, right]))
    expected = "[CLS] col name val anna abel col city val oslo [SEP] col name val leo [SEP]"
    assert text(serialiser, joined.tokens) == expected
    shared = {"col", "name", "val"}
    sides = [LEFT] * 11 + [RIGHT] * 5
    expected_roles = [side + SHARED * (word in shared) for side, word in zip(sides, expected.split(), strict=True)]
    assert joined.roles.tolist() == expected_roles


def test_only_whole_words_are_shared(tiny_transformer: Path) -> None:
    serialiser = Serialiser(tiny_transformer, ["name"], 64, True)
    codes = table("a", name=["x12", "x13"], city=[None, None])
    left, right = serialiser.records(codes, np.array([0, 1]))
    joined = serialiser.join(left, right, document_frequency([left, right]))
    spelled = text(serialiser, joined.tokens).split()
    assert spelled[4:7] == ["x", "##1", "##2"]
    assert joined.roles[4:7].tolist() == [LEFT] * 3


def test_long_records_keep_their_rarest_words(tiny_transformer: Path) -> None:
    longest = 3 + 2 * 8
    people = table("a", name=["oslo oslo oslo oslo anna oslo novak oslo", "oslo", "oslo"], city=[None, None, None])
    for summarise, kept in ((True, "anna"), (False, "oslo oslo oslo oslo")):
        serialiser = Serialiser(tiny_transformer, ["name", "city"], longest, summarise)
        records = serialiser.records(people, np.array([0, 1, 2]))
        joined = serialiser.join(records[0], records[1], document_frequency(records))
        assert len(joined.tokens) <= longest
        assert kept in text(serialiser, joined.tokens)


def test_perturbing_deletes_a_span_or_reorders() -> None:
    record = tuple(np.array([run, run]) for run in ([1, 2, 3, 10, 11, 12, 13, 14, 15], [1, 2, 3, 20, 21]))
    draw, seen = np.random.default_rng(0), set()
    for _ in range(200):
        other = perturbed(record, draw, keep=3)
        assert all(value[0, :3].tolist() == [1, 2, 3] for value in other)
        before, after = (sum(run.shape[1] for run in runs) for runs in (record, other))
        assert 0 <= before - after <= 4
        seen.add((before - after, other[0].shape[1] < other[1].shape[1]))
    assert len(seen) > 4
    assert perturbed((), draw, keep=3) == ()


def test_frozen_layers_do_not_move_and_are_computed_once(
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
    assert sum(calls) == len(train)
    assert all((frozen[name] == p).all() for name, p in network.named_parameters() if name in frozen)
    assert not any("layer.0." in name for name in matcher.snapshot())
    answers = matcher.predict_proba(train)
    save(matcher, tmp_path)
    assert np.array_equal(load(tmp_path).predict_proba(train), answers)


def test_what_does_not_fit_the_cache_is_computed_again(tiny_transformer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, answers = examples(20), []
    for room in (ditto.CACHE_BYTES, 10):
        monkeypatch.setattr(ditto, "CACHE_BYTES", room)
        matcher = build(tiny_transformer, frozen_layers=1)
        train_on_labels(matcher, train, None, config=TuneConfig(epochs=2, batch_size=16))
        answers.append(matcher.predict_proba(train))
    assert answers[0] == pytest.approx(answers[1], abs=1e-3)


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
    matcher, train = build(None, frozen_layers=4), examples(15)
    history = train_on_labels(matcher, train, None, config=TuneConfig(epochs=3, rate=5e-4, batch_size=8))
    assert history.rows[-1]["loss"] < 0.9 * history.rows[0]["loss"]
    assert capfd.readouterr() == ("", "")
