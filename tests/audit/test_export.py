import csv
import re

import pandas as pd
import pytest

from riskcore.audit import ExportError, export_frame, html_report, safe_cell
from riskcore.audit.export import safe_frame
from riskcore.data.formulas import runs

HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\tplain", "\rplain", "\nplain"]
HOSTILE += [
    ";=1+1",
    " ;; +1",
    "a;=1+1",
    "a\t@SUM(A1)",
    "two lines\n=1+1",
    "a; ＝1;-2",
    " =1+1",
    "\u00a0=1",
    "\u3000@A1",
    "\ufeff=1",
    "\u200b=1",
    "\x00=1",
    "＝1+1",
    " ＋1",
    "－1",
    "＠A1",
]


@pytest.fixture
def frame():
    return pd.DataFrame({"pair_id": ["a:b", "=c:d"], "risk": [-0.5, 0.25], "left_title": ["<b>x</b>", None]})


@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_is_a_formula(text):
    assert not runs(safe_cell(text))
    assert safe_cell(text).replace("'", "") == text


@pytest.mark.parametrize("value", ["plain", "", "a=b", " plain", "; and", "a, =b", "a;b", None, -1, -0.5, True])
def test_other_cells_are_left_alone(value):
    assert safe_cell(value) is value


def test_no_separator_makes_a_formula_of_a_part(tmp_path):
    """A spreadsheet that splits at semicolons or tabs takes each part of a line for a cell."""
    export_frame(pd.DataFrame({"a": HOSTILE, "b": HOSTILE[::-1]}), tmp_path / "pairs.csv")
    for part in re.split(r"[;\t\r\n]", (tmp_path / "pairs.csv").read_text(encoding="utf-8")):
        assert not re.match(r"[\s\x00\u200b\ufeff\"]*[=+\-@＝＋－＠]", part)


def test_csv_comes_back_as_it_was_but_for_formulas(frame, tmp_path):
    export_frame(frame, tmp_path / "pairs.csv")
    with (tmp_path / "pairs.csv").open(newline="") as lines:
        rows = list(csv.reader(lines))
    assert rows == [["pair_id", "risk", "left_title"], ["a:b", "-0.5", "<b>x</b>"], ["'=c:d", "0.25", ""]]


def test_column_names_are_cells_too(tmp_path):
    export_frame(pd.DataFrame({"=left": ["x"]}), tmp_path / "pairs.csv")
    assert (tmp_path / "pairs.csv").read_text().splitlines()[0] == "'=left"


def test_parquet_comes_back_as_it_was(frame, tmp_path):
    export_frame(frame, tmp_path / "pairs.parquet")
    back = pd.read_parquet(tmp_path / "pairs.parquet")
    assert back["pair_id"].tolist() == ["a:b", "=c:d"]
    assert back["risk"].tolist() == [-0.5, 0.25]


def test_html_shows_markup_as_text(frame, tmp_path):
    wild = frame.assign(left_title=["<script>alert(1)</script>\u202e\x1b", None])
    export_frame(wild, tmp_path / "pairs.html", "A & B")
    page = (tmp_path / "pairs.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e\\x1b" in page
    assert "<h1>A &amp; B</h1>" in page
    assert "nan" not in page.lower().replace("<td></td>", "")


def test_a_report_begins_with_facts(frame):
    page = html_report("Audit", {"Pairs": frame, "Again": frame}, {"run": "<1>", "pairs": 2})
    assert "<dt>run</dt><dd>&lt;1&gt;</dd>" in page
    assert page.count("<table>") == 2


def test_what_cannot_be_written(frame, tmp_path):
    with pytest.raises(ExportError, match=r"\.csv, \.parquet, \.html"):
        export_frame(frame, tmp_path / "pairs.xlsx")
    with pytest.raises(ExportError, match="does not exist"):
        export_frame(frame, tmp_path / "nowhere" / "pairs.csv")


def test_a_whole_column_is_guarded_like_each_cell():
    values = [*HOSTILE, "plain", "1", "", None, "ü", "\ud800=1", 5, -1.5]
    for column in (values, HOSTILE, ["a", "b"]):
        found = safe_frame(pd.DataFrame({"a": pd.Series(column, dtype=object), "=n": range(len(column))}))
        assert list(found) == ["a", "'=n"]
        assert found["a"].tolist() == [safe_cell(value) for value in column]
