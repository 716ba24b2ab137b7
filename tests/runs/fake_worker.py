"""A worker process with the fake engine: `python -m tests.runs.fake_worker RUN --root DIR`."""

import sys

from riskcore.risk import rankings
from riskcore.runs.worker.__main__ import main
from tests.runs.fake_engine import fake_engine

if __name__ == "__main__":
    rankings.TRUST_CELLS = 0  # spares every process the import of scikit-learn
    sys.exit(main(engine=fake_engine))
