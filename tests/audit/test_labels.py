"""Draws kept with a run, and the labels that become the validation set of the next one."""

import csv
import hashlib

import numpy as np
import pandas as pd
import pytest

from riskcore.audit import VerdictLog
from riskcore.audit.draws import draw_pairs, drawn_pairs, draws_of, inclusion_of
from riskcore.audit.exchange import bring_verdicts, record_import
from riskcore.audit.labels import LabelProgress, adapting_config, draft_config, label_progress, labels_of, store_labels
from riskcore.audit.verdicts import VerdictError
from riskcore.audit.work_list import work_list, write_work_list
from riskcore.config import AdaptConfig, MatcherConfig, RunConfig
from riskcore.data.label_file import read_label_file
from riskcore.data.problems import DataFormatError
from riskcore.data.reading import open_data
from riskcore.errors import ConfigError


def import_work_list(folder, path, who=""):
    return record_import(folder, bring_verdicts(folder, path, who=who)).added


def judge(store, folder, pairs, verdict_of, who="me"):
    for pair in pairs:
        VerdictLog(store).add(folder.path.name, pair, verdict_of(pair), who=who)


def is_match(pair):
    left, right = pair.split(":")
    return "match" if left[1:] == right[1:] else "non-match"


def test_a_draw_is_kept_with_the_run(finished):
    facts = draw_pairs(finished, 10, seed=4)
    assert draws_of(finished) == [facts]
    assert (facts.number, facts.size, facts.seed, facts.left) == (1, 10, 4, 48)
    drawn = drawn_pairs(finished)
    assert drawn["order"].tolist() == list(range(10))
    assert inclusion_of(finished)["inclusion_probability"].sum() == pytest.approx(10)
    more = draw_pairs(finished, 38)
    assert more.number == 2
    assert drawn_pairs(finished)["pair_id"].is_unique
    with pytest.raises(ConfigError, match="0 are left"):
        draw_pairs(finished, 1)


def test_labels_are_verdicts_on_drawn_pairs_only(store, finished):
    draw_pairs(finished, 12, seed=1)
    drawn = drawn_pairs(finished)["pair_id"].tolist()
    outside = next(pair for pair in inclusion_of(finished)["pair_id"] if pair not in drawn)
    judge(store, finished, [*drawn[:8], outside], is_match)
    judge(store, finished, drawn[8:9], lambda pair: "unsure")
    labels = labels_of(finished).set_index("pair_id")
    assert set(labels.index[labels["label"].notna()]) == set(drawn[:8])
    assert labels.loc[drawn[0], "label"] == (is_match(drawn[0]) == "match")
    assert labels["inclusion_probability"].sum() == pytest.approx(12)  # of every pair, so that later draws can go on
    progress = label_progress(finished)
    assert (progress.labelled, progress.unsure, progress.left) == (8, 1, 3)


def test_the_file_of_labels_is_read_back_over_the_data(store, finished, data):
    draw_pairs(finished, 48, seed=1)
    judge(store, finished, drawn_pairs(finished)["pair_id"], is_match)
    path = store_labels(finished)
    assert path == store_labels(finished)  # named by its content
    path.unlink()
    assert path == store_labels(finished)
    assert path.stem == hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    found = read_label_file(path, open_data(data))
    assert len(found) == 48
    assert {is_match(pair) == "match" for pair in found.ids[found.labels == 1]} == {True}
    assert found.inclusion is not None
    assert (found.inclusion == 1).all()  # all pairs were drawn


def test_labels_of_one_kind_are_refused(store, finished):
    draw_pairs(finished, 5)
    judge(store, finished, drawn_pairs(finished)["pair_id"], lambda pair: "non-match")
    with pytest.raises(ConfigError, match="not of both kinds"):
        store_labels(finished)


@pytest.mark.parametrize(
    ("matches", "non_matches", "more", "words"),
    [
        (0, 0, None, "Nothing is labelled"),
        (3, 0, None, "no non-match yet"),
        (10, 40, 100, "About 100 more"),
        (30, 30, 0, "Enough to adapt"),
    ],
)
def test_progress_says_whether_it_is_enough(matches, non_matches, more, words):
    progress = LabelProgress(matches, non_matches, 0, 0)
    assert words in progress.sentence
    assert more is None or progress.more == more


