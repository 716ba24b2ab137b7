"""Tampering with a verdict log is noticed, whatever is computed anew in the store; what is not proven is said."""

from __future__ import annotations

import shutil
import time

import pytest
import sqlalchemy as sa

from riskcore.audit import VerdictLog
from riskcore.audit.chain import FIELDS, entry_digest
from riskcore.audit.journal import JOURNAL, read_journal, restore_verdicts
from riskcore.audit.log_check import check_log
from riskcore.audit.log_entries import recorded_entries
from riskcore.audit.seal import LogHead, Sealer
from riskcore.config import RunConfig
from riskcore.errors import StorageError
from riskcore.paths import SEAL_VARIABLE
from riskcore.runs import RunStore
from riskcore.runs.rescue import rescue_runs
from riskcore.runs.store.database import runs, verdicts
from riskcore.runs.store.run_store import STORE_FILE
from riskcore.storage.files import write_json

COUNT = 12


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv(SEAL_VARIABLE, str(tmp_path / "seal"))
    found = RunStore(tmp_path / "runs")
    for name in ("judged", "other"):
        record = found.create(RunConfig(source="x"), name)
        for number in range(COUNT if name == "judged" else 2):
            VerdictLog(found).add(record.id, f"a{number}:b{number}", "match", f"note {number}", "Ann")
    return found


@pytest.fixture
def run(store):
    return next(record.id for record in store.list() if record.name == "judged")


@pytest.fixture
def other(store):
    return next(record.id for record in store.list() if record.name == "other")


def rewrite(store, run, entries, row=None):
    """Replace a run's log by these entries, with digests that fit, and the run's row by what is given."""
    before, rows = "", []
    for number, entry in enumerate(entries, start=1):
        facts = {**entry, "run": run, "number": number}
        before = entry_digest(before, facts)
        rows.append({**facts, "digest": before})
    with store.database.write() as tx:
        tx.execute(sa.delete(verdicts).where(verdicts.c.run == run))
        if rows:
            tx.execute(sa.insert(verdicts), rows)
        if row is not None:
            tx.execute(sa.update(runs).where(runs.c.id == run).values(**row))
    return before


def row_of(store, run):
    with store.database.read() as tx:
        row = tx.execute(sa.select(runs.c.log_size, runs.c.log_head, runs.c.log_seal).where(runs.c.id == run)).one()
    return dict(row._mapping)


EMPTY = {"log_size": None, "log_head": None, "log_seal": None}


def alter(store, run, other, entries, first):
    with store.database.write() as tx:
        tx.execute(sa.update(verdicts).where(verdicts.c.run == run, verdicts.c.number == 3).values(verdict="non-match"))


def remove_from_the_middle(store, run, other, entries, first):
    with store.database.write() as tx:
        tx.execute(sa.delete(verdicts).where(verdicts.c.run == run, verdicts.c.number == 5))


def cut_off_the_end(store, run, other, entries, first):
    head = rewrite(store, run, entries[:2])
    rewrite(store, run, entries[:2], {"log_size": 2, "log_head": head})


def remove_all(store, run, other, entries, first):
    rewrite(store, run, [], EMPTY)


def rewrite_all(store, run, other, entries, first):
    forged = [{**entry, "verdict": "non-match"} for entry in entries]
    head = rewrite(store, run, forged)
    rewrite(store, run, forged, {"log_head": head})


def put_in_between(store, run, other, entries, first):
    rewrite(store, run, [*entries[:4], {**entries[4], "pair_id": "forged:one"}, *entries[4:]], EMPTY)


def move_to_another_run(store, run, other, entries, first):
    rewrite(store, other, entries, EMPTY)
    rewrite(store, run, [], EMPTY)


def put_an_old_copy_in_place(store, run, other, entries, first):
    rewrite(store, run, entries[:1], first)


TAMPERINGS = (
    alter,
    remove_from_the_middle,
    cut_off_the_end,
    remove_all,
    rewrite_all,
    put_in_between,
    move_to_another_run,
    put_an_old_copy_in_place,
)


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda one: one.__name__)
def test_tampering_is_noticed(store, tamper):
    """By someone who can write to the store, and to nothing else, and knows how digests are made."""
    record = store.create(RunConfig(source="x"), "third")
    log = VerdictLog(store)
    log.add(record.id, "a0:b0", "match", "", "Ann")
    first = row_of(store, record.id)
    for number in range(1, COUNT):
        log.add(record.id, f"a{number}:b{number}", "match", "", "Ann")
    other = next(one.id for one in store.list() if one.name == "other")
    assert check_log(store, record.id).problems == ()
    tamper(store, record.id, other, recorded_entries(store, record.id), first)
    assert check_log(store, record.id).problems
    if tamper is move_to_another_run:
        assert check_log(store, other).problems


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda one: one.__name__)
def test_later_verdicts_do_not_seal_what_was_tampered_with(store, run, other, tamper):
    """People go on judging before anyone looks: nothing of theirs is lost, and the tampering stays visible."""
    entries = recorded_entries(store, run)
    first = {"log_size": 1, "log_head": entries[0]["digest"]}
    first["log_seal"] = Sealer(store).seal(run, LogHead(1, entries[0]["digest"]))  # as the row once was
    tamper(store, run, other, entries, first)
    places = [run, other] if tamper is move_to_another_run else [run]
    for place in places:
        before = VerdictLog(store).size(place)
        for number in range(2 * COUNT):
            VerdictLog(store).add(place, f"c{number}:d{number}", "match", "", "Ben")
        assert VerdictLog(store).size(place) == before + 2 * COUNT
        assert check_log(store, place).problems


