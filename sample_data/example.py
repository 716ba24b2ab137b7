"""Makes the finished example that ships with the product: `python sample_data/example.py`, or `make example`."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from riskcore.runs.example import FILE, NAME, pack_example, sample_config
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import execute


def main() -> None:
    with tempfile.TemporaryDirectory() as root:
        store = RunStore(root)
        run = store.create(sample_config(), NAME).id
        execute(store, run)
        pack_example(store, run)
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
