"""Two stand-in matchers for the sample data: one compares whole strings, one looks where the evidence is."""

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from rapidfuzz import fuzz
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score

Record = dict[str, str]
Pair = tuple[Record, Record, int]
Measure = Callable[[Record, Record], list[float]]

SPLITS = ("train", "valid", "test")
SMALL_WORDS = {"on", "of", "the", "and", "in", "proc", "a"}


def read_pairs(folder: Path, *splits: str) -> list[Pair]:
    """Pairs of records with their label."""
    tables = [pd.read_csv(folder / f"table{side}.csv", dtype=str, keep_default_na=False) for side in "AB"]
    left, right = (table.set_index("id").to_dict("index") for table in tables)
    files = [pd.read_csv(folder / f"{split}.csv", dtype=str) for split in splits]
    rows = pd.concat(files).itertuples(index=False)
    return [(left[row.ltable_id], right[row.rtable_id], int(row.label)) for row in rows]


def naive(a: Record, b: Record) -> list[float]:
    """Whole-string similarity per attribute; missing counts as unlike."""
    return [
        compare(a[name], b[name]) / 100 if a[name] and b[name] else 0.0
        for name in a
        for compare in (fuzz.ratio, fuzz.token_set_ratio)
    ]


def learned_f1(measure: Measure, train: list[Pair], test: list[Pair]) -> float:
    """F1 of a small forest on one kind of measurement."""
    forest = RandomForestClassifier(100, random_state=0, n_jobs=1)
    forest.fit([measure(a, b) for a, b, _ in train], [label for *_, label in train])
    predicted = forest.predict([measure(a, b) for a, b, _ in test])
    return f1_score([label for *_, label in test], predicted)


def plain(text: str) -> str:
    """Letters and digits only, accents folded."""
    text = text.translate(str.maketrans({"ø": "o", "ł": "l", "ß": "ss", "ı": "i"}))
    text = re.sub(r"<[^>]*>|&\w+;|\[\w+\]", " ", text)
    letters = unicodedata.normalize("NFD", text)
    return " ".join(re.sub(r"[^a-z0-9 ]", " ", "".join(c for c in letters if not unicodedata.combining(c))).split())


def bibliographic(a: Record, b: Record) -> list[float]:
    """Names by last name and initial, venues by acronym and prefix, years by equality, titles up to a cut."""
    return [*_titles(a["title"], b["title"]), *_people(a["authors"], b["authors"]), *_venues(a, b), *_years(a, b)]


def _titles(a: str, b: str) -> list[float]:
    cut = b.rstrip("</ib>").rstrip().endswith(("...", "…"))
    a, b = plain(a), plain(b)
    head = fuzz.ratio(a[: len(b)], b) if cut else fuzz.ratio(a, b)
    return [head, fuzz.ratio(a, b), fuzz.token_sort_ratio(a, b), float(cut), len(a) - len(b)]


def _people(a: str, b: str) -> list[float]:
    if not b:
        return [-1.0, -1.0, -1.0, -1.0]
    cut = any(mark in b for mark in ("et al", "…", "others"))
    lasts = [plain(name).split()[-1] for name in a.split(",")]
    initials = [plain(name)[0] for name in a.split(",")]
    words = plain(b.replace("et al", "").replace("and others", "")).split()
    long = [word for word in words if len(word) > 2]
    found = sum(max((fuzz.ratio(last, word) for word in words), default=0) > 84 for last in lasts)
    started = sum(any(word[0] == first for word in words) for first in initials)
    return [found / len(lasts), started / len(lasts), found / max(1, min(len(long), len(lasts))), float(cut)]


def _venues(a: Record, b: Record) -> list[float]:
    if not b["venue"]:
        return [-1.0, -1.0, -1.0]
    left, right = plain(a["venue"]).split(), plain(b["venue"]).split()
    journals = [
        any(word.startswith(("trans", "journal", "jrnl", "to", "tk")) or word == "j" for word in w)
        for w in (left, right)
    ]
    acronym = "".join(word[0] for word in right if word not in SMALL_WORDS)
    spelt = max(fuzz.partial_ratio(word, acronym) for word in left)
    prefixes = sum(any(x.startswith(y) or y.startswith(x) for y in right if len(y) > 1) for x in left)
    return [prefixes / len(left), spelt, float(journals[0] == journals[1])]


def _years(a: Record, b: Record) -> list[float]:
    if not a["year"]:
        return [0.0, -1.0]
    year = b["year"] or "".join(re.findall(r"'(\d\d)", b["venue"]))
    if not year:
        return [0.0, -1.0]
    return [1.0, float(int(float(a["year"])) % 100 == int(float(year)) % 100)]


def name_only(a: Record, b: Record) -> list[float]:
    """Whole-string similarity of the product names alone."""
    return [fuzz.ratio(a["name"], b["name"]), fuzz.token_set_ratio(a["name"], b["name"])]


def model_aware(a: Record, b: Record) -> list[float]:
    """Model numbers wherever they stand, colour, capacity, what is an accessory, price."""
    codes, own = _codes(a), _codes(b)
    best = max((fuzz.ratio(x, y) for x in codes for y in own), default=0.0)
    accessory = [bool(re.search(r" for | f/ |compatible", record["name"])) for record in (a, b)]
    price = abs(float(a["price"]) / float(b["price"]) - 1) if a["price"] and b["price"] else -1.0
    return [
        len(codes & own),
        best,
        _agreement(a, b, r"\b(black|silver|red|blue|white|pink|steel)\b"),
        _agreement(a, b, r"\b(\d+ gb)\b"),
        sum(accessory),
        price,
        fuzz.token_set_ratio(a["name"], b["name"]),
    ]


def _everything(record: Record) -> str:
    return f"{record['name']} {record['description']}"


def _codes(record: Record) -> set[str]:
    """Model numbers with hyphens and spaces closed up."""
    text = _everything(record).replace("mp3", "")  # a format, not a model
    found = re.findall(r"\b([b-df-hk-np-tvxz]{2,3}|[a-z][bcp])[- ]?([a-z]{0,2}\d+[a-z]?)\b", text)
    return {head + tail for head, tail in found}


def _agreement(a: Record, b: Record, pattern: str) -> float:
    left, right = (set(re.findall(pattern, _everything(record))) for record in (a, b))
    return float(bool(left & right)) if left and right else -1.0