def test_a_draft_ranks_and_the_run_after_it_adapts():
    draft = draft_config(RunConfig(target="b"))
    assert draft.matcher.kind == "similarity"
    assert draft.adapt.iterations == 0
    after = adapting_config(draft, store_path := "labels.parquet")
    assert (after.labels, after.adapt.iterations) == (store_path, AdaptConfig().iterations)
    assert after.methods == RunConfig().methods
    shifted = draft_config(RunConfig(source="a", target="b", matcher=MatcherConfig(kind="sif")))
    assert shifted.matcher.kind == "sif"
    own = adapting_config(RunConfig(source="a", target="b", methods=("tradition", "risk+")), "x")
    assert own.methods == ("tradition", "risk+")


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_a_work_list_goes_out_and_comes_back(store, finished, tmp_path, ending):
    draw_pairs(finished, 6, seed=2)
    file = tmp_path / f"list.{ending}"
    assert write_work_list(finished, file) == 6
    frame = {"csv": pd.read_csv, "parquet": pd.read_parquet, "xlsx": pd.read_excel}[ending](file)
    assert frame.columns[:5].tolist() == ["pair_id", "ltable_id", "rtable_id", "verdict", "left_title"]
    assert frame.columns[5] == "right_title"
    frame["verdict"] = [is_match(pair)[0] for pair in frame["pair_id"]]  # m or n
    filled = tmp_path / f"filled.{ending}"
    if ending == "csv":  # as a spreadsheet on a German desktop saves it
        frame.to_csv(filled, index=False, sep=";", encoding="utf-16")
    else:
        getattr(frame, {"parquet": "to_parquet", "xlsx": "to_excel"}[ending])(filled, index=False)
    assert import_work_list(finished, filled, "Ann") == 6
    assert import_work_list(finished, filled, "Ann") == 0  # nothing twice
    current = VerdictLog(store).current(finished.path.name, "Ann")
    assert {pair: one.verdict for pair, one in current.items()} == {pair: is_match(pair) for pair in frame["pair_id"]}
    assert set(work_list(finished, who="Ann")["verdict"]) <= {"match", "non-match"}


def test_one_bad_row_records_nothing(store, finished, tmp_path):
    draw_pairs(finished, 4)
    rows = work_list(finished)[["pair_id", "verdict"]]
    rows["verdict"] = ["match", "perhaps", "match", ""]
    rows.loc[len(rows)] = ["a1:zz", "match"]
    rows.to_csv(tmp_path / "list.csv", index=False)
    with pytest.raises(DataFormatError) as caught:
        import_work_list(finished, tmp_path / "list.csv")
    assert "row 3, column 'verdict': The verdict is 'perhaps'." in str(caught.value)
    assert not VerdictLog(store).entries(finished.path.name)


def test_two_verdicts_on_one_pair_and_none_at_all_are_refused(finished, tmp_path):
    pair = work_pair(finished)
    for rows, message in (([[pair, "match"], [pair, "non-match"]], "two different"), ([[pair, ""]], "no verdict")):
        with (tmp_path / "list.csv").open("w", newline="") as lines:
            csv.writer(lines).writerows([["pair_id", "verdict"], *rows])
        with pytest.raises(VerdictError, match=message):
            import_work_list(finished, tmp_path / "list.csv")


def work_pair(folder):
    draw_pairs(folder, 1)
    return drawn_pairs(folder)["pair_id"].iloc[0]


def test_a_formula_in_a_pair_id_survives_the_spreadsheet(store, finished, tmp_path):
    pair = work_pair(finished)
    (tmp_path / "list.csv").write_text(f"pair_id,verdict\n'{pair},u\n", encoding="utf-8")
    assert import_work_list(finished, tmp_path / "list.csv") == 1
    assert np.array([one.verdict for one in VerdictLog(store).entries(finished.path.name)]).tolist() == ["unsure"]


def test_a_work_list_has_ones_own_verdicts_and_nobody_elses(store, finished):
    draw_pairs(finished, 3, seed=1)
    pairs = drawn_pairs(finished)["pair_id"].tolist()
    judge(store, finished, pairs[:1], is_match, who="Ann")
    judge(store, finished, pairs[1:2], is_match, who="Ben")
    assert work_list(finished)["verdict"].tolist() == ["", "", ""]
    assert work_list(finished, who="Ben")["verdict"].tolist() == ["", is_match(pairs[1]), ""]


def test_record_ids_name_the_pair_that_a_spreadsheet_took_for_a_time(store, finished, tmp_path):
    pair = work_pair(finished)
    left, right = pair.split(":")
    (tmp_path / "list.csv").write_text(f"pair_id,ltable_id,rtable_id,verdict\n01:02:00,{left},{right},m\n", "utf-8")
    assert import_work_list(finished, tmp_path / "list.csv") == 1
    assert list(VerdictLog(store).current(finished.path.name)) == [pair]


def test_one_record_id_is_not_enough(finished, tmp_path):
    (tmp_path / "list.csv").write_text("ltable_id,verdict\na1,m\n", "utf-8")
    with pytest.raises(DataFormatError, match="ltable_id and rtable_id"):
        import_work_list(finished, tmp_path / "list.csv")


def test_the_tenth_and_the_hundredth_draw_come_in_order(finished):
    for _ in range(3):
        draw_pairs(finished, 2)
    (finished.draws / "draw-03.parquet").rename(finished.draws / "draw-100.parquet")
    assert [one.number for one in draws_of(finished)] == [1, 2, 3]
