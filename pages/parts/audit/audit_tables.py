"""Verdicts as tables and files: what stands, what was ever said, and what leaves the house."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pages.parts.frame.palette import VERDICTS, of_label
from pages.parts.runs.run_picker import View
from riskcore.audit import Verdict, html_report
from riskcore.audit.export import csv_text
from riskcore.runs import PairQuery, all_pairs

FACTS = ("probability", "label", "risk", "flipped")


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far the audit is, and how often the matcher was overruled."""

    judged: int
    total: int
    match: int
    non_match: int
    unsure: int
    overruled: int  # verdicts match or non-match that differ from the current label

    @property
    def decided(self) -> int:
        return self.match + self.non_match


def judged_rows(view: View, current: dict[str, Verdict]) -> pd.DataFrame:
    """Scores and records of every judged pair, riskiest first, with verdict, note, who and when."""
    parts = []
    for verdict in VERDICTS:
        if any(one.verdict == verdict for one in current.values()):
            query = PairQuery(view.method, view.iteration, verdict=verdict)
            parts.append(all_pairs(view.folder, query, current))
    if not parts:
        return pd.DataFrame()
    rows = pd.concat(parts, ignore_index=True).sort_values("risk", ascending=False, ignore_index=True)
    entries = [current[pair] for pair in rows["pair_id"]]
    return rows.assign(
        note=[one.note for one in entries],
        who=[one.who for one in entries],
        at=[one.at.isoformat(timespec="seconds") for one in entries],
    )


def progress(rows: pd.DataFrame, total: int) -> Progress:
    if rows.empty:
        return Progress(0, total, 0, 0, 0, 0)
    counts = rows["verdict"].value_counts()
    said = rows["verdict"].map({"match": 1, "non-match": 0})
    overruled = int((said.notna() & (said != rows["label"])).sum())
    by_word = [int(counts.get(word, 0)) for word in ("match", "non-match", "unsure")]
    return Progress(len(rows), total, *by_word, overruled)


def standing_table(rows: pd.DataFrame) -> pd.DataFrame:
    """The verdicts that stand, as a person reads them."""
    labels = [of_label(int(label)).text for label in rows["label"]]
    verdicts = [VERDICTS[verdict].text for verdict in rows["verdict"]]
    differs = ["✗ overruled" if a != b and not b.startswith("?") else "" for a, b in zip(labels, verdicts, strict=True)]
    return pd.DataFrame(
        {
            "verdict": verdicts,
            "matcher": labels,
            "": differs,
            "risk": rows["risk"],
            "note": rows["note"],
            "who": rows["who"],
            "when (UTC)": rows["at"].str.slice(0, 16).str.replace("T", " "),
            "pair": rows["pair_id"],
        }
    )


def log_table(entries: Sequence[Verdict]) -> pd.DataFrame:
    """Everything ever said, newest first."""
    return pd.DataFrame(
        {
            "no.": one.number,
            "pair": one.pair_id,
            "verdict": VERDICTS[one.verdict].text if one.verdict in VERDICTS else "↶ withdrawn",
            "note": one.note,
            "who": one.who,
            "when (UTC)": one.at.strftime("%Y-%m-%d %H:%M:%S"),
        }
        for one in reversed(entries)
    )


def export_rows(view: View, rows: pd.DataFrame) -> pd.DataFrame:
    """What an export holds: verdict first, then scores, then both records."""
    first = ["pair_id", "verdict", "note", "who", "at", *FACTS]
    values = [f"{side}_{name}" for name in view.folder.attributes() for side in ("left", "right")]
    return rows[[*first, *values]]


def as_csv(frame: pd.DataFrame) -> bytes:
    return csv_text(frame).encode("utf-8")


def as_parquet(frame: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), stream)
    return stream.getvalue()


def _labels(view: View) -> str:
    """The labels behind the method's answer, once it has one."""
    used = view.folder.method_results(view.method).get("labels_used")
    return "" if used is None else f"{', '.join(used) or 'none'} by {view.method}; "


def as_html(view: View, frame: pd.DataFrame, done: Progress) -> bytes:
    facts = {
        "Run": f"{view.run.name} ({view.run.id})",
        "Method": f"{view.method}, iteration {view.iteration}",
        "Pairs judged": f"{done.judged:,} of {done.total:,}",
        "Matcher overruled": f"{done.overruled:,} of {done.decided:,} decided pairs",
        "Labels used": f"{_labels(view)}none of the target's: verdicts are the reviewers' own",
    }
    return html_report("Audit of the riskiest pairs", {"Verdicts": frame}, facts).encode("utf-8")
