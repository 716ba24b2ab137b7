"""How many runs this machine works on at a time."""

import pytest

from riskcore.errors import ConfigError
from riskcore.runs.worker import slots
from riskcore.runs.worker.slots import SLOTS_VARIABLE, machine_slots


@pytest.mark.parametrize(("cores", "expected"), [(1, 1), (2, 1), (3, 1), (4, 2), (64, 32)])
def test_half_of_the_cores(monkeypatch, cores, expected):
    monkeypatch.delenv(SLOTS_VARIABLE, raising=False)
    monkeypatch.setattr(slots, "usable_cores", lambda: cores)
    assert machine_slots() == expected


@pytest.mark.parametrize(("told", "expected"), [("3", 3), (" 0 ", 0)])
def test_what_was_set(monkeypatch, told, expected):
    monkeypatch.setenv(SLOTS_VARIABLE, told)
    assert machine_slots() == expected


@pytest.mark.parametrize("told", ["two", "-1", "1.5", "²"])
def test_what_is_no_number(monkeypatch, told):
    monkeypatch.setenv(SLOTS_VARIABLE, told)
    with pytest.raises(ConfigError, match=r"RISKCORE_SLOTS .* whole number"):
        machine_slots()
