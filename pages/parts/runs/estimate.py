"""How long a run will take: a rough count of pairs seen, put right by runs that this machine has finished."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from riskcore.config import RunConfig
from riskcore.registry import METHODS, iterations_of
from riskcore.runs import Event, RunRecord, RunState

STEP_WORDS = {
    "data": "Read the data",
    "evidence": "Compare records, find rules",
    "tradition": "Train the matcher on the source",
    "risk": "Fine-tune by risk",
    "risk+": "Fine-tune by risk and more evidence",
    "transfer": "Train for transfer",
    "supervised": "Fine-tune on validation labels",
    "self-training": "Train on its own surest answers",
    "forest": "Train the forest",
    "report": "Write the results",
}
_PAIRS_PER_SECOND = {"sif": 4000, "rnn": 900, "attention": 1500, "hybrid": 700, "ditto": 15, "toy": 50_000}
_PREDICT = 0.3  # a prediction costs this much of a training step
_START_SECONDS = 8.0  # a worker loads its libraries


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Pairs that a run will see."""

    source: int
    validation: int
    target: int


@dataclasses.dataclass(frozen=True)
class RunProgress:
    """How far a run is: steps done, the current one, the whole as a share, and seconds left (None: unknown)."""

    done: tuple[str, ...]
    current: str | None
    share: float
    left: float | None


def steps_of(config: RunConfig) -> tuple[str, ...]:
    """The steps of a run, in order."""
    methods = [method for method in METHODS.names() if method in config.methods or method == "tradition"]
    return ("data", "evidence", *methods, "report")


def step_seconds(config: RunConfig, sizes: Sizes) -> dict[str, float]:
    """A rough cost of each step."""
    speed = _PAIRS_PER_SECOND.get(config.matcher.kind, 700)
    source, validation, target = sizes.source, sizes.validation, sizes.target
    everything = source + validation + target
    look = _PREDICT * (validation + target) / speed
    iteration = (1 + _PREDICT) * (target + validation) / speed + 3.0  # the risk model is refitted for every fold
    costs = {
        "data": 1.0,
        "evidence": 2.0 + everything / 2500,
        "tradition": config.tune.epochs * (source + _PREDICT * validation) / speed + look,
        "risk": config.adapt.iterations * iteration + look,
        "risk+": config.adapt.stacking_iterations * iteration + look + _base_learners(config, sizes, speed),
        "transfer": config.tune.epochs * (source + target) / speed + look,
        "supervised": config.tune.epochs * validation / speed + look,
        "self-training": config.adapt.iterations * (iteration - 3.0) + look,
        "forest": 2.0 + everything / 6000,
        "report": 2.0 + target / 20_000,
    }
    unknown = config.tune.epochs * (source + target) / speed + look  # a method that is new here trains, as most do
    return {step: costs.get(step, unknown) for step in steps_of(config)}


def step_words(step: str) -> str:
    """What a step does; a method that is new here goes by its name."""
    return STEP_WORDS.get(step, f"Run {step}")


def _base_learners(config: RunConfig, sizes: Sizes, speed: float) -> float:
    """Forests are grown for every fold, and the matcher is fine-tuned on the validation labels in each."""
    adapt, few = config.adapt, sizes.validation < config.adapt.few_validation_pairs
    tuned = adapt.iterations * sizes.validation * (adapt.stacking_folds if few else adapt.fine_tuning_folds)
    return (adapt.stacking_folds + 1) * (1.0 + (sizes.source + sizes.validation) / 2500) + tuned / speed


def estimate_seconds(config: RunConfig, sizes: Sizes, past: Iterable[tuple[float, float]] = ()) -> float:
    """Seconds for the whole run. `past` has estimated and true seconds of finished runs with the same matcher."""
    ratios = sorted(true / guess for guess, true in past if guess > 0 and true > 0)
    ratio = ratios[len(ratios) // 2] if ratios else 1.0
    return (_START_SECONDS + sum(step_seconds(config, sizes).values())) * min(max(ratio, 0.1), 10.0)


def raw_seconds(config: RunConfig, sizes: Sizes) -> float:
    """The estimate before it is put right."""
    return estimate_seconds(config, sizes)


def finished_alike(records: Sequence[RunRecord], kind: str) -> list[RunRecord]:
    """Finished runs with that kind of matcher, the newest first, a few of them."""
    return [r for r in records if r.state is RunState.DONE and r.config.matcher.kind == kind][:5]


def run_progress(record: RunRecord, events: Sequence[Event], sizes: Sizes | None) -> RunProgress:
    """How far the run is, from what it told."""
    steps = steps_of(record.config)
    ended = {event.record["phase"] for event in events if event.kind == "phase_end"}
    started = [event.record["phase"] for event in events if event.kind == "phase_start"]
    finished = {event.record["method"] for event in events if event.kind == "method_end"}
    done = tuple(step for step in steps if step in ended or step in finished)
    current = next((step for step in reversed(started) if step in steps and step not in done), None)
    if record.state is RunState.DONE:
        return RunProgress(steps, None, 1.0, 0.0)
    costs = step_seconds(record.config, sizes or Sizes(2000, 500, 2000))
    total = sum(costs.values())
    within = within_step(record, events, current)
    share = (sum(costs[step] for step in done) + within * costs.get(current or "", 0.0)) / total
    left = record.seconds * (1 - share) / share if share > 0.04 and record.seconds > 2 else None
    return RunProgress(done, current, min(share, 0.99), left)


def within_step(record: RunRecord, events: Sequence[Event], step: str | None) -> float:
    """The share of the current step that is done."""
    if step == "evidence":
        share = record.done / record.total if record.total else 0.0
        return {"metrics": 0.6 * share, "rules": 0.6 + 0.4 * share}.get(record.phase or "", 0.0)
    if step in METHODS and METHODS[step].iterates:
        told = sum(e.kind == "iteration_end" and e.record.get("method") == step for e in events)
        return min(told / (iterations_of(record.config, step) + 1), 1.0)
    return record.done / record.total if step == record.phase and record.total else 0.0
