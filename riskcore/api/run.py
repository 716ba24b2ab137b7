"""A finished run as an object: frames of its scores, riskiest pairs, rules, methods and labels.

Every reader gives the kept iteration unless another is asked for; `RunFolder.kept` decides which one that is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from riskcore.api.explanation import PairExplanation
from riskcore.audit.decisions import decisions
from riskcore.audit.resolve import FREE, Resolution, suggest_constraint
from riskcore.audit.result import ExportedResult, export_result, run_result
from riskcore.audit.verdicts import verdicts_in
from riskcore.columns import COMPARE_COLUMNS, LABEL_COLUMNS, PAIR_ID, PUBLIC_SCORE_COLUMNS, ROW
from riskcore.data.html_table import html_table, html_text
from riskcore.errors import ConfigError, StorageError
from riskcore.paths import runs_root
from riskcore.runs.candidate_files import is_self_join
from riskcore.runs.documents import LabelChangeRecord, MethodScores
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids, take_scores
from riskcore.runs.readers.method_comparison import comparison
from riskcore.runs.readers.pair_detail import explain_detail, pair_detail, pair_history
from riskcore.runs.readers.pair_reasons import attribute_types, reason_of_sheet
from riskcore.runs.readers.pair_sheet import sheet_of_detail
from riskcore.runs.readers.queries import MAX_PAGE_SIZE, PairQuery, all_pairs, query_pairs
from riskcore.runs.readers.rule_table import rule_table
from riskcore.runs.retention import refuse_forgotten
from riskcore.runs.store.run_record import RunNotFoundError
from riskcore.storage.parquet import load_columns, row_count

_USUAL = "risk"  # whose scores are shown by default, as on the screens and the command line
_START = "tradition"  # what every method starts from


class Run:
    """One run of the store. Nothing is cached: each call reads the run's files."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    @property
    def id(self) -> str:
        """The run's name in the store, on the command line and on the screens."""
        return self._folder.path.name

    @property
    def folder(self) -> Path:
        return self._folder.path

    @property
    def methods(self) -> list[str]:
        """Methods that gave an answer, in the order in which they ran."""
        results = self._folder.results()
        return self._folder.methods() if results is None else list(results["methods"])

    @property
    def method(self) -> str:
        """The method that readers use by default: `risk` if it ran, else one that has iterations."""
        iterated = self._folder.methods()
        return _USUAL if _USUAL in iterated else (iterated or [_START])[0]

    @property
    def labels_used(self) -> tuple[str, ...]:
        """The labels that made the answer of `method`: of `source`, `validation`."""
        return tuple(self._folder.method_results(self.method).get("labels_used") or ())

    @property
    def notices(self) -> list[str]:
        """What was left out of the data, and what could not be done for lack of labels."""
        results = self._folder.results()
        methods = {} if results is None else results["methods"]
        lacked = [sentence for row in methods.values() for sentence in row.get("lacked") or ()]
        return list(dict.fromkeys([*self._folder.run()["notices"], *lacked]))

    def kept(self, method: str | None = None) -> int | None:
        """The iteration that gave the method's answer; None for a method without iterations."""
        wanted = self._known(method)
        return self._folder.kept(wanted) if wanted in self._folder.methods() else None

    def scores(self, method: str | None = None, iteration: int | None = None) -> pd.DataFrame:
        """A row per target pair, in the target's order.

        A method without iterations has a probability, a label and its risk; the columns of the risk model are missing.
        """
        wanted = self._known(method)
        if wanted in self._folder.methods():
            file = self._folder.scores_file(wanted, self._folder.iteration(wanted, iteration))
            count = row_count(file)
            return take_scores(file, np.arange(count), PUBLIC_SCORE_COLUMNS).to_pandas()
        if iteration is not None:
            raise ConfigError(f"{wanted!r} has no iterations. Leave iteration= out.")
        return self._final(wanted)

    def top(
        self,
        n: int = 50,
        *,
        method: str | None = None,
        iteration: int | None = None,
        label: int | None = None,
        flipped: bool | None = None,
        text: str | None = None,
    ) -> pd.DataFrame:
        """The n pairs whose label is most likely wrong, riskiest first, with both records.

        `label` (1 or 0), `flipped` and `text` (found anywhere in either record) restrict the result to the pairs that
        have them.
        """
        if n < 1:
            raise ConfigError(f"n is {n}; it must be at least 1.")
        if label not in (None, 0, 1):
            raise ConfigError(f"label is {label!r}; it must be 1 for match or 0 for non-match.")
        wanted, size = self._with_risk(method), min(n, MAX_PAGE_SIZE)
        query = PairQuery(wanted, iteration, label=label, flipped=flipped, text=text or None, page_size=size)
        if n > size:
            return all_pairs(self._folder, query, verdicts_in(self.folder)).head(n).drop(columns=ROW)
        return query_pairs(self._folder, query, verdicts_in(self.folder)).rows.drop(columns=ROW)

    def explain(self, pair: str, *, method: str | None = None, iteration: int | None = None) -> PairExplanation:
        """Why the pair (`ltable_id:rtable_id`) has its risk: both records, the reason in words, the balance sheet, and
        what each rule adds."""
        wanted = self._with_risk(method)
        detail = pair_detail(self._folder, str(pair), wanted, iteration)
        found = explain_detail(self._folder, detail, wanted, iteration)
        history = pair_history(self._folder, str(pair), wanted, detail.row)
        sheet = sheet_of_detail(self._folder, detail, wanted, iteration)
        reason = None if sheet is None else reason_of_sheet(detail, attribute_types(self._folder), sheet)
        return PairExplanation.of(detail, found, history, sheet, reason)

    def rules(self, method: str | None = None, iteration: int | None = None) -> pd.DataFrame:
        """A row per rule, heaviest first: its record on source, validation and target, and its weight."""
        found = rule_table(self._folder, self._with_risk(method), iteration)
        return found.sort_values("weight", ascending=False, kind="stable", ignore_index=True)

    def compare(self) -> pd.DataFrame:
        """A row per method: scores where the target's truth is known, and what it changed against tradition."""
        if self._folder.results() is None:
            raise StorageError(f"Run {self.id} is not done: there is nothing to compare yet.")
        found = comparison(self._folder)
        rows = [self._compared(method, row, found["changes"].get(method)) for method, row in found["methods"].items()]
        counts = dict.fromkeys(("changed", "fixed", "broken", "kept_iteration"), "Int64")
        return pd.DataFrame(rows, columns=list(COMPARE_COLUMNS)).astype(counts)

    def labels(self, method: str | None = None) -> pd.DataFrame:
        """The final decision on every target pair, in the target's order."""
        scores = self.scores(method)
        keys = read_pair_ids(self._folder.pairs_file).to_pandas()
        rest = [name for name in LABEL_COLUMNS if name not in keys.columns]
        found = pd.concat([keys, scores[rest]], axis=1)
        if self._known(method) != _USUAL and self._folder.final_file.exists():
            # Runs of version 0.2 compared risk+ with its own first iteration, not with the matcher it started from.
            start = load_columns(self._folder.final_file).to_pandas().get(_START)
            found["flipped"] = found["flipped"] if start is None else found["label"] != (start >= 0.5)
        return found

    def decisions(self, method: str | None = None, *, reasons: bool = True, truth: bool = False) -> pd.DataFrame:
        """The decision on every candidate pair of the target, with both records: by a current verdict, else by a given
        label, else by the method (by default risk+, else risk, else the first), in its kept iteration."""
        return decisions(self._folder, method, reasons=reasons, truth=truth)

    def clusters(self, method: str | None = None, *, constraint: str = FREE) -> Resolution:
        """The entities that follow from the decisions under a constraint (`auto`: the suggested one)."""
        found = run_result(self._folder, method, constraint).resolution
        assert found is not None  # entities are asked for
        return found

    def suggest_constraint(self, method: str | None = None) -> tuple[str, str]:
        """How many matches a record may have, by the data, and why."""
        frame = decisions(self._folder, method, reasons=False, values=False)
        return suggest_constraint(frame, is_self_join(self._folder))

    def export(
        self,
        out: str | Path | None = None,
        *,
        method: str | None = None,
        constraint: str = FREE,
        clusters: bool = False,
        merged: bool = False,
        matches_only: bool = False,
        all_columns: bool = False,
        format: str | None = None,  # noqa: A002 - the word of the command line
        truth: bool = False,
        extra: pd.DataFrame | None = None,
    ) -> ExportedResult:
        """Write the result as csv, parquet or xlsx; `extra` are further columns by pair id."""
        return export_result(
            self._folder,
            out,
            method=method,
            constraint=constraint,
            clusters=clusters,
            merged=merged,
            matches_only=matches_only,
            all_columns=all_columns,
            format=format,
            truth=truth,
            extra=extra,
        )

    def apply(
        self,
        left: pd.DataFrame,
        right: pd.DataFrame | None = None,
        pairs: pd.DataFrame | None = None,
        *,
        method: str | None = None,
        side: str = "right",
        top: int | None = None,
        id: str = "id",  # noqa: A002 - the name of the column
    ) -> pd.DataFrame:
        """The run's answer on new pairs of `left` and `right` (of `left` alone, without `right`). Without `pairs`,
        candidates are found between the two; without `right` too, `left` are new records of one `side`, and their
        candidates are found among the run's records."""
        from riskcore.apply.apply import apply_frames  # brings the engine

        return apply_frames(self._folder, left, right, pairs, method=method, side=side, top=top, id=id)

    def __repr__(self) -> str:
        return f"Run({self.id}, methods {', '.join(self.methods)}, in {str(self.folder)!r})"

    def _repr_html_(self) -> str:
        title = f"Run {self.id}: {self._folder.run()['name']}"
        notices = "".join(f"<p>{html_text(notice)}</p>" for notice in self.notices)
        if self._folder.results() is None:
            return f"<p>{html_text(title)}, not done</p>{notices}"
        return html_table(title, self.compare()) + notices

    def _known(self, method: str | None) -> str:
        wanted = method or self.method
        if wanted not in self.methods:
            raise ConfigError(f"Run {self.id} has no method {wanted!r}. It has: {', '.join(self.methods)}.")
        return wanted

    def _with_risk(self, method: str | None) -> str:
        """The method, which must have a risk model."""
        wanted, iterated = self._known(method), self._folder.methods()
        if wanted not in iterated:
            raise ConfigError(
                f"{wanted!r} has no risk model, so it has no risk and no reasons. "
                f"Methods of this run that have one: {', '.join(iterated) or 'none; run the method risk'}."
            )
        return wanted

    def _final(self, method: str) -> pd.DataFrame:
        """The answer of a method without iterations, with the columns that every method has."""
        table = load_columns(self._folder.final_file).to_pandas()
        label = (table[method] >= 0.5).astype(np.int8)
        flipped = (label != (table[_START] >= 0.5).astype(np.int8)) if _START in table else pd.NA
        known = {PAIR_ID: table[PAIR_ID], "probability": table[method], "label": label, "flipped": flipped}
        if self._folder.risks_file.exists():
            known["risk"] = load_columns(self._folder.risks_file, columns=[method]).column(method).to_numpy()
        return pd.DataFrame({name: known.get(name, np.nan) for name in PUBLIC_SCORE_COLUMNS})

    def _compared(self, method: str, row: MethodScores, change: LabelChangeRecord | None) -> dict[str, Any]:
        low, high = row["f1_interval"] or (None, None)
        return {
            **row,
            **(change or {}),
            "method": method,
            "f1_low": low,
            "f1_high": high,
            "kept_iteration": self.kept(method),
            "labels_used": ", ".join(row["labels_used"]),
            "lacked": " ".join(row["lacked"] or ()),
        }


def load(run: str | Path, *, runs: str | Path | None = None) -> Run:
    """A stored run, by its folder or by its id in the folder `runs`."""
    root = runs_root() if runs is None else Path(runs)
    for path in (Path(run).absolute(), root / run):
        if (path / "run.json").is_file():
            refuse_forgotten(path)
            return Run(RunFolder(path))
    raise RunNotFoundError(f"There is no run {str(run)!r}, neither as a folder nor in {root}.")
