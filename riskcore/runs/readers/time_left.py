"""How long a run takes and how far it has come: one estimate for the command line and the screens.

Rough seconds of every step come from the registered methods and matchers. Finished runs on the same machine correct
them, and while a run is active, its own pace does. No result depends on any of this.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from riskcore.config import RunConfig
from riskcore.registry import BASE_LEARNERS_STEP, METHODS, iterations_of, needs_base_learners
from riskcore.runs.folder import RunFolder
from riskcore.runs.store.run_record import Event, RunRecord, RunState
from riskcore.training.costs import RunSizes, base_learners, method_seconds

if TYPE_CHECKING:
    from riskcore.training.listeners import PairsProgress

_STEP_WORDS = {
    "data": "Read the data",
    "evidence": "Compare records and find rules",
    BASE_LEARNERS_STEP: "Train the base learners",
    "report": "Write the results",
}
_EVIDENCE = {"metrics": (0.0, 0.6), "rules": (0.6, 0.4)}  # where each part of the step begins, and its share
_START_SECONDS = 8.0  # a worker loads its libraries
_ENOUGH = 0.04  # share of a run that must be done before its pace is extrapolated
TYPICAL = RunSizes(2000, 500, 2000)  # until a run has read its data


@dataclasses.dataclass(frozen=True)
class RunProgress:
    """How far a run has come: steps done, the current one, the share of the whole, seconds left (None: unknown)."""

    done: tuple[str, ...]
    current: str | None
    share: float
    left: float | None


def steps_of(config: RunConfig) -> tuple[str, ...]:
    """The steps of a run, in order."""
    first, *others = [method for method in METHODS.names() if method in config.methods or method == "tradition"]
    gathered = (BASE_LEARNERS_STEP,) if needs_base_learners((first, *others)) else ()
    return ("data", "evidence", first, *gathered, *others, "report")


def step_words(step: str) -> str:
    """What happens in a step; a method without words of its own goes by its name."""
    words = METHODS[step].step if step in METHODS else _STEP_WORDS.get(step)
    return words or f"Run {step}"


def step_seconds(config: RunConfig, sizes: RunSizes = TYPICAL, speed: float | None = None) -> dict[str, float]:
    """Rough seconds of every step; `speed` is the matcher's in pairs a second, where it was measured."""
    seconds = {"data": 1.0, "evidence": 2.0 + sizes.all / 2500, "report": 2.0 + sizes.target / 20_000}
    steps = steps_of(config)
    if BASE_LEARNERS_STEP in steps:
        seconds[BASE_LEARNERS_STEP] = base_learners(config, sizes, speed)
    return {step: seconds[step] if step in seconds else method_seconds(step, config, sizes, speed) for step in steps}


def estimate_seconds(
    config: RunConfig, sizes: RunSizes, past: Iterable[tuple[float, float]] = (), speed: float | None = None
) -> float:
    """Seconds of the whole run. `past` has estimated and true seconds of finished runs with the same matcher."""
    return (_START_SECONDS + sum(step_seconds(config, sizes, speed).values())) * correction(past)


