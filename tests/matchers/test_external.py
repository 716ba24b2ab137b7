"""Scores of a foreign matcher."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from riskcore.config import MatcherConfig
from riskcore.errors import MatcherError
from riskcore.matchers import Examples, TuningSet, create, load, save
from riskcore.matchers.external import read_scores
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
    for fault in ("empty id in record 3", "occurs before in record 2", "from 0 to 1 in record 2, 4"):
        assert fault in str(told.value)


def test_broken_files(tmp_path: Path) -> None:
    with pytest.raises(MatcherError, match="does not exist"):
        read_scores(tmp_path / "none.csv")
    with pytest.raises(MatcherError, match="no column probability"):
        read_scores(Path(write(tmp_path / "s.csv", pd.DataFrame({"id": ["x"]}))))
    (tmp_path / "s.parquet").write_bytes(b"no parquet")
    with pytest.raises(MatcherError, match="cannot be read"):
        read_scores(tmp_path / "s.parquet")
    (tmp_path / "latin.csv").write_bytes("id,probability\nmüller,1".encode("latin-1"))
    with pytest.raises(MatcherError, match="cannot be read"):
        read_scores(tmp_path / "latin.csv")
    with pytest.raises(MatcherError, match="scores"):
        train_on_labels(create(MatcherConfig(kind="external"), ATTRIBUTES), examples(3))
