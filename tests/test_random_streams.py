"""Random streams: each purpose has its own, and every one follows the seed."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from riskcore.errors import ConfigError
from riskcore.random_streams import Stream, stream, stream_seed


def test_no_two_streams_share_a_seed() -> None:
    seeds = [stream_seed(seed, purpose, index) for seed in (0, 1) for purpose in Stream for index in range(50)]
    assert len(set(seeds)) == len(seeds)
    assert len(set(Stream)) == len(Stream.__members__)  # no number is used twice
    assert all(0 <= one < 2**32 for one in seeds)  # what scikit-learn takes


def test_a_stream_can_be_drawn_again() -> None:
    first, again = (stream(3, Stream.RATIO_SPLIT).permutation(20) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, stream(3, Stream.TRAIN_FRACTION).permutation(20))
    assert not np.array_equal(first, stream(4, Stream.RATIO_SPLIT).permutation(20))
    np.testing.assert_array_equal(first, np.random.default_rng([3, 0]).permutation(20))  # splits of 0.1 stay the same
    with pytest.raises(ConfigError, match="0 or more"):
        stream(-1, Stream.RATIO_SPLIT)


def test_every_stream_is_used() -> None:
    used = {
        node.attr
        for file in Path("riskcore").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Stream"
    }
    assert used == set(Stream.__members__)
