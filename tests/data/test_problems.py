import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcore.data.problems import ERRORS, KINDS, SHOWN_CHARS, WARNINGS, Problem, ProblemLog, shown, visible


def test_a_problem_is_one_line_with_file_row_column_and_cure():
    problem = Problem("bad_label", "The label is '7'.", "Write 1 or 0.", "train.csv", 1234, "label")
    assert str(problem) == "train.csv, row 1,234, column 'label': The label is '7'. Write 1 or 0."
    assert problem.severity == "error"


def test_a_kind_is_an_error_or_a_warning_and_not_both():
    assert not set(ERRORS) & set(WARNINGS)
    assert Problem("formula_cell", "", "").severity == "warning"


def test_the_log_names_the_first_rows_and_counts_the_rest():
    log = ProblemLog(examples=3)
    for row in range(10):
        log.add("ragged_row", "Ragged.", "Mend it.", "a.csv", row)
    log.add_rows("ragged_row", range(5), lambda n: f"At {n}.", "Mend it.", "b.csv")
    first, second = log.problems[:4], log.problems[4:]
    assert [problem.row for problem in first] == [0, 1, 2, None]
    assert first[-1].count == 7
    assert "7 more rows" in str(first[-1])
    assert [problem.message for problem in second[:3]] == ["At 0.", "At 1.", "At 2."]
    assert sum(problem.count for problem in log.problems) == 15


def test_each_column_has_its_own_examples_and_errors_come_first():
    log = ProblemLog(examples=1)
    log.add("formula_cell", "f", "", "a.csv", 2, "x")
    log.add("nul_byte", "n", "", "a.csv", 3, "x")
    log.add("nul_byte", "n", "", "a.csv", 4, "y")
    assert [(problem.kind, problem.column) for problem in log.problems] == [
        ("nul_byte", "x"),
        ("nul_byte", "y"),
        ("formula_cell", "x"),
    ]
    assert log.has_errors


def test_warnings_alone_are_no_errors():
    log = ProblemLog()
    log.add("formula_cell", "f", "", "a.csv", 2, "x")
    log.add_rows("nul_byte", [], lambda _: "", "", "a.csv", "x")
    assert not log.has_errors


@given(st.text(st.characters()))
def test_nothing_hidden_is_left_in_what_is_shown(text):
    clear = visible(text)
    assert clear.isprintable()
    if text.isprintable():
        assert clear == text


@pytest.mark.parametrize(
    ("hidden", "clear"), [("a\u00a0b", "a b"), ("\U00040000", "\\U00040000"), ("\ue000", "\\ue000")]
)
def test_odd_spaces_and_unassigned_characters_can_be_seen(hidden, clear):
    assert visible(hidden) == clear


def test_long_and_wild_values_are_cut_and_written_out():
    assert shown("a\nb\u202e\x1b[31m") == "'a\\nb\\u202e\\x1b[31m'"
    assert len(shown("x" * 10**6)) == SHOWN_CHARS + 3


def test_every_kind_says_what_it_is():
    assert all(KINDS.values())
