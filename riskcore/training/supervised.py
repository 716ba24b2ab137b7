"""Ordinary training on labels: cross-entropy, Adam, and the epoch with the best validation F1.

Every epoch draws its order and its dropout from (seed, epoch) alone, so training that was cancelled or killed
and resumed from its checkpoint, in the middle of an epoch too, ends in the same bits as training that never stopped.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from riskcore.config import TuneConfig
from riskcore.data.pairs import LabelledPairs
from riskcore.errors import MatcherError
from riskcore.matchers.base import Arrays, Examples, Matcher, ShouldStop, TuningSet, never
from riskcore.random_streams import Stream, stream_seed
from riskcore.registry import MATCHERS
from riskcore.training.checkpoint import Checkpoint, Progress, fingerprint
from riskcore.training.listeners import Listener, TrainingStart, notify
from riskcore.training.passes import Passes
from riskcore.training.results import EpochRow, SelectionRow, ValidationScores

TASK = "tradition"  # what listeners know this training as


@dataclasses.dataclass(frozen=True)
class History:
    """A row per epoch, and the epoch kept."""

    rows: tuple[EpochRow, ...]
    best_epoch: int  # 0 is the untrained matcher

    @property
    def best(self) -> EpochRow | None:
        return self.rows[self.best_epoch - 1] if self.best_epoch else None


def train_on_labels(
    matcher: Matcher,
    train: Examples,
    validation: Examples | None = None,
    config: TuneConfig | None = None,
    seed: int = 0,
    listeners: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
    *,
    should_stop: ShouldStop = never,
) -> History:
    """Train afresh, or go on from the checkpoint; leave the matcher at its best epoch.

    A matcher that cannot be trained, such as a file of scores, is only prepared.
    """
    if not matcher.trainable:
        matcher.begin(train, stream_seed(seed, Stream.INITIAL_WEIGHTS))
        return History((), 0)
    config = config or TuneConfig()
    if not len(train) or not isinstance(train.pairs, LabelledPairs):
        raise MatcherError("Training needs labelled pairs; there are none.")
    made_from = _made_from(matcher, train, validation, config, seed)
    config = dataclasses.replace(config, epochs=epochs_of(matcher, len(train), config.epochs))
    labelled = TuningSet.from_labels(train, config.match_weight, config.smoothing)
    matcher.begin(train, stream_seed(seed, Stream.INITIAL_WEIGHTS))
    rows, best = _resume(matcher, checkpoint, made_from)
    passes = Passes(TASK, "epoch", config.epochs, made_from, listeners, checkpoint, should_stop)
    notify(listeners, "on_start", _start(config, train, rows))
    for epoch in range(len(rows) + 1, config.epochs + 1):
        started = time.perf_counter()
        rate = rate_at(epoch, config, matcher.rates.train)
        drawn = stream_seed(seed, Stream.EPOCH, epoch)
        loss, earlier = passes.make(matcher, labelled, epoch, rate=rate, seed=drawn, batch_size=config.batch_size)
        scores = validate(matcher, validation)
        seconds = earlier + time.perf_counter() - started
        rows.append({"epoch": epoch, "loss": loss, "rate": rate, **scores, "seconds": seconds})
        if best is None or best_epoch(rows) == epoch:
            best = matcher.snapshot()
        notify(
            listeners, "on_epoch_end", rows[-1]
        )  # before the checkpoint: reported twice after a kill rather than not at all
        if checkpoint is not None:
            groups = {"last": matcher.snapshot(moments=True), "best": best}
            checkpoint.write(Progress(groups, {"rows": rows}), made_from)
        passes.forget()
    if best is not None:
        matcher.restore(best)
    history = History(tuple(rows), best_epoch(rows))
    best_f1 = None if history.best is None else history.best["validation_f1"]
    notify(listeners, "on_end", {"best_epoch": history.best_epoch, "validation_f1": best_f1})
    return history


def epochs_of(matcher: Matcher, pairs: int, most: int) -> int:
    """Passes over so many labelled pairs that this matcher needs, at most as many as asked for."""
    return MATCHERS[matcher.kind].epochs(pairs, most) if matcher.kind in MATCHERS else most


def rate_at(epoch: int, config: TuneConfig, usual: float) -> float:
    """The learning rate falls linearly to `final_rate` of itself, so that training converges."""
    start = config.rate if config.rate is not None else usual
    progress = (epoch - 1) / max(config.epochs - 1, 1)
    return start * (1.0 - (1.0 - config.final_rate) * progress)


def validation_scores(
    labels: np.ndarray, probabilities: np.ndarray, weights: np.ndarray | None = None
) -> tuple[float, float] | tuple[None, None]:
    """F1 at 0.5, and the cross-entropy that decides between equals; nothing unless both classes are there.

    Pairs of one class alone would choose the matcher that predicts that class most. `weights` say how many pairs of
    the target each stands for, where a design drew some more often than others.
    """
    if len(np.unique(labels)) < 2:
        return None, None
    p = np.clip(probabilities, 1e-7, 1 - 1e-7)
    loss = -np.average(np.where(labels == 1, np.log(p), np.log1p(-p)), weights=weights)
    f1 = f1_score(labels, probabilities >= 0.5, sample_weight=weights, zero_division=0.0)
    return float(f1), float(loss)


def validate(matcher: Matcher, validation: Examples | None) -> ValidationScores:
    f1, loss = None, None
    if validation is not None:
        f1, loss = validation_scores(validation.labels, matcher.predict_proba(validation), validation.weights)
    return {"validation_f1": f1, "validation_loss": loss}


def best_epoch(rows: Sequence[SelectionRow]) -> int:
    """Highest validation F1, then lowest validation loss, then earliest; the last epoch where validation cannot
    choose."""
    if not rows or rows[0]["validation_f1"] is None:
        return len(rows)

    def order(row: SelectionRow) -> tuple[float, float, int]:
        f1, loss = row["validation_f1"], row["validation_loss"]
        assert f1 is not None  # the validation pairs are the same in every epoch
        assert loss is not None
        return -f1, loss, row["epoch"]

    return min(rows, key=order)["epoch"]


def _resume(matcher: Matcher, checkpoint: Checkpoint | None, made_from: str) -> tuple[list[EpochRow], Arrays | None]:
    progress = checkpoint.read(made_from) if checkpoint is not None else None
    if progress is None:
        return [], None
    matcher.restore(progress.groups["last"])
    return list(progress.facts["rows"]), progress.groups["best"]


def _made_from(matcher: Matcher, train: Examples, validation: Examples | None, config: TuneConfig, seed: int) -> str:
    settings: dict[str, Any] = {
        "matcher": dataclasses.asdict(matcher.config),
        "attributes": [dataclasses.asdict(attribute) for attribute in matcher.attributes],
        "tune": dataclasses.asdict(config),
        "seed": seed,
    }
    return fingerprint(settings, train.pairs, None if validation is None else validation.pairs)


def _start(config: TuneConfig, train: Examples, rows: Sequence[EpochRow]) -> TrainingStart:
    return {"task": TASK, "epochs": config.epochs, "pairs": len(train), "done": len(rows)}
