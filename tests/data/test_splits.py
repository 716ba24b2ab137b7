import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.data.splits import fraction_sample, parse_ratio, ratio_split, size_sample
from riskcore.errors import ConfigError

LABELS = np.array([1] * 200 + [0] * 800 + [-1] * 100, dtype=np.int8)


def test_ratios():
    assert parse_ratio("2:2:6") == (2, 2, 6)
    assert parse_ratio(" 0.5 : 1:1e1") == (0.5, 1, 10)


@pytest.mark.parametrize("text", ["", "2:2", "2:2:6:1", "a:b:c", "2:0:6", "2:-2:6", "nan:1:1", "inf:1:1", "2,2,6"])
def test_what_is_no_ratio_is_refused_by_name(text):
    with pytest.raises(ConfigError, match=r"2:2:6"):
        parse_ratio(text)


def test_a_split_is_a_partition_with_each_label_in_its_share():
    parts = ratio_split(LABELS, (2, 2, 6), seed=0)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(LABELS)))
    for part, share in zip(parts, (0.2, 0.2, 0.6), strict=True):
        assert [(LABELS[part] == label).sum() for label in (1, 0, -1)] == [share * 200, share * 800, share * 100]
        assert np.all(np.diff(part) > 0)


def test_the_seed_decides():
    first, again, other = (ratio_split(LABELS, (2, 2, 6), seed)[0].tolist() for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_the_same_rows_on_every_machine():
    assert ratio_split(LABELS[:20], (1, 1, 1), seed=0)[0].tolist() == RATIO_ROWS
    assert size_sample(20, 5, seed=0).tolist() == SIZE_ROWS


RATIO_ROWS = [2, 3, 4, 6, 13, 16, 19]
SIZE_ROWS = [0, 8, 10, 15, 18]


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=40), st.integers(0, 5))
def test_every_part_has_a_pair_or_the_split_is_refused(labels, seed):
    try:
        parts = ratio_split(np.array(labels), (1, 1, 2), seed)
    except ConfigError:
        assert len(labels) < 12  # four of one label fill every part
    else:
        assert all(len(part) for part in parts)
        assert sum(map(len, parts)) == len(labels)


def test_a_fraction_keeps_the_share_of_each_label():
    rows = fraction_sample(LABELS, 0.1, seed=0)
    assert [(LABELS[rows] == label).sum() for label in (1, 0, -1)] == [20, 80, 10]
    assert fraction_sample(LABELS, 1.0, seed=0).tolist() == list(range(len(LABELS)))


def test_a_small_fraction_keeps_one_of_each():
    rows = fraction_sample(np.array([0, 0, 0, 1]), 0.01, seed=0)
    assert len(rows) == 2
    assert 3 in rows


@pytest.mark.parametrize("fraction", [0, -0.1, 1.1, float("nan")])
def test_impossible_fractions(fraction):
    with pytest.raises(ConfigError, match="fraction"):
        fraction_sample(LABELS, fraction, seed=0)


def test_a_size_is_a_simple_random_sample():
    assert len(size_sample(100, 0, seed=0)) == 0
    assert size_sample(100, 100, seed=0).tolist() == list(range(100))
    counts = np.zeros(10)
    for seed in range(2_000):
        counts[size_sample(10, 3, seed)] += 1
    assert np.all(np.abs(counts / 2_000 - 0.3) < 0.05)


@pytest.mark.parametrize("size", [-1, 101])
def test_impossible_sizes(size):
    with pytest.raises(ConfigError, match="100 pairs"):
        size_sample(100, size, seed=0)


def test_negative_seeds_are_refused():
    with pytest.raises(ConfigError, match="seed"):
        size_sample(100, 5, seed=-1)
