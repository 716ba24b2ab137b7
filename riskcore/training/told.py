"""What a method reports before its turn, kept in files until then: listeners hear of the methods one after the other.

A method may work in a helper process, or before the methods that are reported first. Each of its reports becomes one
numbered file beside its checkpoint, written before the checkpoint is: whatever a checkpoint holds was told, also to a
run that is killed and resumed. The files are removed once listeners have heard all of them.

How far a pass is, is of the moment: it is one file, always replaced, and is told whenever somebody looks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from riskcore.matchers.base import Arrays, Matcher
from riskcore.risk import RiskModel, RiskScores
from riskcore.storage.files import read_json, remove_folder, write_json
from riskcore.training.checkpoint import Checkpoint, Progress
from riskcore.training.listeners import Listener, PairsProgress, notify
from riskcore.training.results import IterationScores
from riskcore.training.stored_results import risk_facts, stored_risk

_SCORES = ("probability", "label", "mu", "sigma", "var_match", "var_non_match", "risk")
WithWeights = Callable[[Arrays], Matcher]


class ToldFiles:
    """The reports of one method, as files numbered from 0 without a gap."""

    def __init__(self, folder: Path, made_from: str) -> None:
        self.folder, self._made_from = folder, made_from
        self._heard = 0  # by listeners, in this process
        self._heard_pass = 0  # when it was written

    @classmethod
    def of(cls, checkpoints: Path, method: str, made_from: str) -> ToldFiles:
        return cls(checkpoints / f"{method}-told", made_from)

    def add(self, event: str, facts: Mapping[str, Any], groups: Mapping[str, Arrays] | None = None) -> None:
        number = sum(1 for _ in self.folder.glob("[0-9]*.safetensors"))
        told = Progress(groups or {}, {"event": event, **facts})
        self._file(number).write(told, self._made_from)

    def retell(self, listeners: Sequence[Listener], with_weights: WithWeights) -> None:
        """Notify the listeners of what they have not heard yet, in order."""
        while (found := self._file(self._heard).read(self._made_from)) is not None:
            for listener in listeners:
                _retell(found, listener, with_weights)
            self._heard += 1

    def add_pass(self, record: PairsProgress) -> None:
        """How far the pass under way is, in the place of what was said before."""
        write_json(self._pass_file, record)

    def retell_pass(self, listeners: Sequence[Listener]) -> None:
        """Notify the listeners of it, if there is anything new."""
        with contextlib.suppress(FileNotFoundError):
            written = self._pass_file.stat().st_mtime_ns
            if written != self._heard_pass:
                self._heard_pass = written
                notify(listeners, "on_pairs", read_json(self._pass_file))

    def forget_pass(self) -> None:
        self._pass_file.unlink(missing_ok=True)

    @property
    def _pass_file(self) -> Path:
        return self.folder / ".pass.json"  # hidden: no checksum is noted, as nobody needs it tomorrow

    def forget(self) -> None:
        """Remove the files."""
        remove_folder(self.folder)

    def _file(self, number: int) -> Checkpoint:
        return Checkpoint(self.folder / f"{number:06d}.safetensors")


class Teller(Listener):
    """Writes what it is told into files."""

    def __init__(self, files: ToldFiles) -> None:
        self.files = files

    def on_start(self, record: Any) -> None:
        self.files.add("on_start", {"record": record})

    def on_epoch_end(self, record: Any) -> None:
        self.files.add("on_epoch_end", {"record": record})

    def on_end(self, record: Any) -> None:
        self.files.add("on_end", {"record": record})

    def on_phase_start(self, record: Any) -> None:
        self.files.add("on_phase_start", {"record": record})

    def on_progress(self, record: Any) -> None:
        self.files.add("on_progress", {"record": record})

    def on_pairs(self, record: PairsProgress) -> None:
        self.files.add_pass(record)

    def on_phase_end(self, record: Any) -> None:
        self.files.add("on_phase_end", {"record": record})

    def on_adapted(self, matcher: Matcher) -> None:
        self.files.add("on_adapted", {}, {"learned": matcher.snapshot()})

    def on_iteration_end(self, scores: IterationScores) -> None:
        facts = {
            "method": scores.method,
            "iteration": scores.iteration,
            "record": scores.record,
            "fallback": scores.fallback,
            "model": scores.model.to_json(),
        }
        groups: dict[str, Arrays] = {
            "scores": {name: getattr(scores.scores, name) for name in _SCORES},
            "learned": scores.learned,
        }
        if scores.risk is not None:
            facts["risk"], groups["risk"] = risk_facts(scores.risk)
        self.files.add("on_iteration_end", facts, groups)


def _retell(told: Progress, listener: Listener, with_weights: WithWeights) -> None:
    event, facts = told.facts["event"], told.facts
    if event == "on_adapted":
        listener.on_adapted(with_weights(dict(told.groups["learned"])))
    elif event == "on_iteration_end":
        listener.on_iteration_end(_iteration(facts, told.groups))
    else:
        getattr(listener, event)(facts["record"])


def _iteration(facts: Mapping[str, Any], groups: Mapping[str, Arrays]) -> IterationScores:
    return IterationScores(
        facts["method"],
        facts["iteration"],
        RiskScores(**groups["scores"]),
        RiskModel.from_json(facts["model"]),
        facts["record"],
        stored_risk(facts["risk"], groups["risk"]) if "risk" in facts else None,
        facts["fallback"],
        dict(groups["learned"]),
    )
