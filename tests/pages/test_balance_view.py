"""The balance sheet on the card, and the queue in words: shown numbers add up, nothing in them is markup."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.parts.pairs import balance_view
from pages.parts.pairs.balance_view import (
    Background,
    evidence_steps,
    matcher_html,
    sheet_html,
    sheet_words,
    voices_html,
)
from pages.parts.pairs.filters import range_from_address
from pages.parts.pairs.headline import likely_words
from pages.parts.pairs.queue_list import queue_rows
from riskcore.metrics.kinds import Metric
from riskcore.risk.balance import BEFORE, BalanceSheet, Voice
from riskcore.rules.rule import Rule
from riskcore.rules.rule_set import RuleSet
from riskcore.runs import PairQuery, RunFolder, query_pairs
from riskcore.runs.readers.pair_reasons import PairReason
from tests.pages.conftest import words

HOSTILE = "<script>alert(1)</script>"
parts = st.floats(-8, 8, allow_nan=False)


def sheet_of(title: float, hostile: float, before: float, offset: float = 0.3) -> BalanceSheet:
    voices = (
        Voice("matcher", 2.0, 0.5, {BEFORE: before, "title": title, HOSTILE: hostile}),
        Voice("linear model", -1.0, 0.2, {"title": title / 3, "the whole record": 0.004}),
    )
    alone = {BEFORE: before, "title": title}
    return BalanceSheet(offset, voices, {"title.jaccard": title / 3}, {0: 0.1}, alone, "title", HOSTILE, 0.4)


def background() -> Background:
    rules = RuleSet((Rule.parse("title word overlap is above 0.6 -> match"),), np.array([5]), np.array([5]))
    metric = Metric("title", "jaccard")
    return Background(rules, {metric.key: 0.7}, {metric.key: metric}, lambda name, match: f"{name} says {match}")


def numbers(html: str) -> list[Decimal]:
    """The numbers at the end of each row, the total last."""
    found = re.findall(r'rc-number[^>]*">([+−]?[\d.]+)<', html)
    return [Decimal(one.replace("−", "-").replace("+", "")) for one in found]


@given(parts, parts, parts, parts)
def test_shown_numbers_add_up_to_the_last_digit(title: float, hostile: float, before: float, offset: float) -> None:
    sheet = sheet_of(title, hostile, before, offset)
    shown = numbers(sheet_html(sheet, background(), "sheet"))
    assert sum(shown[:-1]) == shown[-1]
    assert abs(float(shown[-1]) - sheet.total) <= 0.00501
    shown = numbers(matcher_html(sheet, background()))
    assert sum(shown[:-1]) == shown[-1]
    table = re.findall(r"<td class=rc-\w+>([+−]?[\d.]+)</td></tr>|<b>([+−]?[\d.]+)</b></td></tr>", voices_html(sheet))
    said = [Decimal((one or other).replace("−", "-").replace("+", "")) for one, other in table]
    assert sum(said[:-1]) == said[-1]


def test_a_sheet_says_what_is_behind_each_row() -> None:
    sheet = sheet_of(1.5, -0.4, -2.0)
    html = sheet_html(sheet, background(), "sheet")
    assert "the matcher" in html
    assert "the linear model" in html
    assert "70 % of the title" in html or "words are shared" in html
    assert 'title="title word overlap is above 0.6 -&gt; match"' in html  # the exact form is one hover away
    assert HOSTILE not in html
    assert "&lt;script&gt;" in html
    assert sheet_words(sheet).startswith("Log-odds −1.70 before comparing; title +2.00")
    steps = evidence_steps(sheet, background())
    assert [step.name for step in steps][:2] == ["Before comparing", "title"]
    assert steps[-1].name == "the whole record: little"


def test_every_voice_of_the_engine_has_words() -> None:
    from riskcore.training.base_learners import BASE_LEARNERS, FINE_TUNED, TARGET_RULES

    assert {"matcher", *BASE_LEARNERS, TARGET_RULES, FINE_TUNED, "competing candidates"} == set(balance_view.NAMES)


@pytest.mark.parametrize(
    ("label", "risk", "expected", "says"),
    [
        (1, 0.9, "Probably a non-match, labelled match", False),
        (0, 0.7, "Probably a match, labelled non-match", True),
        (1, 0.5, "Could go either way, labelled match", None),
        (0, 0.1, "Probably a non-match", False),
    ],
)
def test_what_a_pair_probably_is(label: int, risk: float, expected: str, says: bool | None) -> None:
    assert likely_words(label, risk) == (expected, says)


def test_rows_of_the_queue_say_why_and_show_both_records_whole() -> None:
    rows = pd.DataFrame(
        {
            "pair_id": ["1:2", "3:4"],
            "label": [1, 0],
            "risk": [0.91, 0.2],
            "verdict": ["match", None],
            "left_title": ["a very long title " * 10, "x"],
            "right_title": [HOSTILE, None],
        }
    )
    reason = PairReason(False, "year: 2007 against 2006", "same title", "year: 2007 against 2006", True)
    first, second = queue_rows(rows, ["title"], [reason, None], ["⇄ flipped at iteration 2", ""], "3:4")
    assert first.likely == "Probably a non-match, labelled match"
    assert first.reason == "Year: 2007 against 2006, although same title."
    assert first.flip == "⇄ flipped at iteration 2"
    assert first.verdict == "judged = match"
    assert first.left.startswith("a very long title a very long title")
    assert len(first.left) > 170
    assert first.right == HOSTILE  # as data: the browser puts it there as text
    assert (second.right, second.reason, second.open) == ("–", "risk is medium", True)


def test_an_unsteady_reason_is_not_called_the_reason() -> None:
    reason = PairReason(True, "same title", "", "", steady=False)
    assert reason.words == "no single reason; among others, same title"
    assert PairReason(True, "", "", "", steady=True).words == "nothing speaks clearly for either"
    weak = PairReason(False, "", "same title", "", steady=True)
    assert weak.words.startswith("same title, but that is too little")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.2-0.45", (0.2, 0.45)),
        ("0-1", (0.0, 1.0)),
        ("0.5-0.2", None),
        ("0.5", None),
        ("-1-2", None),
        ("x", None),
        ("", None),
        (None, None),
        ("0-2", None),
    ],
)
def test_a_range_in_the_address(text: str | None, expected: tuple[float, float] | None) -> None:
    assert range_from_address(text) == expected


def test_links_from_elsewhere_narrow_the_queue(screen, done) -> None:
    folder = RunFolder(done.folder)
    query = PairQuery(probability_min=0.2, probability_max=0.6, mu_min=0.0, mu_max=0.5)
    expected = query_pairs(folder, query).total
    app = screen("pairs", run=done.id, probability="0.2-0.6", evidence="0-0.5")
    text = words(app)
    assert f"**{expected} pairs**" in text
    assert "Only pairs with" in text
    button = next(one for one in app.button if one.label == "Show all pairs")
    assert "**120 pairs**" in words(button.click().run())
    assert "probability" not in app.query_params


def test_the_queue_is_filtered_by_its_leading_reason(screen, done) -> None:
    from riskcore.runs.readers.pair_sheet import count_leading

    counts = count_leading(RunFolder(done.folder), "risk")
    name, count = next(iter(counts.items()))
    assert f"**{count} pairs**" in words(screen("pairs", run=done.id, reason=name))
