"""What a dossier says of estimates, of agreement, and of who judged what."""

from riskcore.audit import VerdictLog
from riskcore.audit.agreement import agreement
from riskcore.audit.dossier import dossier_content, render
from riskcore.audit.dossier.measured import agreement_html
from riskcore.audit.dossier.verify import verify_file
from riskcore.audit.estimate import draw_audit, estimate_run
from riskcore.audit.estimate.outside import draw_outside
from riskcore.audit.estimate.review import entries_of
from riskcore.audit.estimate.runs import audited_pairs
from riskcore.audit.outside_draws import outside_ids
from riskcore.audit.sign_off import as_figures
from tests.audit.example_runs import finished, run, store, unpacked
from tests.audit.test_dossier import Reader

__all__ = ["finished", "run", "store", "unpacked"]


def test_an_estimate_of_ours_is_told_in_words(finished, store, run):
    draw_audit(finished, 40)
    for pair in audited_pairs(finished)["pair_id"]:
        VerdictLog(store).add(run, pair, "match", who="<b>ann</b>")
    draw_outside(finished, 40)
    for pair in outside_ids(finished)["pair_id"]:
        VerdictLog(store).add(run, pair, "non-match", who="bob")
    VerdictLog(store).add(run, "258:664", "unsure", who="bob")
    found = dossier_content(finished, store, estimate=estimate_run(finished), agreement=agreement(entries_of(finished)))
    page = render(found).decode()
    assert verify_file(page.encode()).intact
    text = " ".join(" ".join(Reader(page).texts).split())
    for shown in (
        *(
            "On the candidate pairs",
            "With what blocking missed",
            "matches that blocking missed",
            "with 0 matches among",
        ),
        *("Check without a prior", "Where the verdicts are", "drawn for the estimate 40 40 0 0"),
        *("drawn outside the candidates 40 0 40 0", "chosen by the reviewer 1 0 0 1", "<b>ann</b> 40 40 0 0 0"),
    ):
        assert shown in text
    shown = text.partition('{"kind"')[0]  # the page without its data
    for machine in ("with_missed", "with missed", "unsure_bounds", "labels_digest", "rule.depth", "false_positives"):
        assert machine not in shown


def test_agreement_has_a_row_for_every_two_reviewers(finished, store, run):
    for who, word in (("ann", "match"), ("bob", "match"), ("cas", "non-match")):
        for pair in ("258:664", "446:344"):
            VerdictLog(store).add(run, pair, word, who=who)
    text = " ".join(Reader(agreement_html(as_figures(agreement(entries_of(finished))))).texts)
    for shown in ("ann and bob", "ann and cas", "equal verdicts", "100.0 %", "undefined", "2, on 0 of which all agree"):
        assert shown in text
