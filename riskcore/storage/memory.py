"""Memory that was freed, and that libraries keep for themselves."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys

import pyarrow as pa


def give_back_memory() -> None:
    """What was freed goes back to the system."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    trim_heap()


def trim_heap() -> None:
    """The same for plain allocations alone, which takes milliseconds."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # musl has none
            ctypes.CDLL(None).malloc_trim(0)
