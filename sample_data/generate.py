"""Writes the sample data. `python sample_data/generate.py [FOLDER]`; the same bytes every time."""

import argparse
from pathlib import Path
from random import Random

from bibliography import clean_bibliography, scraped_bibliography
from shops import two_shops
from workload import write

MAKERS = {
    "bibliography_clean": (clean_bibliography, 11),
    "bibliography_scraped": (scraped_bibliography, 12),
    "products": (two_shops, 13),
}


def generate(folder: Path) -> None:
    """Write every workload under `folder`; each has its own seed, so changing one leaves the others alone."""
    for name, (make, seed) in MAKERS.items():
        rng = Random(seed)
        write(make(rng), folder / name, rng)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent, help="where to write")
    generate(parser.parse_args().folder)


if __name__ == "__main__":
    main()
