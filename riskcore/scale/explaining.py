"""The process that explains scored pairs, one after the other: `python -m riskcore.scale.explaining FOLDER`.

It opens models and records once, says so on its output, and then explains each pair that a line of its input names. An
answer is a file, so whoever asked may have gone and come back meanwhile. Numbers are exact here: the matcher is asked
about the pair and its competitors, whatever scoring spared.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from riskcore.columns import LEFT_ROW, RIGHT_ROW
from riskcore.config import ScaleConfig
from riskcore.data.pairs import Pairs
from riskcore.errors import RiskcoreError
from riskcore.risk.explain import explain_pair
from riskcore.runs.sheet_files import sheet_table
from riskcore.runs.worker.sheets import attributes_of, sheet_facts
from riskcore.scale.explanations import FAILED, IDLE_SECONDS, LOADED, Explanation, explanation_file
from riskcore.scale.folder import ScoredFolder
from riskcore.scale.parts import PartScorer
from riskcore.scale.queries import candidates_of
from riskcore.storage.files import write_json, write_parquet
from riskcore.storage.parquet import take_rows
from riskcore.training.answer_model import KnownPairs
from riskcore.training.balance_sheets import SheetMaker

COMPETITORS = 20  # candidates of each record that are asked about: the strongest is among them


class Explainer:
    """Everything that explanations of one set need, opened once."""

    def __init__(self, folder: ScoredFolder) -> None:
        self.folder, facts = folder, folder.facts()
        opened = PartScorer(folder.path, facts["method"], ScaleConfig())
        self.scorer, self.model = opened.scorer, opened.scorer.model
        self.known = self.scorer.bundle.known_pairs(self.scorer.method, self.scorer.left, self.scorer.right)

    def explain(self, left: int, right: int) -> None:
        """Write the explanation of this pair."""
        scorer, model = self.scorer, self.model
        rows = [(left, right), *self._competitors(left, right)]
        pairs = scorer.pairs(*(np.array(side, dtype=np.int64) for side in zip(*rows, strict=True)))
        part = scorer.evidence(pairs)
        gathered = model.gather(part)
        first = np.array([0])
        one, own = part.take(first), pairs.take(first)
        inputs = type(gathered)(gathered.own[:1], gathered.inputs[:1])
        known = None
        if scorer.competition is not None:
            known = self._known(pairs, model.stacker.predict_proba(gathered.inputs))
        answer = model.answer(own, inputs, known)
        maker = SheetMaker(model, attributes_of(scorer.bundle), one.all_metrics.metrics)
        sheets = maker.make(one, own, inputs, answer.probability, known)
        facts = sheet_facts(scorer.bundle, model, scorer.method, sheets, 1, self.folder.facts()["pairs"])
        metrics = dict(
            zip((str(m.key) for m in one.all_metrics.metrics), one.all_metrics.values[0].tolist(), strict=True)
        )
        fired = [int(rule) for rule in one.fired.indices]
        about: Explanation = {
            "probability": float(answer.probability[0]),
            "risk": float(answer.risk[0]),
            "metrics": {name: None if value != value else value for name, value in metrics.items()},
            "fired": fired,
            "rules": self._weights(float(answer.probability[0]), fired),
            "facts": facts,
        }
        file = explanation_file(self.folder, left, right)
        write_parquet(file.with_suffix(".parquet"), sheet_table(first, sheets), 1)
        write_json(file, about)

    def _weights(self, probability: float, fired: list[int]) -> list[dict[str, Any]]:
        """What the fired rules and the model count for in the risk model; nothing where the method has none."""
        model = self.scorer.bundle.explaining_model(self.scorer.method)
        if model is None:
            return []
        rules = [model.rules[number] for number in fired]
        found = explain_pair(model, probability, rules, int(probability >= 0.5))
        return [
            {"rule": one.rule, "weight": one.weight, "mean": one.mean, "drop": one.drop} for one in found.contributions
        ]

    def _competitors(self, left: int, right: int) -> list[tuple[int, int]]:
        """The most probable other pairs of both records, by their rows."""
        found: list[tuple[int, int]] = []
        for places in candidates_of(self.folder, left, right, COMPETITORS + 1).values():
            for part, row in places:
                pair = take_rows(self.folder.pairs_file(part), [row], [LEFT_ROW, RIGHT_ROW]).to_pylist()[0]
                found.append((pair[LEFT_ROW], pair[RIGHT_ROW]))
        return [one for one in dict.fromkeys(found) if one != (left, right)]

    def _known(self, pairs: Pairs, stacked: np.ndarray) -> KnownPairs:
        """The pairs that compete with the first: those of the run, and the other candidates that are scored with it."""
        rest = np.arange(1, len(pairs))
        others = KnownPairs(pairs.take(rest), stacked[rest])
        if self.known is None:
            return others
        known, width = self.known.pairs, 1 + max(len(pairs.left), len(pairs.right))
        involved = self._involved(known, pairs)
        run = KnownPairs(known.take(involved), self.known.probability[involved])
        keys = _keys(run.pairs, width)
        if np.isin(_keys(pairs.take(np.array([0])), width), keys)[0]:
            return run  # a pair of the run has the competitors that it had there
        new = np.flatnonzero(~np.isin(_keys(others.pairs, width), keys))
        left, right = (
            np.concatenate([getattr(run.pairs, side), getattr(others.pairs, side)[new]])
            for side in ("left_rows", "right_rows")
        )
        both = self.scorer.pairs(left, right)
        return KnownPairs(both, np.concatenate([run.probability, others.probability[new]]))

    def _involved(self, known: Pairs, pairs: Pairs) -> np.ndarray:
        """The run's pairs that share a record with the first pair."""
        left, right = pairs.left_rows[0], pairs.right_rows[0]
        meets = (known.left_rows == left) | (known.right_rows == right)
        if pairs.left is pairs.right:
            meets |= (known.left_rows == right) | (known.right_rows == left)
        return np.flatnonzero(meets)


def _keys(pairs: Pairs, width: int) -> np.ndarray:
    """One number per pair of records, in one table whichever of the two comes first."""
    left, right = pairs.left_rows.astype(np.int64), pairs.right_rows.astype(np.int64)
    if pairs.left is pairs.right:
        left, right = np.minimum(left, right), np.maximum(left, right)
    keys: np.ndarray = left * width + right
    return keys


def main(path: str) -> int:
    """Explain the pairs that are asked about until the input ends."""
    folder = ScoredFolder(Path(path))
    try:
        explainer = Explainer(folder)
    except RiskcoreError as error:
        _say(f"{FAILED} {error}")
        return 1
    _say(LOADED)
    ending = _end_later()
    for line in sys.stdin:
        ending.cancel()
        left, right = (int(one) for one in line.split())
        try:
            explainer.explain(left, right)
        except RiskcoreError as error:
            _refuse(left, right, str(error))
        except Exception as error:
            traceback.print_exc()
            _refuse(left, right, f"This failed with an unexpected {type(error).__name__}.")
        ending = _end_later()
    ending.cancel()
    return 0


def _end_later() -> threading.Timer:
    """End this process when nobody asks for a while, whatever becomes of the server that began it."""
    timer = threading.Timer(IDLE_SECONDS, os._exit, [0])
    timer.daemon = True
    timer.start()
    return timer


def _say(word: str) -> None:
    sys.stdout.write(f"{' '.join(word.split())}\n")
    sys.stdout.flush()


def _refuse(left: int, right: int, reason: str) -> None:
    _say(f"{FAILED} {left} {right} {reason}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
