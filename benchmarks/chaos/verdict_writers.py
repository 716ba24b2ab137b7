"""Processes that give verdicts: killed at random moments, or four at once. Confirmed verdicts are in the log once."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from benchmarks.chaos.site import Figure, Site
from riskcore.audit import VerdictLog
from riskcore.audit.journal import read_journal
from riskcore.audit.log_check import check_log
from riskcore.audit.log_entries import recorded_entries
from riskcore.runs import RunStore

WRITERS = 4
LONGEST = 0.6  # seconds until a kill, after the first verdict
WORDS = ("match", "non-match", "unsure")


def write(root: str, run: str, who: str, count: int, told: Connection) -> None:
    """Give verdicts, and say of each that it was given, once the log has confirmed it."""
    log = VerdictLog(RunStore(Path(root)))
    for number in range(count):
        log.add(run, f"a{number}:b{number}", WORDS[number % 3], f"note {number}", who)
        told.send(number)


class _Writer:
    """A writing process and what it has confirmed."""

    def __init__(self, root: Path, run: str, who: str, count: int) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["riskcore.audit", "benchmarks.chaos.verdict_writers"])
        self.who, self.confirmed = who, set[int]()
        self._told, theirs = context.Pipe(duplex=False)
        self.process: ForkServerProcess = context.Process(target=write, args=(str(root), run, who, count, theirs))
        self.process.start()
        theirs.close()

    def wait_for_first(self) -> None:
        self._told.poll(60)

    def kill(self) -> bool:
        """False if it was done already."""
        if not self.process.is_alive():
            return False
        self.process.kill()
        self.process.join()
        return True

    def collect(self) -> None:
        """All that is confirmed until the process ends; a message that was cut off by a kill was not sent."""
        try:
            while True:
                self.confirmed.add(self._told.recv())
        except (EOFError, OSError):
            pass
        self._told.close()
        self.process.join()


def killed_writers(site: Site) -> list[Figure]:
    """Rounds of four writers on one log, each killed at a random moment."""
    store = RunStore(site.place / "killed writers")
    run = store.create(site.config, "judged").id
    killed, writers, faults = 0, list[_Writer](), list[str]()
    while killed < site.sizes.writer_kills and not site.over:
        wanted = min(WRITERS, site.sizes.writer_kills - killed)
        chance = site.chance("writers", killed)
        round_of = [_Writer(store.root, run, f"writer {killed + number}", 10_000) for number in range(wanted)]
        moments = sorted((chance.uniform(0, LONGEST), number) for number in range(wanted))
        round_of[0].wait_for_first()
        begun = time.monotonic()
        for after, number in moments:
            time.sleep(max(0.0, begun + after - time.monotonic()))
            killed += round_of[number].kill()
        for one in round_of:
            one.collect()
        writers += round_of
        faults += list(check_log(store, run).problems)
    confirmed, lost, doubled = _compare(store, run, writers, faults)
    VerdictLog(store).add(run, "last:pair", "match", "", "afterwards")
    if read_journal(store.get(run).folder) != recorded_entries(store, run):
        faults.append("The journal differs from the log.")
    return [
        Figure(
            "Verdict writers killed",
            f"{killed:,} kills, {confirmed:,} verdicts confirmed",
            f"{lost:,} lost, {doubled:,} doubled, {len(faults):,} faults of the log",
            f"{site.sizes.writer_kills:,} kills; 0 lost, 0 doubled",
            killed >= site.sizes.writer_kills and confirmed > 0 and not (lost or doubled or faults),
            tuple(faults[:12]),
        )
    ]


def four_writers(site: Site) -> list[Figure]:
    """Four writers at once, to the end."""
    store, count = RunStore(site.place / "four writers"), site.sizes.concurrent
    run = store.create(site.config, "judged").id
    writers = [_Writer(store.root, run, f"writer {number}", count) for number in range(WRITERS)]
    faults = list[str]()
    for one in writers:
        one.collect()
        if one.process.exitcode != 0:
            faults.append(f"{one.who} ended with {one.process.exitcode}")
    confirmed, lost, doubled = _compare(store, run, writers, faults)
    faults += check_log(store, run).problems
    wanted = WRITERS * count
    return [
        Figure(
            "Four writers at once",
            f"{confirmed:,} verdicts confirmed",
            f"{lost:,} lost, {doubled:,} doubled, {len(faults):,} faults of the log",
            f"{wanted:,} verdicts; 0 lost, 0 doubled",
            confirmed == wanted and not (lost or doubled or faults),
            tuple(faults[:12]),
        )
    ]


def _compare(store: RunStore, run: str, writers: list[_Writer], faults: list[str]) -> tuple[int, int, int]:
    """Verdicts confirmed, lost and doubled. A writer may have recorded one more than it could confirm, never two."""
    logged = Counter((entry.who, entry.pair_id) for entry in VerdictLog(store).entries(run))
    lost = 0
    for one in writers:
        lost += sum(not logged[one.who, f"a{number}:b{number}"] for number in one.confirmed)
        recorded = sum(1 for who, _ in logged if who == one.who)
        if recorded > len(one.confirmed) + 1:
            faults.append(f"{one.who} has recorded {recorded}, and confirmed {len(one.confirmed)}")
    return sum(len(one.confirmed) for one in writers), lost, sum(count - 1 for count in logged.values())
