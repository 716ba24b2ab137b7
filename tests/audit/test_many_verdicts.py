"""More verdicts of one kind than any page, query or click holds: every count, file and estimate has them all.

Above 10,000 they once vanished from the audit screen and from exports without a word.
"""

import pandas as pd
import pytest

from pages.parts.audit.audit_tables import audit_progress, export_rows, judged_rows, log_table
from pages.parts.runs.run_picker import View
from riskcore.audit.agreement import agreed, consensus
from riskcore.audit.decisions import decisions
from riskcore.audit.dossier.content import dossier_content
from riskcore.audit.dossier.judging import by_person
from riskcore.audit.estimate.runs import audited_pairs, draw_audit, estimate_run
from riskcore.audit.exchange.files import export_verdicts, read_verdicts
from riskcore.audit.journal import read_journal
from riskcore.audit.log_entries import pairs_by_verdict, recorded_entries
from riskcore.audit.result import export_result
from riskcore.audit.sign_off import sign
from riskcore.audit.verdicts import Brought, VerdictLog
from riskcore.runs import PairQuery, RunFolder, RunStore, all_pairs, query_pairs
from riskcore.storage.files import read_json, write_json
from tests.pages.synthetic_run import write_run

PAIRS, MATCHES, OTHERS, DRAWN = 26_000, 25_000, 500, 12_000


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A made-up run of 26,000 pairs: 25,000 are judged a match, 500 a non-match."""
    record = write_run(tmp_path_factory.mktemp("many"), PAIRS, iterations=1, methods=("risk",))
    store, folder = RunStore(record.folder.parent), RunFolder(record.folder)
    made_from = dict.fromkeys(("fingerprint", "truth_fingerprint", "code", "platform", "created"), "made up")
    write_json(
        folder.run_file, {**read_json(folder.run_file), **made_from, "labels_used": {}, "versions": {}, "config": {}}
    )
    draw_audit(folder, DRAWN, verdicts={})
    ids = [*audited_pairs(folder)["pair_id"]]
    ids += sorted(set(all_pairs(folder, PairQuery())["pair_id"]) - set(ids))
    words = ["match"] * MATCHES + ["non-match"] * OTHERS
    given = [Brought(pair, word, "", "ann") for pair, word in zip(ids, words, strict=False)]
    VerdictLog(store).bring(record.id, given)
    return store, folder, record


def test_counts(judged):
    store, folder, record = judged
    log = VerdictLog(store)
    entries, current = log.entries(record.id), log.current(record.id)
    assert len(entries) == len(current) == log.size(record.id) == MATCHES + OTHERS
    assert pairs_by_verdict(recorded_entries(store, record.id)) == {"match": MATCHES, "non-match": OTHERS}
    assert pd.Series(consensus(entries)).value_counts().to_dict() == {"match": MATCHES, "non-match": OTHERS}
    assert len(agreed(entries)) == MATCHES + OTHERS
    assert len(read_journal(folder.path)) == len(log_table(entries)) == MATCHES + OTHERS


def test_the_queue_and_the_audit_screen(judged):
    store, folder, record = judged
    current = VerdictLog(store).current(record.id)
    for verdict, count in (("match", MATCHES), ("non-match", OTHERS), ("none", PAIRS - MATCHES - OTHERS)):
        assert query_pairs(folder, PairQuery(verdict=verdict), current).total == count
        last = query_pairs(folder, PairQuery(verdict=verdict, page=10**6), current)
        assert len(last.rows) + (last.pages - 1) * 50 == count
    view = View(record, folder, "risk", 0)
    rows = judged_rows(view, current)
    done = audit_progress(rows, PAIRS)
    assert (done.judged, done.match, done.non_match) == (MATCHES + OTHERS, MATCHES, OTHERS)
    assert len(export_rows(view, rows)) == MATCHES + OTHERS


def test_exports(judged, tmp_path):
    store, folder, record = judged
    frame = decisions(folder, values=False, reasons=False)
    by_verdict = frame[frame["decided_by"] == "verdict"]
    assert by_verdict["decision"].value_counts().to_dict() == {"match": MATCHES, "non-match": OTHERS}
    export_result(folder, tmp_path / "result.parquet")
    written = pd.read_parquet(next(tmp_path.glob("result*.parquet")))
    assert (written["decided_by"] == "verdict").sum() == MATCHES + OTHERS
    file = tmp_path / "verdicts.csv"
    assert export_verdicts(folder, VerdictLog(store).entries(record.id), "csv", file) == MATCHES + OTHERS
    assert len(read_verdicts(file)) == MATCHES + OTHERS


def test_estimate_sign_off_and_dossier(judged):
    store, folder, _ = judged
    found = estimate_run(folder)
    assert (found.verdicts, found.open) == (DRAWN, 0)
    signed = sign(folder, store, "ann", "All of them.")
    assert (signed.entries, signed.verdicts) == (MATCHES + OTHERS, {"match": MATCHES, "non-match": OTHERS})
    content = dossier_content(folder, store)
    assert len(content["verdicts"]) == MATCHES + OTHERS
    (person,) = by_person(content["verdicts"])
    assert (person["pairs"], person["match"]) == (f"{MATCHES + OTHERS:,}", f"{MATCHES:,}")
