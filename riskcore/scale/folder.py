"""The folder of scored pairs: which files it has, and what their columns are.

It stands alone: pairs, records and the bundle that they were scored with can be copied together and read anywhere. It
is complete once `scored.json` is there; until then `plan.json` says what is being scored, and finished parts are kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import pandas as pd
import pyarrow as pa

from riskcore.columns import LEFT_ID, LEFT_ROW, RECORD_ID, RIGHT_ID, RIGHT_ROW, VALUE
from riskcore.data.pairs import Table
from riskcore.errors import StorageError
from riskcore.storage.files import read_json, write_parquet
from riskcore.storage.parquet import load_columns

FORMAT = 1
_CURE = "Score the pairs again into another folder."
_ROWS_PER_GROUP = 16_384

# Of pairs whose matcher was not asked, `bound` is true: probability is the one nearest to the other label that it could
# have, risk the largest.
PAIR_SCHEMA = pa.schema(
    [
        (LEFT_ROW, pa.int32()),
        (RIGHT_ROW, pa.int32()),
        (LEFT_ID, pa.large_string()),
        (RIGHT_ID, pa.large_string()),
        ("label", pa.int8()),
        ("probability", pa.float64()),
        ("risk", pa.float64()),
        ("asked", pa.uint8()),
        ("bound", pa.bool_()),
    ]
)
GATHERED_SCHEMA = pa.schema(
    [
        (LEFT_ROW, pa.int32()),
        (RIGHT_ROW, pa.int32()),
        ("own", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("spread", pa.float64()),
        ("asked", pa.uint8()),
    ]
)


class ScoredFacts(TypedDict):
    """What `scored.json` holds. It depends on what was scored and with what, not on when or how fast."""

    format: int
    run: str
    name: str
    method: str
    kept_iteration: int | None
    labels_used: list[str]
    fingerprint: str
    self_join: bool
    attributes: list[str]
    pairs: int
    parts: int
    part_pairs: int
    matches: int
    spared: int  # pairs whose matcher was not asked in all of its states
    unasked: int  # pairs whose matcher was not asked at all
    records: dict[str, int]
    settings: dict[str, Any]
    version: str


class ScoredFolder:
    """Where everything is."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    @property
    def about_file(self) -> Path:
        return self.path / "scored.json"

    @property
    def plan_file(self) -> Path:
        return self.path / "plan.json"

    @property
    def measured_file(self) -> Path:
        """How long it took, and how much memory: different each time."""
        return self.path / "measured.json"

    @property
    def lock_file(self) -> Path:
        return self.path / "score.lock"

    @property
    def shared_tables(self) -> Path:
        """What scoring processes map: there while they work."""
        return self.path / ".tables"

    @property
    def bundle(self) -> Path:
        return self.path / "bundle"

    @property
    def pairs_folder(self) -> Path:
        return self.path / "pairs"

    @property
    def riskiest_file(self) -> Path:
        return self.path / "riskiest.parquet"

    def pairs_file(self, part: int) -> Path:
        return self.pairs_folder / f"part-{part:06d}.parquet"

    def gathered_file(self, part: int) -> Path:
        """A part before other candidates are heard; removed once all are done."""
        return self.path / "gathered" / f"part-{part:06d}.parquet"

    def records_file(self, side: str) -> Path:
        return self.path / f"records-{side}.parquet"

    @property
    def is_complete(self) -> bool:
        return self.about_file.is_file()

    def facts(self) -> ScoredFacts:
        """What was scored, with what."""
        if not self.is_complete:
            if self.plan_file.exists():
                raise StorageError(
                    f"Not all pairs in {self.path} are scored. Start `riskcore score` again: it goes on."
                )
            raise StorageError(f"{self.path} holds no scored pairs. Give a folder that `riskcore score` wrote.")
        facts: ScoredFacts = read_json(self.about_file, _CURE)
        if facts.get("format") != FORMAT:
            raise StorageError(
                f"{self.path} has format {facts.get('format')!r}, and this version of Riskcore reads format {FORMAT}. "
                f"{_CURE}"
            )
        return facts

    def write_records(self, left: Table, right: Table) -> None:
        """Both tables; one file where they are one."""
        self._write_records("left", left)
        if right is not left:
            self._write_records("right", right)

    def _write_records(self, side: str, table: Table) -> None:
        columns = {RECORD_ID: pa.array(table.ids, pa.large_string())}
        for name in table.attributes:
            columns[VALUE + name] = pa.array(table.values[name], pa.large_string(), from_pandas=True)
        write_parquet(self.records_file(side), pa.table(columns), _ROWS_PER_GROUP)

    def tables(self) -> tuple[Table, Table]:
        """Both tables, in the order that pairs number their records by."""
        left = self._table("left")
        return left, (self._table("right") if self.records_file("right").exists() else left)

    def _table(self, side: str) -> Table:
        found = load_columns(self.records_file(side))
        names = [name for name in found.column_names if name.startswith(VALUE)]
        values = pd.DataFrame({name.removeprefix(VALUE): found.column(name).to_pandas() for name in names})
        return Table(side, found.column(RECORD_ID).to_pandas().to_numpy(dtype=object), values.astype("str"))

    def write_gathered(self, part: int, columns: dict[str, np.ndarray]) -> None:
        write_parquet(self.gathered_file(part), pa.table(columns, schema=GATHERED_SCHEMA), 1 << 20)

    def write_pairs(self, part: int, columns: dict[str, Any]) -> None:
        write_parquet(self.pairs_file(part), pa.table(columns, schema=PAIR_SCHEMA), _ROWS_PER_GROUP)
