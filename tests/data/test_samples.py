import pytest

from riskcore.data import find_sample, list_samples
from riskcore.errors import ConfigError


def test_only_samples_that_are_there_are_listed(tmp_path):
    assert list_samples(tmp_path) == ()
    (tmp_path / "products").mkdir()
    (tmp_path / "litter").mkdir()
    (sample,) = list_samples(tmp_path)
    assert (sample.name, sample.path) == ("products", tmp_path / "products")
    assert sample.title
    assert sample.description


def test_a_sample_that_is_not_there(tmp_path):
    (tmp_path / "products").mkdir()
    assert find_sample("products", tmp_path).name == "products"
    with pytest.raises(ConfigError, match="There are: products"):
        find_sample("songs", tmp_path)
