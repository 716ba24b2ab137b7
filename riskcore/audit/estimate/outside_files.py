"""The rings of pairs outside a run's candidates, and recall and F1 with what the verdicts on them say.

`audits/outside.parquet` has the pairs that a wider search than blocking found, each in a ring by its likeness. Pairs
beyond it are taken for non-matches.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from riskcore.audit.estimate.missed import Ring, with_missed
from riskcore.audit.estimate.result import Estimate, Interval, WithMissed
from riskcore.audit.labels import OF_VERDICT
from riskcore.audit.outside_draws import AUDITS, FAR, LEFT_ROW, RIGHT_ROW, RING, outside_pairs
from riskcore.audit.verdicts import Verdict
from riskcore.columns import PAIR_ID
from riskcore.errors import StorageError
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import write_parquet
from riskcore.storage.parquet import load_columns

ELSEWHERE = -1  # a pair of the wider search that belongs to another part of the target than the audited one
FEWEST = 10  # verdicts within the rings before anything is said
BY_VERDICTS, BY_RECAPTURE = "verdicts outside the candidates", "capture and recapture"


@dataclasses.dataclass(frozen=True)
class OutsideFacts:
    """How the pairs outside the candidates were laid out."""

    candidates: int  # of all parts of the target
    near: int  # pairs of the wider search that belong to the audited part
    far: int  # pairs beyond it, that is, of the same part
    top: int  # records that the wider search took for each
    seed: int
    share: float  # of all candidates that are audited; the same share of the outside pairs belongs to them


@dataclasses.dataclass(frozen=True, eq=False)
class OutsideDesign:
    """The rings: pairs and the share of matches expected of each, and the ring of every pair of the wider search."""

    facts: OutsideFacts
    left_rows: np.ndarray
    right_rows: np.ndarray
    ring: np.ndarray
    pairs: np.ndarray  # by ring
    expected: np.ndarray


def outside_file(folder: RunFolder) -> Path:
    return folder.path / AUDITS / "outside.parquet"


def write_outside(folder: RunFolder, design: OutsideDesign) -> None:
    """Keep the design; later draws are from the same rings."""
    table = pa.table(
        {
            LEFT_ROW: pa.array(design.left_rows, pa.int32()),
            RIGHT_ROW: pa.array(design.right_rows, pa.int32()),
            RING: pa.array(design.ring, pa.int8()),
        }
    )
    facts = {name: str(value) for name, value in dataclasses.asdict(design.facts).items()}
    expected = {"expected": " ".join(f"{one:.6g}" for one in design.expected)}
    write_parquet(outside_file(folder), table.replace_schema_metadata({**facts, **expected}))


def read_outside(folder: RunFolder) -> OutsideDesign | None:
    """The design; None before the first draw outside the candidates."""
    file = outside_file(folder)
    if not file.exists():
        return None
    table = load_columns(file)
    about = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    try:
        candidates, near, far, top, seed = (int(about[name]) for name in ("candidates", "near", "far", "top", "seed"))
        facts = OutsideFacts(candidates, near, far, top, seed, float(about["share"]))
        expected = np.array([float(one) for one in about["expected"].split()])
    except (KeyError, ValueError) as error:
        raise StorageError(f"{file} is not as Riskcore wrote it. Restore it from a copy.") from error
    ring = table.column(RING).to_numpy().astype(np.int64)
    pairs = np.bincount(ring[ring >= 0], minlength=len(expected))
    left, right = (table.column(name).to_numpy().astype(np.int64) for name in (LEFT_ROW, RIGHT_ROW))
    return OutsideDesign(facts, left, right, ring, pairs, expected)


def with_outside(folder: RunFolder, found: Estimate, current: Mapping[str, Verdict]) -> WithMissed | None:
    """Recall and F1 with what blocking missed, by the verdicts on pairs outside the candidates; None while there are
    too few. Unsure pairs are counted either way, as within the candidates."""
    design = read_outside(folder)
    if design is None:
        return None
    drawn = outside_pairs(folder)
    ring = drawn[RING].to_numpy(dtype=np.int64)
    words = [current[pair].verdict if pair in current else None for pair in drawn[PAIR_ID]]
    truth = np.array([OF_VERDICT.get(word, -1) if word else -2 for word in words], dtype=np.int64)  # -1: unsure
    near = ring >= 0
    if (near & (truth >= 0)).sum() < FEWEST:
        return None
    decided = [_counted(design, ring, truth, as_matches) for as_matches in (None, True, False)]
    middle, worst, best = (with_missed(found, rings) for rings in decided)
    far = (ring == FAR) & (truth >= 0)
    return WithMissed(
        recall=_spanned(middle.recall, worst.recall, best.recall),
        f1=_spanned(middle.f1, worst.f1, best.f1),
        missed=_spanned(middle.missed, best.missed, worst.missed),
        source=BY_VERDICTS,
        verdicts=int((near & (truth >= 0)).sum()),
        unsure=int((near & (truth == -1)).sum()),
        open=int((truth == -2).sum()),
        matches=int((near & (truth == 1)).sum()),
        looked_at=design.facts.near,
        assumed=design.facts.far,
        checked=int(far.sum()),
        contrary=int((far & (truth == 1)).sum()),
        share=design.facts.share,
        rings=tuple(dataclasses.asdict(one) for one in decided[0]),
    )


def _counted(design: OutsideDesign, ring: np.ndarray, truth: np.ndarray, as_matches: bool | None) -> list[Ring]:
    """The rings with their verdicts; unsure pairs are left out, or count as matches or as non-matches."""
    counted = truth >= 0 if as_matches is None else truth >= -1
    match = (truth == 1) | ((truth == -1) & bool(as_matches))
    found = []
    for number, (pairs, expected) in enumerate(zip(design.pairs.tolist(), design.expected.tolist(), strict=True)):
        here = (ring == number) & counted
        found.append(Ring(pairs, int(here.sum()), int((here & match).sum()), expected))
    return found


def _spanned(middle: Interval | None, low: Interval | None, high: Interval | None) -> Interval:
    if middle is None or low is None or high is None:
        raise TypeError("with_missed states an interval of all three")
    return Interval(middle.value, min(low.low, middle.low), max(high.high, middle.high))
