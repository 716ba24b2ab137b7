"""The orders of a queue: by a column of the scores, by what a verdict is expected to gain, or random.

An order is an expression over the scores, so that filtering and sorting stay one query.
"""

from __future__ import annotations

import dataclasses

import duckdb

from riskcore.columns import GAIN, PAIR_ID, RANDOM, SORT_COLUMNS
from riskcore.errors import ConfigError
from riskcore.evaluation.gain import f1_gains
from riskcore.runs.feedback_files import scan_queue
from riskcore.runs.folder import RunFolder
from riskcore.storage.parquet import frame, searching

ORDERS = (*SORT_COLUMNS, GAIN, RANDOM)


@dataclasses.dataclass(frozen=True)
class CorrectionGain:
    """By how much F1 rises if a wrong label of either kind is corrected, at the errors that the risks add up to."""

    wrong_match: float
    wrong_non_match: float

    def of(self, label: int, risk: float) -> float:
        """What a verdict on a pair with this label and risk is expected to add to F1."""
        return risk * (self.wrong_match if label else self.wrong_non_match)


def check_order(order: str) -> None:
    if order not in ORDERS:
        raise ConfigError(f"Pairs cannot be sorted by {order!r}. Possible: {', '.join(ORDERS)}.")


def correction_gain(folder: RunFolder, method: str, iteration: int | None = None) -> CorrectionGain:
    """What corrections are worth for the labels of an iteration, the kept one if none is named."""
    with searching() as connection:
        return _gain(connection, scan_queue(folder, method, folder.iteration(method, iteration)))


def sorting(connection: duckdb.DuckDBPyConnection, folder: RunFolder, order: str, scores: str) -> str:
    """The order as an expression over a table of scores."""
    if order == RANDOM:
        # A digest of run and pair: the same for everyone, for every method and iteration, and on every machine.
        run = folder.path.name.replace("'", "''")
        return f"md5('{run}' || chr(10) || {PAIR_ID})"
    if order == GAIN:
        gain = _gain(connection, scores)
        return f"risk * CASE WHEN label = 1 THEN {gain.wrong_match!r} ELSE {gain.wrong_non_match!r} END::DOUBLE"
    return order


def _gain(connection: duckdb.DuckDBPyConnection, scores: str) -> CorrectionGain:
    """From the expected errors: the sums of the risks of both labels."""
    found = frame(
        connection,
        f"SELECT count(*) FILTER (label = 1) AS matches, coalesce(sum(risk) FILTER (label = 1), 0) AS positives, "
        f"coalesce(sum(risk) FILTER (label = 0), 0) AS negatives FROM {scores}",
    )
    non_match, match = f1_gains(*(float(found[name][0]) for name in ("matches", "positives", "negatives")))
    return CorrectionGain(wrong_match=match, wrong_non_match=non_match)
