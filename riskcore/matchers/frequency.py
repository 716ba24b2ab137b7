"""How common each word was in training, by hash; an unseen word counts as the rarest."""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np

COMMON = 1e-3  # a word that makes up this share of all words weighs half of a unique one


@dataclasses.dataclass(frozen=True, eq=False)
class Frequency:
    """Sorted hashes of the words met, and each one's share."""

    word: np.ndarray  # int64, ascending
    frequency: np.ndarray  # float32

    @classmethod
    def none(cls) -> Self:
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))

    @classmethod
    def of(cls, hashes: np.ndarray, total: int | None = None) -> Self:
        """From all occurrences; shares are of `total`, or of the occurrences."""
        word, counts = np.unique(hashes, return_counts=True)
        return cls(word.astype(np.int64), (counts / max(total or len(hashes), 1)).astype(np.float32))

    def arrays(self) -> dict[str, np.ndarray]:
        return {"word": self.word, "frequency": self.frequency}

    def share(self, hashes: np.ndarray) -> np.ndarray:
        if not len(self.word):
            return np.zeros(len(hashes), dtype=np.float32)
        place = np.minimum(np.searchsorted(self.word, hashes), len(self.word) - 1)
        return np.where(self.word[place] == hashes, self.frequency[place], np.float32(0))

    def weights(self, hashes: np.ndarray) -> np.ndarray:
        """Smooth inverse frequency of each word, 0 for the padding in front."""
        weights = (COMMON / (COMMON + self.share(hashes))).astype(np.float32)
        weights[0] = 0
        return weights
