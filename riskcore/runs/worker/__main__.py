"""`python -m riskcore.runs.worker RUN --root DIR`: one process that works on one run until it is done.

Exit codes: 0 done; 2 bad input, or another worker has the run; 3 the run failed or was cancelled.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from riskcore.errors import CancelledError, RiskcoreError
from riskcore.runs.store.run_record import RunFailedError
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import Engine, execute
from riskcore.runs.worker.process import lower_priority

DONE, BAD_INPUT, STOPPED = 0, 2, 3


def main(arguments: Sequence[str] | None = None, engine: Engine | None = None) -> int:
    """Work on the run that the arguments name; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m riskcore.runs.worker", description=__doc__.splitlines()[0])
    parser.add_argument("run", help="the run's id or folder")
    parser.add_argument("--root", default="runs", help="the folder that holds all runs")
    options = parser.parse_args(arguments)
    try:
        execute(RunStore(options.root), options.run, engine=engine)
    except (RunFailedError, CancelledError) as error:
        return _report(error, STOPPED)
    except RiskcoreError as error:
        return _report(error, BAD_INPUT)
    return DONE


def _report(error: RiskcoreError, code: int) -> int:
    sys.stderr.write(f"{error}\n")
    return code


if __name__ == "__main__":
    lower_priority()
    sys.exit(main())
