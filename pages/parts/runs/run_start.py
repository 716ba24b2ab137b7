"""Starting runs from the screens: those of the form, and those that learn from labels given here."""

from __future__ import annotations

import re

from pages.parts.frame.actions import requires
from pages.parts.runs.run_picker import store
from riskcore.access import Role
from riskcore.audit import VerdictLog
from riskcore.audit.continuing import with_decided_rules
from riskcore.audit.labels import adapting_config, label_progress, store_labels
from riskcore.config import RunConfig
from riskcore.runs import RunFolder, RunRecord, start
from riskcore.runs.guideline import inherit_guideline

_LABELS = re.compile(r", [\d,]+ labels$")  # at the end of the name of a run that learned from labels


@requires(Role.OPERATOR)
def start_run(config: RunConfig, name: str, made_from: RunFolder | None = None) -> str:
    """Create the run and start its worker; it takes over the guideline of the run it is made from."""
    record = store().create(config, name or None)
    inherit_guideline(store(), record, made_from)
    start(store(), record.id)
    return record.id


@requires(Role.OPERATOR)
def start_with_rules(record: RunRecord) -> str:
    """Start the same run again with the rules that people muted and pinned in it; returns its id."""
    folder = RunFolder(record.folder)
    config = with_decided_rules(record.config, folder)
    return start_run(config, f"{record.name}, rules decided", folder)


@requires(Role.OPERATOR)
def start_adapting(record: RunRecord) -> str:
    """Start the run that learns from the labels of a run: the same data and settings; returns its id."""
    folder, current = RunFolder(record.folder), VerdictLog(store()).current(record.id)
    config = adapting_config(record.config, store_labels(folder, current))
    labelled = label_progress(folder, current).labelled
    name = _LABELS.sub("", record.name)
    return start_run(config, f"{name}, {labelled:,} labels", folder)
