"""The run of the Overview's button: the bundled bibliographies, with settings that take under a minute."""

from __future__ import annotations

from riskcore.config import AdaptConfig, MatcherConfig, RunConfig, TuneConfig
from riskcore.data import find_sample
from riskcore.runs import RunRecord, RunStore, start

NAME = "sample: curated to scraped bibliography"


def sample_config() -> RunConfig:
    return RunConfig(
        source=str(find_sample("bibliography_clean").path),
        target=str(find_sample("bibliography_scraped").path),
        matcher=MatcherConfig(kind="attention"),
        tune=TuneConfig(epochs=4),
        adapt=AdaptConfig(iterations=4),
        methods=("tradition", "risk", "forest"),
    )


def start_sample(runs: RunStore) -> RunRecord:
    """Create the sample run and start its worker."""
    record = runs.create(sample_config(), NAME)
    start(runs, record.id)
    return record
