"""The matcher as a base learner: fine-tuned on all validation labels, and again without each fold of them.

With a large matcher these fits last as long as a method does. So the state of the pass under way is kept, and what the
finished fits say: a run that is cancelled or killed goes on in the middle of a fit.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from riskcore.config import RunConfig
from riskcore.errors import CancelledError, CheckpointError, DamagedFileError
from riskcore.matchers.base import Arrays, Matcher, ShouldStop
from riskcore.storage.files import remove_file
from riskcore.training.base_learners import ScoredPart, fine_tuned_log_odds, fine_tuned_weights
from riskcore.training.checkpoint import Checkpoint, Progress, fingerprint
from riskcore.training.evidence import Evidence
from riskcore.training.listeners import Listener
from riskcore.training.passes import KEEP_SECONDS, Passes, forget_pass
from riskcore.training.supervised import epochs_of


class FineTunedFit(NamedTuple):
    """What one fit has learned (only the first is asked for it again), and its log-odds of each part asked about."""

    weights: Arrays
    log_odds: Arrays


class FineTunedFits:
    """Fits of one matcher, one after the other."""

    def __init__(
        self,
        matcher: Matcher,
        evidence: Evidence,
        config: RunConfig,
        count: int,
        listeners: Sequence[Listener],
        checkpoint: Checkpoint | None,
        should_stop: ShouldStop,
    ) -> None:
        # Of the same workload, labels that are not trusted may have been left out.
        self._made_from = fingerprint({}, evidence.validation.examples.pairs) + config.to_json() + evidence.fingerprint
        self._each = epochs_of(matcher, len(evidence.validation), config.adapt.iterations)
        self._matcher, self._config, passes = matcher, config, count * self._each
        self._passes = Passes("base learners", "pass", passes, self._made_from, listeners, checkpoint, should_stop)
        self._file = None if checkpoint is None else _fits_beside(checkpoint)
        self._groups = self._read()
        self._written, self._known = time.monotonic(), len(self._groups)

    def fit(self, number: int, train: ScoredPart, asked: Mapping[str, ScoredPart]) -> FineTunedFit:
        """The fit of this number, to `train`: read back if it was finished before. The matcher is left as it was."""
        said = self._groups.get(f"{number} log-odds")
        if said is not None:
            return FineTunedFit(self._groups.get(f"{number} weights", {}), said)
        before, floor = number * self._each, self._config.stack.probability_floor
        try:
            weights = fine_tuned_weights(self._matcher, train, self._config, self._passes, self._each, before)
        except CancelledError:
            self._write()
            raise
        said = {name: fine_tuned_log_odds(self._matcher, weights, some, floor) for name, some in asked.items()}
        self._groups |= {f"{number} log-odds": said} | ({} if number else {f"{number} weights": weights})
        if time.monotonic() - self._written >= KEEP_SECONDS:
            self._write()
        return FineTunedFit(weights, said)

    def _write(self) -> None:
        if self._file is not None and len(self._groups) > self._known:
            self._file.write(Progress(self._groups, {}), self._made_from)
            self._written, self._known = time.monotonic(), len(self._groups)

    def _read(self) -> dict[str, Arrays]:
        """The fits that were finished before. What cannot be read is done again."""
        try:
            found = None if self._file is None else self._file.read(self._made_from)
        except (CheckpointError, DamagedFileError):
            return {}
        return {} if found is None else {name: dict(group) for name, group in found.groups.items()}


def forget_fits(checkpoint: Checkpoint) -> None:
    """Remove what is kept beside the checkpoint of the base learners, which now has it all."""
    forget_pass(checkpoint)
    remove_file(_fits_beside(checkpoint).path)


def _fits_beside(checkpoint: Checkpoint) -> Checkpoint:
    return Checkpoint(checkpoint.path.with_name(f"{checkpoint.path.stem}-fits{checkpoint.path.suffix}"))
