"""Sound inputs, spoilt: bytes, cells, JSON values, and files inside archives."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from typing import Any

Mutation = Callable[[bytes, random.Random], bytes]

ODD = (
    b"", b" ", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b'"', b"'", b"\r", b"\n", b"\r\n", b",", b";", b"\t",
    b"\\", b"-1", b"0", b"1e309", b"nan", b"inf", b"99999999999999999999999999", b"2147483648", b"0x41", b"1,5",
    b"=1+1", b"@SUM(A1)", b"null", b"None", b"true", b"{}", b"[]", b"<script>", b"../../etc/passwd", b"%s%n", b":",
    b"::", "\u202e".encode(), "é".encode("latin-1"), "Ａ".encode(), "e\u0301".encode(), b"\xed\xa0\x80",
    b"A" * 40_000, b"1970-01-01T00:00:00Z", b"0001-01-01", b"9999-12-31T23:59:59.999999+14:00", b"=" * 200,
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, 1e308, float("nan"), float("inf"), "", " ", "x", "\ud800", "\0", "match",
    "A" * 5_000, [], {}, [[]], [None], {"": None}, {"value": {"choices": []}}, "2026-13-45",
    "9999-12-31T23:59:59+14:00",
)  # fmt: skip
_PIECES = re.compile(rb'([,;\t\r\n"{}\[\]:=. ])')


def of_bytes(content: bytes, chance: random.Random) -> bytes:
    """One to four changes that know nothing of the format."""
    found = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        _change(found, chance)
    return bytes(found)


def _change(found: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(found) + 1)
    end = min(len(found), start + int(chance.expovariate(1 / 40)))
    kind = chance.randrange(7)
    if kind == 0 and found:
        found[min(start, len(found) - 1)] ^= 1 << chance.randrange(8)
    elif kind == 1:
        del found[start:end]
    elif kind == 2:
        found[start:start] = found[start:end] * chance.randint(1, 50)
    elif kind == 3:
        found[start:start] = chance.randbytes(chance.randint(1, 30))
    elif kind == 4:
        found[start:end] = chance.choice(ODD)
    elif kind == 5:
        del found[start:]
    else:
        found[start:end] = bytes(reversed(found[start:end]))


def of_cells(content: bytes, chance: random.Random) -> bytes:
    """A few pieces between delimiters replaced, exchanged, or repeated."""
    pieces = _PIECES.split(content)
    for _ in range(chance.randint(1, 5)):
        one, other = chance.randrange(len(pieces)), chance.randrange(len(pieces))
        kind = chance.randrange(4)
        if kind == 0:
            pieces[one] = chance.choice(ODD)
        elif kind == 1:
            pieces[one], pieces[other] = pieces[other], pieces[one]
        elif kind == 2:
            pieces[one] = pieces[other]
        else:
            pieces[one] *= chance.choice((0, 2, 1000))
    return b"".join(pieces)


def of_json(content: bytes, chance: random.Random) -> bytes:
    """Values replaced by others of any type; sometimes the file is nested beyond what a parser takes."""
    if chance.random() < 0.03:
        return b"[" * 100_000 if chance.random() < 0.5 else b'{"a":' * 50_000 + b"1" + b"}" * 50_000
    found = {"": json.loads(content)}
    for _ in range(chance.randint(1, 3)):
        _change_value(found, chance)
    return json.dumps(found.get("")).encode()


def _change_value(found: Any, chance: random.Random) -> None:
    """Walk down at random and change what is there."""
    while isinstance(found, dict | list) and found:
        key = chance.choice(list(found) if isinstance(found, dict) else range(len(found)))
        inside = found[key]
        if isinstance(inside, dict | list) and inside and chance.random() < 0.8:
            found = inside
            continue
        if isinstance(found, dict) and chance.random() < 0.2:
            found[chance.choice(("", "id", "\ud800", "value"))] = found.pop(key)
        elif chance.random() < 0.15:
            del found[key]
        else:
            found[key] = chance.choice(ODD_VALUES)
        return


def of_lines(content: bytes, chance: random.Random) -> bytes:
    """The same for a file with a JSON value per line."""
    lines = content.splitlines()
    place = chance.randrange(len(lines))
    lines[place] = of_json(lines[place], chance)
    return b"\n".join(lines)


def of_archive(content: bytes, chance: random.Random) -> bytes:
    """A file inside spoilt, renamed, left out or packed twice; checksums fit again."""
    stream = io.BytesIO()
    names = ("../up.csv", "/etc/passwd", "a/" * 300 + "b.csv", "x.csv\0", "con", "a\\b.csv", "x.zip", "\u202ecsv.exe")
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as after:
        members = before.namelist()
        spoilt = chance.choice(members)
        for name in members:
            inside, kind = before.read(name), chance.randrange(8) if name == spoilt else -1
            if kind == 0:
                continue
            if kind in (1, 2, 3):
                inside = of_bytes(inside, chance)
            elif kind in (4, 5):
                inside = of_cells(inside, chance)
            elif kind == 6:
                inside *= 2_000 if len(inside) < 20_000 else 2
            after.writestr(chance.choice(names) if kind == 7 else name, inside)
    return stream.getvalue()
