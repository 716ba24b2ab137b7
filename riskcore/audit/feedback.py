"""Ranking a run's queue again: by the verdicts on its pairs, and without or with rules that people muted or pinned.

Only the order of the queue and the risk shown there change. Labels, results, estimates and sign-offs stay as they are:
an audit's design and what was signed must not move while people judge.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import expit

from riskcore.audit.agreement import agreed
from riskcore.audit.decisions import answer_of
from riskcore.audit.labels import OF_VERDICT
from riskcore.audit.verdicts import Verdict, VerdictLog
from riskcore.columns import PAIR_ID
from riskcore.errors import StorageError
from riskcore.risk import auroc
from riskcore.risk.log_odds import log_odds
from riskcore.risk.verdict_refit import FLOOR, refit_risk
from riskcore.runs.feedback_files import (
    MUTED,
    PINNED,
    RankingDifference,
    RankingFacts,
    choose_refit,
    ranking_facts,
    read_choices,
    read_ranking,
    remove_ranking,
    write_ranking,
)
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids, read_scores
from riskcore.runs.readers.rule_shift import rule_shift, why_rules_do_not_count
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.files import read_json, write_json
from riskcore.storage.parquet import load_columns

FIRST = 100  # pairs at the head of the queue that before and after are told of
EVERY = 10  # new verdicts until the queue is ranked again by itself
MOST_CHECKS = 5_000  # verdicts that a ranking is checked by; the latest are kept
FEWEST = 2  # verdicts that a ranking is made from


@dataclasses.dataclass(frozen=True)
class RankingCheck:
    """How the ranking fared on verdicts that were given after it was made, beside the run's on the same pairs."""

    verdicts: int
    overruled: int
    expected: float  # errors among them, by the ranking's risk
    expected_by_run: float
    auroc: float | None  # None unless there are right and wrong labels among them
    auroc_of_run: float | None


def rank_again(folder: RunFolder, method: str | None = None, who: str = "") -> RankingFacts:
    """Rank the queue by all verdicts so far, and keep doing so: from now on after every ten further ones."""
    method = method or answer_of(folder).method
    if len(_known(folder, _agreed(folder))[0]) < FEWEST:
        raise StorageError(
            f"Run {folder.path.name} has fewer than {FEWEST} verdicts on its target pairs, so there is nothing to rank "
            "by. Judge some pairs of the queue first."
        )
    choose_refit(folder, True, who)
    found = keep_current(folder, method, now=True)
    assert found is not None  # verdicts are there
    return found


def use_run_ranking(folder: RunFolder, who: str = "") -> None:
    """Rank the queue as the run did; decisions about rules stay."""
    choose_refit(folder, False, who)
    for method in folder.methods():
        keep_current(folder, method, now=True)


def keep_current(folder: RunFolder, method: str, now: bool = False) -> RankingFacts | None:
    """Bring a method's ranking up to date with the choices and verdicts; what it is made from, or None where the run's
    is used. Without `now`, verdicts count in tens."""
    choices, facts = read_choices(folder), ranking_facts(folder, method)
    kept = folder.kept(method) if method in folder.methods() else None
    if kept is None or not (choices.refit or choices.rules):
        if facts is not None:
            _keep_checks(folder, method)
            remove_ranking(folder, method)
        return None
    muted, pinned = choices.rules_that_are(MUTED), choices.rules_that_are(PINNED)
    entries = _log_size(folder) if choices.refit else 0
    if facts is not None and (facts["iteration"], facts["muted"], facts["pinned"]) == (kept, muted, pinned):
        new = entries - facts["entries"]
        few = facts["entries"] > 0 and 0 < new < EVERY  # entries are only added: none means that verdicts did not count
        if not new or (few and not now):
            return facts
    return _rank(folder, method, kept, muted, pinned, bool(choices.refit))


def check_ranking(folder: RunFolder, method: str) -> RankingCheck | None:
    """By the verdicts that came after the ranking they are compared with; None while there are none."""
    rows = [*_checks(folder, method), *_new_checks(folder, method)]
    if not rows:
        return None
    risk, of_run, wrong = np.array(rows, dtype=np.float64).T
    return RankingCheck(
        len(wrong),
        int(wrong.sum()),
        float(risk.sum()),
        float(of_run.sum()),
        auroc(risk, wrong == 1),
        auroc(of_run, wrong == 1),
    )


