"""requirements.lock has what requirements.txt asks for, each package with a digest, and names no index and no path."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "requirements.lock").read_text(encoding="utf-8")
LOCKED = dict(re.findall(r"^([a-z0-9-]+)==(\S+) --hash=sha256:[0-9a-f]{64}$", TEXT, re.MULTILINE))
WITHOUT_DIGEST = dict(re.findall(r"^# ([a-z0-9-]+)==(\S+) has no digest here: ", TEXT, re.MULTILINE))


def test_every_requirement_is_locked_in_its_version():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    asked = dict(line.split("==") for line in lines if line.strip() and not line.startswith("#"))
    assert {name: (LOCKED | WITHOUT_DIGEST).get(name) for name in asked} == asked
    assert len(LOCKED) > len(asked)  # and what they need in turn


def test_only_torch_has_no_digest():
    assert list(WITHOUT_DIGEST) == ["torch"]
    assert len(LOCKED) == len([line for line in TEXT.splitlines() if line and not line.startswith("#")])


def test_it_names_neither_an_index_nor_a_place_on_a_machine():
    assert re.findall(r"https?:|file:|--index|--find-links|/\w+/", TEXT) == []
