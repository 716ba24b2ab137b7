"""What `import riskcore` offers: reading data, adapting and ranking, with results as frames of documented columns.

Nothing here trains or stores by itself: `adapt` goes through the same store and worker as the command line and the
screens, so that every run can be opened in all of them.
"""

from __future__ import annotations

from riskcore.api.adaptation import adapt
from riskcore.api.explanation import PairExplanation
from riskcore.api.ranking import RankedPairs, rank
from riskcore.api.reading import read, sample
from riskcore.api.run import Run, load
from riskcore.config import RunConfig
from riskcore.data.dataset import DataSet
from riskcore.data.frames import from_frames
from riskcore.data.problems import DataFormatError
from riskcore.errors import RiskcoreError

__all__ = [
    "DataFormatError",
    "DataSet",
    "PairExplanation",
    "RankedPairs",
    "RiskcoreError",
    "Run",
    "RunConfig",
    "adapt",
    "from_frames",
    "load",
    "rank",
    "read",
    "sample",
]
