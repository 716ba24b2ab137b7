"""What a matcher has said of some pairs, so that it is asked once: the sheets of several methods share its states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from riskcore.matchers.base import Arrays
from riskcore.training.evidence import EvidencePart

T = TypeVar("T")


class Asked:
    """Answers by the weights, the pairs and the question. It keeps all of them alive."""

    def __init__(self) -> None:
        self._answers: list[tuple[Arrays, EvidencePart, str, Any]] = []

    def once(self, weights: Arrays, part: EvidencePart, question: str, ask: Callable[[], T]) -> T:
        """The answer from before, if these very weights and pairs were asked about; else a new one."""
        for of, about, what, answer in self._answers:
            if of is weights and about is part and what == question:
                found: T = answer
                return found
        self._answers.append((weights, part, question, ask()))
        known: T = self._answers[-1][-1]
        return known
