"""Audits of a run: draws kept in its folder `audits`, and the estimate from the verdicts on them.

The first draw fixes the strata: `audits/design.parquet` has every target pair with its stratum, and the verdicts known
until then. Each draw is a file `audits/audit-01.parquet`. Verdicts on pairs that no audit has drawn are left aside,
except those from before the first draw: their pairs are no part of any draw and are counted as they are. A verdict on a
drawn pair waits until every pair before it in its draw has one: given elsewhere, it may be there because the pair
looked wrong. Verdicts given to many pairs at once never count. The draws for labelling (`draws`) have another purpose,
learning, and are kept apart.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from riskcore.audit.agreement import agreed_in
from riskcore.audit.decisions import answer_of
from riskcore.audit.draws import facts_in, given_labels
from riskcore.audit.estimate.estimating import estimate
from riskcore.audit.estimate.estimators import Total, difference_total
from riskcore.audit.estimate.measures import MEASURES, f1_slopes, measures
from riskcore.audit.estimate.meter import next_pairs
from riskcore.audit.estimate.outside_files import with_outside
from riskcore.audit.estimate.result import Check, Estimate, StratumCounts
from riskcore.audit.estimate.strata import MATCHES, NON_MATCHES, Strata, audit_design, strata_of
from riskcore.audit.labels import OF_VERDICT
from riskcore.audit.outside_draws import AUDITS
from riskcore.audit.verdicts import Verdict
from riskcore.columns import LEFT_ID, PAIR_ID, RIGHT_ID, ROW
from riskcore.errors import StorageError
from riskcore.pair_ids import pair_ids
from riskcore.runs.candidate_files import TRAINING, VALIDATION, read_other_pairs
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids, read_scores
from riskcore.runs.readers.label_rankings import read_columns, read_risks
from riskcore.storage.files import write_parquet
from riskcore.storage.lock import FileLock
from riskcore.storage.parquet import load_columns

DESIGN = "design.parquet"
STRATUM, LABEL, RISK, KNOWN, ORDER, AUDIT = "stratum", "label", "risk", "known", "order", "audit"
LEFT_OUT = -1  # the stratum of pairs whose label training has used
BEFORE = -2  # the stratum of pairs that were judged before the first draw
_PATIENCE = 10.0  # seconds to wait while another draw of the same run is written


@dataclasses.dataclass(frozen=True)
class AuditFacts:
    """One draw of an audit."""

    number: int  # from 1
    size: int
    seed: int
    left: int  # pairs that could have been drawn


@dataclasses.dataclass(frozen=True, eq=False)
class Audited:
    """The labels of a method and what the audits know of them, by target pair."""

    ids: np.ndarray
    label: np.ndarray
    risk: np.ndarray
    strata: Strata  # of these labels
    known: np.ndarray  # float64: the verdict from before the first draw, 1 or 0; NaN where there was none
    drawn: np.ndarray  # bool
    draws: pd.DataFrame  # `audited_pairs`

    def counted(self, current: Mapping[str, Verdict]) -> np.ndarray:
        """The rows of drawn pairs whose verdicts count: every pair before them in their draw has one too. The order of
        a draw is random, so any beginning of it is a sample; what was judged out of turn is none."""
        return np.asarray(in_turn(self.draws, current)[ROW], dtype=np.int64)


def draw_audit(
    folder: RunFolder, n: int = 100, seed: int | None = None, verdicts: Mapping[str, Verdict] | None = None
) -> AuditFacts:
    """Draw the next pairs to judge and keep the draw. It goes where it narrows the interval of F1 most, by the verdicts
    so far. Without a seed, the run's seed and the number of the draw give one."""
    current = agreed_in(folder.path, bulk=False) if verdicts is None else verdicts
    place = folder.path / AUDITS
    place.mkdir(exist_ok=True)
    with FileLock(place / ".lock", _PATIENCE):
        if not (place / DESIGN).exists():
            _write_design(folder, current)
        number = len(_files(folder)) + 1
        seed = int(folder.run()["seed"]) + 1000 * (number - 1) if seed is None else seed
        audited = read_audited(folder, design=True)
        counts = _counts(audited, current)[: len(audited.strata)]
        rows = next_pairs(audited.strata, counts, audited.drawn, n, seed)
        left = int(((audited.strata.of_pair >= 0) & ~audited.drawn).sum())
        facts = AuditFacts(number, n, seed, left)
        table = pa.table(
            {
                PAIR_ID: pa.array(audited.ids[rows], pa.large_string()),
                ROW: pa.array(rows, pa.int64()),
                STRATUM: pa.array(audited.strata.of_pair[rows], pa.int16()),
                ORDER: pa.array(np.arange(n), pa.int32()),
            }
        )
        about = {name: str(value) for name, value in dataclasses.asdict(facts).items()}
        write_parquet(place / f"audit-{number:02d}.parquet", table.replace_schema_metadata(about))
    return facts


