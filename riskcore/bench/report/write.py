"""Writes the report of a folder of results: the page, the figures as HTML, the images beside the page."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from riskcore.bench.report.images import NoBrowserError, shows, write_html, write_png
from riskcore.bench.report.means import TITLES, grouped
from riskcore.bench.report.page import comparisons, kept_notes, render
from riskcore.bench.run.averaging import comparable
from riskcore.bench.run.documents import read_all, unreadable
from riskcore.bench.run.schema import Document, ResultHead
from riskcore.bench.run.tables import write_tables
from riskcore.errors import ConfigError
from riskcore.storage.files import write_text


class PaperRow(ResultHead):
    """A result that the paper has a figure for, as `--json` prints it. F1 in %."""

    method: str
    paper: float
    ours: float
    difference: float
    comparison: str


@dataclasses.dataclass(frozen=True)
class WrittenReport:
    """The files that were written, and notices for the user."""

    file: Path
    figures: list[Path]
    against: list[PaperRow]
    notices: list[str]


def write_report(out: Path, to: Path, with_images: bool = True) -> WrittenReport:
    """Write the report of everything in the folder; the notes in an earlier report are kept."""
    from riskcore.bench.report.figures import figures

    if to.is_dir():
        raise ConfigError(f"{to} is a folder. Give --to the page to write, such as {to / 'results.md'}.")
    documents, left = comparable(read_all(out))
    if not documents:
        raise ConfigError(f"{out} has no results. Run `bench shift` first, or name the folder of results with --out.")
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
            notices.append(f"{image} shows other results, so the page leaves it out.")
    notes = kept_notes(to.read_text(encoding="utf-8")) if to.exists() else ""
    write_text(to, render(documents, images, notes, left))
    return WrittenReport(to, list(pages.values()), _against(documents), notices)


def _against(documents: list[Document]) -> list[PaperRow]:
    groups = [group for bench in TITLES for group in grouped(documents, bench)]
    return [
        {
            **one.group.head,
            "method": one.method,
            "paper": one.paper.mean,
            "ours": one.paper.mean + one.difference.points,
            "difference": one.difference.points,
            "comparison": one.difference.word,
        }
        for one in comparisons(groups)
    ]
