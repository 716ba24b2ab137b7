"""Values between the web process and the one that reads files, as JSON: only the classes listed here.

Every JSON object has one key that says what it is, so that no text of a file can pass for anything else.
"""

from __future__ import annotations

import dataclasses
import json
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from riskcore.audit.exchange.bring import BroughtVerdicts
from riskcore.audit.verdicts import Brought
from riskcore.data.bring.columns import ColumnFacts
from riskcore.data.bring.files import BroughtFile, FileForm, ReadOptions
from riskcore.data.bring.plan import Attribute, LeftOut, Plan
from riskcore.data.bring.roles import Recognised, Role
from riskcore.data.bring.scores import ScoreColumns
from riskcore.data.figures import DataFigures
from riskcore.data.problems import Problem
from riskcore.data.profile import AttributeProfile, DataProfile, SplitProfile
from riskcore.data.scored_pairs import Coverage
from riskcore.data.text_file import TextFile
from riskcore.data.uses import Use, UseKind

_CLASSES: tuple[type[Any], ...] = (
    Attribute, AttributeProfile, Brought, BroughtFile, BroughtVerdicts, ColumnFacts, Coverage, DataFigures, DataProfile,
    FileForm, LeftOut, Plan, Problem, ReadOptions, Recognised, ScoreColumns, SplitProfile, TextFile, Use,
)  # fmt: skip
_RECORDS = {one.__name__: one for one in _CLASSES}
_ENUMS: dict[str, type[Enum]] = {one.__name__: one for one in (Role, UseKind)}


def encoded(value: Any) -> bytes:
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def decoded(content: bytes) -> Any:
    return _value(json.loads(content.decode("utf-8", "surrogatepass")))


def _plain(value: Any) -> Any:
    """The value in JSON's own types, with a tag where these do not say what it is."""
    if isinstance(value, Enum):
        return {"enum": [type(value).__name__, value.value]}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, tuple):
        return {"tuple": [_plain(one) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[_plain(key), _plain(one)] for key, one in value.items()]}
    if isinstance(value, Path):
        return {"path": str(value)}
    if isinstance(value, datetime):
        return {"time": value.isoformat()}
    if isinstance(value, np.ndarray):
        return {"array": [_plain(one) for one in value.tolist()], "kind": value.dtype.kind}
    if isinstance(value, pd.DataFrame):
        return {"frame": [_cells(value.iloc[:, place]) for place in range(value.shape[1])], "names": list(value)}
    if isinstance(value, pa.Table):
        return {"table": [column.to_pylist() for column in value.columns], "names": value.column_names}
    return _record(value)


def _record(value: Any) -> dict[str, Any]:
    name = type(value).__name__
    if _RECORDS.get(name) is not type(value):
        raise TypeError(f"{name} is no value that goes between processes")
    fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value) if field.init}
    return {"record": fields, "class": name}


def _cells(column: pd.Series) -> list[Any]:
    return [None if pd.isna(cell) else _plain(cell) for cell in column.tolist()]


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_value(one) for one in plain]
    if not isinstance(plain, dict):
        return plain
    tag = next(iter(plain))
    return _READERS[tag](plain)


def _array(plain: dict[str, Any]) -> np.ndarray:
    values = [_value(one) for one in plain["array"]]
    return np.array(values, dtype=object if plain["kind"] in "OTU" else np.int64)


def _frame(plain: dict[str, Any]) -> pd.DataFrame:
    frame = pd.DataFrame({place: [_value(cell) for cell in cells] for place, cells in enumerate(plain["frame"])})
    return frame.set_axis(plain["names"], axis=1)  # names may occur twice


def _table(plain: dict[str, Any]) -> pa.Table:
    return pa.table([pa.array(cells, pa.large_string()) for cells in plain["table"]], names=plain["names"])


_READERS: dict[str, Any] = {
    "enum": lambda plain: _ENUMS[plain["enum"][0]](plain["enum"][1]),
    "tuple": lambda plain: tuple(_value(one) for one in plain["tuple"]),
    "dict": lambda plain: {_value(key): _value(one) for key, one in plain["dict"]},
    "path": lambda plain: Path(plain["path"]),
    "time": lambda plain: datetime.fromisoformat(plain["time"]),
    "array": _array,
    "frame": _frame,
    "table": _table,
    "record": lambda plain: _RECORDS[plain["class"]](**{key: _value(one) for key, one in plain["record"].items()}),
}
