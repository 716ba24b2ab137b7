"""Scores of a foreign matcher."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from riskcore.config import MatcherConfig
from riskcore.data.bring.scores import Scores, read_scores
from riskcore.data.dataset import DataSet
from riskcore.data.labels import UNKNOWN, UNSPLIT
from riskcore.data.pairs import LabelledPairs, Pairs, Table
from riskcore.data.problems import DataFormatError
from riskcore.data.scored_ids import fitted_ids
from riskcore.data.scored_pairs import checked_coverage, extra_columns, with_candidates
from riskcore.data.workload import Workload
from riskcore.errors import MatcherError
from riskcore.matchers import Examples, TuningSet, create, load, save
from riskcore.matchers.external import ExternalMatcher
from riskcore.training.supervised import train_on_labels
from tests.matchers.people import ATTRIBUTES, examples


def write(path: Path, frame: pd.DataFrame) -> str:
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return str(path)


@pytest.fixture
def known() -> Examples:
    return examples(10)


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet"])
def test_answers_come_from_the_file_whatever_its_order(name: str, known: Examples, tmp_path: Path) -> None:
    truth = np.linspace(0, 1, len(known))
    frame = pd.DataFrame({"id": known.pairs.ids, "probability": truth}).sample(frac=1, random_state=0)
    matcher = create(MatcherConfig(kind="external", scores=write(tmp_path / name, frame)), ATTRIBUTES)
    assert train_on_labels(matcher, known).rows == ()
    assert matcher.predict_proba(known) == pytest.approx(truth)
    save(matcher, tmp_path / "saved")
    (tmp_path / name).unlink()
    assert np.array_equal(load(tmp_path / "saved").predict_proba(known), matcher.predict_proba(known))


def test_it_cannot_be_fine_tuned(known: Examples, tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": known.pairs.ids, "probability": 0.5})
    matcher = create(MatcherConfig(kind="external", scores=write(tmp_path / "s.csv", frame)), ATTRIBUTES)
    assert not matcher.trainable
    with pytest.raises(MatcherError, match="cannot be fine-tuned"):
        matcher.fine_tune(TuningSet.from_labels(known))


def test_missing_pairs_are_named(known: Examples, tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": known.pairs.ids[2:], "probability": 0.5})
    matcher = create(MatcherConfig(kind="external", scores=write(tmp_path / "s.csv", frame)), ATTRIBUTES)
    with pytest.raises(MatcherError, match=r"2 of 30 pairs have no probability .*a0:b0, a0:b1"):
        matcher.predict_proba(known)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["x", "x", "", "y"], "probability": ["0.5", "2", "0.1", "high"]})
    with pytest.raises(MatcherError) as told:
        read_scores(Path(write(tmp_path / "s.csv", frame)))
    for fault in ("empty id in row 4", "occurs before in row 3", "from 0 to 1 in row 3, 5"):
        assert fault in str(told.value)


def test_broken_files(tmp_path: Path) -> None:
    with pytest.raises(MatcherError, match="does not exist"):
        read_scores(tmp_path / "none.csv")
    with pytest.raises(MatcherError, match="no column probability"):
        read_scores(Path(write(tmp_path / "s.csv", pd.DataFrame({"id": ["x"]}))))
    (tmp_path / "s.parquet").write_bytes(b"no parquet")
    with pytest.raises(DataFormatError, match="not readable"):
        read_scores(tmp_path / "s.parquet")
    (tmp_path / "latin.csv").write_bytes("id;probability\nmüller;1".encode("latin-1"))
    assert read_scores(tmp_path / "latin.csv").series.to_dict() == {"müller": 1.0}
    with pytest.raises(MatcherError, match="scores"):
        train_on_labels(create(MatcherConfig(kind="external"), ATTRIBUTES), examples(3))


def scored(tmp_path: Path, frame: pd.DataFrame, columns: str | None = None) -> Scores:
    return read_scores(Path(write(tmp_path / "scores.csv", frame)), columns)


def of_pairs(pairs: Pairs) -> pd.DataFrame:
    """Splink's columns for pairs, in their order."""
    left, right = pairs.left.ids[pairs.left_rows], pairs.right.ids[pairs.right_rows]
    return pd.DataFrame({"unique_id_l": left, "unique_id_r": right, "match_probability": 0.25, "match_weight": 1})


