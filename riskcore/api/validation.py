"""Validation labels that come beside a target, as a frame, a series or a mapping."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from riskcore.columns import LEFT_ID, PAIR_ID, RIGHT_ID
from riskcore.data.dataset import DataSet
from riskcore.data.frames import without_point_zero
from riskcore.data.labels import UNKNOWN
from riskcore.data.origin import frames_origin
from riskcore.data.problems import DataFormatError, ProblemLog, shown
from riskcore.data.workload import pooled
from riskcore.errors import ConfigError
from riskcore.pair_ids import pair_id, pair_ids

ByPair: TypeAlias = "pd.DataFrame | pd.Series | Mapping[str, Any]"
_LABELS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "False": 0, "True": 1}


def by_pair_id(values: ByPair, column: str, name: str) -> pd.DataFrame:
    """Values by pair as a frame of `pair_id` and `column`, whichever way they were given; row order is kept.

    A frame names pairs by `pair_id` (or `id`), or by `ltable_id` and `rtable_id`; a series by its index.
    """
    if isinstance(values, Mapping):
        keys = pd.Index(list(values), dtype=object, tupleize_cols=False)
        values = pd.Series(list(values.values()), index=keys, dtype=object)
    if isinstance(values, pd.Series):
        return pd.DataFrame({PAIR_ID: [_key_text(key) for key in values.index], column: values.to_numpy()})
    if not isinstance(values, pd.DataFrame):
        raise ConfigError(f"{name} is a {type(values).__name__}. Give a DataFrame, a Series or a dict by pair id.")
    if column not in values.columns:
        raise ConfigError(f"{name} has no column {column!r}. It has: {', '.join(map(str, values.columns))}.")
    twice = [one for one in (column, PAIR_ID, "id", LEFT_ID, RIGHT_ID) if list(values.columns).count(one) > 1]
    if twice:
        raise ConfigError(f"{name} has two columns named {twice[0]!r}. Rename one.")
    known = next((one for one in (PAIR_ID, "id") if one in values.columns), None)
    if known is not None:
        ids = values[known].astype(str).to_numpy(dtype=object)
    elif {LEFT_ID, RIGHT_ID} <= set(values.columns):
        ids = pair_ids(_id_texts(values[LEFT_ID]), _id_texts(values[RIGHT_ID]))
    else:
        raise ConfigError(f"{name} names no pairs. Give it a column {PAIR_ID}, or {LEFT_ID} and {RIGHT_ID}.")
    return pd.DataFrame({PAIR_ID: ids, column: values[column].to_numpy()})


def with_validation(target: DataSet, validation: ByPair) -> DataSet:
    """The target with these labels as its valid split; the pairs leave the split they were in."""
    if "valid" in target.splits:
        raise ConfigError("The target has validation labels of its own. Leave validation= out, or its valid split.")
    if isinstance(validation, pd.DataFrame) and "label" not in validation.columns:
        raise ConfigError("validation has no column 'label'. Give each pair 1 for a match and 0 for a non-match.")
    frame = by_pair_id(validation, "label", "validation")
    labels, rows = _checked(frame, target)
    pool = pooled(target)
    valid = dataclasses.replace(pool.take(rows), labels=labels)
    taken = set(valid.ids.tolist())
    splits = {"valid": valid} if len(valid) else {}
    for name, pairs in target.splits.items():
        rest = pairs.take(np.array([one not in taken for one in pairs.ids], dtype=bool))
        splits |= {name: rest} if len(rest) else {}
    order = [name for name in ("train", "valid", "test", *splits) if name in splits]
    labelled = dataclasses.replace(target, splits={name: splits[name] for name in dict.fromkeys(order)})
    return dataclasses.replace(labelled, origin=frames_origin(target.name, labelled.fingerprint))


def _checked(frame: pd.DataFrame, target: DataSet) -> tuple[np.ndarray, np.ndarray]:
    """Each row's label and its place among the target's pairs; one error lists every problem."""
    log, name = ProblemLog(), "validation"
    texts = frame["label"].map(str).to_numpy(dtype=object)
    labels = np.array([_LABELS.get(text.strip(), UNKNOWN) for text in texts], dtype=np.int8)
    bad = np.flatnonzero(labels == UNKNOWN)
    cure = "Write 1 for a match and 0 for a non-match."
    log.add_rows("bad_label", bad, lambda n: f"The label is {shown(texts[bad[n]])}.", cure, name, "label")
    ids = frame[PAIR_ID].to_numpy(dtype=object)
    place = {identity: row for row, identity in reversed(list(enumerate(pooled(target).ids.tolist())))}
    rows = np.array([place.get(one, -1) for one in ids], dtype=np.int64)
    lost = np.flatnonzero(rows < 0)
    message = "The target has no pair {}."
    cure = "Add it to the target's pairs, or write it as ltable_id:rtable_id."
    log.add_rows("unknown_id", lost, lambda n: message.format(shown(ids[lost[n]])), cure, name, PAIR_ID)
    again = np.flatnonzero(frame[PAIR_ID].duplicated().to_numpy())
    log.add_rows(
        "duplicate_id", again, lambda n: f"The pair {shown(ids[again[n]])} occurs twice.", "Keep one.", name, PAIR_ID
    )
    if log.has_errors:
        raise DataFormatError(log.problems)
    return labels, rows


def _key_text(key: Any) -> str:
    """A pair's id; two ids of records are joined as `from_frames` joins them."""
    return pair_id(*map(str, key)) if isinstance(key, tuple) and len(key) == 2 else str(key)


def _id_texts(ids: pd.Series) -> np.ndarray:
    """Ids as `from_frames` writes them; a gap becomes a text that no record has."""
    whole = without_point_zero(ids, always=True)
    return np.array(["" if pd.isna(one) else str(one).strip() for one in whole], dtype=object)
