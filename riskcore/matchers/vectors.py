"""Frozen vectors of words: pre-trained subword vectors beside hashed character n-grams.

The pre-trained part knows what common words mean; the n-grams make names, misspellings and model numbers that were
never trained on resemble words of similar spelling. Both depend on the word alone, so any word ever met has a vector,
and nothing about the vocabulary needs to be stored with a matcher.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer

from riskcore.errors import MatcherError

PACKAGE = "wordllama"  # MIT; carries 32,000 x 256 vectors and their tokenizer
NGRAMS = (2, 4)  # characters: pairs catch initials and digits, fours catch stems
BUCKETS = 2**15
SKETCH = 128  # width of the n-gram part: inner products of n-gram sets survive with an error of about 0.09
MAX_LETTERS = 64  # a longer "word" is base64 or a URL; its first letters will do


@dataclasses.dataclass(frozen=True, eq=False)
class WordVectors:
    """Word -> vector, for any word. `width` columns, float32, each of the two parts of unit length."""

    subwords: np.ndarray  # (32000, 256) float32
    tokenizer: object
    projection: np.ndarray  # (BUCKETS, SKETCH) float32

    @property
    def parts(self) -> tuple[int, int]:
        """The number of columns for meaning, and for spelling."""
        return self.subwords.shape[1], self.projection.shape[1]

    @property
    def width(self) -> int:
        return sum(self.parts)

    def of(self, words: Sequence[str]) -> np.ndarray:
        if not len(words):
            return np.zeros((0, self.width), dtype=np.float32)
        short = [word[:MAX_LETTERS] for word in words]
        return np.hstack([_unit(self._meaning(short)), _unit(self._spelling(short))])

    def _meaning(self, words: Sequence[str]) -> np.ndarray:
        """Mean of the vectors of a word's subwords."""
        encoded = self.tokenizer.encode_batch(list(words), add_special_tokens=False)  # type: ignore[attr-defined]
        counts = np.array([max(len(one.ids), 1) for one in encoded])
        ids = np.concatenate([one.ids or [0] for one in encoded]).astype(np.int64)
        rows = np.repeat(np.arange(len(encoded)), counts)
        share = np.repeat(1.0 / counts, counts).astype(np.float32)
        spread = sparse.csr_matrix((share, (rows, ids)), shape=(len(encoded), len(self.subwords)))
        return np.asarray(spread @ self.subwords)

    def _spelling(self, words: Sequence[str]) -> np.ndarray:
        """Random projection of the set of a word's character n-grams."""
        hashing = HashingVectorizer(
            analyzer="char_wb", ngram_range=NGRAMS, n_features=BUCKETS, alternate_sign=False, lowercase=False
        )
        return np.asarray(hashing.transform(words).astype(np.float32) @ self.projection)


@functools.cache
def pretrained() -> WordVectors:
    """The vectors that come with the package, read once per process (about 50 MB)."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # its threads would take the web server's core
    folder = package_folder(PACKAGE)
    (weights,) = sorted((folder / "weights").glob("*.safetensors"))
    (tokenizer,) = sorted((folder / "tokenizers").glob("*.json"))
    (table,) = load_file(weights).values()
    drawn = np.random.default_rng(20_000).standard_normal((BUCKETS, SKETCH), dtype=np.float32)
    return WordVectors(table.astype(np.float32), Tokenizer.from_file(str(tokenizer)), drawn / np.sqrt(SKETCH))


def package_folder(name: str) -> Path:
    """The folder of a package's files; the package is not imported."""
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        raise MatcherError(
            f"The package {name}, which carries pre-trained weights, is not installed: "
            "install Riskcore again with all its dependencies."
        )
    return Path(next(iter(found.submodule_search_locations)))


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: np.ndarray = (vectors / np.maximum(length, 1e-6)).astype(np.float32)
    return scaled
