"""One record per entity."""

from __future__ import annotations

from collections import Counter

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.audit.merged import merged_records

VALUES = st.sampled_from(["a", "bb", "cc", "b", "", None])


def made(rows):
    columns = ["entity_id", "side", "record_id", "value_name", "value_side"]
    return pd.DataFrame(rows, columns=columns).assign(records=1)


def chosen_by_hand(values):
    counts = Counter(value for value in values if value)
    best = sorted(counts, key=lambda value: (-counts[value], -len(value), value))
    return best[0] if best else None


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("efg"), VALUES), min_size=1, max_size=12))
def test_the_most_frequent_then_the_longest_then_the_first(drawn):
    rows = [(entity, "left", str(n), value, "x") for n, (entity, value) in enumerate(drawn)]
    merged = merged_records(made(rows)).set_index("entity_id")
    for entity in {entity for entity, _ in drawn}:
        found = merged.loc[entity, "name"]
        by_hand = chosen_by_hand([value for one, value in drawn if one == entity])
        assert found == by_hand or (by_hand is None and pd.isna(found))


def test_the_sources_are_named():
    rows = [("e1", "left", "7", "A", "x"), ("e1", "right", 'q"9', None, "y"), ("e2", "both", "8", "C", None)]
    merged = merged_records(made(rows))
    assert list(merged) == ["entity_id", "records", "sources", "name", "value_side"]  # `side` is taken
    assert merged["sources"].tolist() == ['["left:7", "right:q\\"9"]', '["8"]']
    assert merged["records"].tolist() == [2, 1]


def test_no_entities():
    assert merged_records(made([])).empty
