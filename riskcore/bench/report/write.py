"""From a folder of results to a page: tables, figures as HTML, images beside the page."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from riskcore.bench.report.images import NoBrowserError, shows, write_html, write_png
from riskcore.bench.report.means import TITLES, grouped
from riskcore.bench.report.page import comparisons, kept_notes, render
from riskcore.bench.run.averaging import agreeing
from riskcore.bench.run.documents import read_all, unreadable
from riskcore.bench.run.tables import write_tables
from riskcore.errors import ConfigError
from riskcore.storage.files import write_text


@dataclasses.dataclass(frozen=True)
class Page:
    """What was written, and what is worth telling about it."""

    file: Path
    figures: list[Path]
    against: list[dict[str, Any]]  # every result that the paper has a figure for
    notices: list[str]


def publish(out: Path, to: Path, with_images: bool = True) -> Page:
    """Write the report of everything in the folder; notes that were put into an earlier one are kept."""
    from riskcore.bench.report.figures import figures

    if to.is_dir():
        raise ConfigError(f"{to} is a folder. Give --to the page to write, such as {to / 'results.md'}.")
    documents, left = agreeing(read_all(out))
    if not documents:
        raise ConfigError(f"{out} holds no results. Run `bench shift` first, or name their folder with --out.")
    write_tables(out)
    drawn, images, notices = figures(documents), dict[str, str](), [*unreadable(out), *left]
    pages = {name: out / "figures" / f"{name}.html" for name in drawn}
    for name, figure in drawn.items():
        write_html(figure, pages[name])
        image = to.parent / "img" / f"bench-{name}.png"
        try:
            if with_images:
                write_png(figure, pages[name], image)
        except NoBrowserError as error:
            notices.append(str(error))
            with_images = False
        if shows(image, figure):
            images[name] = Path(os.path.relpath(image, to.parent)).as_posix()
        elif image.exists():
            notices.append(f"{image} shows other results than these, and the page is without it.")
    notes = kept_notes(to.read_text(encoding="utf-8")) if to.exists() else ""
    write_text(to, render(documents, images, notes, left))
    return Page(to, list(pages.values()), _against(documents), notices)


def _against(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    groups = [group for bench in TITLES for group in grouped(documents, bench)]
    return [
        {**group.head, "method": method, "paper": paper.mean, "ours": 100 * group.methods[method]["f1_mean"],
         "difference": verdict.difference, "verdict": verdict.word}
        for group, method, paper, verdict in comparisons(groups)
    ]  # fmt: skip
