"""A rule's errors on validation pairs against the whole table in memory."""

import pyarrow as pa
import pyarrow.parquet as pq

from riskcore.runs.readers.validation_pairs import rule_on_validation
from riskcore.storage.files import write_parquet
from tests.runs.fake_engine import RULES


def test_errors_are_the_fired_pairs_that_contradict_the_rule(finished):
    table = pq.read_table(finished.other_pairs_file).to_pandas()
    on_validation = finished.rules_on_validation()
    for number, rule in enumerate(RULES):
        fired = table[(table["part"] == "validation") & table["rules"].map(lambda rules, n=number: n in rules)]
        outcome = int(rule.outcome == "match")
        wrong = fired[fired["label"] != outcome]
        found = rule_on_validation(finished, number)
        assert (found.pairs, found.right, found.wrong) == (len(fired), len(fired) - len(wrong), len(wrong))
        assert (found.pairs, found.right) == (on_validation.support[number], on_validation.right[number])
        assert [pair.pair_id for pair in found.errors] == wrong["pair_id"].tolist()
        assert {pair.label for pair in found.errors} <= {1 - outcome}


def test_an_error_has_both_records(finished):
    table = pq.read_table(finished.other_pairs_file).to_pandas().set_index("pair_id")
    errors = [pair for rule in range(len(RULES)) for pair in rule_on_validation(finished, rule).errors]
    assert errors
    for pair in errors:
        row = table.loc[pair.pair_id]
        assert pair.left == {"title": row["left_title"], "year": row["left_year"]}
        assert pair.right == {"title": row["right_title"], "year": row["right_year"]}


def test_many_errors_are_counted_and_some_are_read(finished):
    rule = max(range(len(RULES)), key=lambda one: rule_on_validation(finished, one).wrong)
    every = rule_on_validation(finished, rule)
    assert every.wrong > 1
    some = rule_on_validation(finished, rule, most=1)
    assert (some.right, some.pairs, some.errors) == (every.right, every.pairs, every.errors[:1])


def test_training_and_unseen_pairs_do_not_count(finished):
    table = pq.read_table(finished.other_pairs_file)
    before = rule_on_validation(finished, 0)
    at = table.schema.get_field_index("part")
    other = table.set_column(at, "part", pa.array(["training"] * len(table), table.schema.field("part").type))
    write_parquet(finished.other_pairs_file, pa.concat_tables([table, other]))
    assert rule_on_validation(finished, 0) == before
    write_parquet(finished.other_pairs_file, other)
    assert rule_on_validation(finished, 0) is None


def test_a_run_that_stored_none(finished):
    finished.other_pairs_file.unlink()
    assert rule_on_validation(finished, 0) is None
