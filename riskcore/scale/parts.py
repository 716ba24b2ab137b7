"""One part of the pairs: gathered, then finished, each time as one whole file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from riskcore.columns import LEFT_ID, LEFT_ROW, RIGHT_ID, RIGHT_ROW
from riskcore.config import ScaleConfig
from riskcore.runs.bundle.read import Bundle
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.scorer import GatheredPairs, PairScorer, PreparedTables
from riskcore.storage.parquet import load_columns


class PartScorer:
    """Everything that is needed for the parts of a folder, opened once."""

    def __init__(self, folder: Path, method: str, config: ScaleConfig, tables: PreparedTables | None = None) -> None:
        """`tables` are those of the folder, where they are prepared already."""
        self.folder = ScoredFolder(folder)
        bundle = Bundle(self.folder.bundle)
        tables = tables or PreparedTables.of(bundle, *self.folder.tables())
        self.left, self.right = tables.left, tables.right
        self.scorer = PairScorer(bundle, tables, method, config)
        self._left_ids, self._right_ids = tables.left_ids, tables.right_ids

    def gather(self, part: int, left: np.ndarray, right: np.ndarray) -> int:
        """Score these pairs and store them: where candidates compete, as far as it goes without the others."""
        gathered = self.scorer.gather(left, right)
        if self.scorer.competition is None:
            self._write(part, left, right, gathered, None)
        else:
            self.folder.write_gathered(part, gathered_columns(left, right, gathered))
        return len(gathered)

    def finish(self, part: int, competitors: np.ndarray) -> int:
        """The answers on a gathered part, given the strongest competitors of each pair."""
        left, right, gathered = read_gathered(self.folder, part)
        gathered = self.scorer.settle(left, right, gathered, competitors)
        self._write(part, left, right, gathered, competitors)
        return len(gathered)

    def _write(
        self, part: int, left: np.ndarray, right: np.ndarray, gathered: GatheredPairs, competitors: np.ndarray | None
    ) -> None:
        self.folder.write_pairs(part, self.pair_columns(left, right, gathered, competitors))

    def pair_columns(
        self, left: np.ndarray, right: np.ndarray, gathered: GatheredPairs, competitors: np.ndarray | None
    ) -> dict[str, pa.Array]:
        """The stored columns of some pairs."""
        found = self.scorer.answers(gathered, competitors)
        return {
            LEFT_ROW: pa.array(left, pa.int32()),
            RIGHT_ROW: pa.array(right, pa.int32()),
            LEFT_ID: self._left_ids.take(pa.array(left)),
            RIGHT_ID: self._right_ids.take(pa.array(right)),
            "label": pa.array((found.probability >= 0.5).astype(np.int8)),
            "probability": pa.array(found.probability),
            "risk": pa.array(found.risk),
            "asked": pa.array(gathered.asked),
            "bound": pa.array(gathered.asked < self.scorer.states),
        }


def gathered_columns(left: np.ndarray, right: np.ndarray, gathered: GatheredPairs) -> dict[str, np.ndarray]:
    """Gathered pairs as columns."""
    return {
        LEFT_ROW: left.astype(np.int32),
        RIGHT_ROW: right.astype(np.int32),
        "own": gathered.own,
        "low": gathered.low,
        "high": gathered.high,
        "spread": gathered.spread,
        "asked": gathered.asked,
    }


def read_gathered(folder: ScoredFolder, part: int) -> tuple[np.ndarray, np.ndarray, GatheredPairs]:
    """A gathered part: rows of both records, and what is known of each pair by itself."""
    table = load_columns(folder.gathered_file(part))
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    left, right = columns.pop(LEFT_ROW), columns.pop(RIGHT_ROW)
    return left, right, GatheredPairs(**columns)
