"""`python -m riskcore.apply FOLDER`: works on one job of `riskcore.apply.jobs` until it is done."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from riskcore.apply.jobs import Job
from riskcore.errors import CancelledError, RiskcoreError
from riskcore.runs.worker.process import lower_priority


def work(job: Job) -> bool:
    """Score what was asked; whether it was done. What went wrong is kept with the job."""
    from riskcore.apply.apply import apply_to_file  # brings the engine, which takes seconds

    def tell(what: str, share: float) -> None:
        if job.cancelled:
            raise CancelledError("This was stopped before it was done.")
        job.report(what, share)

    asked = job.asked
    try:
        done = apply_to_file(
            job.run,
            job.new_file,
            job.answers,
            method=asked.method,
            side=asked.side,
            id_column=asked.id_column,
            matches_only=asked.matches_only,
            on_progress=tell,
        )
        job.finish({**done.about, "new": asked.name})
    except RiskcoreError as error:
        job.fail(str(error).replace(job.new_file.name, asked.name))
        return False
    except Exception as error:
        traceback.print_exc()
        job.fail(f"This failed with an unexpected {type(error).__name__}. {job.folder / 'log.txt'} has the details.")
        return False
    return True


if __name__ == "__main__":
    lower_priority()
    sys.exit(0 if work(Job(Path(sys.argv[1]))) else 2)
