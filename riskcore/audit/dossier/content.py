"""What a dossier says, as one JSON document: the page is made from it and from nothing else.

Whatever is masked never enters the document. The page and its checks need no run: see `page` and `verify`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from riskcore.audit.decisions import BY_LABEL, BY_MODEL, BY_VERDICT, MATCH, NON_MATCH, answer_of, decisions, left_out
from riskcore.audit.dossier.examples import examples
from riskcore.audit.dossier.judging import how_chosen
from riskcore.audit.dossier.masking import Mask, mask_of
from riskcore.audit.log_entries import recorded_entries
from riskcore.audit.manifest import SIGN_OFFS, all_files
from riskcore.audit.sign_off import as_figures, check, sign_offs
from riskcore.audit.verdicts import VerdictLog
from riskcore.columns import PAIR_ID
from riskcore.config import RunConfig
from riskcore.rules.record import record_words
from riskcore.rules.rule import Rule
from riskcore.rules.sentences import rule_sentence
from riskcore.runs.documents import RunDescription
from riskcore.runs.folder import RunFolder
from riskcore.runs.guideline import read_guideline
from riskcore.runs.readers.method_comparison import comparison
from riskcore.runs.readers.rule_table import rule_table
from riskcore.runs.store.run_store import RunStore
from riskcore.storage.jsonable import jsonable
from riskcore.version import __version__

KIND, LAYOUT = "riskcore dossier", 2  # the layout changes whenever the same content gives another page
MOST_RULES = 60
MOST_DECISIONS = 100_000  # pairs whose decisions the document holds, so that the signed digest can be recomputed
LEAST_WEIGHT = 0.0005  # below it every figure of a rule reads 0.000
_ALWAYS = ("matcher.kind", "tune.epochs", "adapt.iterations", "rule.depth", "rule.min_support", "risk.confidence")
_ELSEWHERE = ("source", "target", "methods", "seed")  # settings that stand in other places of the document
_WORDS = (MATCH, NON_MATCH)
_WITHHELD = ""  # in place of a digest that a masked text could be guessed from


def dossier_content(
    folder: RunFolder,
    store: RunStore,
    mask: Iterable[str] = (),
    mask_ids: bool = False,
    estimate: Any = None,
    agreement: Any = None,
) -> dict[str, Any]:
    """The document. `estimate` and `agreement` are mappings or state themselves as one; without an estimate, the one of
    the latest sign-off is taken."""
    hidden = mask_of(folder, mask, mask_ids)
    run, answer, name = folder.run(), answer_of(folder), folder.path.name
    frame = decisions(folder, verdicts=VerdictLog(store).current(name), values=False, truth=True)
    signed = sign_offs(folder)
    stated = as_figures(estimate) if estimate is not None or not signed else signed[-1].estimate
    return {
        "kind": KIND,
        "layout": LAYOUT,
        "riskcore": __version__,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "run": {"id": name, "name": hidden.text(run["name"]), "created": run["created"]},
        "masked": {"attributes": sorted(hidden.attributes), "ids": hidden.ids},
        "data": _data(run, hidden),
        "method": {
            "method": answer.method,
            "iteration": answer.iteration,
            "seed": run["seed"],
            "code": run["code"],
            "versions": run["versions"],
            "settings": _settings(run["config"]),
        },
        "labels": {"sentence": answer.sentence, "used": run["labels_used"], "guideline": _guideline(folder, hidden)},
        "decisions": _decisions(folder, frame, hidden),
        "results": _results(folder, run),
        "estimate": hidden.figures(stated),
        "agreement": hidden.figures(as_figures(agreement)),
        "examples": examples(folder, answer, frame, hidden),
        "rules": _rules(folder, answer.method, answer.iteration),
        **_recorded(folder, store, hidden),
    }


def _data(run: RunDescription, mask: Mask) -> dict[str, Any]:
    config = run["config"]
    names = [None if not config.get(one) else Path(str(config[one])).name for one in ("source", "target")]
    attributes = [
        {"name": one["name"], "type": one["type"], "masked": one["name"] in mask.attributes}
        for one in run["attributes"]
    ]
    return {
        "source": names[0],
        "target": names[1] or names[0],
        "one_table": bool(run.get("self_join")),
        "counts": run["counts"],
        "attributes": attributes,
        "fingerprint": run["fingerprint"],
        "truth_fingerprint": run["truth_fingerprint"],
        "notices": [mask.text(one) for one in run["notices"]],
    }


def _settings(stored: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Settings that are not the usual ones, and those that matter most. Files are told by their names."""
    now, usual = _flat(stored), _flat(dataclasses.asdict(RunConfig(source="")))
    names = [name for name in now if name in _ALWAYS or (name in usual and now[name] != usual[name])]
    return [
        {"setting": name, "value": _told(now[name]), "usual": _told(usual.get(name))}
        for name in names
        if name not in _ELSEWHERE
    ]


