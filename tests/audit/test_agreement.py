"""Agreement of several people: kappa against published values, brute force and bootstrap; conflicts; flags."""

from __future__ import annotations

import itertools
import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reviewers import BAD, GOOD, flags, measure, simulate
from riskcore.audit.agreement import (
    ADJUDICATION,
    adjudication_note,
    agreed,
    agreement,
    conflicts,
    consensus,
    independent,
    is_adjudication,
)
from riskcore.audit.kappa import Z, cohen, cohen_of_table, fleiss
from riskcore.audit.reviewer_check import check_reviewers, flagged_reviewers
from riskcore.audit.verdicts import VERDICTS, WITHDRAWN, Verdict, bulk_note

START = datetime(2026, 3, 1, tzinfo=UTC)
M, N, U = VERDICTS


def log(*said):
    """Entries from (who, pair, verdict) or (who, pair, verdict, note), in order."""
    return [
        Verdict("run", pair, word, note[0] if note else "", who, START + timedelta(minutes=at), at)
        for at, (who, pair, word, *note) in enumerate(said, start=1)
    ]


# ---- kappa


def test_cohens_kappa_and_its_error_as_published():
    # Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, table 18.1: kappa 0.676, error 0.088.
    found = cohen_of_table(np.array([[75, 1, 4], [5, 4, 1], [0, 0, 10]]))
    assert found.kappa == pytest.approx(0.676, abs=0.001)
    assert (found.kappa - found.low) / Z == pytest.approx(0.088, abs=0.001)


@pytest.mark.parametrize("table", [[[60, 8], [5, 27]], [[20, 10], [10, 20]], [[150, 4], [6, 40]]])
def test_the_error_of_cohens_kappa_is_that_of_a_bootstrap(table):
    table = np.array(table)
    drawn = np.random.default_rng(0).multinomial(table.sum(), (table / table.sum()).ravel(), size=4000)
    spread = np.std([cohen_of_table(one.reshape(2, 2)).kappa for one in drawn])
    found = cohen_of_table(table)
    assert (found.kappa - found.low) / Z == pytest.approx(spread, rel=0.08)


def test_the_error_of_fleiss_kappa_is_that_of_a_bootstrap():
    chance = np.random.default_rng(1)
    truth = chance.random(150) < 0.4
    said = truth[:, None] != (chance.random((150, 4)) < 0.1)
    counts = np.stack([(~said).sum(axis=1), said.sum(axis=1)], axis=1)
    counts[:60] = np.stack([(~said[:60, :2]).sum(axis=1), said[:60, :2].sum(axis=1)], axis=1)  # two people only
    spread = np.std([fleiss(counts[chance.integers(0, 150, 150)]).kappa for _ in range(2000)])
    found = fleiss(counts)
    assert (found.kappa - found.low) / Z == pytest.approx(spread, rel=0.1)


def test_fleiss_kappa_as_published():
    # Fleiss (1971) as in Wikipedia's example: 10 subjects, 14 people, 5 words; kappa 0.210.
    rows = """0 0 0 0 14 / 0 2 6 4 2 / 0 0 3 5 6 / 0 3 9 2 0 / 2 2 8 1 1
    / 7 7 0 0 0 / 3 2 6 3 0 / 2 5 3 2 2 / 6 5 2 1 0 / 0 2 2 3 7"""
    counts = np.array([[int(number) for number in row.split()] for row in rows.split("/")])
    assert fleiss(counts).kappa == pytest.approx(0.210, abs=0.0005)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_kappa_is_finite_or_undefined(said):
    first, second = np.array(said).T
    found = cohen(first, second, 3)
    same_word = len({*first.tolist(), *second.tolist()}) == 1
    assert (found.kappa is None) == same_word
    if found.kappa is not None:
        assert -1 <= found.low <= found.kappa <= found.high <= 1
        agreed = np.mean(first == second)
        by_chance = np.mean([a == b for a, b in itertools.product(first, second)])
        assert found.kappa == pytest.approx((agreed - by_chance) / (1 - by_chance))


@pytest.mark.parametrize("pairs", [2, 10, 400])
def test_perfect_agreement_has_a_finite_interval_that_shrinks_with_more_pairs(pairs):
    said = np.arange(pairs) % 2
    found = cohen(said, said, 2)
    assert (found.kappa, found.high) == (1.0, 1.0)
    # As likely as 2.5 %: this agreement, if the true one were at the lower limit.
    assert (0.5 + found.low / 2) ** pairs == pytest.approx(0.025)
    assert fleiss(np.stack([2 - 2 * said, 2 * said], axis=1)).low == pytest.approx(found.low)


# ---- agreement of entries


