"""Files of other tools: what is written comes back whole, whatever the text; bad rows are listed at once."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcore.audit.decisions import decisions
from riskcore.audit.exchange import FORMATS, ReadVerdict, export_tasks, export_verdicts, read_verdicts
from riskcore.audit.exchange.argilla import user_id
from riskcore.audit.exchange.files import decoded, encoded
from riskcore.audit.exchange.pairs import ExchangedPair, Given
from riskcore.audit.export import ExportError
from riskcore.audit.verdicts import VERDICTS, Verdict, VerdictLog
from riskcore.data.problems import DataFormatError
from riskcore.errors import ConfigError
from riskcore.runs.store.run_store import RunStore

AT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
HOSTILE = [
    *("=1+1", "+41 44", "-5", "@x", "'=1", "''-2", "'", "\t=1"),
    *("a\nb", "a\r\nb", "\r", '"', '","', ";", "\x00", "\ufeff", "Ω 漢 🙂 \u202e"),
    *("[1]", "{}", "null", "NaN", "x" * 200_000),
    *("#year #two-editions", "other edition #price,\n#année", "# no tag", "#"),  # tags are words of a note
]
texts = st.one_of(st.text(min_size=1, max_size=30), st.sampled_from(HOSTILE))
# Names that mean something in a format, and any others.
names = st.one_of(
    st.sampled_from(
        [
            "title",
            "id",
            "unique_id",
            "value_x",
            "z_cluster",
            "z_x",
            "verdict",
            "note",
            "who",
            "pair_id",
            "x_l",
            "left_x",
        ]
    ),
    st.text(min_size=1, max_size=8),
)
records = st.dictionaries(names, texts, max_size=3)
given_verdicts = st.builds(
    Given,
    st.sampled_from(VERDICTS),
    st.one_of(st.just(""), texts),
    st.one_of(st.just(""), texts),
    st.sampled_from([None, AT]),
)


@st.composite
def pairs(draw):
    ids = draw(st.lists(texts, min_size=1, max_size=3, unique=True))
    return [
        ExchangedPair(
            pair,
            draw(texts),
            draw(texts),
            draw(records),
            draw(records),
            tuple(draw(st.lists(given_verdicts, max_size=2, unique_by=lambda one: one.who))),
            draw(st.none() | st.floats(0, 1)),
        )
        for pair in ids
    ]


def expected(some):
    """What reading these pairs gives, without rows."""
    return [
        (one.pair_id, one.left_id, one.right_id, said.verdict, said.note, said.who, said.at, one.left, one.right)
        for one in some
        for said in one.verdicts
    ]


def as_read(found):
    return [
        (one.pair_id, one.left_id, one.right_id, one.verdict, one.note, one.who, one.at, one.left, one.right)
        for one in found
    ]


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=60, deadline=None)
@given(some=pairs(), lines=st.booleans())
def test_nothing_is_lost_on_the_way_and_the_format_is_recognised(form, some, lines):
    content = encoded(some, form, lines)
    assert as_read(decoded(content, "file", form)) == expected(some)
    assert as_read(decoded(content, "file")) == expected(some)


PAIR = ExchangedPair(
    "1:7", "1", "7", {"title": "Ann's", "year": "=2001"}, {"title": "Anns"}, (Given("match", "sure", "Bo", AT),), 0.2
)
UNJUDGED = ExchangedPair("2:8", "2", "8", {"title": "x"}, {"title": "y"}, probability=0.9)


def table(content):
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_splink_has_the_columns_of_its_labels_table():
    judged, open_one = table(encoded([PAIR, UNJUDGED], "splink"))
    assert list(judged)[:5] == [
        "unique_id_l",
        "source_dataset_l",
        "unique_id_r",
        "source_dataset_r",
        "clerical_match_score",
    ]
    assert list(judged.values())[:5] == ["1", "left_table", "7", "right_table", "1.0"]
    assert (judged["title_l"], judged["title_r"], judged["year_l"]) == ("Ann's", "Anns", "=2001")
    assert open_one["clerical_match_score"] == ""
    unsure = ExchangedPair("1:7", "1", "7", {}, {}, (Given("unsure"),), self_join=True)
    (row,) = table(encoded([unsure], "splink"))
    assert (row["clerical_match_score"], row["source_dataset_l"]) == ("0.5", row["source_dataset_r"])


def test_a_labels_table_made_by_splink_is_read():
    content = (
        b"unique_id_l,source_dataset_l,unique_id_r,source_dataset_r,clerical_match_score\n0,a,1,a,1.0\n0,a,4,a,0.2\n"
    )
    assert decoded(content, "labels.csv") == [
        ReadVerdict("", "0", "1", "match", row=2),
        ReadVerdict("", "0", "4", "non-match", row=3),
    ]


def test_zingg_has_two_rows_per_pair():
    rows = table(encoded([PAIR, UNJUDGED], "zingg"))
    assert [(row["z_cluster"], row["z_isMatch"], row["z_source"], row["id"]) for row in rows] == [
        ("1", "1", "left", "1"), ("1", "1", "right", "7"), ("2", "-1", "left", "2"), ("2", "-1", "right", "8"),
    ]  # fmt: skip
    assert [row["title"] for row in rows[:2]] == ["Ann's", "Anns"]


def test_samples_made_for_zingg_are_read():
    content = b"z_cluster,z_isMatch,id,name\nc,2,9,Bo\nc,2,10,Bob\n"
    assert decoded(content, "training.csv") == [
        ReadVerdict("", "9", "10", "unsure", left={"name": "Bo"}, right={"name": "Bob"}, row=3)
    ]


def test_label_studio_has_data_annotations_and_predictions():
    judged, open_one = json.loads(encoded([PAIR, UNJUDGED], "label-studio"))
    ids, values = {"pair_id": "1:7", "ltable_id": "1", "rtable_id": "7"}, {"left_title": "Ann's", "right_title": "Anns"}
    assert judged["data"] == {**ids, **values, "left_year": "=2001"}
    choice, note = judged["annotations"][0]["result"]
    assert (choice["type"], choice["value"]) == ("choices", {"choices": ["match"]})
    assert (note["type"], note["value"]) == ("textarea", {"text": ["sure"]})
    (prediction,) = judged["predictions"]
    assert prediction["result"][0]["value"] == {"choices": ["non-match"]}
    assert prediction["score"] == pytest.approx(0.8)
    assert open_one["annotations"] == []


def test_annotations_made_in_label_studio_are_read():
    (task,) = json.loads(encoded([ExchangedPair("1:7", "1", "7", {}, {})], "label-studio"))
    result = [
        {"id": "x", "from_name": "verdict", "to_name": "pair", "type": "choices", "value": {"choices": ["non-match"]}}
    ]
    made = {
        "id": 1,
        "completed_by": 10,
        "created_at": "2026-03-01T12:30:15.123456Z",
        "result": result,
        "was_cancelled": False,
    }
    named = {**made, "completed_by": {"id": 3, "email": "bo@example.org"}}
    task["annotations"] = [made, named, {**made, "was_cancelled": True}, {**made, "result": []}]
    found = decoded(json.dumps([task]).encode(), "export.json")
    assert [(one.verdict, one.who, one.at) for one in found] == [
        ("non-match", "10", AT),
        ("non-match", "bo@example.org", AT),
    ]


def test_argilla_has_fields_suggestions_responses_and_metadata():
    (record,) = json.loads(encoded([PAIR], "argilla"))
    assert record["id"] == "1:7"
    assert record["fields"] == {"left": "title: Ann's\nyear: =2001", "right": "title: Anns"}
    assert record["suggestions"]["verdict"] == {"value": "non-match", "score": pytest.approx(0.8), "agent": "riskcore"}
    assert record["responses"]["verdict"] == [{"value": "match", "user_id": user_id("Bo"), "status": "submitted"}]
    assert all(isinstance(value, str) for value in record["metadata"].values())


def test_responses_made_in_argilla_are_by_their_user_and_may_change_a_verdict():
    (record,) = json.loads(encoded([PAIR], "argilla"))
    other = "11111111-2222-3333-4444-555555555555"
    record["responses"] = {
        "verdict": [{"value": "unsure", "user_id": user_id("Bo")}, {"value": "match", "user_id": other}]
    }
    found = decoded((json.dumps(record) + "\n").encode(), "records.jsonl")
    assert [(one.verdict, one.who, one.note) for one in found] == [("unsure", "Bo", ""), ("match", other, "")]


def test_plain_csv_is_safe_in_a_spreadsheet_and_read_back_from_one():
    content = encoded([PAIR], "csv").decode()
    assert table(content.encode())[0]["left_year"] == "'=2001"
    semicolons = "\ufeffpair_id;verdict;note\r\n1:7;M;maybe\r\n2:8;;\r\n"
    assert decoded(semicolons.encode(), "list.csv") == [ReadVerdict("1:7", "", "", "match", "maybe", row=2)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "pair_id,verdict,at\n1,perhaps,\n2,match,noon\n,match,\n4,match\n",
            ["row 2, column 'verdict': The verdict is 'perhaps'", "row 3, column 'at': The time is 'noon'",
             "row 4, column 'pair_id': The pair has no id", "row 5: The row has 2 fields"],
        ),
        ('pair_id,verdict\n1,"match"x\n', ["row 2: The row cannot be read"]),
        ("unique_id_l,unique_id_r,clerical_match_score\n1,2,1.5\n1,3,yes\n", ["row 2", "The score is '1.5'", "'yes'"]),
        ("unique_id_l,unique_id_r,clerical_match_score,verdict\n1,2,1.0,unsure\n", ["the score says otherwise"]),
        (
            "z_cluster,z_isMatch,id\na,1,1\na,0,2\nb,7,3\nb,7,4\nc,1,5\n",
            ["The cluster 'a' has 2 rows with 2 different labels", "The label is '7'", "'c' has 1 rows"],
        ),
        ("z_cluster,z_isMatch,id\n" + "a,1,1\n" * 500, ["The clusters have 124,750 pairs", "Split the file"]),
        ('[{"data": {}, "annotations": 5}, {"x": 1}]', ["row 2: This is not label-studio"]),
        ('[{"data": {"pair_id": "1"}, "annotations": [5]}]', ["row 1: A value is of another type"]),
        ('[{"fields": {}}, {"fields": {}, "id": "1", "responses": [1]}]', ["row 2", "not sorted by question"]),
        ('[{"fields": {}, "responses": {"verdict": [{"value": "match"}]}}]', ["The pair has no id"]),
        ('[{"fields": {}, "metadata": {"verdicts": "x"}}]', ["The metadata verdicts is not what was exported"]),
        ("[1, 2]", ["row 1: This is not a JSON object", "row 2"]),
        ('{"data": {}}\n{"data": \n', ["row 2: The file is not JSON"]),
        ('[{"other": 1}]', ["none of the known formats"]),
        ("a,b\n1,2\n", ["none of the known formats", "clerical_match_score (Splink)"]),
        ("", ["none of the known formats"]),
    ],
)  # fmt: skip
def test_one_error_lists_what_is_wrong(content, said):
    with pytest.raises(DataFormatError) as caught:
        decoded(content.encode(), "file")
    for words in said:
        assert words in str(caught.value)


def test_a_file_of_another_format_than_said_is_refused(tmp_path):
    with pytest.raises(DataFormatError, match="has not the columns of zingg"):
        decoded(encoded([PAIR], "csv"), "file", "zingg")
    with pytest.raises(DataFormatError, match="not label-studio"):
        decoded(encoded([PAIR], "argilla"), "file", "label-studio")
    with pytest.raises(DataFormatError, match="UTF-8"):
        decoded(b"pair_id,verdict,note\n1,match,\xff\n", "file")
    with pytest.raises(DataFormatError, match="no such file"):
        read_verdicts(tmp_path / "none.csv")
    with pytest.raises(ConfigError, match="Possible: splink"):
        decoded(b"", "file", "prodigy")
    assert decoded(b"[]", "file") == []


@pytest.fixture
def exported(finished):
    """The first target pairs of a run, and the log of its verdicts."""
    store = RunStore(finished.path.parent)
    log, run = VerdictLog(store), store.get(finished.path.name).id
    return finished, log, run


def test_tasks_and_verdicts_of_a_run(exported, tmp_path):
    folder, log, run = exported
    frame = decisions(folder, verdicts={}, reasons=False)
    first, second, last = frame["pair_id"].iat[0], frame["pair_id"].iat[1], frame["pair_id"].iat[-1]
    log.add(run, first, "match", "=note\nwith a line", "Ann")
    log.add(run, first, "non-match", "", "Bo")
    log.add(run, second, "unsure", "", "Ann")
    log.add(run, second, "match", "", "Ann")
    log.add(run, last, "match", "", "Bo")  # no target pair
    log.undo(run, last, "Bo")
    values = frame.set_index("pair_id").loc[first]
    for form in FORMATS:
        path = tmp_path / f"verdicts-{form}"
        assert export_verdicts(folder, log.entries(run), form, path) == 3
        found = read_verdicts(path)
        assert [(one.pair_id, one.who, one.verdict, one.note) for one in found] == [
            (first, "Ann", "match", "=note\nwith a line"), (first, "Bo", "non-match", ""), (second, "Ann", "match", ""),
        ]  # fmt: skip
        assert found[0].at == log.history(run, first)[0].at
        assert (found[0].left_id, found[0].right_id) == (values["ltable_id"], values["rtable_id"])
        assert found[0].left["title"] == values["left_title"]
        assert found[0].right["title"] == values["right_title"]
        tasks = tmp_path / f"tasks-{form}"
        assert export_tasks(folder, [last, first, last], form, tasks) == 2
        assert read_verdicts(tasks) == []
    told = json.loads((tmp_path / "tasks-label-studio").read_text())
    assert [one["data"]["pair_id"] for one in told] == [last, first]
    assert "predictions" in told[1]
    export_tasks(folder, [first], "label-studio", tmp_path / "blind.json", probabilities=False)
    assert "predictions" not in json.loads((tmp_path / "blind.json").read_text())[0]


def test_pairs_that_the_run_does_not_have_and_missing_folders_are_refused(exported, tmp_path):
    folder, _, _ = exported
    with pytest.raises(ExportError, match="has no pair 'x'"):
        export_tasks(folder, ["x"], "csv", tmp_path / "a.csv")
    with pytest.raises(ExportError, match="Create it first"):
        export_verdicts(folder, [Verdict("r", "x", "match", "", "", AT)], "csv", tmp_path / "none" / "a.csv")


def test_a_labels_table_with_the_sides_exchanged_is_turned():
    content = (
        b"unique_id_l,source_dataset_l,unique_id_r,source_dataset_r,clerical_match_score,title_l,title_r\n"
        b"7,right_table,1,left_table,0,y,x\n"
    )
    (one,) = decoded(content, "labels.csv")
    assert (one.left_id, one.right_id, one.left, one.right) == ("1", "7", {"title": "x"}, {"title": "y"})


def test_every_two_records_of_a_zingg_cluster_are_a_pair():
    content = b"z_cluster,z_isMatch,z_source,id\nc,1,right,9\nc,1,left,1\nc,1,right,8\n"
    found = decoded(content, "training.csv")
    assert [(one.left_id, one.right_id, one.verdict) for one in found] == [
        ("1", "9", "match"), ("9", "8", "match"), ("1", "8", "match"),
    ]  # fmt: skip


def test_the_short_exports_of_label_studio_are_read():
    shared = {
        "pair_id": "1:7",
        "left_title": "x",
        "verdict": "match",
        "annotator": "bo@example.org",
        "annotation_id": 3,
    }
    item = {**shared, "note": "#year", "created_at": "2026-03-01T12:30:15.123456Z", "id": 1, "lead_time": 2.5}
    table_of = ",".join(item) + "\n" + ",".join(map(str, item.values())) + "\n"
    for content in (json.dumps([item, {**item, "verdict": None}]), table_of):
        (one,) = decoded(content.encode(), "export")
        assert (one.pair_id, one.verdict, one.note, one.who, one.at) == ("1:7", "match", "#year", "bo@example.org", AT)


def test_discarded_responses_of_argilla_are_left_out():
    (record,) = json.loads(encoded([PAIR], "argilla"))
    record["responses"]["verdict"][0]["status"] = "discarded"
    assert decoded(json.dumps([record]).encode(), "records.json") == []