def correction(past: Iterable[tuple[float, float]]) -> float:
    """What an estimate is to be multiplied by, from estimated and true seconds of finished runs."""
    ratios = sorted(true / guess for guess, true in past if guess > 0 and true > 0)
    ratio = ratios[len(ratios) // 2] if ratios else 1.0
    return min(max(ratio, 0.1), 10.0)


def finished_alike(records: Sequence[RunRecord], kind: str) -> list[RunRecord]:
    """Up to five finished runs with that kind of matcher, the newest first."""
    return [r for r in records if r.state is RunState.DONE and r.config.matcher.kind == kind][:5]


def past_seconds(records: Iterable[RunRecord], speed: float | None = None) -> list[tuple[float, float]]:
    """Estimated and true seconds of finished runs."""
    found = []
    for record in records:
        sizes = sizes_of(RunFolder(record.folder))
        if sizes is not None:
            found.append((estimate_seconds(record.config, sizes, speed=speed), record.seconds))
    return found


def sizes_of(folder: RunFolder) -> RunSizes | None:
    """The number of pairs of a run, once it has read them."""
    if not folder.run_file.exists():
        return None
    counts = folder.run().get("counts", {})
    source, validation, target = (int(counts.get(name, 1000)) for name in ("source", "validation", "target"))
    return RunSizes(source, validation, target)


def share_done(seconds: Mapping[str, float], done: Collection[str], current: str | None, within: float) -> float:
    """The share of a run that is done, from 0 to 1; `within` is the share of the current step."""
    over = sum(cost for step, cost in seconds.items() if step in done)
    if current is not None and current not in done:
        over += min(max(within, 0.0), 1.0) * seconds.get(current, 0.0)
    return over / sum(seconds.values())


def seconds_left(elapsed: float, share: float) -> float | None:
    """Seconds until the end at the pace so far; None while too little is done to say."""
    return elapsed * (1 - share) / share if share > _ENOUGH else None


def time_left_text(seconds: float) -> str:
    """Seconds left, in the unit that a person would use."""
    if seconds >= 5400:
        return f"about {seconds / 3600:.1f} h left"
    return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"


def pass_words(told: PairsProgress) -> str:
    """How far a pass is: "Tradition, epoch 2 of 5: 640 of 1,915 pairs, 41 a second, about 31 s left in this epoch"."""
    task, speed = told["task"], told["per_second"]
    pace = f"{speed:,.0f}" if speed >= 10 else f"{speed:.1f}"
    where = f"{task[:1].upper()}{task[1:]}, {told['unit']} {told['number']:,} of {told['of']:,}"
    pairs = f"{told['done']:,} of {told['total']:,} pairs, {pace} a second"
    if speed <= 0 or told["done"] >= told["total"]:
        return f"{where}: {pairs}"
    return f"{where}: {pairs}, {time_left_text((told['total'] - told['done']) / speed)} in this {told['unit']}"


def within_passes(told: PairsProgress, before: int = 0) -> float:
    """The share of a step's passes that is done; `before` are the steps that it takes before the first one."""
    done = told["number"] - 1 + told["done"] / told["total"]
    return (before + done) / (before + told["of"])


def within_evidence(phase: str | None, share: float) -> float:
    """The share of the step "evidence" from the share of its part: metrics, then rules."""
    start, size = _EVIDENCE.get(phase or "", (0.0, 0.0))
    return start + size * share


def run_progress(record: RunRecord, events: Sequence[Event]) -> RunProgress:
    """How far a run has come, from its record and its events."""
    steps = steps_of(record.config)
    if record.state is RunState.DONE:
        return RunProgress(steps, None, 1.0, 0.0)
    ended = {event.record["phase"] for event in events if event.kind == "phase_end"}
    started = [event.record["phase"] for event in events if event.kind == "phase_start"]
    finished = {event.record["method"] for event in events if event.kind == "method_end"}
    folder = RunFolder(record.folder)
    over = ended | finished | folder.answered()  # methods side by side: one may be done before its turn to be recorded
    done = tuple(step for step in steps if step in over)
    current = next((step for step in reversed(started) if step in steps and step not in done), None)
    seconds = step_seconds(record.config, sizes_of(folder) or TYPICAL)
    share = share_done(seconds, done, current, within_step(record, events, current))
    return RunProgress(done, current, min(share, 0.99), seconds_left(record.seconds, share))


def within_step(record: RunRecord, events: Sequence[Event], step: str | None) -> float:
    """The share of the current step that is done."""
    share = record.done / record.total if record.total else 0.0
    if step == "evidence":
        return within_evidence(record.phase, share)
    told = next((one for one in record.passes if one["task"] == step), None)
    if step is not None and step in METHODS and METHODS[step].iterates:
        iterations = sum(e.kind == "iteration_end" and e.record.get("method") == step for e in events)
        share = min(iterations / (iterations_of(record.config, step) + 1), 1.0)
        return share if told is None else max(share, within_passes(told, 1))
    share = share if step == record.phase else 0.0
    return share if told is None else max(share, within_passes(told))
