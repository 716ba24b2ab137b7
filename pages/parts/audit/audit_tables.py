"""Verdicts as tables and files: current verdicts, the complete log, and exports."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pages.parts.frame.palette import VERDICTS, of_label
from pages.parts.frame.text import plural
from pages.parts.runs.run_picker import View
from riskcore.audit import Verdict, html_report, tags_of
from riskcore.audit.export import csv_text
from riskcore.audit.verdicts import head_in
from riskcore.runs import PairQuery, all_pairs

FACTS = ("probability", "label", "risk", "flipped")


@dataclasses.dataclass(frozen=True)
class AuditProgress:
    """How many pairs have been reviewed, with which verdicts, and how often a verdict overruled the label."""

    judged: int
    total: int
    match: int
    non_match: int
    unsure: int
    overruled: int  # verdicts match or non-match that differ from the current label

    @property
    def decided(self) -> int:
        return self.match + self.non_match


def judged_rows(view: View, current: dict[str, Verdict], records: bool = True) -> pd.DataFrame:
    """Scores of every pair with a verdict, riskiest first, with verdict, note, reviewer and time; and both records,
    which exports need and the screen does not."""
    if not current:
        return pd.DataFrame()
    query = PairQuery(view.method, view.iteration, pairs=tuple(current))
    rows = all_pairs(view.folder, query, current, records)
    entries = [current[pair] for pair in rows["pair_id"]]
    return rows.assign(
        note=[one.note for one in entries],
        tags=[" ".join(tags_of(one.note)) for one in entries],
        who=[one.who for one in entries],
        at=[one.at.isoformat(timespec="seconds") for one in entries],
    )


def audit_progress(rows: pd.DataFrame, total: int) -> AuditProgress:
    if rows.empty:
        return AuditProgress(0, total, 0, 0, 0, 0)
    counts = rows["verdict"].value_counts()
    verdicts = rows["verdict"].map({"match": 1, "non-match": 0})
    overruled = int((verdicts.notna() & (verdicts != rows["label"])).sum())
    match, non_match, unsure = (int(counts.get(word, 0)) for word in ("match", "non-match", "unsure"))
    return AuditProgress(len(rows), total, match, non_match, unsure, overruled)


def current_table(rows: pd.DataFrame) -> pd.DataFrame:
    """The current verdicts as they are shown."""
    labels = [of_label(int(label)).text for label in rows["label"]]
    verdicts = [VERDICTS[verdict].text for verdict in rows["verdict"]]
    agreement = [_agreement(label, verdict) for label, verdict in zip(labels, verdicts, strict=True)]
    return pd.DataFrame(
        {
            "verdict": verdicts,
            "label": labels,
            "agreement": agreement,
            "risk": rows["risk"],
            "note": rows["note"],
            "tags": rows["tags"],
            "reviewer": rows["who"],
            "when (UTC)": rows["at"].str.slice(0, 16).str.replace("T", " "),
            "pair": rows["pair_id"],
        }
    )


def _agreement(label: str, verdict: str) -> str:
    if verdict == VERDICTS["unsure"].text:
        return ""
    return "✓ confirmed" if label == verdict else "✗ overruled"


def log_table(entries: Sequence[Verdict]) -> pd.DataFrame:
    """All entries of the log, newest first."""
    return pd.DataFrame(
        {
            "no.": one.number,
            "pair": one.pair_id,
            "verdict": VERDICTS[one.verdict].text if one.verdict in VERDICTS else "↶ withdrawn",
            "note": one.note,
            "reviewer": one.who,
            "when (UTC)": one.at.strftime("%Y-%m-%d %H:%M:%S"),
        }
        for one in reversed(entries)
    )


def export_rows(view: View, rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of an export: verdict, scores, both records."""
    first = ["pair_id", "verdict", "note", "tags", "who", "at", *FACTS]
    values = [f"{side}_{name}" for name in view.folder.attributes() for side in ("left", "right")]
    return rows[[*first, *values]]


def as_csv(frame: pd.DataFrame) -> bytes:
    return csv_text(frame).encode("utf-8")


def as_parquet(frame: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), stream)
    return stream.getvalue()


def _labels(view: View) -> str:
    """The labels that the method was given, once it has finished."""
    used = view.folder.method_results(view.method).get("labels_used")
    return "" if used is None else f"{', '.join(used) or 'none'} by {view.method}; "


def as_html(view: View, frame: pd.DataFrame, done: AuditProgress) -> bytes:
    log = head_in(view.folder.path)
    facts = {
        "Run": f"{view.run.name} ({view.run.id})",
        "Method": f"{view.method}, iteration {view.iteration}",
        "Pairs reviewed": f"{done.judged:,} of {done.total:,}",
        "Labels overruled": f"{done.overruled:,} of {done.decided:,} verdicts match or non-match",
        "Verdict log": f"{plural(log.size, 'entry', 'entries')}, head {log.digest or 'none'}",
        "Labels used": f"{_labels(view)}no target labels; verdicts are the reviewers'",
    }
    return html_report("Audit report", {"Verdicts": frame}, facts).encode("utf-8")
