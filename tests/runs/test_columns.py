"""Every frame and file has the columns that one module names."""

import pyarrow.parquet as pq

from riskcore import columns
from riskcore.runs import PairQuery, pair_history, query_pairs, rule_table, summary
from riskcore.runs.documents import SummaryRow


def test_files(finished):
    assert pq.read_schema(finished.scores_file("risk", 0)).names == list(columns.SCORE_COLUMNS)
    assert pq.read_schema(finished.pairs_file).names == list(columns.pair_columns(["title", "year"]))
    assert pq.read_schema(finished.fired_file).names == list(columns.FIRED_COLUMNS)
    assert pq.read_schema(finished.truth_file).names == list(columns.TRUTH_COLUMNS)
    assert pq.read_schema(finished.metrics_file).names == ["title.jaccard", "year.closeness"]
    assert pq.read_schema(finished.final_file).names == [
        *(columns.ROW, columns.PAIR_ID),
        *("tradition", "risk", "forest"),
    ]


def test_frames(finished):
    page = query_pairs(finished, PairQuery()).rows
    pairs = columns.pair_columns(["title", "year"])[4:]
    assert list(page) == [*columns.SCORE_COLUMNS, *pairs, columns.TRUTH, columns.WRONG, columns.VERDICT]
    assert list(pair_history(finished, "a0:b2")) == list(columns.HISTORY_COLUMNS)
    assert list(rule_table(finished)) == list(columns.RULE_COLUMNS)
    assert list(summary(finished)) == list(columns.SUMMARY_COLUMNS)
    assert set(columns.SORT_COLUMNS) <= set(columns.SCORE_COLUMNS)


def test_the_rows_of_the_summary_have_its_columns():
    assert tuple(SummaryRow.__annotations__) == columns.SUMMARY_COLUMNS