def _flat(config: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in config.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{field}": jsonable(one) for field, one in value.items()}
        else:
            found[name] = jsonable(value)
    return found


def _told(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_told, value)) or "none"
    if isinstance(value, str) and "/" in value:
        return Path(value).name
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return str(value)


def _guideline(folder: RunFolder, mask: Mask) -> dict[str, str] | None:
    found = read_guideline(folder)
    return {"text": mask.text(found.text), "who": found.who, "at": found.at} if found.text else None


def _decisions(folder: RunFolder, frame: pd.DataFrame, mask: Mask) -> dict[str, Any]:
    """Counts, and the pairs themselves where the signed digest can be recomputed from them."""
    by = {
        made_by: {word: int(((frame["decided_by"] == made_by) & (frame["decision"] == word)).sum()) for word in _WORDS}
        for made_by in (BY_MODEL, BY_VERDICT, BY_LABEL)
    }
    pairs = {word: sorted(frame.loc[frame["decision"] == word, PAIR_ID]) for word in _WORDS}
    withheld = ""
    if len(frame) > MOST_DECISIONS:
        withheld = f"There are more than {MOST_DECISIONS:,} pairs, so their decisions are not listed in this file."
    elif mask.ids or any(mask.spans(pair) for pair in frame[PAIR_ID]):
        withheld = "Pair ids are masked, so the decisions are not listed in this file."
    return {
        "total": len(frame),
        "matches": len(pairs[MATCH]),
        "by": by,
        "left_out": left_out(folder, frame),
        "pairs": None if withheld else pairs,
        "withheld": withheld,
    }


def _results(folder: RunFolder, run: RunDescription) -> dict[str, Any] | None:
    """Scores of every method against the benchmark's truth; None where there is none."""
    if not folder.has_truth or not run["counts"].get("target_labelled"):
        return None
    wanted = ("precision", "recall", "f1", "f1_interval", "tp", "fp", "fn", "tn")
    scores = comparison(folder)["methods"]
    methods = [{"method": name, **{one: row.get(one) for one in wanted}} for name, row in scores.items()]
    return jsonable({"pairs": run["counts"]["target_labelled"], "methods": methods})


def _rules(folder: RunFolder, method: str, iteration: int | None) -> dict[str, Any]:
    """The rules with the largest weights, in sentences, with their record on validation pairs."""
    if iteration is None or not folder.rules_file.exists():
        return {"total": 0, "weighty": 0, "shown": []}
    table = rule_table(folder, method, iteration).sort_values("weight", ascending=False, kind="stable")
    weighty = table[table["weight"] >= LEAST_WEIGHT]
    shown = []
    for row in weighty.head(MOST_RULES).to_dict("records"):
        fired = 0 if pd.isna(row["validation_fired"]) else int(row["validation_fired"])
        right = round(fired * row["validation_purity"]) if fired else 0
        recorded = not pd.isna(row["validation_fired"])
        shown.append(
            {
                "sentence": rule_sentence(Rule.parse(row["text"])),
                "exact": row["text"],
                "outcome": row["outcome"],
                "weight": jsonable(row["weight"]),
                "record": record_words(right, fired, "validation") if recorded else "no record on validation pairs",
                "target": int(row["target_fired"]),
            }
        )
    return {"total": len(table), "weighty": len(weighty), "shown": shown}


def _recorded(folder: RunFolder, store: RunStore, mask: Mask) -> dict[str, Any]:
    """Verdicts, sign-offs and digests of files. A digest is left out where a masked text could be guessed from it:
    whoever knows all but a few digits of what was hashed can try them all."""
    log, signed = recorded_entries(store, folder.path.name), sign_offs(folder)
    entries = [{**one, "pair_id": mask.pair(one["pair_id"]), "note": mask.text(one["note"])} for one in log]
    masked_from = next((one["number"] for one, raw in zip(entries, log, strict=True) if one != raw), None)
    if masked_from is not None:
        entries = [{**one, "digest": _WITHHELD} if one["number"] >= masked_from else one for one in entries]
    stored = [one.to_json() for one in signed]
    shown = [
        {**one, "statement": mask.text(one["statement"]), "estimate": mask.figures(one["estimate"])} for one in stored
    ]
    covers_masked = masked_from is not None and any(one.entries >= masked_from for one in signed)
    if withheld := covers_masked or shown != stored:
        shown = [{**one, "digest": _WITHHELD, "before": _WITHHELD, "head": _WITHHELD} for one in shown]
    files = all_files(folder)
    guideline = read_guideline(folder).text
    for name in files:
        of_text = name == folder.guideline_file.name and mask.text(guideline) != guideline
        if of_text or (withheld and name.startswith(f"{SIGN_OFFS}/")):
            files[name] = _WITHHELD
    return {
        "verdicts": entries,
        "chosen": how_chosen(folder, log),
        "verdicts_masked_from": masked_from,
        "sign_offs": shown,
        "sign_offs_masked": withheld,
        "changes": mask.figures(check(folder, store, signed[-1])) if signed else [],
        "files": files,
    }
