"""The files of a run's folder by their SHA-256, so that a later reader can tell whether one was replaced."""

from __future__ import annotations

from collections.abc import Callable

from riskcore.audit.journal import JOURNAL
from riskcore.runs.folder import RunFolder
from riskcore.storage.checksums import LIST, PART, file_hash
from riskcore.storage.lock import LOCK_FILE

SIGN_OFFS = "signoffs"  # the folder of sign-offs within a run's
# What the worker writes once, and every decision follows from. Draws, the guideline, sign-offs and sheets that are
# computed on demand come later and change no decision.
_SETTLED = frozenset(
    (
        "run.json", "results.json", "comparison.json", "summary.json", "rules.json", "rules-validation.json",
        "pairs.parquet", "other_pairs.parquet", "records.parquet", "extra.parquet", "truth.parquet",
        "metrics.parquet", "fired.parquet", "scores", "models",
    )
)  # fmt: skip
_PASSING = ("worker.log", LOCK_FILE, "checkpoint", "applied", JOURNAL, LIST)  # of the work, not of the result


def settled_files(folder: RunFolder) -> dict[str, str]:
    """SHA-256 of each file that the run's decisions follow from, by its name in the folder."""
    return _hashes(folder, lambda first: first in _SETTLED)


def all_files(folder: RunFolder) -> dict[str, str]:
    """SHA-256 of each file of the run but logs, locks and checkpoints, by its name in the folder."""
    return _hashes(folder, lambda first: first not in _PASSING)


def _hashes(folder: RunFolder, wanted: Callable[[str], bool]) -> dict[str, str]:
    found = {}
    for path in sorted(one for one in folder.path.rglob("*") if one.is_file() and not one.name.endswith(PART)):
        name = path.relative_to(folder.path)
        if wanted(name.parts[0]) and not any(part.startswith(".") for part in name.parts):
            found[name.as_posix()] = file_hash(path)
    return found
