"""How fast verdicts by keyboard are: seconds from a key to the records of the next pair, in a real browser.

`python -m tests.browser.keys --reviewers 2 --verdicts 50` lets people judge at the same moment, each in a browser of
their own, on a run that is made up. Nothing is killed or undone meanwhile: test_two_reviewers.py does that.
"""

# ruff: noqa: T201 - a script that reports
from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from riskcore.runs import PairQuery, RunFolder, query_pairs
from tests.browser.driver import browsing, new_page, serving
from tests.browser.test_two_reviewers import PAIRS, WATCH, WORDS, Reviewer, judge, recorder
from tests.pages.synthetic_run import write_run

WARM = 3  # verdicts of everyone before the first that counts


def measure(root: Path, people: int, verdicts: int) -> list[float]:
    """The seconds of all verdicts, in order of size."""
    record = write_run(root / "runs", PAIRS, 3)
    queue = list(query_pairs(RunFolder(record.folder), PairQuery(page_size=PAIRS)).rows["pair_id"])
    keys = "".join(list(WORDS)[place % len(WORDS)] for place in range(verdicts))
    with serving(root) as address, browsing() as browser:
        reviewers = []
        for number in range(people):
            page = new_page(browser)
            page.add_init_script(WATCH)
            reviewers.append(Reviewer(f"reviewer {number + 1}", page, queue, recorder(record)))
            reviewers[-1].begin(address, record.id)
        judge(reviewers, keys[:WARM])
        for one in reviewers:
            one.collect()
            one.seconds.clear()
        judge(reviewers, keys)
        for one in reviewers:
            one.collect()
    return sorted(second for one in reviewers for second in one.seconds)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--reviewers", type=int, default=2, help="who press a key at the same moment")
    arguments.add_argument("--verdicts", type=int, default=50, help=f"of each, at most {PAIRS - WARM - 1}")
    options = arguments.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), options.reviewers, min(options.verdicts, PAIRS - WARM - 1))
    print(f"{options.reviewers} at once, {len(found)} verdicts, load {load:.1f} at the start, key to next pair:")
    slow = found[int(0.95 * len(found))]
    print(f"median {statistics.median(found):.3f} s, p95 {slow:.3f} s, worst {found[-1]:.3f} s")


if __name__ == "__main__":
    main()
