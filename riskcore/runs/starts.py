"""Where a run can continue from another: the matcher after one of its iterations.

A worker stores the matcher of every iteration in `states/`, unless that takes too much space; the kept one is in the
bundle too. The one that a new run begins with is copied beside the runs, under a name made from its content, like
labels: the new run can always be resumed, whatever becomes of the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import numpy as np
from safetensors import SafetensorError

from riskcore.errors import ConfigError, StorageError
from riskcore.registry import MATCHERS
from riskcore.runs.bundle import contents
from riskcore.runs.documents import StartFacts
from riskcore.runs.folder import RunFolder, answering_method
from riskcore.storage.arrays import read_arrays, read_metadata, write_arrays

_ABOUT = "riskcore"


def write_state(
    folder: RunFolder, method: str, iteration: int, learned: Mapping[str, np.ndarray], iterations: int, most_mb: float
) -> None:
    """Store what the matcher has learned, if that of all `iterations` of the method takes no more than `most_mb`."""
    size = sum(array.nbytes for array in learned.values())
    if learned and size * (iterations + 1) <= most_mb * 1e6:
        write_arrays(folder.state_file(method, iteration), learned)


def iterations_to_continue(folder: RunFolder, method: str) -> list[int]:
    """The iterations of a method that a run can continue from; none where the matcher is not trained."""
    if not _is_trained(folder):
        return []
    kept = folder.kept(method)
    stored = [one for one in folder.iterations(method) if folder.state_file(method, one).is_file()]
    if kept is not None and kept not in stored and _kept_weights(folder, method) is not None:
        stored.append(kept)
    return sorted(stored)


def parse_start(text: str) -> tuple[str, str | None, int | None]:
    """Run, method and iteration of `RUN`, `RUN:ITERATION` or `RUN:METHOD:ITERATION`."""
    run, *rest = text.split(":")
    if not run or len(rest) > 2 or (rest and not (rest[-1].isascii() and rest[-1].isdigit())):
        raise ConfigError(f"{text!r} is not RUN, RUN:ITERATION or RUN:METHOD:ITERATION, such as {run or 'RUN'}:risk:4.")
    return run, rest[0] if len(rest) == 2 else None, int(rest[-1]) if rest else None


def store_start(folder: RunFolder, method: str | None = None, iteration: int | None = None) -> Path:
    """Copy the matcher of an iteration beside the runs, for a run that continues from it; by default the kept one of
    the method whose answer is the run's."""
    about = folder.run()
    if folder.results() is None or not folder.methods():
        raise StorageError(f"Run {folder.path.name} is not done, or has no iterations. Wait for it, or resume it.")
    if not _is_trained(folder):
        raise ConfigError(
            f"The matcher of run {folder.path.name} is not trained, so there is nothing to continue from. Run again "
            "with the labels that you have: `riskcore run --labels RUN`."
        )
    method = method or answering_method(folder.methods())
    iteration = folder.iteration(method, iteration)
    learned = _learned(folder, method, iteration)
    facts: StartFacts = {"run": about["run"], "name": about["name"], "method": method, "iteration": iteration}
    header = json.dumps(facts, sort_keys=True)
    digest = hashlib.sha256(header.encode())
    for name in sorted(learned):
        digest.update(name.encode() + np.ascontiguousarray(learned[name]).tobytes())
    path = folder.path.absolute().parent / "starts" / f"{digest.hexdigest()[:16]}.safetensors"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(path, learned, {_ABOUT: header})
    return path


def start_facts(path: str | Path) -> StartFacts:
    """Whose matcher is in the file."""
    try:
        return cast(StartFacts, json.loads(read_metadata(Path(path))[_ABOUT]))
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise _unreadable(path, error) from error


def read_start(path: str | Path) -> dict[str, np.ndarray]:
    """What that matcher has learned."""
    try:
        return read_arrays(Path(path))
    except (OSError, SafetensorError) as error:
        raise _unreadable(path, error) from error


def _is_trained(folder: RunFolder) -> bool:
    """Whether the run's matcher learns; those of packages that are not installed cannot be continued."""
    kind = (folder.run().get("config") or {}).get("matcher", {}).get("kind")
    return kind in MATCHERS.names() and MATCHERS[kind].trainable


def _learned(folder: RunFolder, method: str, iteration: int) -> dict[str, np.ndarray]:
    file = folder.state_file(method, iteration)
    if not file.is_file() and iteration == folder.kept(method):
        file = _kept_weights(folder, method) or file
    if not file.is_file():
        known = ", ".join(map(str, iterations_to_continue(folder, method))) or "none"
        raise StorageError(
            f"Run {folder.path.name} has not stored the matcher of iteration {iteration} of {method!r}. It can be "
            f"continued from: {known}. A run stores all of them where they fit into `adapt.states_mb`."
        )
    return read_start(file)


def _kept_weights(folder: RunFolder, method: str) -> Path | None:
    """The matcher of the kept iteration in the bundle; None where there is none."""
    facts = contents.read_facts(folder.bundle)
    if facts is None or method not in facts["methods"]:
        return None
    file = folder.bundle / contents.MATCHERS / f"{facts['methods'][method]['weights']}.safetensors"
    return file if file.is_file() else None


def _unreadable(path: str | Path, error: Exception) -> StorageError:
    return StorageError(f"The matcher to continue from cannot be read: {path} ({error}). Start the new run again.")