@pytest.mark.parametrize("pairs", [1, 2, 10, 100])
def test_perfect_disagreement_has_a_finite_interval_that_shrinks_with_more_pairs(pairs):
    first = np.arange(pairs) % 2
    found, several = cohen(first, 1 - first, 2), fleiss(np.ones((pairs, 2), dtype=int))
    for one in (found, several):
        assert (one.agreement, one.low) == (0.0, one.kappa)
        chance = -one.kappa / (1 - one.kappa)  # as agreement is 0
        # the share of agreements with which none in so many pairs has a chance of 2.5 %
        assert (1 - (one.high * (1 - chance) + chance)) ** pairs == pytest.approx(0.025)


def test_one_pair_of_three_people_tells_nothing_of_kappa():
    found = fleiss(np.array([[2, 1]]))
    assert (found.low, found.high) == (-1.0, 1.0)


def test_agreement_counts_shared_pairs_and_keeps_unsure_apart():
    entries = log(
        ("Ann", "1", M), ("Bo", "1", M), ("Ann", "2", N), ("Bo", "2", M), ("Ann", "3", N), ("Bo", "3", N),
        ("Ann", "4", M), ("Bo", "4", U), ("Cy", "5", M),
    )  # fmt: skip
    found = agreement(entries)
    assert (found.judged, found.shared, found.unanimous) == (5, 3, 2)
    assert (found.verdicts, found.unsure) == (9, 1)
    assert found.unsure_share == pytest.approx(1 / 9)
    (only,) = found.between
    assert only.people == ("Ann", "Bo")
    assert only.measured == cohen_of_table(np.array([[1, 0], [1, 1]]))
    assert "2 of 3" in found.sentence
    assert agreement(entries, unsure_counts=True).shared == 4
    assert agreement([]).pooled.kappa is None
    assert math.isnan(agreement([]).pooled.agreement)
    assert "undefined" in agreement(log(("Ann", "1", N), ("Bo", "1", N))).sentence


def test_a_persons_latest_verdict_counts_and_a_withdrawn_one_does_not():
    entries = log(
        ("Ann", "1", M), ("Bo", "1", N), ("Ann", "1", N), ("Ann", "2", M), ("Bo", "2", M), ("Bo", "2", WITHDRAWN)
    )
    found = agreement(entries)
    assert (found.shared, found.unanimous) == (1, 1)
    assert agreement(list(reversed(entries))) == found  # the numbers order them


def test_adjudications_and_verdicts_on_many_pairs_are_no_independent_verdicts():
    entries = log(
        ("Ann", "1", M),
        ("Bo", "1", N),
        ("Bo", "1", M, adjudication_note("I was wrong")),
        ("Bo", "2", N, bulk_note(10, N)),
        ("Ann", "2", N),
    )
    own = independent(entries)
    assert {who: one.verdict for who, one in own["1"].items()} == {"Ann": M, "Bo": N}  # deciding does not hide it
    assert set(own["2"]) == {"Ann"}
    assert agreement(entries).unanimous == 0


# ---- conflicts and consensus


def test_conflicts_say_who_said_what_and_adjudication_decides_them():
    entries = log(
        ("Ann", "1", M), ("Bo", "1", N), ("Cy", "1", U), ("Ann", "2", M), ("Bo", "2", N), ("Cy", "2", N),
        ("Ann", "3", M), ("Bo", "3", U), ("Dee", "2", M, adjudication_note("same film")),
    )  # fmt: skip
    open_one, decided = conflicts(entries)
    assert (open_one.pair_id, open_one.match, open_one.non_match, open_one.unsure) == ("1", ("Ann",), ("Bo",), ("Cy",))
    assert open_one.open
    assert not decided.open
    assert decided.sentence == "match: Ann; non-match: Bo, Cy. Dee decided: match."
    assert consensus(entries) == {"2": M, "3": M}


def test_an_adjudicator_who_is_unsure_leaves_a_conflict_open_and_a_withdrawn_one_decides_nothing():
    entries = log(("A", "1", M), ("B", "1", M), ("C", "1", N), ("D", "1", U, adjudication_note()))
    assert conflicts(entries)[0].open
    assert consensus(entries) == {}
    withdrawn = [*entries, Verdict("run", "1", WITHDRAWN, "", "D", START, 9)]
    assert conflicts(withdrawn)[0].adjudicated is None
    assert consensus(withdrawn) == {"1": M}


def test_the_mark_of_an_adjudication_survives_a_note_without_trailing_space():
    assert is_adjudication(log(("A", "1", M, adjudication_note("why")))[0])
    assert is_adjudication(log(("A", "1", M, ADJUDICATION.strip()))[0])
    assert not is_adjudication(log(("A", "1", M, "was adjudicated: no"))[0])


