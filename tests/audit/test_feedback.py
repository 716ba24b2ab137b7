"""Ranking a run's queue again by verdicts and by decisions about rules: what changes, what stays, and the way back."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from riskcore.audit.estimate.runs import labels_and_risk
from riskcore.audit.feedback import EVERY, check_ranking, keep_current, rank_again, use_run_ranking
from riskcore.audit.verdicts import VerdictLog, verdicts_in
from riskcore.cli import app
from riskcore.errors import ConfigError, StorageError
from riskcore.runs import PairQuery, pair_detail, query_pairs
from riskcore.runs.feedback_files import (
    clear_rules,
    decide_rule,
    ranking_facts,
    ranking_file,
    read_choices,
    read_ranking,
)
from riskcore.runs.readers.queries import place_of
from tests.audit.example_runs import finished, store, unpacked

__all__ = ["finished", "store", "unpacked"]

METHOD = "risk+"


def queue(folder, size=50, **filters):
    return query_pairs(folder, PairQuery(method=METHOD, page_size=size, **filters)).rows


def unjudged(folder, size):
    """The first of the queue without a verdict."""
    query = PairQuery(method=METHOD, verdict="none", page_size=size)
    return query_pairs(folder, query, verdicts_in(folder.path)).rows


def judge(folder, store, rows, who="Ann", wrong=None):
    """Verdicts on these rows of the queue: those in `wrong` overrule the label, the others confirm it."""
    log = VerdictLog(store)
    for place, (pair, label) in enumerate(zip(rows["pair_id"], rows["label"], strict=True)):
        said = 1 - label if wrong is None or place in wrong else label
        log.add(folder.path.name, pair, "match" if said else "non-match", who=who)


@pytest.fixture
def overruled(finished, store):
    """The example with its twenty riskiest non-matches overruled, most of them."""
    judge(finished, store, queue(finished, 20, label=0), wrong=set(range(17)))
    return finished


def test_the_queue_is_ranked_again_and_back(overruled):
    before, run_risk = queue(overruled), labels_and_risk(overruled)[1]
    facts = rank_again(overruled, who="Ann")
    after = queue(overruled)
    assert (facts["verdicts"], facts["overruled"], facts["method"]) == (20, 17, METHOD)
    assert facts["entered"] > 0
    assert facts["variance"] > 0
    assert list(after["pair_id"]) != list(before["pair_id"])
    assert after["risk"].is_monotonic_decreasing
    assert read_choices(overruled).refit["who"] == "Ann"
    assert (labels_and_risk(overruled)[1] == run_risk).all()  # estimates and results keep the run's
    first = after["pair_id"][0]
    assert pair_detail(overruled, first, METHOD).scores["risk"] == after["risk"][0]
    assert place_of(overruled, PairQuery(method=METHOD), int(after["row"][9])) == 10
    use_run_ranking(overruled)
    assert queue(overruled).equals(before)
    assert not ranking_file(overruled, METHOD).exists()


def test_figures_are_of_pairs_without_a_verdict(overruled):
    facts, old = rank_again(overruled), labels_and_risk(overruled)[1]
    new = read_ranking(overruled, METHOD)
    left = np.sort(unjudged(overruled, 600)["row"].to_numpy())
    assert len(left) == len(old) - 20
    first = [left[np.argsort(-risk[left], kind="stable")][:100] for risk in (old, new)]
    assert facts["entered"] == len(set(first[1]) - set(first[0]))
    assert facts["expected_before"] == pytest.approx(old[first[0]].sum())
    assert facts["expected_after"] == pytest.approx(new[first[1]].sum())


def test_other_iterations_keep_their_ranking(overruled):
    other = next(one for one in overruled.iterations(METHOD) if one != overruled.kept(METHOD))
    before = queue(overruled, iteration=other)
    rank_again(overruled)
    assert queue(overruled, iteration=other).equals(before)


def test_further_verdicts_count_in_tens(overruled, store):
    first = rank_again(overruled)
    more = unjudged(overruled, EVERY)
    judge(overruled, store, more.head(EVERY - 1))
    assert keep_current(overruled, METHOD) == first
    assert check_ranking(overruled, METHOD).verdicts == EVERY - 1
    judge(overruled, store, more.tail(1), wrong=set())
    later = keep_current(overruled, METHOD)
    assert later["entries"] == first["entries"] + EVERY
    assert later["head"] != first["head"]


def test_a_ranking_is_checked_by_verdicts_that_came_after_it(overruled, store):
    rank_again(overruled)
    assert check_ranking(overruled, METHOD) is None  # not by those it was made from
    risk, run_risk = read_ranking(overruled, METHOD), labels_and_risk(overruled)[1]
    more = unjudged(overruled, 12)
    judge(overruled, store, more, wrong={0, 1, 2})
    rank_again(overruled)  # learns from them too, and still compares with the ranking before
    check = check_ranking(overruled, METHOD)
    assert (check.verdicts, check.overruled) == (12, 3)
    assert check.expected == pytest.approx(risk[more["row"]].sum())
    assert check.expected_by_run == pytest.approx(run_risk[more["row"]].sum())
    use_run_ranking(overruled)
    assert check_ranking(overruled, METHOD) == check


def test_a_conflict_and_an_unsure_verdict_teach_nothing(overruled, store):
    log, run = VerdictLog(store), overruled.path.name
    pair = queue(overruled, 20, label=0)["pair_id"].iloc[0]
    log.add(run, pair, "non-match", who="Ben")  # Ann said match
    log.add(run, queue(overruled, 600)["pair_id"].iloc[-1], "unsure", who="Ben")
    assert rank_again(overruled)["verdicts"] == 19


def test_without_verdicts_there_is_nothing_to_rank_by(finished):
    with pytest.raises(StorageError, match="fewer than 2 verdicts"):
        rank_again(finished)
    assert read_choices(finished).refit is None
    assert keep_current(finished, METHOD) is None


def test_decisions_about_rules_are_kept_with_who_and_when(finished):
    rules = [rule.key for rule in finished.rules().rules]
    decide_rule(finished, rules[3], "muted", "Ann")
    decide_rule(finished, rules[5], "pinned", "Ben")
    decide_rule(finished, rules[3], "pinned", "Cid")
    found = read_choices(finished).rules
    assert [(one["rule"], one["state"], one["who"]) for one in found] == [
        (rules[5], "pinned", "Ben"),
        (rules[3], "pinned", "Cid"),
    ]
    decide_rule(finished, rules[5], None)
    assert read_choices(finished).rules_that_are("pinned") == [rules[3]]
    with pytest.raises(ConfigError, match="has no rule"):
        decide_rule(finished, "nonsense", "muted")
    clear_rules(finished)
    assert read_choices(finished).rules == ()


def test_where_rules_do_not_count_the_queue_stays_and_says_why(finished):
    """The packed example has no bundle."""
    before = queue(finished)
    decide_rule(finished, finished.rules().rules[0].key, "muted")
    facts = keep_current(finished, METHOD)
    assert "no bundle" in facts["rules_ignored"]
    assert list(queue(finished)["pair_id"]) == list(before["pair_id"])


def test_the_command(overruled, store):
    def called(*words):
        found = CliRunner().invoke(app, ["audit", *words, "--runs", str(store.root)])
        assert found.exit_code == 0, found.output
        return found.stdout

    facts = json.loads(called("refit", "example", "--json", "--who", "Ann"))["ranking"]
    assert facts == ranking_facts(overruled, METHOD)
    assert "17 labels overruled" in called("refit", "example")
    assert "1 rule muted" in called("rule", "example", "3", "--who", "Ann")
    assert "muted" not in called("rule", "example", "--clear")
    assert json.loads(called("refit", "example", "--off", "--json"))["ranking"] is None
    assert "as the run ranked it" in called("refit", "example", "--off")
    refused = CliRunner().invoke(app, ["audit", "rule", "example", "9999", "--runs", str(store.root)])
    assert refused.exit_code != 0
