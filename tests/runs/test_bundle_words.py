"""The words of a bundle are the same file in every process."""

from __future__ import annotations

from types import SimpleNamespace

from riskcore.runs.bundle.write import _write_words


def test_the_order_in_which_words_were_counted_does_not_matter(tmp_path):
    """It follows from sets of texts, whose order changes with every process; a repair compares byte by byte."""
    counts = {"wavelet": 2, "index": 1, "Ärger": 5}
    for name, frequency in (("one", counts), ("other", dict(reversed(counts.items())))):
        rarity = SimpleNamespace(frequency=frequency)
        space = SimpleNamespace(
            attributes=[SimpleNamespace(name="title")], statistics=[SimpleNamespace(rarity=rarity)], rarity=rarity
        )
        _write_words(tmp_path / name, (space,))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
