"""Small finished runs."""

from tests.runs.conftest import data, finished, store, waiting

__all__ = ["data", "finished", "store", "waiting"]
