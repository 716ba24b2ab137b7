"""Pages of a run's pairs: filter and sort all scores, then read the records of one page only."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from riskcore.columns import LEFT, PAIR_ID, RIGHT, ROW, TRUTH, VERDICT, WRONG
from riskcore.errors import ConfigError, StorageError
from riskcore.rules.rule import Condition
from riskcore.runs.feedback_files import scan_queue, take_queue
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.orders import check_order, sorting
from riskcore.runs.readers.pair_sheet import sheet_method
from riskcore.runs.sheet_files import LEADING
from riskcore.storage.parquet import column_names, frame, load_columns, quoted, scan, searching, take_rows

NO_VERDICT = "none"  # as PairQuery.verdict: pairs without a verdict
MAX_PAGE_SIZE = 10_000
_SORTING = "sorting"  # the column that pairs are sorted by, while they are


@dataclasses.dataclass(frozen=True)
class PairQuery:
    """Which pairs, in which order, which page. A filter that is None does not filter."""

    method: str = "risk"
    iteration: int | None = None  # None is the kept one, or the latest while the run is active
    sort: str = "risk"  # a column of the scores, or `gain`, or `random`
    descending: bool = True
    label: int | None = None
    flipped: bool | None = None  # the score column of that name: another label than in iteration 0
    flipped_back: bool | None = None  # flipped on the way, and has the label of iteration 0 again
    rule: int | None = None  # this rule fired
    attribute: str | None = None  # a rule on this attribute fired
    risk_min: float | None = None
    risk_max: float | None = None
    probability_min: float | None = None
    probability_max: float | None = None
    mu_min: float | None = None
    mu_max: float | None = None
    kind: tuple[Condition, ...] = ()  # the pair's metrics meet all of these; a missing metric meets none
    reason: str | None = None  # the attribute that leads among the pair's reasons
    text: str | None = None  # somewhere in either record, or in the pair's id
    wrong: bool | None = None  # needs the target's labels
    pairs: tuple[str, ...] | None = None  # only these, by id, as of a work list or with a tag
    verdict: str | None = None  # match, non-match, unsure, or none for pairs without a verdict
    page: int = 1
    page_size: int = 50

    def __post_init__(self) -> None:
        check_order(self.sort)
        if self.page < 1 or not 1 <= self.page_size <= MAX_PAGE_SIZE:
            raise ConfigError(f"Pages start at 1 and hold 1 to {MAX_PAGE_SIZE:,} pairs.")
        object.__setattr__(self, "kind", tuple(self.kind))  # a list could not be hashed, and queries are cached


@dataclasses.dataclass(frozen=True, eq=False)
class PairPage:
    """One page: scores, both records, truth and verdict where there are any; and the size of the whole."""

    rows: pd.DataFrame
    total: int  # pairs that meet the filters
    page: int
    pages: int


def query_pairs(folder: RunFolder, query: PairQuery, verdicts: Mapping[str, Any] | None = None) -> PairPage:
    """One page of pairs. `verdicts` gives a pair's id its verdict (a text, or something with a `verdict`)."""
    return _answer(folder, query, verdicts, query.page_size)


def place_of(folder: RunFolder, query: PairQuery, row: int, verdicts: Mapping[str, Any] | None = None) -> int | None:
    """The place, from 1 on, of the pair in this row among all that meet the filters; None where it does not."""
    scores = scan_queue(folder, query.method, folder.iteration(query.method, query.iteration))
    with searching() as connection:
        table = _meeting(connection, folder, query, _judged(verdicts), scores)
        found = frame(connection, f"SELECT {_SORTING} AS value FROM {table} WHERE {ROW} = ?", [row])
        if found.empty:
            return None
        value, before = found["value"][0], ">" if query.descending else "<"
        test = f"{_SORTING} {before} ? OR ({_SORTING} = ? AND {ROW} < ?)"
        earlier = frame(connection, f"SELECT count(*) AS count FROM {table} WHERE {test}", [value, value, row])
    return int(earlier["count"][0]) + 1


def all_pairs(
    folder: RunFolder, query: PairQuery, verdicts: Mapping[str, Any] | None = None, records: bool = True
) -> pd.DataFrame:
    """Every pair that meets the filters, for counts and exports: these must be complete. Without `records`, which take
    most of the time, the scores, truth and verdicts alone."""
    return _answer(folder, dataclasses.replace(query, page=1), verdicts, None, records).rows


