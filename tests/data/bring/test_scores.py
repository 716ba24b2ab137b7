"""Scores of other matchers, in the forms in which they write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from riskcore.data.bring.scores import ScoreColumns, parse_columns, read_scores
from riskcore.errors import MatcherError


def write(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


SPLINK = pd.DataFrame(
    {
        "match_weight": [3.2, -4.5],
        "match_probability": [0.9, 0.04],
        "source_dataset_l": ["a", "a"],
        "unique_id_l": ["p1", "p1"],
        "source_dataset_r": ["b", "b"],
        "unique_id_r": ["q1", "q2"],
        "name_l": ["Ann", "Ann"],
        "name_r": ["Anne", "Bob"],
        "gamma_name": [1, 0],
        "match_key": ["0", "1"],
    }
)


@pytest.mark.parametrize("name", ["splink.csv", "splink.parquet"])
def test_the_predictions_of_splink(tmp_path, name):
    scores = read_scores(write(tmp_path / name, SPLINK))
    assert scores.series.to_dict() == {"p1:q1": 0.9, "p1:q2": 0.04}
    assert scores.meaning == ScoreColumns("match_probability", "unique_id_l", "unique_id_r")
    assert list(scores.columns) == list(SPLINK)


def test_the_clusters_of_dedupe(tmp_path):
    frame = pd.DataFrame(
        {
            "Cluster ID": [0, 0, 0, 1, 2],
            "confidence_score": [0.9, 0.8, 0.6, 1.0, 1.0],
            "Id": ["r1", "r2", "r3", "r4", "r5"],
            "Site name": list("abcde"),
        }
    )
    scores = read_scores(write(tmp_path / "dedupe.csv", frame))
    assert scores.series.to_dict() == {"r1:r2": 0.8, "r1:r3": 0.6, "r2:r3": 0.6}
    assert scores.meaning.missing == 0
    assert scores.columns["Site name_r"].tolist() == ["b", "c", "c"]


@pytest.mark.parametrize("upper", [False, True])
def test_the_clusters_of_zingg(tmp_path, upper):
    frame = pd.DataFrame(
        {
            "z_minScore": [0.7, 0.7, 0.2, 0.2, 0.4],
            "z_maxScore": [0.7, 0.7, 0.9, 0.6, 0.9],
            "z_cluster": [5, 5, 6, 6, 6],
            "rec_id": ["a", "b", "c", "d", "e"],
            "name": list("vwxyz"),
        }
    )
    frame = frame.rename(columns=str.upper) if upper else frame
    found = read_scores(write(tmp_path / "zingg.csv", frame)).series
    assert found["a:b"] == pytest.approx(0.7)  # two records have one score between them
    assert found["c:e"] == pytest.approx((0.4 + 0.9) / 2)  # both ranges hold it
    assert len(found) == 4


def test_any_two_ids_and_a_probability(tmp_path):
    frame = pd.DataFrame({"Kunde": ["1", "2"], "Lieferant": ["7", "8"], "Güte": [0.25, 0.75], "note": ["x", None]})
    path = tmp_path / "own.csv"
    path.write_bytes(frame.to_csv(index=False, sep=";").encode("latin-1"))
    with pytest.raises(MatcherError, match=r"no two columns of ids.*Kunde, Lieferant"):
        read_scores(path)
    scores = read_scores(path, "left=Kunde,right=Lieferant,probability=Güte,missing=0.1")
    assert scores.series.to_dict() == {"1:7": 0.25, "2:8": 0.75}
    assert scores.meaning.missing == pytest.approx(0.1)
    assert parse_columns(scores.meaning.text) == scores.meaning


def test_all_faults_are_told_at_once(tmp_path):
    frame = pd.DataFrame({"id1": ["a", "a", "", "b"], "id2": ["x", "x", "y", "z"], "probability": [0.5, 2, 0.1, None]})
    with pytest.raises(MatcherError) as told:
        read_scores(write(tmp_path / "s.csv", frame))
    for fault in ("empty id in row 4", "occurs before in row 3", "from 0 to 1 in row 3, 5"):
        assert fault in str(told.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("left", "not NAME=COLUMN"),
        ("king=a", "Names: probability"),
        ("missing=2", "not a probability"),
        ("missing=x", "not a probability"),
        ("left=nothing", "no column 'nothing'"),
        ("probability=match_key", "has no column 'match_key'"),
    ],
)
def test_bad_columns_are_told(tmp_path, text, told):
    path = write(tmp_path / "s.csv", SPLINK.drop(columns="match_key"))
    with pytest.raises(MatcherError, match=told):
        read_scores(path, text)


def test_clusters_of_one_record_have_no_pairs(tmp_path):
    frame = pd.DataFrame({"Cluster ID": [0, 1], "confidence_score": [1.0, 1.0], "id": ["a", "b"]})
    scores = read_scores(write(tmp_path / "s.csv", frame))
    assert len(scores) == 0
    assert isinstance(scores.probability, np.ndarray)
