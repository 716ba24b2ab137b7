import pytest

from riskcore.data import parse_map
from riskcore.errors import ConfigError


def test_entries():
    assert parse_map(["author=authors", " a b = c=d "]) == {"author": "authors", "a b": "c=d"}
    assert parse_map([]) == {}


@pytest.mark.parametrize("entry", ["author", "=authors", "author=", "", "="])
def test_entries_that_are_no_map(entry):
    with pytest.raises(ConfigError, match="SOURCE=TARGET"):
        parse_map([entry])


def test_one_name_twice():
    with pytest.raises(ConfigError, match="twice"):
        parse_map(["a=b", "a=c"])
