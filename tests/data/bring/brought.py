"""Small tables in every form that people bring."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import openpyxl

from riskcore.data.bring.arrange import arrange
from riskcore.data.bring.files import read_brought, unpacked
from riskcore.data.bring.plan import suggest
from riskcore.data.dataset import DataSet

CITIES = ("Köln", "Málaga", "Zürich", "Århus", "Orléans", "Brno")
LEFT = [["No", "Product", "City"], *([f"p{n}", f"Café machine {n}", CITIES[n % 6]] for n in range(12))]
RIGHT = [["sku_id", "Item name", "Town"], *([f"q{n}", f"café machine {n} new", CITIES[n % 6]] for n in range(12))]
PAIRS = [["ltable_id", "rtable_id"], *([f"p{n}", f"q{m}"] for n in range(12) for m in (n, (n + 1) % 12))]
LABELLED = [["ltable_id", "rtable_id", "label"], *([*row, str(int(row[0][1:] == row[1][1:]))] for row in PAIRS[1:])]

Rows = list[list[str]]


def text(rows: Rows, delimiter: str = ",") -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return stream.getvalue()


def write(path: Path, rows: Rows, delimiter: str = ",", encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text(rows, delimiter).encode(encoding))
    return path


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def bring(folder: Path, *paths: Path) -> DataSet:
    """The suggested data set, written and not changed by hand."""
    inside = folder.parent / "unpacked"
    inside.mkdir(exist_ok=True)
    files = read_brought(unpacked(paths, inside))
    return arrange(files, suggest(files), folder)