def _answer(
    folder: RunFolder, query: PairQuery, verdicts: Mapping[str, Any] | None, size: int | None, records: bool = True
) -> PairPage:
    """The query's page of that size; without a size, all of it as one page."""
    iteration = folder.iteration(query.method, query.iteration)
    judged = _judged(verdicts)
    with searching() as connection:
        table = _meeting(connection, folder, query, judged, scan_queue(folder, query.method, iteration))
        total = int(frame(connection, f"SELECT count(*) AS total FROM {table}")["total"][0])
        size = max(1, total) if size is None else size
        pages = max(1, -(-total // size))
        page = min(query.page, pages)
        order = f"{_SORTING} {'DESC' if query.descending else 'ASC'}, {ROW}"
        limits = f"LIMIT {size} OFFSET {(page - 1) * size}"
        # Places alone are sorted; the other columns are fetched for one page of them.
        rows = frame(connection, f"SELECT {ROW} FROM {table} ORDER BY {order} {limits}")[ROW].to_numpy()
    scores = take_queue(folder, query.method, iteration, rows).to_pandas()
    page_rows = _with_records(folder, scores, rows) if records else scores
    return PairPage(_beside(folder, page_rows, rows, judged), total, page, pages)


def _judged(verdicts: Mapping[str, Any] | None) -> dict[str, str]:
    """The verdict of each judged pair in a word."""
    return {pair: str(getattr(one, "verdict", one)) for pair, one in (verdicts or {}).items()}


def _meeting(
    connection: duckdb.DuckDBPyConnection, folder: RunFolder, query: PairQuery, judged: Mapping[str, str], scores: str
) -> str:
    """A table of the places that meet the filters and what they are sorted by: a view of the scores, or what one pass
    over them leaves."""
    conditions, values = _conditions(connection, folder, query, judged)
    columns = f"{ROW}, {sorting(connection, folder, query.sort, scores)} AS {_SORTING}"
    if not conditions:
        return f"(SELECT {columns} FROM {scores})"
    where = " AND ".join(conditions)
    connection.execute(f"CREATE TEMP TABLE meeting AS SELECT {columns} FROM {scores} AS s WHERE {where}", values)
    return "meeting"


def _with_records(folder: RunFolder, scores: pd.DataFrame, rows: Any) -> pd.DataFrame:
    records = take_rows(folder.pairs_file, rows).to_pandas()
    return pd.concat([scores, records.loc[:, [name.startswith((LEFT, RIGHT)) for name in records]]], axis=1)


def _beside(folder: RunFolder, page: pd.DataFrame, rows: Any, judged: Mapping[str, str]) -> pd.DataFrame:
    """The rows with truth and verdicts beside them."""
    if folder.has_truth:
        page[TRUTH] = take_rows(folder.truth_file, rows, ["label"]).column("label").to_numpy()
        page[WRONG] = (page[TRUTH] >= 0) & (page[TRUTH] != page["label"])
    page[VERDICT] = [judged.get(pair) for pair in page[PAIR_ID]]
    return page


def _conditions(
    connection: duckdb.DuckDBPyConnection, folder: RunFolder, query: PairQuery, judged: Mapping[str, str]
) -> tuple[list[str], list[Any]]:
    """Every filter as SQL over the scores `s`, and the values it takes."""
    plain: list[tuple[str, Any]] = [
        ("s.label = ?", query.label),
        ("s.flipped = ?", query.flipped),
        ("(s.flips > 0 AND NOT s.flipped) = ?", query.flipped_back),
        ("s.risk >= ?", query.risk_min),
        ("s.risk <= ?", query.risk_max),
        ("s.probability >= ?", query.probability_min),
        ("s.probability <= ?", query.probability_max),
        ("s.mu >= ?", query.mu_min),
        ("s.mu <= ?", query.mu_max),
    ]
    conditions = [(text, [value]) for text, value in plain if value is not None]
    conditions += _rule_conditions(folder, query)
    if query.kind:
        conditions.append(_kind_condition(connection, folder, query.kind))
    if query.reason is not None:
        conditions.append(_reason_condition(folder, query))
    if query.text:
        conditions.append(_text_condition(folder, query.text))
    if query.wrong is not None:
        conditions.append(_wrong_condition(folder, query.wrong))
    if query.verdict is not None:
        conditions.append(_verdict_condition(connection, query.verdict, judged))
    if query.pairs is not None:
        conditions.append(_pairs_condition(connection, query.pairs))
    return [text for text, _ in conditions], [value for _, values in conditions for value in values]


def _rule_conditions(folder: RunFolder, query: PairQuery) -> list[tuple[str, list[Any]]]:
    fired = f"s.{ROW} IN (SELECT {ROW} FROM {scan(folder.fired_file)} WHERE rule"
    found: list[tuple[str, list[Any]]] = []
    if query.rule is not None:
        found.append((f"{fired} = ?)", [query.rule]))
    if query.attribute is not None:
        numbers = rules_on(folder, query.attribute)
        # The numbers are written into the query, so that row groups of other rules are skipped.
        found.append((f"{fired} IN ({', '.join(map(str, numbers))}))" if numbers else "false", []))
    return found


def rules_on(folder: RunFolder, attribute: str) -> list[int]:
    """Numbers of the rules that look at an attribute."""
    rules = folder.rules().rules
    return [
        number
        for number, rule in enumerate(rules)
        if any(condition.attribute == attribute for condition in rule.conditions)
    ]


def metric_keys(folder: RunFolder) -> list[str]:
    """The metrics of a run's target pairs, as `attribute.kind`, in the order of their columns."""
    return column_names(folder.metrics_file)


def rows_of_kind(folder: RunFolder, kind: Sequence[Condition]) -> np.ndarray:
    """The rows of the target pairs whose metrics meet all conditions, in rising order.

    Conditions are tested here and not in a query: a missing metric is NaN, which is above every number there, and a
    test for NaN is dropped where the file's statistics show none, as they always do.
    """
    known, columns = set(metric_keys(folder)), list(dict.fromkeys(one.metric.key for one in kind))
    unknown = [key for key in columns if key not in known]
    if unknown:
        raise ConfigError(
            f"Pairs cannot be filtered by {', '.join(map(repr, unknown))}: run {folder.path.name} has no such metric. "
            "Drop this filter."
        )
    metrics = load_columns(folder.metrics_file, columns=columns)
    meets = np.ones(len(metrics), dtype=bool)
    for one in kind:
        meets &= one.holds(metrics.column(one.metric.key).to_numpy())
    return np.flatnonzero(meets)


def _kind_condition(
    connection: duckdb.DuckDBPyConnection, folder: RunFolder, kind: tuple[Condition, ...]
) -> tuple[str, list[Any]]:
    connection.register("of_kind", pd.DataFrame({ROW: rows_of_kind(folder, kind)}))
    return f"s.{ROW} IN (SELECT {ROW} FROM of_kind)", []


def _reason_condition(folder: RunFolder, query: PairQuery) -> tuple[str, list[Any]]:
    explained = sheet_method(folder, query.method, folder.iteration(query.method, query.iteration))
    if explained is None:
        raise StorageError(
            f"Pairs cannot be filtered by their leading reason: run {folder.path.name} has none of this iteration of "
            f"{query.method!r}. Drop this filter, or choose the kept iteration."
        )
    sheets, leading = scan(folder.sheets_file(explained)), quoted(LEADING)  # the name is a word of SQL
    return f"s.{ROW} IN (SELECT {ROW} FROM {sheets} WHERE {leading} = ?)", [query.reason]


def _text_condition(folder: RunFolder, text: str) -> tuple[str, list[Any]]:
    names = [side + name for name in folder.attributes() for side in (LEFT, RIGHT)]
    columns = [PAIR_ID, *map(quoted, names)]
    test = " OR ".join(f"contains(lower(p.{column}), ?)" for column in columns)
    wanted = f"s.{ROW} IN (SELECT p.{ROW} FROM {scan(folder.pairs_file)} AS p WHERE {test})"
    return wanted, [text.lower()] * len(columns)


def _wrong_condition(folder: RunFolder, wrong: bool) -> tuple[str, list[Any]]:
    if not folder.has_truth:
        raise StorageError("Wrong labels cannot be found: the target has no known labels. Drop this filter.")
    truth = f"SELECT t.label FROM {scan(folder.truth_file)} AS t WHERE t.{ROW} = s.{ROW} AND t.label >= 0"
    return f"(s.label {'<>' if wrong else '='} ({truth}))", []


def _pairs_condition(connection: duckdb.DuckDBPyConnection, pairs: Sequence[str]) -> tuple[str, list[Any]]:
    connection.register("listed", pd.DataFrame({"pair": pd.Series(list(pairs), dtype="str")}))
    return f"s.{PAIR_ID} IN (SELECT pair FROM listed)", []


def _verdict_condition(
    connection: duckdb.DuckDBPyConnection, verdict: str, judged: Mapping[str, str]
) -> tuple[str, list[Any]]:
    pairs = [pair for pair, one in judged.items() if verdict in (NO_VERDICT, one)]
    connection.register("judged", pd.DataFrame({"pair": pd.Series(pairs, dtype="str")}))
    known = f"s.{PAIR_ID} IN (SELECT pair FROM judged)"
    return (f"NOT {known}" if verdict == NO_VERDICT else known), []
