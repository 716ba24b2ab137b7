"""`python -m riskcore.runs.worker RUN --root DIR`: one process that works on one run until it is done.

With `--next` the process then starts the workers of waiting runs, as many as the machine has free slots, unless it was
stopped by a signal: then the machine or the service is being stopped.

Exit codes: 0 done; 2 bad input, or another worker has the run; 3 the run failed or was cancelled.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from riskcore import logs
from riskcore.errors import CancelledError, RiskcoreError
from riskcore.runs.store.run_record import RunFailedError
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import Engine, execute
from riskcore.runs.worker.jobs import look
from riskcore.runs.worker.process import lower_priority, signalled

DONE, BAD_INPUT, STOPPED = 0, 2, 3


def main(arguments: Sequence[str] | None = None, engine: Engine | None = None) -> int:
    """Work on the run that the arguments name; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m riskcore.runs.worker", description=__doc__.splitlines()[0])
    parser.add_argument("run", help="the run's id or folder")
    parser.add_argument("--root", default="runs", help="the folder that holds all runs")
    parser.add_argument("--next", action="store_true", help="then start the next waiting runs")
    options = parser.parse_args(arguments)
    store = RunStore(options.root)
    code = _work(store, options.run, engine)
    if options.next and not signalled.is_set():
        look(store)
    return code


def _work(store: RunStore, run: str, engine: Engine | None) -> int:
    try:
        execute(store, run, engine=engine)
    except (RunFailedError, CancelledError) as error:
        return _report(error, STOPPED)
    except RiskcoreError as error:
        return _report(error, BAD_INPUT)
    return DONE


def _report(error: RiskcoreError, code: int) -> int:
    sys.stderr.write(f"{error}\n")
    return code


if __name__ == "__main__":
    logs.set_up(server=True)
    lower_priority()
    sys.exit(main())
