"""Pieces of a Markdown page."""

from __future__ import annotations

from collections.abc import Sequence


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table without the columns that nothing stands in."""
    used = [column for column in range(len(head)) if column == 0 or any(row[column] for row in rows)]
    told = [[row[column] for column in used] for row in (head, ["---"] * len(head), *rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in told)


def image(addresses: dict[str, str], name: str, title: str) -> str:
    """The image, if there is one."""
    return f"![{title}]({addresses[name]})" if name in addresses else ""
