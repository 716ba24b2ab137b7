"""The five stops of the tour: where each is, and the one sentence it says, made from the run's own figures."""

from __future__ import annotations

import dataclasses

import numpy as np

from riskcore.runs import RunFolder
from riskcore.runs.formats import read_pair_ids, read_scores
from riskcore.runs.readers.pair_detail import pair_detail
from riskcore.runs.readers.pair_reasons import attribute_types, reason_of_sheet
from riskcore.runs.readers.pair_sheet import pair_sheet
from riskcore.storage.parquet import take_rows

TRIED = 20  # wrong labels that are looked at for the one to show, the most confident first
STEADY = 0.8  # share of resampled fits from which a reason is fit to be shown to others
RISKY = 0.1


@dataclasses.dataclass(frozen=True)
class Stop:
    """One stop: a screen, what its address says, and a sentence."""

    screen: str
    address: dict[str, str]
    sentence: str


def tour_stops(folder: RunFolder, run: str) -> tuple[Stop, ...]:
    """The stops of a finished run with `risk`, `risk+` and known truth."""
    truth = take_rows(folder.truth_file, np.arange(_pairs(folder)), ["label"]).column("label").to_numpy()
    start = read_scores(folder.scores_file("risk", 0), ["label", "probability", "risk"])
    kept = folder.iteration("risk", None)
    end = read_scores(folder.scores_file("risk", kept), ["label", "flipped"])
    best = read_scores(folder.scores_file("risk+", folder.iteration("risk+", None)), ["risk"])
    row = _shown_row(folder, truth, start, end)
    pair = str(read_pair_ids(folder.pairs_file).column("pair_id")[row].as_py())
    first = {"run": run, "method": "risk", "iteration": "0", "pair": pair}
    wrong, flipped = start["label"] != truth, end["flipped"]
    right = int((flipped & (end["label"] == truth)).sum())
    left = int((best["risk"] >= RISKY).sum())
    f1 = {name: 100 * (row_of["f1"] or 0) for name, row_of in _methods(folder).items()}
    return (
        Stop(
            "pairs",
            first,
            f"A matcher that learned from a curated bibliography gets {int(wrong.sum())} of {len(truth)} scraped pairs "
            f"wrong. This one it calls a {_word(start['label'][row])}, with probability "
            f"{_own(start['probability'][row]):.2f}.",
        ),
        Stop(
            "pairs",
            first,
            f"All the evidence contradicts it, without a label of this pair: {_reason(folder, pair, row)}. "
            f"Risk {start['risk'][row]:.2f}.",
        ),
        Stop(
            "fine_tuning",
            {"run": run},
            f"Fine-tuning by risk flips {int(flipped.sum())} labels, {right} of them for the better, this one too. "
            "Press Play below and watch them cross the line.",
        ),
        Stop(
            "pairs",
            {"run": run, "method": "risk+"},
            f"What is left to judge: {left} of {len(truth)} labels with a risk of {RISKY} or more. Each row says why; "
            "one key is a verdict.",
        ),
        Stop(
            "compare",
            {"run": run},
            f"F1 {f1['tradition']:.1f} % before, {f1['risk']:.1f} % after adapting by risk, {f1['risk+']:.1f} % with "
            "all the evidence combined, beside the honest rivals.",
        ),
    )


def _shown_row(folder: RunFolder, truth: np.ndarray, start: dict[str, np.ndarray], end: dict[str, np.ndarray]) -> int:
    """A pair that was wrong, flipped and is right now, with a steady reason: a false match whose records differ in a
    way that one sees, if there is one, and the most confident mistake of these."""
    repaired = np.flatnonzero((start["label"] != truth) & (end["label"] == truth) & end["flipped"])
    sure = np.abs(start["probability"][repaired] - 0.5)
    ordered = [int(row) for row in repaired[np.argsort(-sure, kind="stable")][:TRIED]]
    types, ids = attribute_types(folder), read_pair_ids(folder.pairs_file).column("pair_id")
    steady = []
    for row in ordered:
        sheet = pair_sheet(folder, "tradition", row)
        if sheet is None or (sheet.stability or 0) < STEADY or sheet.says_match != bool(truth[row]):
            continue
        detail = pair_detail(folder, str(ids[row].as_py()), "risk", 0, row)
        if not sheet.says_match and reason_of_sheet(detail, types, sheet).difference:
            return row
        steady.append(row)
    return (steady or ordered)[0]


def _reason(folder: RunFolder, pair: str, row: int) -> str:
    detail = pair_detail(folder, pair, "risk", 0, row)
    sheet = pair_sheet(folder, "tradition", row, detail.fired)
    assert sheet is not None  # the example has them all
    return reason_of_sheet(detail, attribute_types(folder), sheet).words


def _pairs(folder: RunFolder) -> int:
    return len(read_pair_ids(folder.pairs_file))


def _methods(folder: RunFolder) -> dict[str, dict[str, float | None]]:
    results = folder.results()
    assert results is not None
    return results["methods"]  # type: ignore[return-value]


def _word(label: int) -> str:
    return "match" if label else "non-match"


def _own(probability: float) -> float:
    """The probability of the label itself."""
    return max(probability, 1 - probability)
