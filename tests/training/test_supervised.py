"""Training on labels: what is kept, resumed, cancelled and refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riskcore.config import MatcherConfig, TuneConfig
from riskcore.errors import CancelledError, CheckpointError, MatcherError
from riskcore.matchers import Examples, Matcher, TuningSet, create
from riskcore.training.checkpoint import Checkpoint, Progress, fingerprint
from riskcore.training.listeners import ConsoleProgress, Listener
from riskcore.training.supervised import best_epoch, rate_at, train_on_labels, validation_scores
from tests.matchers.people import ATTRIBUTES, examples


def build(kind: str = "toy", **settings: object) -> Matcher:
    return create(MatcherConfig(kind=kind, width=16, head=16, **settings), ATTRIBUTES)  # type: ignore[arg-type]


class Recorder(Listener):
    def __init__(self) -> None:
        self.events: list[str] = []

    def on_start(self, record: dict[str, object]) -> None:
        self.events.append("start")

    def on_epoch_end(self, record: dict[str, object]) -> None:
        self.events.append(f"epoch {record['epoch']}")

    def on_end(self, record: dict[str, object]) -> None:
        self.events.append("end")


def test_the_kept_epoch_is_the_best_on_validation() -> None:
    matcher, validation = build(), examples(30, seed=1)
    history = train_on_labels(matcher, examples(), validation, config=TuneConfig(epochs=8), seed=1)
    scores = [row["validation_f1"] for row in history.rows]
    assert history.best is not None
    assert history.best["validation_f1"] == max(scores)
    f1, loss = validation_scores(validation.labels, matcher.predict_proba(validation))
    assert (f1, loss) == (history.best["validation_f1"], history.best["validation_loss"])


def test_between_equals_the_lower_loss_then_the_earlier_wins() -> None:
    rows = [(0.9, 0.5), (0.95, 0.4), (0.95, 0.3), (0.95, 0.3)]
    told = [{"epoch": i + 1, "validation_f1": f1, "validation_loss": loss} for i, (f1, loss) in enumerate(rows)]
    assert best_epoch(told) == 3
    blind = [{"epoch": i, "validation_f1": None, "validation_loss": None} for i in (1, 2, 3)]
    assert best_epoch(blind) == 3
    assert best_epoch([]) == 0


def test_f1_by_hand() -> None:
    f1, loss = validation_scores(np.array([1, 1, 0, 0]), np.array([0.9, 0.2, 0.5, 0.1]))
    assert f1 == pytest.approx(0.5)  # one hit, one miss, one false match: at 0.5 a pair is a match
    assert loss == pytest.approx(-np.log([0.9, 0.2, 0.5, 0.9]).mean())


def test_the_rate_falls_in_a_straight_line() -> None:
    config = TuneConfig(epochs=5, rate=0.1, final_rate=0.2)
    assert [rate_at(epoch, config, 1.0) for epoch in (1, 3, 5)] == pytest.approx([0.1, 0.06, 0.02])
    assert rate_at(1, TuneConfig(epochs=1), 0.5) == 0.5


def test_label_weights() -> None:
    train = examples(4)
    labelled = TuningSet.from_labels(train, match_weight=3, smoothing=0.1, share=0.5)
    matches = train.labels == 1
    assert labelled.match[matches] == pytest.approx(0.5 * 3 * 0.9)
    assert labelled.non_match[matches] == pytest.approx(0.5 * 3 * 0.1)
    assert labelled.match[~matches] == pytest.approx(0.5 * 0.1)
    assert labelled.non_match[~matches] == pytest.approx(0.5 * 0.9)


@pytest.mark.parametrize("kind", ["toy", "hybrid"])
@pytest.mark.parametrize("stop_after", [0, 2])
def test_cancelled_and_resumed_ends_in_the_same_bits(kind: str, stop_after: int, tmp_path: Path) -> None:
    train, validation, config = examples(20), examples(15, seed=1), TuneConfig(epochs=4, batch_size=16)
    straight = build(kind)
    whole = train_on_labels(straight, train, validation, config=config, seed=2)
    checkpoint, listener = Checkpoint(tmp_path / "tradition.safetensors"), Recorder()
    with pytest.raises(CancelledError):
        train_on_labels(
            build(kind),
            train,
            validation,
            config=config,
            seed=2,
            listeners=[listener],
            checkpoint=checkpoint,
            should_stop=lambda: len(listener.events) > stop_after,
        )
    assert checkpoint.path.exists() == (stop_after > 0)
    resumed = build(kind)
    later = train_on_labels(resumed, train, validation, config=config, seed=2, checkpoint=checkpoint)
    assert np.array_equal(resumed.predict_proba(validation), straight.predict_proba(validation))
    untimed = [[{**row, "seconds": 0} for row in history.rows] for history in (whole, later)]
    assert untimed[0] == untimed[1]
    assert whole.best_epoch == later.best_epoch


def test_a_finished_training_is_not_repeated(tmp_path: Path) -> None:
    train, checkpoint, listener = examples(10), Checkpoint(tmp_path / "c.safetensors"), Recorder()
    first = build()
    train_on_labels(first, train, train, config=TuneConfig(epochs=3), checkpoint=checkpoint)
    again = build()
    history = train_on_labels(again, train, train, TuneConfig(epochs=3), checkpoint=checkpoint, listeners=[listener])
    assert listener.events == ["start", "end"]
    assert len(history.rows) == 3
    assert np.array_equal(again.predict_proba(train), first.predict_proba(train))


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    train, checkpoint = examples(10), Checkpoint(tmp_path / "c.safetensors")
    train_on_labels(build(), train, None, config=TuneConfig(epochs=1), seed=0, checkpoint=checkpoint)
    for other, seed in ((train, 1), (examples(9), 0)):
        with pytest.raises(CheckpointError, match="other data, settings or seed"):
            train_on_labels(build(), other, None, config=TuneConfig(epochs=1), seed=seed, checkpoint=checkpoint)
    checkpoint.path.write_bytes(b"torn")
    with pytest.raises(CheckpointError, match="cannot be read"):
        train_on_labels(build(), train, None, config=TuneConfig(epochs=1), checkpoint=checkpoint)
    checkpoint.path.unlink()
    assert checkpoint.read("x") is None


def test_a_checkpoint_gives_back_what_it_was_given(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "deep" / "c.safetensors")
    groups = {"last": {"a/b": np.arange(3.0)}, "best": {"a/b": np.ones((2, 2), dtype=np.float32)}}
    checkpoint.write(Progress(groups, {"rows": [1, None, "ü"]}), "me")
    read = checkpoint.read("me")
    assert read is not None
    assert read.facts == {"rows": [1, None, "ü"]}
    assert np.array_equal(read.groups["last"]["a/b"], np.arange(3.0))
    assert np.array_equal(read.groups["best"]["a/b"], np.ones((2, 2)))
    assert [path.name for path in checkpoint.path.parent.iterdir()] == ["c.safetensors"]


def test_a_checkpoint_of_a_view_holds_the_view(tmp_path: Path) -> None:
    """A column of a forest's answers came back as its neighbours': safetensors wrote the memory behind the view."""
    table = np.arange(10.0).reshape(5, 2)
    checkpoint = Checkpoint(tmp_path / "c.safetensors")
    checkpoint.write(Progress({"answer": {"column": table[:, 1], "turned": table.T}}, {}), "me")
    read = checkpoint.read("me")
    assert read is not None
    assert np.array_equal(read.groups["answer"]["column"], table[:, 1])
    assert np.array_equal(read.groups["answer"]["turned"], table.T)


def test_fingerprints_see_labels_order_and_settings() -> None:
    pairs = examples(5).pairs
    reference = fingerprint({"a": 1}, pairs, None)
    assert reference == fingerprint({"a": 1}, pairs, None)
    assert reference != fingerprint({"a": 2}, pairs, None)
    assert reference != fingerprint({"a": 1}, pairs.take(np.arange(len(pairs))[::-1]), None)
    assert reference != fingerprint({"a": 1}, pairs.without_labels(), None)  # type: ignore[attr-defined]


def test_listeners_receive_everything_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    listener = Recorder()
    train_on_labels(build(), examples(10), None, config=TuneConfig(epochs=2), listeners=[listener, ConsoleProgress()])
    assert listener.events == ["start", "epoch 1", "epoch 2", "end"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("epoch") == 2


def test_the_engine_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    train_on_labels(build("attention"), examples(10), examples(10), config=TuneConfig(epochs=1))
    assert capfd.readouterr() == ("", "")


def test_training_without_labels_or_pairs_says_so() -> None:
    train = examples(5)
    with pytest.raises(MatcherError, match="labelled pairs"):
        train_on_labels(build(), Examples(train.pairs.without_labels()))  # type: ignore[attr-defined]
    with pytest.raises(MatcherError, match="labelled pairs"):
        train_on_labels(build(), train.take(slice(0)))


def test_no_epochs_leaves_the_fresh_matcher() -> None:
    matcher = build()
    history = train_on_labels(matcher, examples(5), examples(5), config=TuneConfig(epochs=0))
    assert history.best is None
    assert np.isfinite(matcher.predict_proba(examples(5))).all()


@pytest.mark.parametrize("labels", [[], [0, 0, 0], [1, 1, 1]])
def test_validation_pairs_of_one_class_say_nothing(labels: list[int]) -> None:
    said = np.linspace(0.2, 0.9, len(labels))
    assert validation_scores(np.array(labels, dtype=np.int8), said) == (None, None)


def test_one_class_only_trains_all_the_same() -> None:
    train = examples(10)
    strangers = train.take(train.labels == 0)
    matcher = build("attention")
    history = train_on_labels(matcher, strangers, strangers, config=TuneConfig(epochs=2))
    assert [row["validation_f1"] for row in history.rows] == [None, None]
    assert np.isfinite(matcher.predict_proba(train)).all()