@given(st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from("123"), st.sampled_from([M, N, U])), max_size=30))
def test_consensus_is_the_majority_of_latest_verdicts(said):
    latest = {(pair, who): word for who, pair, word in said}
    expected = {}
    for pair in "123":
        words = [word for (of, _), word in latest.items() if of == pair]
        if words.count(M) != words.count(N):
            expected[pair] = M if words.count(M) > words.count(N) else N
    assert consensus(log(*said)) == expected
    assert {one.pair_id for one in conflicts(log(*said))} == {
        pair for pair in "123" if {M, N} <= {word for (of, _), word in latest.items() if of == pair}
    }


# ---- flags


def test_two_people_who_disagree_flag_neither():
    entries = []
    for number in range(40):
        entries += [("Ann", str(number), M), ("Bo", str(number), M if number % 2 else N)]
    assert flagged_reviewers(log(*entries)) == []


def test_a_model_tells_which_of_two_people_is_wrong_and_pairs_that_one_person_judged_count():
    shared, alone = [], []
    for number in range(30):
        truth, other = (M, N) if number % 3 else (N, M)
        shared += [("Ann", str(number), truth), ("Bo", str(number), truth if number % 2 else other)]
        alone += [("Ann", f"a{number}", truth), ("Bo", f"b{number}", truth if number % 2 else other)]
    expected = {
        pair: 0.97 if number % 3 else 0.03 for number in range(30) for pair in (str(number), f"a{number}", f"b{number}")
    }
    for entries in (shared, alone):
        (found,) = flagged_reviewers(log(*entries), expected)
        assert (found.who, found.verdicts, found.compared, found.disagreed) == ("Bo", 30, 30, 15)
        assert found.flagged_at < 30
        assert "Bo: 15 of 30" in found.sentence
    assert flagged_reviewers(log(*alone)) == []
    assert all(one.compared == 0 and one.evidence == pytest.approx(1) for one in check_reviewers(log(*alone)))


def test_a_persons_own_verdict_is_no_part_of_what_it_is_compared_with():
    # Bo alone against two; turning his verdicts changes what is against him, not what he is compared with.
    entries = [(who, str(number), M) for number in range(20) for who in ("Ann", "Cy")]
    against = check_reviewers(log(*entries, *(("Bo", str(number), N) for number in range(20))))
    bo = next(one for one in against if one.who == "Bo")
    assert (bo.compared, bo.disagreed) == (20, 20)
    assert bo.flagged
    assert not any(one.flagged for one in against if one.who != "Bo")


def test_all_reviewers_alike_are_not_flagged_on_hard_pairs():
    chance = np.random.default_rng(0)
    said = []
    for pair in range(60):
        truth = chance.random() < 0.5
        said += [(who, str(pair), M if truth != (chance.random() < 0.2) else N) for who in "ABC"]
    assert flagged_reviewers(log(*said)) == []


def test_a_model_alone_flags_nobody():
    said = [("Ann", str(number), N) for number in range(40)]
    (only,) = check_reviewers(log(*said), {str(number): 0.95 for number in range(40)})
    assert only.disagreed == 40
    assert not only.flagged
    with_bo = log(*said, *(("Bo", f"b{number}", M) for number in range(5)))
    expected = dict.fromkeys([*map(str, range(40)), *(f"b{number}" for number in range(5))], 0.95)
    assert [one.who for one in flagged_reviewers(with_bo, expected)] == ["Ann"]


def test_who_is_only_unsure_is_listed_and_not_flagged():
    (one,) = check_reviewers(log(("Ann", "1", U), ("Ann", "2", U)))
    assert (one.verdicts, one.compared, one.flagged_at) == (0, 0, None)


def test_in_simulations_a_bad_reviewer_is_flagged_within_30_verdicts_and_good_ones_are_not():
    found = measure("two+model", simulations=60, seed=3, every=20)
    assert found["caught"] >= 0.95
    assert found["any good flagged"] <= 0.05


def test_the_simulation_gives_everyone_the_same_number_of_verdicts():
    review = simulate(np.random.default_rng(0), "fifth+model")
    given_by = {who: [one for one in review.entries if one.who == who] for who in (BAD, *GOOD)}
    assert {len(one) for one in given_by.values()} == {30}
    people = [len({one.who for one in review.entries if one.pair_id == pair}) for pair in review.expected]
    assert 0.05 < people.count(2) / len(people) < 0.4
    assert dict(flags(review, every=120)).keys() <= {BAD}


def test_one_verdict_per_pair_is_what_people_agree_on():
    entries = log(
        ("ann", "a", M), ("bob", "a", M), ("ann", "b", M), ("bob", "b", N),
        ("ann", "c", N), ("bob", "c", M), ("eve", "c", N), ("ann", "d", M), ("bob", "d", N),
        ("eve", "d", N, adjudication_note("checked")), ("ann", "e", U),
    )  # fmt: skip
    found = agreed(entries)
    assert {pair: one.verdict for pair, one in found.items()} == {"a": M, "b": U, "c": N, "d": N, "e": U}
    assert found["c"].who == "eve"
