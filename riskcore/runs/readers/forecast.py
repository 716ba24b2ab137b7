"""How long a run will take here, before it starts: by method, and what would make it cheaper.

The speed of the matcher is the one measured in earlier runs on this machine, where there are any, and else a usual
figure. All of it is rough, and worded so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from statistics import median

from riskcore.config import MatcherConfig, RunConfig
from riskcore.runs.readers.time_left import correction, estimate_seconds, finished_alike, past_seconds, step_seconds
from riskcore.runs.store.liveness import this_host
from riskcore.runs.store.run_record import RunRecord
from riskcore.runs.store.run_store import RunStore
from riskcore.training.costs import RunSizes

SHORT_SECONDS = 180.0  # up to here nobody needs to be told
LONG_SECONDS = 1800.0  # from here on it is worth a thought how the run could be made cheaper
_NEWEST = 5  # runs whose speed counts: libraries and machines change
_HOURS, _MINUTES = 5400.0, 90.0  # from how many seconds people speak of them


@dataclasses.dataclass(frozen=True)
class Forecast:
    """Rough seconds of a run."""

    seconds: float
    steps: Mapping[str, float]  # adding up to somewhat less: a worker also has to start
    speed: float | None  # pairs a second that the matcher trained on here; None where that was not measured
    runs: int  # finished ones on this machine that corrected the estimate

    @property
    def long(self) -> bool:
        return self.seconds > LONG_SECONDS

    @property
    def words(self) -> str:
        """The whole, and the steps that matter: "about 35 minutes: tradition 8, risk 12, risk+ 15"."""
        unit = _unit(self.seconds)
        counts = {step: _count(seconds, unit) for step, seconds in self.steps.items()}
        parts = [f"{step} {count}" for step, count in counts.items() if float(count) > 0]
        whole = f"about {_count(self.seconds, unit)} {unit}"
        return f"{whole}: {', '.join(parts)}" if unit != "seconds" and parts else whole

    @property
    def basis(self) -> str:
        """What the estimate rests on, as a sentence."""
        if self.speed is not None:
            pace = f"{self.speed:,.0f}" if self.speed >= 10 else f"{self.speed:.1f}"
            return f"Measured on this machine: this matcher trained on about {pace} pairs a second."
        if self.runs:
            count = "an earlier run" if self.runs == 1 else f"{self.runs} earlier runs"
            return f"Corrected by {count} with this matcher on this machine."
        return "A usual figure: this matcher has not been measured on this machine yet."


def forecast(store: RunStore, config: RunConfig, sizes: RunSizes) -> Forecast:
    """How long a run of so many pairs will take on this machine."""
    sizes = dataclasses.replace(sizes, target=_adapted_to(config, sizes.target))
    here = [one for one in store.list() if one.host == this_host()]
    alike, speed = finished_alike(here, config.matcher.kind), measured_speed(store, here, config.matcher)
    past = past_seconds(alike, speed)
    steps = {step: seconds * correction(past) for step, seconds in step_seconds(config, sizes, speed).items()}
    return Forecast(estimate_seconds(config, sizes, past, speed), steps, speed, len(past))


def measured_speed(store: RunStore, records: list[RunRecord], matcher: MatcherConfig) -> float | None:
    """Pairs a second in the newest runs with exactly this matcher, also in those that did not end; None without any."""
    alike = [one for one in records if one.config.matcher == matcher][:_NEWEST]
    told = (event.record for one in alike for event in store.events(one.id, kind="speed"))
    speeds = [float(record["pairs_per_second"]) for record in told]
    return median(speeds) if speeds else None


def cheaper(config: RunConfig, found: Forecast) -> str:
    """What would make a run shorter, as a sentence: the settings that the costliest steps follow from."""
    tradition = found.steps.get("tradition", 0.0)
    shares = {"fewer epochs": tradition, "fewer iterations": sum(found.steps.values()) - tradition}
    ways = [way for way, seconds in shares.items() if seconds > found.seconds / 10]
    ways += ["fewer methods"] if len(config.methods) > 1 else []
    if config.matcher.kind == "ditto":
        fewer = (
            f"fewer words of each pair (`riskcore run --set matcher.max_tokens=`, below {config.matcher.max_tokens})"
        )
        ways += ["a faster matcher such as hybrid", fewer]
    return f"Cheaper: {', '.join(ways)}." if ways else ""


def _adapted_to(config: RunConfig, pairs: int) -> int:
    """Target pairs that passes are made over: of a large target, a sample."""
    if pairs <= (config.adapt.target_sample or config.adapt.large_target):
        return pairs
    from riskcore.training.target_sample import sample_size  # brings scikit-learn, which screens load only for this

    return sample_size(config, pairs) or pairs


def _unit(seconds: float) -> str:
    return "hours" if seconds >= _HOURS else "minutes" if seconds >= _MINUTES else "seconds"


def _count(seconds: float, unit: str) -> str:
    """A number of the unit, rounded as people would."""
    if unit == "hours":
        return f"{seconds / 3600:.1f}"
    return f"{seconds / 60 if unit == 'minutes' else seconds:.0f}"