def test_sides_may_be_named_the_other_way_round(known: Examples, tmp_path: Path) -> None:
    turned = of_pairs(known.pairs).rename(columns={"unique_id_l": "unique_id_r", "unique_id_r": "unique_id_l"})
    places = fitted_ids(scored(tmp_path, turned).ids, [known.pairs]).places(known.pairs)
    assert np.array_equal(places, np.arange(len(known)))
    one = known.pairs.left
    within = Pairs(one, one, np.array([0, 1]), np.array([1, 2]), np.array(["a0:a1", "a1:a2"], dtype=object))
    assert fitted_ids([f"{one.ids[1]}:{one.ids[0]}"], [within]).places(within).tolist() == [0, -1]


def test_ids_written_as_floats_are_found(tmp_path: Path) -> None:
    table = Table("t", np.array(["1", "2", "30"], dtype=object), pd.DataFrame({"name": ["a", "b", "c"]}))
    pairs = Pairs(table, table, np.array([0, 1]), np.array([1, 2]), np.array(["1:2", "2:30"], dtype=object))
    frame = pd.DataFrame({"unique_id_l": [1.0, 2.0], "unique_id_r": [2.0, 30.0], "match_probability": [0.5, 1.0]})
    scores = scored(tmp_path, frame)
    assert scores.ids.tolist() == ["1.0:2.0", "2.0:30.0"]
    assert fitted_ids(scores.ids, [pairs]).places(pairs).tolist() == [0, 1]
    assert len(with_candidates(DataSet("x", table, table, {}), scores)) == 2


def numbered(*pairs: tuple[int, int]) -> Pairs:
    """Pairs of two tables whose ids are both 1 to 9."""
    ids = np.array([str(n) for n in range(1, 10)], dtype=object)
    left, right = (Table(name, ids, pd.DataFrame({"name": ids})) for name in ("a", "b"))
    rows = np.array(pairs) - 1
    return Pairs(left, right, *rows.T, np.array([f"{one}:{other}" for one, other in pairs], dtype=object))


def test_how_pairs_are_named_is_decided_once_and_goes_with_the_matcher(tmp_path: Path) -> None:
    """Pair (3, 7) has no score; asked for alone, it had got that of (7, 3)."""
    every, alone = numbered((1, 2), (3, 7)), Examples(numbered((3, 7)))
    path = write(tmp_path / "s.csv", pd.DataFrame({"id": ["7:3", "1:2"], "probability": [0.9, 0.6]}))
    matcher = ExternalMatcher(MatcherConfig(kind="external", scores=path, score_columns="missing=0"), ATTRIBUTES)
    matcher.fit_ids([every])
    assert matcher.predict_proba(alone).tolist() == [0.0]
    again = ExternalMatcher(matcher.config, ATTRIBUTES)
    again.restore(matcher.snapshot())
    assert again.predict_proba(alone).tolist() == [0.0]


def test_a_file_that_names_the_right_table_first_gives_no_pair_the_score_of_another(tmp_path: Path) -> None:
    every = numbered((1, 2), (3, 7), (4, 5), (2, 1))
    frame = pd.DataFrame({"id": ["2.0:1.0", "7.0:3.0", "5.0:4.0"], "probability": [0.9, 0.6, 0.3]})
    config = MatcherConfig(kind="external", scores=write(tmp_path / "s.csv", frame), score_columns="missing=0")
    matcher = ExternalMatcher(config, ATTRIBUTES)
    matcher.fit_ids([every])
    again = ExternalMatcher(config, ATTRIBUTES)
    again.restore(matcher.snapshot())
    for one in (matcher, again):
        assert one.predict_proba(Examples(every)).tolist() == [0.9, 0.6, 0.3, 0.0]
        assert one.predict_proba(Examples(numbered((2, 1)))).tolist() == [0.0]  # its own id is that of (1, 2)