def estimate_run(
    folder: RunFolder, method: str | None = None, verdicts: Mapping[str, Verdict] | None = None, seed: int = 0
) -> Estimate:
    """How good the labels of a run's method are (by default those of its answer), by all audits so far and, unless
    `verdicts` are given, by what reviewers agree on, one pair at a time: a pair with an open conflict is unsure.

    Any method can be estimated by the same draws: the pairs of a stratum with the same label of that method are a
    simple random sample of all such pairs.
    """
    current = agreed_in(folder.path, bulk=False) if verdicts is None else verdicts
    if not audits_of(folder):
        raise StorageError(
            f"Run {folder.path.name} has no audit yet. Draw one with `riskcore audit estimate {folder.path.name} "
            "--draw 100 --out list.xlsx`, judge the pairs, and import them with `riskcore audit import`."
        )
    audited = read_audited(folder, method)
    judged = [current[pair].verdict if pair in current else None for pair in audited.ids[audited.drawn]]
    found = estimate(_counts(audited, current), seed)
    return dataclasses.replace(
        found,
        with_missed=with_outside(folder, found, current),
        open=sum(one is None for one in judged),
        waiting=sum(one is not None for one in judged) - len(audited.counted(current)),
        left_out=int((audited.strata.of_pair == LEFT_OUT).sum()),
        check=_check(audited, current),
        method=answer_of(folder, method).method,
        labels_digest=labels_digest(audited.ids, audited.label),
    )


def audits_of(folder: RunFolder) -> list[AuditFacts]:
    """The draws of a run's audits, in order."""
    return [AuditFacts(**facts_in(file)) for file in _files(folder)]


def audited_pairs(folder: RunFolder, number: int | None = None) -> pd.DataFrame:
    """The drawn pairs of one audit, or of all, in the order in which to judge them."""
    files = [(place, file) for place, file in enumerate(_files(folder), start=1) if number in (None, place)]
    parts = [load_columns(file).to_pandas().assign(**{AUDIT: place}) for place, file in files]
    empty = pd.DataFrame(columns=[PAIR_ID, ROW, STRATUM, ORDER, AUDIT])
    return pd.concat(parts, ignore_index=True) if parts else empty


def in_turn(draws: pd.DataFrame, current: Mapping[str, Verdict]) -> pd.DataFrame:
    """The drawn pairs (of `audited_pairs`) with a verdict, and with one on every pair before them in their draw."""
    judged = draws[PAIR_ID].isin(current)
    return draws[judged.groupby(draws[AUDIT]).cummin()]


def read_audited(folder: RunFolder, method: str | None = None, design: bool = False) -> Audited:
    """The labels of a method with the strata of the audit; `design`: those that the strata were made for.

    For other labels each stratum is divided by label.
    """
    stored = load_columns(folder.path / AUDITS / DESIGN).to_pandas()
    label, risk = stored[LABEL].to_numpy(), stored[RISK].to_numpy()
    if not design:
        label, risk = labels_and_risk(folder, method)
    of_pair = stored[STRATUM].to_numpy().astype(np.int64)
    inside = of_pair >= 0
    both = 2 * of_pair[inside] + label[inside]
    used, number = np.unique(both, return_inverse=True)
    of_pair[inside] = number
    draws, drawn = audited_pairs(folder), np.zeros(len(label), dtype=bool)
    drawn[draws[ROW].to_numpy(dtype=np.int64)] = True
    strata = strata_of((used % 2).astype(np.int8), of_pair, risk)
    return Audited(stored[PAIR_ID].to_numpy(), label, risk, strata, stored[KNOWN].to_numpy(), drawn, draws)


