"""What a click asks for is stopped in time, in words; what a command computes is not."""

import time

import pytest
import sqlalchemy as sa

from riskcore.config import RunConfig
from riskcore.errors import ConfigError
from riskcore.storage.parquet import frame, searching
from riskcore.storage.time_limit import USUAL_SECONDS, VARIABLE, QueryTimeoutError, limit, limited, query_seconds

FOREVER = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range + b.range = -1"
COUNT = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {}) SELECT count(*) FROM n"


def test_a_search_is_stopped_and_the_next_one_is_not():
    started = time.monotonic()
    words = r"longer than 0\.2 seconds.*Narrow the filters"
    with limited(0.2), pytest.raises(QueryTimeoutError, match=words), searching() as connection:
        frame(connection, FOREVER)
    assert time.monotonic() - started < 10
    with limited(60), searching() as connection:
        assert frame(connection, "SELECT 7 AS found")["found"].tolist() == [7]


def test_searches_side_by_side_share_no_tables_and_no_limit():
    with searching() as one, searching() as other:
        one.execute("CREATE TEMP TABLE meeting AS SELECT 1 AS number")
        other.execute("CREATE TEMP TABLE meeting AS SELECT 2 AS number")
        with limited(0.1), pytest.raises(QueryTimeoutError), searching() as third:
            frame(third, FOREVER)
        assert frame(one, "SELECT number FROM meeting")["number"].tolist() == [1]
        assert frame(other, "SELECT number FROM meeting")["number"].tolist() == [2]


def test_a_query_of_the_store_is_stopped_and_the_next_one_is_not(store):
    run = store.create(RunConfig(source="x")).id
    with limited(0.2), pytest.raises(QueryTimeoutError, match="nothing was changed"):
        store.database.fetch(lambda tx: tx.execute(sa.text(COUNT.format(10**12))).scalar_one())
    counted = store.database.fetch(lambda tx: tx.execute(sa.text(COUNT.format(100_000))).scalar_one())
    assert counted == 100_000  # the connection is the same one, and its time is not over for ever
    with limited(0.001):
        store.delete(run, "ann")  # who writes is not stopped half way
    assert store.list() == []


def test_there_is_a_limit_on_screens_alone(monkeypatch):
    assert limit() is None
    with limited():
        assert limit() == USUAL_SECONDS == 20
        with limited(1):
            assert limit() == 1
        assert limit() == USUAL_SECONDS
    assert limit() is None
    monkeypatch.setenv(VARIABLE, "2.5")
    assert query_seconds() == 2.5


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "1e9"])
def test_a_limit_that_is_no_number_of_seconds_is_refused(monkeypatch, text):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(ConfigError, match="RISKCORE_QUERY_SECONDS"):
        query_seconds()
