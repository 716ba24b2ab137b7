"""The run of the Overview's button: the bundled bibliographies, with settings that take under a minute."""

from __future__ import annotations

from pages.parts.frame.actions import requires
from riskcore.access import Role
from riskcore.runs import RunRecord, RunStore, start
from riskcore.runs.example import sample_config

NAME = "sample: curated to scraped bibliography"


@requires(Role.OPERATOR)
def start_sample(runs: RunStore) -> RunRecord:
    """Create the sample run and start its worker."""
    record = runs.create(sample_config(), NAME)
    start(runs, record.id)
    return record
