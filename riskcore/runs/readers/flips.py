"""When labels flipped, iteration by iteration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import take_scores


def flipped_at(folder: RunFolder, method: str, iteration: int, rows: Sequence[int] | np.ndarray) -> list[int | None]:
    """For each of these pairs the iteration, up to this one, in which its label became what it is; 0 where the method's
    first answer already differs from the starting matcher's, None where the label is not flipped."""
    wanted = np.asarray(rows, dtype=np.int64)
    now = take_scores(folder.scores_file(method, iteration), wanted, ("label", "flipped")).to_pydict()
    label, flipped = np.array(now["label"]), np.array(now["flipped"], dtype=bool)
    since = np.zeros(len(wanted), dtype=np.int64)
    for one in folder.iterations(method):
        if 0 < one <= iteration:
            changed = take_scores(folder.scores_file(method, one), wanted, ("label", "from_label")).to_pydict()
            new, old = np.array(changed["label"]), np.array(changed["from_label"])
            since[(new != old) & (new == label)] = one
    return [int(at) if is_flipped else None for at, is_flipped in zip(since, flipped, strict=True)]
