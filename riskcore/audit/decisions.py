"""The result of a run: one decision for each candidate pair of the target, who or what made it, and why.

A person's current verdict decides, then a label that was given (validation pairs), then the method's kept iteration.
`resolve` turns decisions into entities.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from riskcore.audit.reasons import model_reasons
from riskcore.audit.verdicts import Verdict, verdicts_in
from riskcore.columns import DECISION_COLUMNS, LEFT, LEFT_ID, PAIR_ID, PART, RIGHT, RIGHT_ID, TRUTH, VERDICT
from riskcore.errors import ConfigError, StorageError
from riskcore.runs.candidate_files import TARGET, TRAINING, VALIDATION, has_all_parts, read_other_pairs
from riskcore.runs.folder import RunFolder, answering_method
from riskcore.runs.formats import read_pair_ids, read_scores
from riskcore.runs.readers.label_rankings import read_columns, read_risks
from riskcore.storage.parquet import column_names, load_columns, row_count, take_rows

MATCH, NON_MATCH, UNSURE = "match", "non-match", "unsure"
BY_VERDICT, BY_LABEL, BY_MODEL, BY_CONSTRAINT = "verdict", "label given", "model", "constraint"
BY_PEOPLE = (BY_VERDICT, BY_LABEL)
_START = "tradition"  # the matcher as trained on the source
_FIRST_PART = {VALIDATION: 0, TARGET: 1}  # of a pair that stands in several parts, the row that is kept


@dataclasses.dataclass(frozen=True)
class AnswerFacts:
    """Which answer of a run is decided by, and which labels it is made from."""

    method: str
    iteration: int | None  # the kept one; None where the method has no iterations
    labels_used: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The labels in words."""
        if not self.labels_used:
            return f"{self.method} used no labels that this run knows of."
        named = " and ".join(self.labels_used)
        of_target = {VALIDATION, TRAINING} & set(self.labels_used)
        rest = "" if of_target else " No label of the target was used."
        return f"{self.method} used labels of: {named}.{rest}"


def answer_of(folder: RunFolder, method: str | None = None) -> AnswerFacts:
    """The answer that is the run's: that of risk+ if it ran, else of risk, else of its first method; or of `method`."""
    results = folder.results()
    if results is None:
        raise StorageError(f"Run {folder.path.name} is not done, so it has no result yet. Wait for it, or resume it.")
    names = list(results["methods"])
    wanted = method or answering_method(names)
    if wanted not in names:
        raise ConfigError(f"Run {folder.path.name} has no method {wanted!r}. It has: {', '.join(names)}.")
    iteration = folder.iteration(wanted, None) if wanted in folder.methods() else None
    return AnswerFacts(wanted, iteration, tuple(results["methods"][wanted].get("labels_used") or ()))


def decisions(
    folder: RunFolder,
    method: str | None = None,
    verdicts: Mapping[str, Verdict] | None = None,
    *,
    reasons: bool = True,
    values: bool = True,
    truth: bool = False,
) -> pd.DataFrame:
    """A row per candidate pair: target pairs in their order, then validation and unseen pairs.

    `verdicts` are the current ones by pair id; None reads them from the run's store. `values` adds both records,
    `truth` the benchmark's labels of the target pairs (missing where unknown). The index is the pair's place among the
    stored pairs, as `values_of` takes it.
    """
    answer = answer_of(folder, method)
    current = verdicts_in(folder.path) if verdicts is None else verdicts
    frame = _candidates(folder, answer)
    if truth:
        frame[TRUTH] = truth_at(folder, frame.index.to_numpy())
    frame = _decided(frame, current)
    frame["method"] = answer.method
    frame["iteration"] = pd.array([answer.iteration] * len(frame), "Int64")
    frame["reasons"] = _reasons(folder, answer, frame, current) if reasons else None
    frame = _once(frame)[[*DECISION_COLUMNS, *([TRUTH] if truth else [])]]
    return pd.concat([frame, values_of(folder, frame.index.to_numpy())], axis=1) if values else frame


