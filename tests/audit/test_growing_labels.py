"""Labels that grow from run to run: what a run began with, and what was drawn and judged since."""

import dataclasses

import pytest

from riskcore.audit import VerdictLog, decisions
from riskcore.audit.decisions import answer_of
from riskcore.audit.draws import draw_pairs, drawn_pairs
from riskcore.audit.labels import adapting_config, draft_config, is_draft, label_progress, labels_of, store_labels
from riskcore.audit.work_list import work_list
from riskcore.config import RunConfig
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.worker.execute import execute
from tests.runs.conftest import small_config
from tests.runs.fake_engine import fake_engine


def is_match(pair):
    left, right = pair.split(":")
    return "match" if left[1:] == right[1:] else "non-match"


def test_pairs_drawn_in_the_next_run_join_the_labels_it_began_with(store, data, finished):
    draw_pairs(finished, 20, seed=1)
    for pair in drawn_pairs(finished)["pair_id"]:
        VerdictLog(store).add(finished.path.name, pair, is_match(pair))
    begun = label_progress(finished)
    config = dataclasses.replace(small_config(data), labels=str(store_labels(finished)))
    record = store.create(config, "next")
    execute(store, record.id, engine=fake_engine)
    after = RunFolder(record.folder)
    assert label_progress(after).labelled == begun.labelled == 20
    draw_pairs(after, 10, seed=1)
    for pair in drawn_pairs(after)["pair_id"]:
        VerdictLog(store).add(record.id, pair, is_match(pair))
    labels = labels_of(after).dropna(subset=["label"])
    assert len(labels) == 30
    progress = label_progress(after)
    assert (progress.matches, progress.non_matches) == ((labels["label"] == 1).sum(), (labels["label"] == 0).sum())


def test_a_drawn_pair_knows_its_row(finished):
    draw_pairs(finished, 7, seed=3)
    draw_pairs(finished, 5)
    drawn, ids = drawn_pairs(finished), read_pair_ids(finished.pairs_file).column("pair_id").to_pylist()
    assert drawn["pair_id"].tolist() == [ids[row] for row in drawn["row"]]
    assert drawn["draw"].tolist() == [1] * 7 + [2] * 5


@pytest.mark.parametrize("source", ["", "a"])
def test_a_draft_is_told_from_the_run_after_it(source):
    draft = draft_config(RunConfig(source=source, target="b"))
    assert is_draft(draft)
    assert not is_draft(adapting_config(draft, "labels.parquet"))
    assert not is_draft(RunConfig(source="a"))


def test_labels_that_teach_without_a_source_are_in_the_result(store, data, finished):
    draw_pairs(finished, 30, seed=1)
    for pair in drawn_pairs(finished)["pair_id"]:
        VerdictLog(store).add(finished.path.name, pair, is_match(pair))
    config = RunConfig(target=str(data), labels=str(store_labels(finished)), methods=("tradition", "risk"))
    record = store.create(config, "alone")
    execute(store, record.id, engine=fake_engine)
    rows = decisions(RunFolder(record.folder))
    taught = rows[rows["part"] == "training"]
    assert len(taught)
    assert (taught["decided_by"] == "label given").all()
    assert (taught["decision"] == taught["pair_id"].map(is_match)).all()
    assert len(rows) == 144  # every candidate pair
    answer = answer_of(RunFolder(record.folder))
    assert answer.sentence == "risk used labels of: training."  # of the target: there is no source to name


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_filled_in_work_list_can_be_the_labels_that_a_run_begins_with(store, data, finished, tmp_path, ending):
    draw_pairs(finished, 20, seed=1)
    file = tmp_path / f"list.{ending}"
    frame = work_list(finished).assign(verdict=[is_match(pair)[0] for pair in drawn_pairs(finished)["pair_id"]])  # m, n
    frame.to_csv(file, index=False, sep=";", encoding="utf-16") if ending == "csv" else frame.to_excel(
        file, index=False
    )
    record = store.create(RunConfig(target=str(data), labels=str(file), methods=("tradition", "risk")), "again")
    execute(store, record.id, engine=fake_engine)
    labels = labels_of(RunFolder(record.folder)).dropna(subset=["label"]).set_index("pair_id")
    assert set(labels.index) == set(drawn_pairs(finished)["pair_id"])
    assert all(labels.loc[pair, "label"] == (is_match(pair) == "match") for pair in labels.index)


def test_labels_of_an_earlier_run_weigh_as_much_as_new_ones_of_their_stratum(store, data, finished):
    draw_pairs(finished, 24, seed=1)
    for pair in drawn_pairs(finished)["pair_id"]:
        VerdictLog(store).add(finished.path.name, pair, is_match(pair))
    before = labels_of(finished).set_index("pair_id")["inclusion_probability"]
    config = RunConfig(target=str(data), labels=str(store_labels(finished)), methods=("tradition", "risk"))
    record = store.create(config, "grown")
    execute(store, record.id, engine=fake_engine)
    folder = RunFolder(record.folder)
    first = drawn_pairs(finished)["pair_id"].tolist()
    assert labels_of(folder).set_index("pair_id").loc[first, "inclusion_probability"].equals(before.loc[first])
    draw_pairs(folder, 12, seed=2)
    after = labels_of(folder).set_index("pair_id")["inclusion_probability"]
    assert (after.loc[first] >= before.loc[first]).all()
    rest = after.index.difference(first)
    for probability in before.loc[first].unique():
        alike = before.loc[rest][before.loc[rest] == probability].index
        if len(alike):
            mine = after.loc[[pair for pair in first if before[pair] == probability]]
            assert mine.to_numpy() == pytest.approx(after.loc[alike].mean())