def test_a_run_decides_by_its_whole_data_set(tmp_path: Path) -> None:
    pairs = numbered((1, 2), (3, 7), (4, 5))
    labelled = LabelledPairs(pairs.left, pairs.right, pairs.left_rows, pairs.right_rows, pairs.ids, np.array([1, 0, 1]))
    workload = Workload((), labelled.take(slice(0)), labelled.take(slice(0)), labelled.take([1]).without_labels())
    scores = scored(tmp_path, pd.DataFrame({"id": ["7:3", "1:2", "4:5"], "probability": 0.5}), "missing=0")
    found = checked_coverage(workload, scores, DataSet("x", pairs.left, pairs.right, {UNSPLIT: labelled}))
    assert found.notices[0] == "1 of 1 pairs are not scored: their probability is 0."
    assert found.scored_ids is not None
    assert found.scored_ids.places(workload.target).tolist() == [-1]


def test_pairs_without_a_score_have_the_one_that_is_given(known: Examples, tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", of_pairs(known.pairs)[2:])
    config = MatcherConfig(kind="external", scores=path, score_columns="missing=0.125")
    matcher = create(config, ATTRIBUTES)
    assert matcher.predict_proba(known).tolist() == [0.125] * 2 + [0.25] * (len(known) - 2)
    again = create(config, ATTRIBUTES)
    again.restore(matcher.snapshot())
    assert np.array_equal(again.predict_proba(known), matcher.predict_proba(known))


def test_the_workload_says_which_pairs_only_one_side_has(known: Examples, tmp_path: Path) -> None:
    pairs = known.pairs
    assert isinstance(pairs, LabelledPairs)
    workload = Workload((), pairs.take(slice(0)), pairs.take(slice(2)), pairs.take(slice(2, None)).without_labels())
    data = DataSet("x", pairs.left, pairs.right, {UNSPLIT: pairs})
    frame = pd.concat(
        [of_pairs(pairs)[1:], pd.DataFrame({"unique_id_l": ["x"], "unique_id_r": ["y"], "match_probability": [1]})]
    )
    with pytest.raises(MatcherError, match=r"1 of 2 pairs have no probability .*missing=0"):
        checked_coverage(workload, scored(tmp_path, frame), data)
    notices = checked_coverage(workload, scored(tmp_path, frame, "missing=0"), data).notices
    assert notices == (
        "1 of 2 pairs are not scored: their probability is 0.",
        "1 scored pairs are no pairs of the target and are not used.",
    )


def test_scored_pairs_become_the_candidates_of_bare_tables(known: Examples, tmp_path: Path) -> None:
    pairs = known.pairs
    bare = DataSet("x", pairs.left, pairs.right, {})
    frame = pd.concat(
        [of_pairs(pairs), pd.DataFrame({"unique_id_l": ["no"], "unique_id_r": ["one"], "match_probability": [1]})]
    )
    found = with_candidates(bare, scored(tmp_path, frame)).splits[UNSPLIT]
    assert np.array_equal(found.left_rows, pairs.left_rows)
    assert (found.labels == UNKNOWN).all()
    with pytest.raises(MatcherError, match="no pair whose ids"):
        with_candidates(bare, scored(tmp_path, frame[-1:]))


def test_every_column_of_the_scores_is_kept(known: Examples, tmp_path: Path) -> None:
    frame = of_pairs(known.pairs)
    scores = scored(tmp_path, frame[1:], "missing=0")
    found = extra_columns(scores, fitted_ids(scores.ids, [known.pairs]), [known.pairs])
    assert list(found) == list(frame)
    assert found.index.tolist() == known.pairs.ids.tolist()
    assert found.iloc[0].isna().all()
    assert found["match_weight"].iloc[1] == "1"
