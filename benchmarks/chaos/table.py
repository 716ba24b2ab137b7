"""The table of figures: as text, as Markdown, and in docs/reliability.md between two marks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.chaos.site import Figure

BEGIN, END = "<!-- chaos: begin -->", "<!-- chaos: end -->"
HEAD = ("attack", "tried", "found", "bar", "")
STATES = {True: "met", False: "**missed**", None: "not run"}


def table(figures: Sequence[Figure]) -> str:
    """One line for each figure, in Markdown."""
    rows = [HEAD, ("---",) * len(HEAD)]
    rows += [(one.attack, one.tried, one.found, one.bar, STATES[one.met]) for one in figures]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |\n" for row in rows)


def write_table(page: Path, figures: Sequence[Figure], about: str) -> None:
    """Replace what stands between the marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no marks {BEGIN} and {END}.")
    page.write_text(f"{before}{BEGIN}\n{about}\n\n{table(figures)}{END}{after}", encoding="utf-8")