def test_after_a_kill_between_commit_and_note_the_next_verdict_is_sealed(store, run):
    log, sealer = VerdictLog(store), Sealer(store)
    noted = sealer.noted(run)
    log.add(run, "x:y", "match", "", "Ann")
    write_json(sealer._note_file(run), {"size": noted.size, "digest": noted.digest})
    log.add(run, "x:z", "match", "", "Ann")
    found = check_log(store, run)
    assert not found.problems
    assert sealer.noted(run) == found.head
    assert row_of(store, run)["log_size"] == found.head.size == COUNT + 2


def test_a_log_that_was_left_alone_is_proven(store, run):
    found = check_log(store, run)
    assert found.problems == found.unproven == ()
    assert len(found.proven) == 3
    assert found.head.size == COUNT


def test_an_expected_head_is_found_or_missed(store, run):
    entries = recorded_entries(store, run)
    found = check_log(store, run, entries[4]["digest"])
    assert found.proven[-1] == f"The expected head is that of entry 5; {COUNT - 5} entries were added since."
    assert "rewritten or cut off" in check_log(store, run, "f" * 64).problems[0]


def test_even_with_the_seal_folder_forged_an_expected_head_tells(store, run):
    """Whoever has the key can seal a rewritten log; the head on paper does not fit."""
    head = check_log(store, run).head.digest
    entries = [{**entry, "note": "forged"} for entry in recorded_entries(store, run)]
    new = rewrite(store, run, entries)
    sealer = Sealer(store)
    forged = type(check_log(store, run).head)(COUNT, new)
    rewrite(store, run, entries, {"log_head": new, "log_seal": sealer.seal(run, forged)})
    write_json(sealer._note_file(run), {"size": COUNT, "digest": new})
    assert check_log(store, run).problems == ()
    assert check_log(store, run, head).problems


def test_what_cannot_be_proven_is_said(store, run, tmp_path, monkeypatch):
    monkeypatch.setenv(SEAL_VARIABLE, str(tmp_path / "another"))
    found = check_log(store, run)
    assert found.problems == ()
    assert "the key is not in this machine's seal folder" in found.unproven[0]


def test_a_log_from_before_seals_is_no_tampering(store, run, tmp_path, monkeypatch):
    rewrite(store, run, recorded_entries(store, run), EMPTY)
    monkeypatch.setenv(SEAL_VARIABLE, str(tmp_path / "another"))
    monkeypatch.setattr(time, "time", lambda: 4e9)
    Sealer(store).seal(run, check_log(store, run).head)  # makes a key, later than all entries
    found = check_log(store, run)
    assert found.problems == ()
    assert "earlier version" in found.unproven[0]


def test_the_key_is_readable_by_its_owner_alone(store):
    folder = Sealer(store).folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "key").stat().st_mode & 0o777 == 0o600


def test_a_copy_of_a_store_goes_its_own_way(store, run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(store.root, copy)
    VerdictLog(store).add(run, "new:pair", "match", "", "Ann")
    found = check_log(RunStore(copy), run)
    assert found.problems == ()
    assert "older copy" in found.unproven[0]


def test_the_journal_has_every_entry_and_restores_a_lost_store(store, run):
    folder = store.get(run).folder
    entries = recorded_entries(store, run)
    assert read_journal(folder) == entries
    for record in store.list():
        write_json(
            record.folder / "run.json",
            {"format": 3, "run": record.id, "name": record.name, "created": "2026-01-01T00:00:00+00:00", "config": {}},
        )
    for file in store.root.glob(f"{STORE_FILE}*"):
        file.unlink()
    again = RunStore(store.root)
    assert [one.problem for one in rescue_runs(again)] == [None, None]
    assert restore_verdicts(again, run) == COUNT
    assert recorded_entries(again, run) == entries
    assert restore_verdicts(again, run) == 0
    assert check_log(again, run).problems == ()


def test_a_journal_that_was_cut_off_is_completed(store, run):
    folder = store.get(run).folder
    whole = (folder / JOURNAL).read_bytes()
    (folder / JOURNAL).write_bytes(whole[:-30])
    assert len(read_journal(folder)) == COUNT - 1
    VerdictLog(store).add(run, "new:pair", "match", "é" * 9_000, "Ann")
    VerdictLog(store).add(run, "newer:pair", "match", "", "Ann")
    assert read_journal(folder) == recorded_entries(store, run)
    assert set(read_journal(folder)[0]) == set(FIELDS)


def test_a_journal_that_was_shortened_restores_nothing(store, run):
    folder = store.get(run).folder
    lines = (folder / JOURNAL).read_bytes().splitlines(keepends=True)
    (folder / JOURNAL).write_bytes(b"".join(lines[:-2]))
    with store.database.write() as tx:
        tx.execute(sa.delete(verdicts).where(verdicts.c.run == run))
    with pytest.raises(StorageError, match="2 entries at the end of the verdict log are missing"):
        restore_verdicts(store, run)
