"""Looking outside the candidates: draws of pairs that blocking left out, with known probabilities.

A wider search than blocking, by the likeness of whole records, finds the pairs that may be matches after all; rings of
likeness are drawn from by their promise. Of the pairs beyond it a few are drawn at random, as a check that they are
non-matches. Where the audited pairs are a part of the candidates (a split), the same share of the outside pairs belongs
to them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa

from riskcore.audit.agreement import agreed_in
from riskcore.audit.draws import facts_in
from riskcore.audit.estimate.missed import ring_design, with_missed
from riskcore.audit.estimate.outside_files import (
    BY_RECAPTURE,
    ELSEWHERE,
    OutsideDesign,
    OutsideFacts,
    read_outside,
    write_outside,
)
from riskcore.audit.estimate.result import Estimate, WithMissed
from riskcore.audit.estimate.runs import AUDITS, AuditFacts, used_as_labels
from riskcore.audit.estimate.strata import allocate
from riskcore.audit.estimate.tables import OutsideTables, outside_tables
from riskcore.audit.labels import OF_VERDICT
from riskcore.audit.outside_draws import FAR, LEFT_ROW, ORDER, RIGHT_ROW, RING, outside_draws, outside_pairs
from riskcore.audit.verdicts import Verdict
from riskcore.blocking import block
from riskcore.blocking.candidates import Candidates
from riskcore.blocking.likeness import cosines
from riskcore.blocking.missed import estimate_found
from riskcore.columns import LEFT, LEFT_ID, PAIR_ID, RIGHT, RIGHT_ID
from riskcore.config import BlockConfig
from riskcore.errors import ConfigError
from riskcore.runs.folder import RunFolder
from riskcore.storage.files import write_parquet
from riskcore.storage.lock import FileLock

RINGS = 8
NEAREST, FURTHER = 0.5, 0.35  # share of matches expected of the nearest ring, and of each one beside the one before
TOPS = (10, 20, 40)  # records that the wider search takes for each: the first that finds enough beyond the candidates
MOST_RECORDS = 150_000  # of both tables, up to which it takes more than the fewest: memory stays bounded
FAR_SHARE = 0.1  # of a draw: pairs beyond the wider search
TRUST = 20  # verdicts that the share of matches expected of a ring is worth, for the next draw
_PATIENCE = 600.0  # seconds to wait while another draw of the same run is made: a search may be going on
_THIN, _NEAR, _FAR = 7320, 7321, 7322  # streams of random numbers, beside the seed


def draw_outside(
    folder: RunFolder, n: int = 100, seed: int | None = None, verdicts: Mapping[str, Verdict] | None = None
) -> AuditFacts:
    """Draw pairs outside the candidates and keep the draw; the first one searches for them."""
    current = agreed_in(folder.path) if verdicts is None else verdicts
    place = folder.path / AUDITS
    place.mkdir(exist_ok=True)
    with FileLock(place / ".outside.lock", _PATIENCE):
        tables = outside_tables(folder)
        number = len(outside_draws(folder)) + 1
        seed = int(folder.run()["seed"]) + 1000 * (number - 1) if seed is None else seed
        design = read_outside(folder)
        if design is None:
            design = outside_design(tables, audited_share(folder, tables), seed)
            write_outside(folder, design)
        earlier = outside_pairs(folder)
        near, far = _sizes(design, earlier, n)
        rows = [*_near(design, earlier, current, near, seed), *_far(design, tables, earlier, far, seed)]
        rows = [row for row in rows if tables.pair_id(*row[:2]) not in tables.target_ids]  # colons within record ids
        drawn = np.random.default_rng([seed, _NEAR]).permutation(np.array(rows, dtype=np.int64).reshape(-1, 3))
        facts = AuditFacts(number, len(drawn), seed, int(design.pairs.sum()) - int((earlier[RING] >= 0).sum()))
        about = {name: str(value) for name, value in dataclasses.asdict(facts).items()}
        table = _drawn_table(tables, drawn).replace_schema_metadata(about)
        write_parquet(place / f"outside-{number:02d}.parquet", table)
    return facts


def outside_audits(folder: RunFolder) -> list[AuditFacts]:
    """The draws outside the candidates, in order."""
    return [AuditFacts(**facts_in(file)) for file in outside_draws(folder)]


def audited_share(folder: RunFolder, tables: OutsideTables) -> float:
    """The share of all candidates that an audit is about: target pairs whose labels the run was not given."""
    used = used_as_labels(folder)
    return len(tables.target_ids - used) / max(1, len(tables.candidates))


def outside_design(tables: OutsideTables, share: float, seed: int) -> OutsideDesign:
    """The wider search, without the candidates, in rings of likeness."""
    for top in TOPS:
        found = block(tables.left, tables.right, _config(tables, top))
        found = found.take(~np.isnan(found.score))
        keys = tables.keys(found.left_rows, found.right_rows)
        new = ~np.isin(keys, tables.candidates)
        if new.sum() >= tables.records or tables.records + tables.width > MOST_RECORDS:
            break
    likeness = relative_likeness(found)[new]
    keys, left, right = keys[new], found.left_rows[new], found.right_rows[new]
    mine = _uniform(keys, seed) < share
    ring = np.full(len(keys), ELSEWHERE, dtype=np.int64)
    ring[mine] = (rings := ring_design(likeness[mine], RINGS)).of_pair
    far = round(share * (tables.possible - len(tables.candidates) - len(keys)))
    facts = OutsideFacts(len(tables.candidates), int(mine.sum()), far, top, seed, share)
    expected = np.clip(NEAREST * FURTHER ** np.arange(len(rings))[::-1], 1e-4, None)
    return OutsideDesign(facts, left, right, ring, rings.pairs, expected)


def relative_likeness(found: Candidates) -> np.ndarray:
    """How alike two records are beside the best that either has: a match is seldom far behind both."""
    score = found.score.astype(np.float64)
    sides = []
    for rows in (found.left_rows, found.right_rows):
        best = np.zeros(int(rows.max(initial=0)) + 1)
        np.maximum.at(best, rows, score)
        sides.append(score / np.maximum(best[rows], 1e-9))
    return np.asarray((sides[0] + sides[1]) / 2)


def recaptured(folder: RunFolder, found: Estimate) -> WithMissed:
    """Recall and F1 with what blocking missed by capture and recapture: no verdicts, but assumptions."""
    tables = outside_tables(folder)
    config = _config(tables, BlockConfig().top)
    left, right = tables.rows_of(tables.candidates)
    score = cosines(tables.left, tables.right, left, right, config)
    candidates = Candidates(left, right, score, np.ones(len(left), dtype=np.uint32), ("candidates",))
    told = estimate_found(candidates, tables.left, tables.right, config)
    if told.found is None:
        raise ConfigError(
            f"What blocking missed cannot be estimated without verdicts. {told.reason} Judge pairs outside the "
            f"candidates: `riskcore audit estimate {folder.path.name} --outside --draw 100 --out list.xlsx`."
        )
    counted = with_missed(found, told)
    assert counted.missed is not None
    note = f"No verdict backs this. {told.reason}"
    return WithMissed(counted.recall, counted.f1, counted.missed, BY_RECAPTURE, note=note)


def _config(tables: OutsideTables, top: int = TOPS[0]) -> BlockConfig:
    """Both searches of small tables; the faster one where the other would take minutes."""
    usual = BlockConfig()
    large = tables.records >= usual.large_table
    return BlockConfig(
        blockers=("words",) if large else usual.blockers,
        top=top,
        shortlist=max(usual.shortlist, 2 * top),
        max_per_record=4 * top,
    )


def _sizes(design: OutsideDesign, earlier: pd.DataFrame, n: int) -> tuple[int, int]:
    """How many pairs of the rings and how many beyond them."""
    left = int(design.pairs.sum()) - int((earlier[RING] >= 0).sum())
    far = min(round(FAR_SHARE * n), max(0, design.facts.far - int((earlier[RING] == FAR).sum())))
    if not 1 <= n - far <= left:
        raise ConfigError(
            f"{n:,} pairs cannot be drawn outside the candidates: {left:,} are left of those that a wider search found."
        )
    return n - far, far


def _near(
    design: OutsideDesign, earlier: pd.DataFrame, current: Mapping[str, Verdict], n: int, seed: int
) -> list[tuple[int, int, int]]:
    """Pairs of the rings: half in proportion to their pairs, half by the spread that is expected of each by now."""
    count = len(design.pairs)
    ring = earlier[RING].to_numpy(dtype=np.int64)
    taken = np.bincount(ring[ring >= 0], minlength=count)
    said = [OF_VERDICT.get(current[pair].verdict) if pair in current else None for pair in earlier[PAIR_ID]]
    judged, matches = np.zeros(count), np.zeros(count)
    for at, label in zip(ring.tolist(), said, strict=True):
        if at >= 0 and label is not None:
            judged[at] += 1
            matches[at] += label
    rate = (matches + TRUST * design.expected) / (judged + TRUST)
    spread = np.sqrt(rate * (1 - rate))
    even = float(spread @ design.pairs) / max(1.0, float(design.pairs.sum()))
    takes = allocate(design.pairs, (spread + even)[None] / 2, taken[None], n)[0]
    keys = _pair_keys(design.left_rows, design.right_rows)
    before = _pair_keys(*(earlier[name].to_numpy(dtype=np.int64) for name in (LEFT_ROW, RIGHT_ROW)))
    free = ~np.isin(keys, before)
    generator, rows = np.random.default_rng([seed, _NEAR]), []
    for number, take in enumerate(takes.tolist()):
        chosen = generator.choice(np.flatnonzero((design.ring == number) & free), size=take, replace=False)
        rows += [(int(design.left_rows[at]), int(design.right_rows[at]), number) for at in chosen]
    return rows


def _pair_keys(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.asarray(left, dtype=np.int64) << 32 | np.asarray(right, dtype=np.int64)


def _far(
    design: OutsideDesign, tables: OutsideTables, earlier: pd.DataFrame, n: int, seed: int
) -> list[tuple[int, int, int]]:
    """Pairs beyond the wider search, all alike."""
    generator = np.random.default_rng([seed, _FAR])
    known = np.concatenate([tables.candidates, tables.keys(design.left_rows, design.right_rows)])
    before = tables.keys(*(earlier[name].to_numpy(dtype=np.int64) for name in (LEFT_ROW, RIGHT_ROW)))
    known = np.concatenate([known, before])
    found: dict[int, None] = {}
    while len(found) < n:
        keys = tables.random_keys(generator, 4 * n + 16)
        found |= dict.fromkeys(keys[~np.isin(keys, known)].tolist())
    left, right = tables.rows_of(np.array(list(found)[:n], dtype=np.int64))
    return [(one, other, FAR) for one, other in zip(left.tolist(), right.tolist(), strict=True)]


def _drawn_table(tables: OutsideTables, drawn: np.ndarray) -> pa.Table:
    """The drawn pairs (rows and ring) with their ids and both records, in this order."""
    left, right = drawn[:, 0], drawn[:, 1]
    other = tables.left if tables.right is None else tables.right
    ids = [tables.left.ids[left], other.ids[right]]
    columns = {
        PAIR_ID: pa.array([tables.pair_id(*row) for row in drawn[:, :2].tolist()], pa.large_string()),
        LEFT_ID: pa.array(ids[0], pa.large_string()),
        RIGHT_ID: pa.array(ids[1], pa.large_string()),
        LEFT_ROW: pa.array(left, pa.int64()),
        RIGHT_ROW: pa.array(right, pa.int64()),
        RING: pa.array(drawn[:, 2], pa.int16()),
        ORDER: pa.array(np.arange(len(drawn)), pa.int32()),
    }
    for side, table, rows in ((LEFT, tables.left, left), (RIGHT, other, right)):
        columns |= {side + name: pa.array(table.text(name, rows), pa.large_string()) for name in table.attributes}
    return pa.table(columns)


def _uniform(keys: np.ndarray, seed: int) -> np.ndarray:
    """A number from 0 to 1 for each pair, the same whenever it is asked for: splitmix64 of its key."""
    with np.errstate(over="ignore"):
        mixed = keys.astype(np.uint64) + np.uint64(seed % 2**31 + _THIN) * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
    return np.asarray(mixed / 2**64)
