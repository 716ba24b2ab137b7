"""Continuing a run: a new one with the same data and settings that begins with its matcher, and with what people have
decided since.

Verdicts on pairs that were drawn for labelling join the validation labels, as with any run that learns from labels.
Verdicts on other pairs, such as the riskiest, are carried over: they decide their own pairs and can rank the new queue,
but choose no model and teach no matcher, since they are no random sample.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from riskcore.audit.agreement import current_by_person
from riskcore.audit.draws import draws_of
from riskcore.audit.estimate.runs import audits_of, estimate_run, labels_and_risk
from riskcore.audit.labels import label_progress, store_labels
from riskcore.audit.verdicts import MAX_NOTE, VerdictLog
from riskcore.columns import PAIR_ID
from riskcore.config import RunConfig
from riskcore.evaluation.scores import confusion
from riskcore.runs.documents import StartFacts
from riskcore.runs.feedback_files import MUTED, PINNED, read_choices
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids, read_scores
from riskcore.runs.guideline import inherit_guideline
from riskcore.runs.starts import start_facts, store_start
from riskcore.runs.store.run_record import RunRecord
from riskcore.runs.store.run_store import RunStore


def continuing_config(folder: RunFolder, method: str | None = None, iteration: int | None = None) -> RunConfig:
    """The settings of a run that continues from an iteration, by default the kept one: the same data and settings, and
    the matcher of that iteration."""
    config = RunConfig.from_stored(dict(folder.run()["config"]))
    return dataclasses.replace(config, start=str(store_start(folder, method, iteration)))


def with_verdicts(config: RunConfig, folder: RunFolder) -> RunConfig:
    """The settings with the labels of a run, those by verdicts on drawn pairs included; as they are where none was
    drawn, or the labels are not of both kinds."""
    if not draws_of(folder) or not label_progress(folder).usable:
        return config
    return dataclasses.replace(config, labels=str(store_labels(folder)))


def with_decided_rules(config: RunConfig, folder: RunFolder) -> RunConfig:
    """The settings with the rules that people muted and pinned in a run."""
    choices = read_choices(folder)
    known = {one["rule"] for one in choices.rules}
    muted, pinned = (
        (*(rule for rule in before if rule not in known), *choices.rules_that_are(state))
        for before, state in ((config.rule.muted, MUTED), (config.rule.pinned, PINNED))
    )
    return dataclasses.replace(config, rule=dataclasses.replace(config.rule, muted=muted, pinned=pinned))


def continued_name(start: StartFacts) -> str:
    """The usual name of a run that continues another."""
    return f"{start['name'].partition(', from iteration ')[0]}, from iteration {start['iteration']}"


def create_continued(store: RunStore, config: RunConfig, name: str | None = None) -> RunRecord:
    """A run that waits for a worker, with the guideline and the verdicts of the one that it continues."""
    assert config.start is not None
    facts = start_facts(config.start)
    parent = RunFolder(store.root / facts["run"])
    there = parent.run_file.is_file()
    record = store.create(config, name or continued_name(facts))
    inherit_guideline(store, record, parent if there else None)
    if there:
        carry_verdicts(store, parent, record.id)
    return record


def carry_verdicts(store: RunStore, folder: RunFolder, run: str) -> int:
    """Give a new run the current verdicts of every person, each under their name; how many these are."""
    log = VerdictLog(store)
    by_person = current_by_person(log.entries(folder.path.absolute().name))
    entries = [one for people in by_person.values() for one in people.values()]
    for one in sorted(entries, key=lambda entry: entry.number):
        note = f"{one.note} (given in run {folder.path.absolute().name})".strip()
        log.add(run, one.pair_id, one.verdict, note=note[-MAX_NOTE:], who=one.who)
    return len(entries)


@dataclasses.dataclass(frozen=True)
class BranchComparison:
    """A run beside the one that it continues, on the pairs that both label."""

    parent: str
    name: str
    method: str
    iteration: int
    pairs: int
    changed: int  # labels that differ
    to_match: int  # of these, matches now
    f1_before: float | None  # by the truth, where it is known
    f1_after: float | None
    estimate_before: dict[str, Any] | None  # F1 with its interval, where there are audits
    estimate_after: dict[str, Any] | None


def compare_with_parent(folder: RunFolder) -> BranchComparison | None:
    """What continuing has changed; None where a run continues no other, or that one is gone or not done."""
    start: StartFacts | None = folder.run().get("continues")
    if start is None or folder.results() is None:
        return None
    parent = RunFolder(folder.path.absolute().parent / start["run"])
    if not parent.run_file.is_file() or parent.results() is None:
        return None
    before, after = _labels(parent), _labels(folder)
    common = sorted(before.keys() & after.keys())
    old, new = (np.array([one[pair] for pair in common], dtype=np.int8) for one in (before, after))
    truth = _truth(folder)
    known = np.array([truth.get(pair, -1) for pair in common], dtype=np.int8)
    f1_before, f1_after = (confusion(known, one).f1 if (known >= 0).any() else None for one in (old, new))
    return BranchComparison(
        start["run"],
        start["name"],
        start["method"],
        start["iteration"],
        len(common),
        int((old != new).sum()),
        int(((old != new) & (new == 1)).sum()),
        f1_before,
        f1_after,
        _estimate(parent),
        _estimate(folder),
    )


def _labels(folder: RunFolder) -> dict[str, int]:
    ids = read_pair_ids(folder.pairs_file).column(PAIR_ID).to_pylist()
    return dict(zip(ids, labels_and_risk(folder)[0].tolist(), strict=True))


def _truth(folder: RunFolder) -> dict[str, int]:
    if not folder.has_truth:
        return {}
    ids = read_pair_ids(folder.pairs_file).column(PAIR_ID).to_pylist()
    return dict(zip(ids, read_scores(folder.truth_file, ("label",))["label"].tolist(), strict=True))


def _estimate(folder: RunFolder) -> dict[str, Any] | None:
    """F1 by the run's own audits, of all its pairs."""
    if not audits_of(folder):
        return None
    found = estimate_run(folder)
    return {"value": found.f1.value, "low": found.f1.low, "high": found.f1.high, "verdicts": found.verdicts}