def left_out(folder: RunFolder, frame: pd.DataFrame) -> list[str]:
    """What the decisions do not cover, in sentences."""
    if not has_all_parts(folder):
        return [
            "This run was recorded before validation and unseen pairs were stored with it: its result has the target "
            "pairs only. Run again to have all of them."
        ]
    stored = 0 if not folder.other_pairs_file.exists() else row_count(folder.other_pairs_file)
    missing = stored - int((frame[PART] != TARGET).sum())
    if missing > 0:
        return [
            f"{missing:,} of the target's other pairs are left out: they are target pairs too, or the method has no "
            "probability of them."
        ]
    return []


def values_of(folder: RunFolder, places: np.ndarray) -> pd.DataFrame:
    """Both records of the pairs at these places: those of target pairs first, then of the other pairs."""
    count = row_count(folder.pairs_file)
    names = [name for name in column_names(folder.pairs_file) if name.startswith((LEFT, RIGHT))]
    target = take_rows(folder.pairs_file, places[places < count], names)
    parts = [target.select(names)]
    if (places >= count).any():
        others = take_rows(folder.other_pairs_file, places[places >= count] - count, names)
        parts.append(others.select(names))
    order = np.concatenate([np.flatnonzero(places < count), np.flatnonzero(places >= count)])
    found = pa.concat_tables(parts, promote_options="default").to_pandas()
    return found.set_axis(places[order]).loc[places]


def pairs_with_text(folder: RunFolder, text: str) -> np.ndarray:
    """The places of the pairs with this text, in any case, in a value or an id of either record or in the pair's id."""
    found, start = [], 0
    for file in (folder.pairs_file, folder.other_pairs_file):
        if not file.exists():
            continue
        named = (PAIR_ID, LEFT_ID, RIGHT_ID)
        names = [name for name in column_names(file) if name in named or name.startswith((LEFT, RIGHT))]
        has = np.zeros(row_count(file), dtype=bool)
        for name in names:  # one column at a time: all of them may not fit into memory
            column = load_columns(file, columns=[name]).column(name).cast(pa.large_string())
            has |= pc.match_substring(column, text, ignore_case=True).fill_null(False).to_numpy()
        found.append(start + np.flatnonzero(has))
        start += len(has)
    return np.concatenate(found)


def truth_at(folder: RunFolder, places: np.ndarray) -> Any:
    """The benchmark's labels of the pairs at these places; missing where unknown and for all but target pairs."""
    found = np.full(len(places), np.nan)
    if folder.has_truth:
        labels = load_columns(folder.truth_file, columns=["label"]).column("label").to_numpy().astype(float)
        known = places < len(labels)
        found[known] = np.where(labels >= 0, labels, np.nan)[places[known]]
    return pd.array(found, "Int64")


def _candidates(folder: RunFolder, answer: AnswerFacts) -> pd.DataFrame:
    """Every stored pair with the method's probability and the starting matcher's; `given` is a known label."""
    ids = read_pair_ids(folder.pairs_file).to_pandas()
    label, probability = _answers(folder, answer)
    target = ids.assign(
        **{
            PART: TARGET,
            "probability": probability,
            "label": label,
            "risk": read_risks(folder).get(answer.method, np.nan),
            "flipped": _flipped(folder, answer, label),
            "given": np.nan,
        }
    )
    other = _others(folder, answer)
    return target if other is None else pd.concat([target, other], ignore_index=True)


