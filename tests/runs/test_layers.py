"""The web process reads runs and verdicts without what only training needs."""

from tests.imports import brought_in

MODULES = ["riskcore.runs", "riskcore.runs.worker.execute", "riskcore.audit", "riskcore.cli"]


def test_no_torch():
    assert brought_in(MODULES, ["torch", "streamlit", "sklearn", "numba"]) == []


def test_the_door_opens():
    from riskcore import audit, runs

    for door in (runs, audit):
        assert not [name for name in door.__all__ if not hasattr(door, name)]
