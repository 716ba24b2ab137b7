"""How alike given pairs of records are, as a search would score them: the highest cosine of its blockers."""

from __future__ import annotations

import numpy as np

from riskcore.blocking.nearest import Nearest
from riskcore.blocking.steps import Work
from riskcore.config import BlockConfig
from riskcore.data.pairs import Table


def cosines(
    left: Table, right: Table | None, left_rows: np.ndarray, right_rows: np.ndarray, config: BlockConfig
) -> np.ndarray:
    """The cosine of each pair of rows; without a right table, both rows are the left one's."""
    work = Work(left, right, config)
    found = np.zeros(len(left_rows), dtype=np.float32)
    for blocker in config.blockers:
        matrices = work.matrices(blocker)
        nearest = Nearest(matrices[0], matrices[-1], config, same=right is None)
        found = np.maximum(found, nearest.cosines(left_rows.astype(np.int32), right_rows.astype(np.int32)))
    return found
