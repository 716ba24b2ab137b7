"""Which delimiter and encoding a text file has, as far as its content tells."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from pathlib import Path

import charset_normalizer

from riskcore.data.csv_file import CsvForm

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a byte order mark",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16, little endian",
    "utf-16-be": "UTF-16, big endian",
    "cp1252": "Windows-1252 (Latin-1)",
    "iso8859-15": "Latin-9",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "shift_jis": "Shift JIS (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "euc_kr": "EUC-KR (Korean)",
}
SAMPLE_BYTES = 1 << 18  # looked at for the delimiter, and for an encoding that is not UTF-8
SAMPLE_ROWS = 200
FOREIGN_SHARE = 0.3  # of letters: Latin script with accents has fewer that are not ASCII
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CHUNK = 1 << 20


def detect_csv(path: Path, encoding: str | None = None, delimiter: str | None = None) -> CsvForm:
    """The form of the file; what is given is taken as it is."""
    encoding = encoding or detect_encoding(path)
    return CsvForm(delimiter or _delimiter(path, encoding), encoding)


def detect_encoding(path: Path) -> str:
    """A byte order mark decides; then whether all of it is UTF-8; then what the letters look like."""
    with path.open("rb") as stream:
        sample = stream.read(SAMPLE_BYTES)
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return name
    wide = _without_mark(sample)
    if wide is not None:
        return wide
    return "utf-8" if _is_utf8(path) else _narrow(path)


def _without_mark(sample: bytes) -> str | None:
    """UTF-16 that has no mark: of Latin text, every second byte is zero."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) < 0.3 * len(sample) / 2:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _narrow(path: Path) -> str:
    """An encoding of one country or script. Text with few letters beyond ASCII is Western European."""
    sample = _telling_lines(path)
    high = sum(byte > 0x7F for byte in sample)
    plain = sum(chr(byte).isalpha() for byte in sample if byte <= 0x7F)
    if high < FOREIGN_SHARE * (high + plain):
        return "cp1252"
    known = [name for name in ENCODINGS if not name.startswith("utf")]
    best = charset_normalizer.from_bytes(sample, cp_isolation=known).best()
    found = "cp1252" if best is None else codecs.lookup(best.encoding).name
    return next((name for name in known if codecs.lookup(name).name == found), "cp1252")


def _telling_lines(path: Path) -> bytes:
    """Lines with bytes beyond ASCII, which may come late in the file."""
    kept, size = [], 0
    with path.open("rb") as stream:
        while line := stream.readline(SAMPLE_BYTES):
            if not line.isascii():
                kept.append(line)
                size += len(line)
                if size > SAMPLE_BYTES:
                    break
    return b"".join(kept)


def _delimiter(path: Path, encoding: str) -> str:
    """The delimiter that gives most rows the header's number of fields; of those, the one with most fields."""
    with path.open(encoding=encoding, errors="replace", newline="") as stream:
        text = stream.read(SAMPLE_BYTES)
    scores = {delimiter: _fit(text, delimiter) for delimiter in DELIMITERS}
    best = max(scores, key=lambda delimiter: scores[delimiter])
    return best if scores[best][1] > 1 else ","


def _fit(text: str, delimiter: str) -> tuple[float, int]:
    """The share of rows with as many fields as the header, in steps that forgive a few broken rows, and that number."""
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if row and (len(row) > 1 or row[0].strip()):
                rows.append(len(row))
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error:
        pass
    if not rows or rows[0] < 2:
        return 0.0, 0
    records = rows[1:-1] if len(rows) > 2 else rows[1:]  # the last may be cut off
    share = Counter(records)[rows[0]] / len(records) if records else 1.0
    return round(share, 1), rows[0]