def labels_and_risk(folder: RunFolder, method: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """A method's labels of the target pairs, and the probability that each is wrong: its risk or, where there is none,
    what is left of its confidence."""
    answer = answer_of(folder, method)
    if answer.iteration is None:
        probability = read_columns(folder.final_file)[answer.method]
        label = (probability >= 0.5).astype(np.int8)
    else:
        scores = read_scores(folder.scores_file(answer.method, answer.iteration), ("label", "probability"))
        label, probability = scores["label"].astype(np.int8), scores["probability"]
    risk = read_risks(folder).get(answer.method)
    risk = np.where(label == 1, 1 - probability, probability) if risk is None else risk
    return label, np.clip(np.nan_to_num(risk, nan=0.5), 0, 1)


def labels_digest(ids: np.ndarray, label: np.ndarray) -> str:
    """A digest of the labels that were audited: another digest means other labels."""
    text = "\n".join(f"{pair}\t{one}" for pair, one in zip(ids, label, strict=True))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def used_as_labels(folder: RunFolder) -> set[str]:
    """Pairs whose labels the run was given: they may be right only because it was told so."""
    found: set[str] = set()
    if (begun := given_labels(folder)) is not None:
        pairs = begun[PAIR_ID] if PAIR_ID in begun else pd.Series(np.nan, index=begun.index, dtype=object)
        if {LEFT_ID, RIGHT_ID} <= set(begun.columns):
            joined = pair_ids(begun[LEFT_ID].astype(str), begun[RIGHT_ID].astype(str))
            pairs = pairs.fillna(pd.Series(joined, index=begun.index))
        labelled = begun[LABEL].astype(str).str.strip() != "" if LABEL in begun else slice(None)
        found |= set(pairs[labelled & begun[LABEL].notna() if LABEL in begun else labelled].dropna().astype(str))
    other = read_other_pairs(folder, answer_of(folder).method)
    if other is not None:
        found |= set(other.loc[other["part"].isin((VALIDATION, TRAINING)), PAIR_ID].astype(str))
    return found


def _write_design(folder: RunFolder, current: Mapping[str, Verdict]) -> None:
    ids = read_pair_ids(folder.pairs_file).column(PAIR_ID).to_pandas()
    label, risk = labels_and_risk(folder)
    used = ids.isin(used_as_labels(folder)).to_numpy() | ids.duplicated().to_numpy()
    known = np.array([_truth(current.get(pair)) for pair in ids], dtype=np.float64)
    known[used] = np.nan
    strata = audit_design(label, risk, used | ~np.isnan(known))
    stratum = np.where(np.isnan(known), strata.of_pair, BEFORE)
    table = pa.table(
        {
            PAIR_ID: pa.array(ids, pa.large_string()),
            STRATUM: pa.array(stratum, pa.int16()),
            LABEL: pa.array(label, pa.int8()),
            RISK: pa.array(risk, pa.float64()),
            KNOWN: pa.array(known, pa.float64()),
        }
    )
    write_parquet(folder.path / AUDITS / DESIGN, table)


def _truth(one: Verdict | None) -> float:
    label = None if one is None else OF_VERDICT.get(one.verdict)
    return np.nan if label is None else float(label)


def _counts(audited: Audited, current: Mapping[str, Verdict]) -> list[StratumCounts]:
    """The counts of every stratum, and after them those of the pairs that were judged before the first draw."""
    strata = audited.strata
    judged, errors, unsure = (np.zeros(len(strata), dtype=np.int64) for _ in range(3))
    for row in audited.counted(current):
        at, truth = strata.of_pair[row], OF_VERDICT.get(current[audited.ids[row]].verdict)
        if truth is None:
            unsure[at] += 1
        else:
            judged[at] += 1
            errors[at] += truth != audited.label[row]
    found = [
        StratumCounts(int(side), int(pairs), float(risk), int(n), int(e), int(u))
        for side, pairs, risk, n, e, u in zip(
            strata.side, strata.pairs, strata.risk, judged, errors, unsure, strict=True
        )
    ]
    for side in (NON_MATCHES, MATCHES):
        here = (strata.of_pair == BEFORE) & (audited.label == side)
        if here.any():
            wrong = int((audited.known[here] != side).sum())
            size = int(here.sum())
            found.append(StratumCounts(side, size, float(audited.risk[here].mean()), size, wrong, known=True))
    return found


def _check(audited: Audited, current: Mapping[str, Verdict]) -> Check | None:
    """The measures by the difference estimator; None while a stratum has fewer than two verdicts, or any is unsure."""
    strata = audited.strata
    truth = np.array([_truth(current.get(pair)) for pair in audited.ids])
    counted = audited.counted(current)
    rows = counted[~np.isnan(truth[counted])]
    judged = np.bincount(strata.of_pair[rows], minlength=len(strata))
    if (judged < np.minimum(2, strata.pairs)).any():
        return None
    before = strata.of_pair == BEFORE
    totals: dict[int, Total] = {}
    for side in (MATCHES, NON_MATCHES):
        of_side = np.where(audited.label == side, strata.of_pair, -1)
        mine = rows[of_side[rows] >= 0]
        total = difference_total(of_side, audited.risk, mine, truth[mine] != side)
        known = int((before & (audited.label == side) & (audited.known != side)).sum())
        totals[side] = dataclasses.replace(total, value=total.value + known)
    positive, negative = totals[MATCHES], totals[NON_MATCHES]
    matches = int(((strata.of_pair != LEFT_OUT) & (audited.label == MATCHES)).sum())
    return check_of(matches, positive, negative)


def check_of(matches: int, positive: Total, negative: Total) -> Check:
    """Measures and standard errors (delta method) from the totals of false positives and false negatives."""
    values = measures(matches, np.array(positive.value), np.array(negative.value))
    right = matches - positive.value
    slopes = {
        "precision": (1 / max(matches, 1), 0.0),
        "recall": (
            negative.value / max(right + negative.value, 1e-9) ** 2,
            right / max(right + negative.value, 1e-9) ** 2,
        ),
        "f1": tuple(float(one) for one in f1_slopes(matches, np.array(positive.value), np.array(negative.value))),
    }
    errors = {
        name: float(np.sqrt(slopes[name][0] ** 2 * positive.variance + slopes[name][1] ** 2 * negative.variance))
        for name in MEASURES
    }
    power = (positive.power + negative.power) / 2
    precision, recall, f1 = ((float(values[name]), errors[name]) for name in MEASURES)
    return Check(precision, recall, f1, power)


def _files(folder: RunFolder) -> list[Path]:
    return sorted(
        (folder.path / AUDITS).glob("audit-*.parquet"), key=lambda file: int(file.stem.removeprefix("audit-"))
    )
