"""An epoch that is cancelled after any of its batches goes on where it was, dropout included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riskcore.config import MatcherConfig, TuneConfig
from riskcore.errors import CancelledError
from riskcore.matchers import Matcher, create
from riskcore.training.checkpoint import Checkpoint
from riskcore.training.supervised import train_on_labels
from tests.matchers.people import ATTRIBUTES, examples


class Batches:
    """Counts batches, and cancels after some."""

    def __init__(self, most: int = 1_000_000) -> None:
        self.asked, self.most = 0, most

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked > self.most


def build(kind: str, tiny: Path, **settings: Any) -> Matcher:
    folder = str(tiny) if kind == "ditto" else None
    config = MatcherConfig(kind=kind, width=16, head=16, max_tokens=64, folder=folder, **settings)
    return create(config, ATTRIBUTES)


@pytest.mark.parametrize("kind", ["hybrid", "ditto"])
@pytest.mark.parametrize("batches", [1, 2, 5, 7])
def test_an_epoch_that_was_cancelled_goes_on_in_the_same_bits(
    kind: str,
    batches: int,
    tiny_transformer: Path,
    tmp_path: Path,
) -> None:
    train, validation, config = examples(20), examples(15, seed=1), TuneConfig(epochs=2, batch_size=16)
    settings = {"dropout": 0.4, **({"augment": 0.5, "frozen_layers": 0} if kind == "ditto" and batches % 2 else {})}
    straight, resumed = (build(kind, tiny_transformer, **settings) for _ in range(2))
    whole = train_on_labels(straight, train, validation, config, 2)
    checkpoint = Checkpoint(tmp_path / "tradition.safetensors")
    kept = tmp_path / "tradition-pass.safetensors"
    stopped = build(kind, tiny_transformer, **settings)
    with pytest.raises(CancelledError):
        train_on_labels(stopped, train, validation, config, 2, checkpoint=checkpoint, should_stop=Batches(batches))
    assert kept.exists() == bool(batches % 4)  # an epoch has four batches
    done = Batches()
    later = train_on_labels(resumed, train, validation, config, 2, checkpoint=checkpoint, should_stop=done)
    assert done.asked == 8 - batches
    assert not kept.exists()
    ours, theirs = resumed.snapshot(), straight.snapshot()
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    assert [{**row, "seconds": 0} for row in later.rows] == [{**row, "seconds": 0} for row in whole.rows]


class _Batches:
    """Counts them."""

    asked = 0

    def __call__(self) -> bool:
        self.asked += 1
        return False
