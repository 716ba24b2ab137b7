"""Attribute types: inferred from values, overridable by name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from riskcore.config import DataConfig
from riskcore.data.pairs import Table
from riskcore.data.schema import AttributeType, infer_types
from riskcore.errors import ConfigError

COLUMNS: dict[str, tuple[str, list[str | None]]] = {
    "title": ("name", ["the design of vldb", "a survey of joins and views", "query plans", None]),
    "authors": ("set", ["j. smith, k. wu", "ada lovelace and c. babbage", "m. curie; p. curie", "e. codd"]),
    "year": ("number", ["1999", "2001.0", "(1995),", None]),
    "price": ("number", ["$ 0.99", "12", "1,299.00", "album only"]),
    "length": ("number", ["3:01", "1m 58sec", "209000", "4:00"]),
    "model": ("code", ["dcr-sr45", "ps-lx350h", "kx tg5632", "mdr-nc22"]),
    "phone": ("code", ["310-246-1501", "212/555-0199", "415 5550123", "808-555-0100"]),
    "isbn": ("code", ["9780306406157", "9781861972712", "9783161484100", "0306406152"]),
    "description": ("text", ["word " * 40, "another long text " * 9, "more words " * 20, "some more words " * 8]),
    "empty": ("name", [None, None, None, None]),
}


def table() -> Table:
    frame = pd.DataFrame({name: pd.Series(values, dtype="str") for name, (_, values) in COLUMNS.items()})
    return Table("tableA", np.array(["a", "b", "c", "d"], dtype=object), frame)


@pytest.mark.parametrize("name", list(COLUMNS))
def test_types_are_inferred(name: str) -> None:
    assert infer_types([table()], [name])[0].type == COLUMNS[name][0]


def test_overrides_win() -> None:
    (attribute,) = infer_types([table()], ["year"], {"year": "name"})
    assert attribute.type is AttributeType.NAME


@pytest.mark.parametrize(("overrides", "named"), [({"no such": "name"}, "no such"), ({"year": "date"}, "date")])
def test_wrong_overrides_are_named(overrides: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        infer_types([table()], ["year"], overrides)


def test_a_sample_is_enough() -> None:
    values = pd.Series([str(1900 + n % 100) for n in range(5000)], dtype="str")
    many = Table("tableA", np.arange(5000).astype(str).astype(object), pd.DataFrame({"year": values}))
    assert infer_types([many], ["year"], config=DataConfig(type_sample=10))[0].type is AttributeType.NUMBER
