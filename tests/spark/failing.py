"""Tasks that fail. Spark's workers import this module."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from riskcore.scale.spark_tasks import Archive, Opening, score_parts

LOST = 3  # the part whose first attempt is lost


def fail_once(frames: Iterator[pd.DataFrame], opening: Opening, archive: Archive) -> Iterator[pd.DataFrame]:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    for frame in frames:
        scored = list(score_parts(iter([frame]), opening, archive))
        if context.attemptNumber() == 0 and LOST in frame["part"].to_list():
            raise MemoryError("the first attempt is lost")
        yield from scored


def fail_always(frames: Iterator[pd.DataFrame], opening: Opening, archive: Archive) -> Iterator[pd.DataFrame]:
    raise MemoryError("no attempt is of use")