def _rank(
    folder: RunFolder, method: str, iteration: int, muted: list[str], pinned: list[str], refit: bool
) -> RankingFacts:
    _keep_checks(folder, method)
    scores = read_scores(folder.scores_file(method, iteration), ("label", "risk"))
    label, of_run = scores["label"], scores["risk"]
    risk, ignored = of_run, why_rules_do_not_count(folder, method) if muted or pinned else None
    if (muted or pinned) and ignored is None:
        sign = np.where(label == 1, -1.0, 1.0)
        risk = expit(log_odds(of_run, FLOOR) + sign * rule_shift(folder, method, muted, pinned))
    entries = _entries(folder) if refit else []
    rows, truth = _known(folder, agreed(entries))
    found = refit_risk(risk, label, read_metrics(folder), rows, truth, int(folder.run()["seed"]))
    facts = RankingFacts(
        method=method,
        iteration=iteration,
        entries=len(entries),
        head=entries[-1].digest if entries else "",
        verdicts=len(rows),
        overruled=int((truth != label[rows]).sum()),
        variance=found.variance,
        muted=muted,
        pinned=pinned,
        entered_by_rules=_entered(of_run, risk),
        rules_ignored=ignored,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        **_difference(of_run, found.risk, rows),
    )
    write_ranking(folder, facts, found.risk)
    return facts


def _difference(before: np.ndarray, after: np.ndarray, judged: np.ndarray) -> RankingDifference:
    """How the queue of pairs without a verdict changes."""
    left = np.setdiff1d(np.arange(len(before)), judged)
    old, new = (left[np.argsort(-risk[left], kind="stable")] for risk in (before, after))
    first = min(FIRST, len(left))
    return {
        "first": first,
        "entered": len(np.setdiff1d(new[:first], old[:first])),
        "expected_before": float(before[old[:first]].sum()),
        "expected_after": float(after[new[:first]].sum()),
        "changed": int((old != new).sum()),
    }


def _entered(before: np.ndarray, after: np.ndarray) -> int:
    """Pairs among the first of a ranking that are not among those of another."""
    old, new = (np.argsort(-risk, kind="stable")[:FIRST] for risk in (before, after))
    return len(np.setdiff1d(new, old))


def _known(folder: RunFolder, verdicts: Mapping[str, Verdict]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of target pairs with a verdict of match or non-match, in rising order, and these verdicts."""
    known = {pair: OF_VERDICT[one.verdict] for pair, one in verdicts.items() if one.verdict in OF_VERDICT}
    ids = read_pair_ids(folder.pairs_file).column(PAIR_ID)
    at = pc.index_in(ids, pa.array(list(known), ids.type)).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(~np.isnan(at.astype(np.float64)))
    values = np.array(list(known.values()), dtype=np.int8)
    return rows, values[at[rows].astype(np.int64)]


def read_metrics(folder: RunFolder) -> np.ndarray:
    """The metrics of all target pairs, pairs x metrics, NaN where missing."""
    table = load_columns(folder.metrics_file)
    return np.column_stack([column.to_numpy() for column in table.columns])


# What a ranking is checked by: verdicts that came after it, noted before the next one is made from them too.


def _keep_checks(folder: RunFolder, method: str) -> None:
    new = _new_checks(folder, method)
    if new:
        write_json(_checks_file(folder, method), [*_checks(folder, method), *new][-MOST_CHECKS:])


def _new_checks(folder: RunFolder, method: str) -> list[list[float]]:
    """The ranking's risk, the run's, and whether the label was wrong (1), of pairs first judged after it was made."""
    facts = ranking_facts(folder, method)
    if facts is None or not facts["verdicts"]:
        return []
    entries = _entries(folder)
    earlier = {one.pair_id for one in entries if one.number <= facts["entries"]}
    later = {pair: one for pair, one in agreed(entries).items() if pair not in earlier}
    rows, truth = _known(folder, later)
    scores = read_scores(folder.scores_file(method, facts["iteration"]), ("label", "risk"))
    risk = read_ranking(folder, method)
    wrong = truth != scores["label"][rows]
    return np.column_stack([risk[rows], scores["risk"][rows], wrong]).astype(float).tolist()


def _checks(folder: RunFolder, method: str) -> Sequence[list[float]]:
    file = _checks_file(folder, method)
    return read_json(file) if file.exists() else []


def _checks_file(folder: RunFolder, method: str) -> Path:
    return folder.feedback / f"{method}-checks.json"


def _agreed(folder: RunFolder) -> dict[str, Verdict]:
    return agreed(_entries(folder))


def _entries(folder: RunFolder) -> list[Verdict]:
    return VerdictLog(RunStore(folder.path.absolute().parent)).entries(folder.path.absolute().name)


def _log_size(folder: RunFolder) -> int:
    return VerdictLog(RunStore(folder.path.absolute().parent)).size(folder.path.absolute().name)
