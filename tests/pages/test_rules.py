"""The Rules screen: sentences, records where people decide, and a rule's errors first."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pages.parts.rules.reason_cards import STYLE, Reason, merged_reasons, reasons_html
from riskcore.rules.record import record_words
from riskcore.rules.rule import Rule
from riskcore.rules.rule_set import measure_rules
from riskcore.rules.sentences import rule_sentence
from riskcore.runs import RunFolder
from riskcore.runs.evidence_files import read_fired
from riskcore.storage.files import write_parquet, write_text
from tests.pages.conftest import checked, words


@pytest.fixture
def validated(done):
    """The finished run, whose validation pairs are its target pairs once more, with their true labels."""
    folder = RunFolder(done.folder)
    rules, pairs = folder.rules(), pq.read_table(folder.pairs_file)
    fired = read_fired(folder, len(pairs), len(rules))
    labels = pq.read_table(folder.truth_file).column("label").to_numpy()
    write_text(folder.validation_rules_file, measure_rules(rules, fired, labels).to_json())
    columns = {
        "part": pa.array(["validation"] * len(pairs)),
        "pair_id": pa.array([f"v{pair}" for pair in pairs.column("pair_id").to_pylist()]),
        "label": pa.array(labels, pa.int8()),
        "rules": pa.array([row.indices.tolist() for row in fired], pa.large_list(pa.int32())),
    }
    columns |= {name: pairs.column(name) for name in pairs.schema.names if name.startswith(("left_", "right_"))}
    write_parquet(folder.other_pairs_file, pa.table(columns))
    return done


def test_rules_are_sentences_with_their_validation_record(screen, validated):
    folder = RunFolder(validated.folder)
    rules, record = folder.rules().rules, folder.rules_on_validation()
    table = screen("rules", run=validated.id).dataframe[0].value
    sentences = {rule_sentence(rule).lower(): number for number, rule in enumerate(rules)}
    assert {sentence.lower() for sentence in table["rule"]} == set(sentences)
    assert table["weight"].is_monotonic_decreasing
    for _, row in table.iterrows():
        number = sentences[row["rule"].lower()]
        right, fired = int(record.right[number]), int(record.support[number])
        assert row["right on validation"] == f"{right:,} of {fired:,}"
        assert f"(at least {round(row['at least'])} %)" in record_words(right, fired, "validation")
    assert "exact form" not in table


def test_the_exact_form_is_a_click_away_and_can_be_searched(screen, validated):
    app = screen("rules", run=validated.id)
    toggle = next(one for one in app.toggle if one.label == "Exact form")
    app = checked(toggle.set_value(True).run())
    exact = set(app.dataframe[0].value["exact form"])
    assert exact == {rule.text.rpartition(" -> ")[0] for rule in RunFolder(validated.folder).rules().rules}
    app = checked(app.text_input(key="rule_text").set_value("differs by more than 1.5").run())
    assert "**1 rule** of 8" in words(app)
    sentence = rule_sentence(Rule.parse("year differs by more than 1.5 -> non-match"))
    app = checked(app.text_input(key="rule_text").set_value(sentence.upper()).run())
    assert "**1 rule** of 8" in words(app)


def test_without_validation_pairs_the_record_is_that_of_the_source(screen, done):
    table = screen("rules", run=done.id).dataframe[0].value
    assert "right on source" in table
    text = words(screen("rules", run=done.id, one="0"))
    assert "This run has no validation pairs" in text
    assert " source pairs (at least " in text


def test_a_rule_begins_with_where_it_was_wrong(screen, validated):
    folder = RunFolder(validated.folder)
    record = folder.rules_on_validation()
    wrong = record.support - record.right
    number = int(np.argmax(wrong))
    assert wrong[number] > 3
    app = screen("rules", run=validated.id, one=str(number))
    headings = [one.value for one in app.header]
    assert headings == ["Where it was wrong on validation", "Its record", "Target pairs it fires on"]
    text = words(app)
    assert f"**{wrong[number]} pairs** of the {record.support[number]} validation pairs it fires on have" in text
    assert record_words(int(record.right[number]), int(record.support[number]), "validation") in text
    shown = [one.proto.body for one in app.get("html") if "by its label" in one.proto.body]
    assert len(shown) == 3
    toggle = next(one for one in app.toggle if one.label.startswith("Show all"))
    app = checked(toggle.set_value(True).run())
    shown = [one.proto.body for one in app.get("html") if "by its label" in one.proto.body]
    assert len(shown) == wrong[number]
    contrary = "match" if folder.rules().rules[number].outcome == "non-match" else "non-match"
    assert all(f"{contrary} by its label" in body for body in shown)


def test_record_text_of_an_error_is_text(screen, validated):
    """The first pairs hold markup; here the rule is wrong on them."""
    folder = RunFolder(validated.folder)
    table = pq.read_table(folder.other_pairs_file)
    contrary = int(folder.rules().rules[0].outcome != "match")
    changed = {"label": pa.array([contrary] * len(table), pa.int8()), "rules": pa.array([[0]] * len(table))}
    for name, values in changed.items():
        table = table.set_column(table.schema.get_field_index(name), name, values)
    write_parquet(folder.other_pairs_file, table)
    app = screen("rules", run=validated.id, one="0")
    bodies = "".join(one.proto.body for one in app.get("html"))
    assert "hacked" in bodies
    assert "<script>" not in bodies
    assert "<img" not in bodies


def test_a_rule_that_was_never_wrong_says_so(screen, validated):
    folder = RunFolder(validated.folder)
    table = pq.read_table(folder.other_pairs_file)
    outcome = int(folder.rules().rules[0].outcome == "match")
    at = table.schema.get_field_index("label")
    right = table.set_column(at, "label", pa.array([outcome] * len(table), pa.int8()))
    write_parquet(folder.other_pairs_file, right)
    text = words(screen("rules", run=validated.id, one="0"))
    assert "Nowhere: it was right on all" in text


def reason(text, weight, share, mean=0.9, **more):
    rule = None if text is None else Rule.parse(text)
    return Reason(rule, "match" if rule is None else rule.outcome, share, weight, mean, 0.1, **more)


def test_near_equal_rules_are_one_reason():
    reasons = [
        reason("title word overlap is above 0.6 -> match", 1.0, 0.1, 0.8),
        reason(None, 2.0, 0.2, 0.4),
        reason("title word overlap is above 0.7 -> match", 3.0, 0.3, 1.0, validation_right=5, validation_pairs=8),
        reason("title word overlap is at most 0.7 -> non-match", 1.0, 0.1),
        reason("title word overlap is above 0.7 and year is equal -> match", 1.5, 0.15),
        reason("title word overlap is above 0.65 -> match", 0.0, 0.0),
        reason("title word overlap is above 0.8 -> non-match", 1.0, 0.15),
    ]
    merged = merged_reasons(reasons)
    first = merged[0]
    assert first.rule.text == "title word overlap is above 0.7 -> match"
    assert (first.weight, first.share, first.like) == (4.0, pytest.approx(0.4), 2)
    assert first.mean == pytest.approx((1.0 * 0.8 + 3.0 * 1.0) / 4.0)
    assert (first.validation_right, first.validation_pairs) == (5, 8)
    assert [one.like for one in merged[1:]] == [0, 0, 0, 0]
    assert sum(one.share for one in merged) == pytest.approx(sum(one.share for one in reasons))
    assert merged_reasons(merged) == merged
    out = reasons_html(merged, {}, 0.5)
    assert "… and 2 like it" in out
    assert "together weight 4.00" in out
    assert merged_reasons([]) == []


def test_a_reason_states_its_record_where_people_decide():
    text = "year differs by more than 1.5 -> non-match"
    known = reason(text, 1.0, 0.5, support=800, purity=1.0, validation_right=5, validation_pairs=8)
    out = reasons_html([known], {}, 0.5)
    assert record_words(5, 8, "validation") in out
    assert "source" not in out
    assert f'title="{text.replace(">", "&gt;")}"' in out
    sentence = rule_sentence(Rule.parse(text))
    assert sentence[:1].upper() + sentence[1:] in out
    of_source = reasons_html([reason(text, 1.0, 0.5, support=800, purity=0.99)], {}, 0.5)
    assert record_words(792, 800, "source") in of_source
    learned = reasons_html([reason(text, 1.0, 0.5, support=8, purity=0.75, from_validation=True)], {}, 0.5)
    assert record_words(6, 8, "validation") in learned
    hostile = reasons_html([reason('"\\"><img src=x>" differs -> non-match', 1.0, 0.5)], {}, 0.5)
    assert "<img" not in hostile


def luminance(colour):
    parts = np.array(colour) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_secondary_text_can_be_read_in_both_themes():
    themes = {"light": ((28, 39, 51), (255, 255, 255)), "dark": ((227, 233, 240), (18, 23, 30))}
    opacities = [float(found) for found in re.findall(r"[;{]opacity:([\d.]+)", STYLE)]
    assert opacities
    for text, ground in themes.values():
        for opacity in opacities:
            mixed = opacity * np.array(text) + (1 - opacity) * np.array(ground)
            light, dark = sorted((luminance(mixed), luminance(ground)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5
    assert ".rc-rule.off{opacity" not in STYLE  # it would multiply with that of the text inside
