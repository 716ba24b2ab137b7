"""The keys of the screens, as Help lists them. The buttons that listen to them name them once more."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Shortcut:
    """Keys that belong together: where they work, and what they do."""

    keys: tuple[str, ...]
    where: str
    does: str


SHORTCUTS = (
    Shortcut(("O",), "queue", "open the first pair"),
    Shortcut(("J", "K"), "card; J also Contradictions", "next, previous; skip"),
    Shortcut(
        ("M", "N", "U"),
        "card, Label, Estimate, Reviewers, Work lists, Contradictions",
        "verdict match, non-match, unsure; then the next pair opens",
    ),
    Shortcut(
        ("Z",),
        "queue, card, all tabs of Label & audit, Rules, Compare, Results",
        "undo your last verdict of this session, or else your newest in the run, and return to its pair",
    ),
    Shortcut(("V",), "card, Label, Estimate", "reveal the masked values of the pair"),
    Shortcut(("Q",), "card, rule", "back to the list"),
    Shortcut(("E",), "card of a scored pair", "explain"),
    Shortcut(("?",), "queue, card, Label & audit", "list the keys"),
)
