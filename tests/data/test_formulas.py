"""Cells that spreadsheets run, and the apostrophe that can be taken away again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.data.formulas import guarded, runs, safe_cell, safe_start, unguarded

TEXTS = st.text("=;'\t\n -a＝\u200b", max_size=12)


@given(TEXTS)
def test_what_is_guarded_does_not_run_and_comes_back(text):
    assert not runs(guarded(text))
    assert unguarded(guarded(text)) == text


@given(TEXTS)
def test_a_safe_cell_does_not_run(text):
    assert not runs(safe_cell(text))


def test_a_workbook_is_never_split():
    assert safe_start("a;=1") == "a;=1"
    assert safe_start("=1") == "'=1"


@pytest.mark.parametrize("sign", "=+-@＝＋－＠﹦﹢﹣﹫")
@pytest.mark.parametrize("before", ["", " ", ";", "\u00a0", "\u200b", "\u00ad", "\u202e", "text;", "a\n\u2061"])
def test_every_way_to_begin_a_formula(before, sign):
    text = f"{before}{sign}1+1"
    assert runs(text)
    assert not runs(safe_cell(text))
    assert unguarded(guarded(text)) == text
