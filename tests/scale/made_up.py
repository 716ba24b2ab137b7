"""A folder of scored pairs that no engine has made: quick, with ties, gaps, hostile texts and bounds."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from riskcore.columns import LEFT_ID, LEFT_ROW, RIGHT_ID, RIGHT_ROW
from riskcore.data.pairs import Table
from riskcore.scale.folder import FORMAT, ScoredFolder
from riskcore.storage.files import write_json, write_parquet

REASONS = 40  # pairs that have them
HOSTILE = "<script>alert(1)</script> ![x](http://evil.example/x.png)"


def write_scored(path: Path, pairs: int = 700, parts: int = 3, self_join: bool = False) -> ScoredFolder:
    """Write it. Half of the pairs share ten values of risk."""
    random, folder = np.random.default_rng(pairs), ScoredFolder(path)
    left = _table("l", 60)
    right = left if self_join else _table("r", 50)
    folder.write_records(left, right)
    place = np.sort(random.choice(len(left) * len(right), pairs, replace=False))
    rows = np.divmod(place, len(right))
    risk = np.where(random.random(pairs) < 0.5, random.integers(0, 10, pairs) / 20, random.random(pairs))
    probability = random.random(pairs)
    asked = random.integers(0, 3, pairs)
    columns = {
        LEFT_ROW: rows[0].astype(np.int32),
        RIGHT_ROW: rows[1].astype(np.int32),
        LEFT_ID: left.ids[rows[0]],
        RIGHT_ID: right.ids[rows[1]],
        "label": (probability >= 0.5).astype(np.int8),
        "probability": probability,
        "risk": risk,
        "asked": asked.astype(np.uint8),
        "bound": asked < 2,
    }
    ends = np.linspace(0, pairs, parts + 1).astype(int)
    for part, (start, end) in enumerate(itertools.pairwise(ends)):
        folder.write_pairs(part, {name: values[start:end] for name, values in columns.items()})
    frame = all_pairs(folder, parts)
    top = frame.sort_values(["risk", "part", "place"], ascending=[False, True, True]).head(REASONS)
    top["reasons"] = [f"=reason {number}" for number in range(len(top))]
    write_parquet(folder.riskiest_file, pa.Table.from_pandas(top, preserve_index=False))
    attributes = [{"name": name, "column": name, "type": "text", "target_only": False} for name in left.attributes]
    write_json(folder.bundle / "bundle.json", {"format": 1, "attributes": attributes})
    write_json(
        folder.about_file,
        {
            "format": FORMAT,
            "run": "20260101-000000-abcd",
            "name": "made up",
            "method": "risk+",
            "kept_iteration": 0,
            "labels_used": ["source", "validation"],
            "fingerprint": "0",
            "self_join": self_join,
            "attributes": list(left.attributes),
            "pairs": pairs,
            "parts": parts,
            "part_pairs": int(ends[1]),
            "matches": int(columns["label"].sum()),
            "spared": int(columns["bound"].sum()),
            "unasked": int((asked == 0).sum()),
            "records": {"left": len(left), "right": len(right)},
            "settings": {"reasons": REASONS},
            "version": "0",
        },
    )
    return folder


def all_pairs(folder: ScoredFolder, parts: int) -> pd.DataFrame:
    """All pairs in their order, with where each is stored: what answers are compared with."""
    tables = []
    for part in range(parts):
        table = pd.read_parquet(folder.pairs_file(part))
        tables.append(table.assign(part=np.int32(part), place=np.arange(len(table), dtype=np.int32)))
    return pd.concat(tables, ignore_index=True)


def _table(side: str, records: int) -> Table:
    ids = np.array([f"{side}{number}" for number in range(records)], dtype=object)
    ids[3] = f"{side}:3"  # a colon, which separates the ids of a pair
    titles = [f"{('Query', 'data', 'Müller')[number % 3]} number {number}" for number in range(records)]
    titles[5], titles[6] = HOSTILE, "=1+1"
    years = [None if number % 7 == 0 else str(1990 + number % 20) for number in range(records)]
    return Table(side, ids, pd.DataFrame({"title": titles, "the year": years}, dtype="str"))