def _answers(folder: RunFolder, answer: AnswerFacts) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities of the target pairs, in the kept iteration."""
    if answer.iteration is None:
        probability = read_columns(folder.final_file)[answer.method]
        return (probability >= 0.5).astype(np.int8), probability
    scores = read_scores(folder.scores_file(answer.method, answer.iteration), ("label", "probability"))
    return scores["label"], scores["probability"]


def _flipped(folder: RunFolder, answer: AnswerFacts, label: np.ndarray) -> Any:
    """Which labels are others than those of iteration 0, the matcher as trained on the source.

    Runs of version 0.2 stored it only for `risk`: their `risk+` compared with its own first iteration, a stacker.
    """
    if answer.method == "risk" and answer.iteration is not None:
        return pd.array(read_scores(folder.scores_file("risk", answer.iteration), ("flipped",))["flipped"], "boolean")
    start = read_columns(folder.final_file).get(_START)
    return pd.array([pd.NA] * len(label), "boolean") if start is None else pd.array(label != (start >= 0.5), "boolean")


def _others(folder: RunFolder, answer: AnswerFacts) -> pd.DataFrame | None:
    other = read_other_pairs(folder, answer.method)
    if other is None:
        return None
    starting = read_other_pairs(folder, _START)
    assert starting is not None  # the same file
    label, known = other["probability"] >= 0.5, other["probability"].notna() & starting["probability"].notna()
    flipped = pd.array(label != (starting["probability"] >= 0.5), "boolean")
    flipped[~known.to_numpy()] = pd.NA
    found = other.rename(columns={"label": "given"})
    return found.assign(label=label.astype(np.int8), risk=np.nan, flipped=flipped, given=found["given"].astype(float))


def _decided(frame: pd.DataFrame, current: Mapping[str, Verdict]) -> pd.DataFrame:
    """The decision on every pair, and what made it. Pairs on which nothing decides are left out."""
    verdict = frame[PAIR_ID].map({pair: one.verdict for pair, one in current.items()}).astype(object)
    given = frame["given"].fillna(frame[PAIR_ID].map(_labels_by_pair(frame)))
    by_verdict, by_label = verdict.isin((MATCH, NON_MATCH)).to_numpy(), given.notna().to_numpy()
    matches = np.select([by_verdict, by_label], [verdict == MATCH, given == 1], frame["label"] == 1).astype(bool)
    found = frame.assign(
        decision=np.where(matches, MATCH, NON_MATCH),
        decided_by=np.select([by_verdict, by_label], [BY_VERDICT, BY_LABEL], BY_MODEL),
        **{VERDICT: verdict.where(verdict.notna(), None)},
    )
    return found[by_verdict | by_label | frame["probability"].notna().to_numpy()]


def _labels_by_pair(frame: pd.DataFrame) -> dict[str, float]:
    """Given labels by pair id, for a pair that stands among the target pairs too."""
    known = frame[frame["given"].notna()]
    return dict(zip(known[PAIR_ID], known["given"], strict=True))


def _once(frame: pd.DataFrame) -> pd.DataFrame:
    """Each pair once: a pair of several parts as a validation pair, else as a target pair."""
    again = frame.duplicated(PAIR_ID, keep=False)
    if not again.any():
        return frame
    order = frame.loc[again, PART].map(_FIRST_PART).fillna(len(_FIRST_PART)).sort_values(kind="stable")
    later = frame.loc[order.index, PAIR_ID].duplicated()
    return frame.drop(index=later.index[later])


def _reasons(folder: RunFolder, answer: AnswerFacts, frame: pd.DataFrame, current: Mapping[str, Verdict]) -> np.ndarray:
    """Why each pair is decided as it is, in words."""
    found = np.full(len(frame), None, dtype=object)
    by = frame["decided_by"].to_numpy()
    model = by == BY_MODEL
    found[model] = model_reasons(folder, answer.method, answer.iteration, frame[model])
    found[by == BY_LABEL] = "the label was given"
    for place in np.flatnonzero(frame[VERDICT].notna().to_numpy()):
        one = current[frame[PAIR_ID].iat[place]]
        said = f"{one.verdict} by {one.who or 'a reviewer'} on {one.at:%Y-%m-%d}"
        found[place] = f"verdict {said}" if by[place] == BY_VERDICT else f"{found[place]}; a reviewer's verdict: {said}"
    return found
