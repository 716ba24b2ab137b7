"""One record for each entity, by simple rules: per attribute the most frequent value that is not missing, of equally
frequent ones the longest, then the first in the alphabet.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from riskcore.columns import ENTITY_ID, MERGED_COLUMNS, RECORD_ID, SIDE, VALUE
from riskcore.runs.candidate_files import BOTH_SIDES


def merged_records(entities: pd.DataFrame) -> pd.DataFrame:
    """A row per entity in the order of the table of entities (`Resolution.entities`, with values): its id, the number
    of its records, their sides and ids as a JSON list, and a value for each attribute."""
    code, ids = pd.factorize(entities[ENTITY_ID])
    columns = {ENTITY_ID: ids, "records": np.bincount(code, minlength=len(ids)), "sources": _sources(entities, code)}
    for name in (name for name in entities if name.startswith(VALUE)):
        columns[attribute_column(name)] = _chosen(code, entities[name], len(ids))
    return pd.DataFrame(columns)


def attribute_column(name: str) -> str:
    """The attribute's own name, unless a column of that name is there already."""
    bare = name.removeprefix(VALUE)
    return name if bare in (*MERGED_COLUMNS, SIDE, RECORD_ID) else bare


def with_attribute_names(entities: pd.DataFrame) -> pd.DataFrame:
    """The table of entities with the attributes' own names."""
    return entities.rename(columns={name: attribute_column(name) for name in entities if name.startswith(VALUE)})


def _sources(entities: pd.DataFrame, code: np.ndarray) -> list[str]:
    """The records of each entity, as texts such as left:17; an id of a self-join stands alone."""
    named = entities[RECORD_ID].where(entities[SIDE] == BOTH_SIDES, entities[SIDE] + ":" + entities[RECORD_ID])
    order = np.argsort(code, kind="stable")
    groups = np.split(named.to_numpy(dtype=object)[order], np.flatnonzero(np.diff(code[order])) + 1)
    return [json.dumps(group.tolist(), ensure_ascii=False) for group in groups] if len(code) else []


def _chosen(code: np.ndarray, values: pd.Series, entities: int) -> np.ndarray:
    """The value of each entity; None where all are missing."""
    known = (values.notna() & (values != "")).to_numpy()
    counted = pd.DataFrame({"entity": code[known], "value": values[known].to_numpy(dtype=object)})
    counted = counted.groupby(["entity", "value"], sort=False).size().rename("count").reset_index()
    counted["length"] = counted["value"].str.len()
    best = counted.sort_values(["entity", "count", "length", "value"], ascending=[True, False, False, True])
    best = best.drop_duplicates("entity")
    chosen = np.full(entities, None, dtype=object)
    chosen[best["entity"].to_numpy()] = best["value"].to_numpy(dtype=object)
    return chosen
