"""Headings of a screen: one title, and no level left out below it, so that screen readers can walk through them."""

from __future__ import annotations

import re

import pytest

from pages.parts.frame.navigation import SCREENS

CONVERTED = (
    ("overview", {}),
    ("data_sets", {}),
    ("data_sets", {"add": "tables"}),
    ("data_sets", {"add": "scores"}),
    ("fine_tuning", {}),
    ("pairs", {}),
    ("pairs", {"pair": "a7:b7"}),
    ("rules", {}),
    ("rules", {"one": "2"}),
    ("compare", {}),
    ("audit", {}),
    ("audit", {"part": "Verdicts"}),
    ("results", {}),
    ("help", {}),
    ("help", {"part": "keys"}),
    ("help", {"part": "signs"}),
    ("help", {"part": "method"}),
    ("help", {"part": "theory"}),
    ("help", {"part": "about"}),
)
LEVELS = {"title": 1, "header": 2, "subheader": 3}


def headings(app) -> list[tuple[int, str]]:
    """Level and text of every heading, in the order of the screen."""
    found = []
    for element in app.main:
        if element.type in LEVELS:
            found.append((LEVELS[element.type], str(element.value)))
        elif element.type == "markdown":
            found += [(len(marks), words) for marks, words in re.findall(r"^(#{1,6}) (.+)$", element.value, re.M)]
        elif element.type == "html":
            found += [
                (int(level), words) for level, words in re.findall(r"<h([1-6])[^>]*>(.*?)</h", element.proto.body)
            ]
    return found


def jumps(found: list[tuple[int, str]]) -> list[str]:
    """Headings that lie more than one level below the one before."""
    levels = [0, *(level for level, _ in found)]
    return [words for (level, words), before in zip(found, levels, strict=False) if level > before + 1]


def test_a_jump_is_found():
    assert jumps([(1, "a"), (2, "b"), (3, "c"), (2, "d")]) == []
    assert jumps([(1, "a"), (3, "b"), (3, "c")]) == ["b"]
    assert jumps([(2, "a")]) == ["a"]


@pytest.mark.parametrize(("name", "address"), CONVERTED, ids=lambda one: one if isinstance(one, str) else str(one))
def test_headings_do_not_jump(screen, done, name, address):
    found = headings(screen(name, run=done.id, **address))
    assert [words for level, words in found if level == 1] == [SCREENS[name].title]
    assert found[0][0] == 1
    assert jumps(found) == []
