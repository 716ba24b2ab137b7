"""Attacks on the server: twenty people at once, files that stand for gigabytes, unusable sign-in settings."""

from __future__ import annotations

import contextlib
import json
import re
import resource
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.chaos.site import PROJECT, Figure, Site, environment, share
from riskcore.runs import PairQuery, RunFolder, query_pairs
from tests.pages.synthetic_run import write_run

if TYPE_CHECKING:
    from playwright.sync_api import Page

LOAD = PROJECT / "benchmarks" / "load.py"
P95 = 1.5  # seconds
LARGEST = 2_000  # MB of the server
ADDRESSES = 8 * 2**30  # bytes of address space for a server that is attacked: this machine is not to suffer
ANSWER = 60.0  # seconds
CONFIGURATIONS = 10
REFUSALS = re.compile(r"refused|closes_every_screen")


def twenty_sessions(site: Site) -> list[Figure]:
    """20 people at once on a run with 20,000 verdicts, by benchmarks/load.py."""
    name, bar = "20 people at once", f"p95 under {P95:g} s, no error"
    if not LOAD.exists():
        return [Figure(name, "nothing", "benchmarks/load.py is not there", bar, None)]
    asked = ["--sessions", "20", "--verdicts", "20000", "--pairs", "20000", "--seconds", "45", "--json"]
    command = [sys.executable, str(LOAD), *asked, "--seed", str(site.seed)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, env=environment())
    if done.returncode:
        return [Figure(name, "20 people", "benchmarks/load.py failed", bar, False, (done.stderr[-2000:],))]
    found: dict[str, Any] = json.loads(done.stdout)
    clicks = found["all"]
    return [
        Figure(
            name,
            f"{clicks['clicks']:,} clicks, {found['log']:,} verdicts in the log",
            f"median {clicks['p50']:.2f} s, p95 {clicks['p95']:.2f} s, {found['errors']:,} errors",
            bar,
            clicks["p95"] < P95 and not found["errors"],
        )
    ]


def large_behind_small(site: Site) -> list[Figure]:
    """Two parquet files of a few kB that unpack to gigabytes, opened on screen while someone else judges pairs."""
    name, bar = "Small files that stand for gigabytes", f"one sentence each, others go on, below {LARGEST:,} MB"
    try:
        from tests.browser.driver import CHROMIUM, Server, browsing, new_page
    except ImportError:
        CHROMIUM = None
    if CHROMIUM is None:
        return [Figure(name, "nothing", "no chromium on this machine: .ci/browser installs it", bar, None)]
    place = site.place / "small files"
    record = write_run(place / "runs", 120, 3)
    files = _small_files(place / "data")
    server = Server(place)
    with _limited_addresses():
        server.start()
    faults, slowest = list[str](), 0.0
    try:
        with browsing() as browser:
            from tests.browser.test_two_reviewers import Reviewer, recorder

            queue = [
                str(one) for one in query_pairs(RunFolder(record.folder), PairQuery(page_size=120)).rows["pair_id"]
            ]
            other = Reviewer("Ann", new_page(browser), queue, recorder(record))
            other.begin(server.address, record.id)
            for file in files:
                visitor = new_page(browser)
                visitor.goto(f"{server.address}/data_sets?set={file}")
                slowest = max(slowest, _judge(other, 5))
                faults += _answered(visitor, file)
        megabytes = _peak(server._process.pid)
    except Exception as error:
        faults.append(f"{type(error).__name__}: {str(error)[:300]}")
        megabytes = 0
    finally:
        with contextlib.suppress(OSError):
            server.kill()
    if megabytes > LARGEST:
        faults.append(f"the server had {megabytes:,} MB")
    sizes = " and ".join(f"{file.stat().st_size:,} bytes" for file in files)
    return [
        Figure(
            name,
            f"files of {sizes}",
            f"{len(faults):,} faults; slowest click of someone else {slowest:.2f} s; server {megabytes:,} MB",
            bar,
            not faults,
            tuple(faults),
        )
    ]


def _small_files(folder: Path) -> list[Path]:
    """One text in 4 million rows, which is there once; and the same with a text of one character."""
    folder.mkdir(parents=True)
    letters = np.random.default_rng(0).integers(97, 123, 55_000, dtype=np.uint8).tobytes().decode()
    files = []
    for name, text, rows in (("long", letters, 4_000_000), ("short", "x", 100_000_000)):
        codes = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array([text]))
        file = folder / f"{name}.parquet"
        page = {"row_group_size": rows, "data_page_size": 1 << 30, "write_batch_size": rows, "max_rows_per_page": rows}
        bare = {"write_statistics": False, "store_schema": False}
        pq.write_table(pa.table({"left_title": codes, "right_title": codes}), file, compression="zstd", **page, **bare)
        files.append(file)
    return files


@contextlib.contextmanager
def _limited_addresses() -> Iterator[None]:
    """For processes that begin meanwhile: they inherit the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _judge(one: Any, count: int) -> float:
    """The slowest of some verdicts, in seconds."""
    slowest = 0.0
    for _ in range(count):
        begun = time.monotonic()
        one.press("m")
        one.sees_the_pair()
        slowest = max(slowest, time.monotonic() - begun)
    return slowest


def _answered(page: Page, file: Path) -> list[str]:
    """What is wrong with the answer about a file: none in time, or the words of a defect."""
    alert = page.get_by_test_id("stAlert").or_(page.get_by_test_id("stException")).first
    try:
        alert.wait_for(timeout=ANSWER * 1000)
        said = alert.inner_text()
    except Exception:
        return [f"{file.name}: no answer within {ANSWER:g} s"]
    finally:
        page.context.close()
    return [f"{file.name}: {said[:300]}"] if re.search(r"Traceback|Memory|unexpected went wrong", said) else []


def _peak(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) // 1024


def broken_sign_in(site: Site) -> list[Figure]:
    """Every configuration of tests/pages/test_sign_in.py that cannot be used: nothing is served."""
    report = site.place / "sign-in.xml"
    command = [sys.executable, "-m", "pytest", "tests/pages/test_sign_in.py", "-q", "-p", "no:cacheprovider"]
    command += [f"--junit-xml={report}", f"--basetemp={site.place / 'sign-in'}"]
    subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, env=environment())
    cases = [one for one in ET.parse(report).iter("testcase") if REFUSALS.search(one.get("name", ""))]
    results: dict[str, bool] = {}
    for case in cases:
        name = case.get("name", "")
        kind = name.partition("[")[0] if "closes_every_screen" in name else name  # one configuration, every screen
        results[kind] = results.get(kind, True) and case.find("failure") is None and case.find("error") is None
    refused = sum(results.values())
    return [
        Figure(
            "Sign-in settings that cannot be used",
            f"{len(results)} configurations, {len(cases)} screens",
            f"{share(refused, len(results))} refused",
            f"at least {CONFIGURATIONS}; all refused",
            refused == len(results) >= CONFIGURATIONS,
            tuple(name for name, fine in results.items() if not fine),
        )
    ]
