"""Riskcore finds and repairs the mistakes of deep entity matchers.

    import riskcore as rc

    source = rc.read("DBLP-ACM")
    target = rc.from_frames(left, right, pairs)
    run = rc.adapt(source, target)
    run.top(50)

docs/api.md describes every function. Names are loaded on first use: `import riskcore` itself is fast, and torch is
imported only when something trains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riskcore.version import __version__

if TYPE_CHECKING:
    from riskcore.api import (
        DataFormatError,
        DataSet,
        PairExplanation,
        RankedPairs,
        RiskcoreError,
        Run,
        RunConfig,
        adapt,
        from_frames,
        load,
        rank,
        read,
        sample,
    )

__all__ = [
    "DataFormatError",
    "DataSet",
    "PairExplanation",
    "RankedPairs",
    "RiskcoreError",
    "Run",
    "RunConfig",
    "__version__",
    "adapt",
    "from_frames",
    "load",
    "rank",
    "read",
    "sample",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from riskcore import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
