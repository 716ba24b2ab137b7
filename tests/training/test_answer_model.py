"""Answers on pairs of the run, given again: their competitors are those of the run, and never themselves."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest

from riskcore.config import RunConfig
from riskcore.data.pairs import Pairs, Table
from riskcore.training.answer_model import AnswerModel, Gathered, KnownPairs
from riskcore.training.results import STACKED, RankingModel

STACKED_PROBABILITY = np.array([0.9, 0.8, 0.3])


def table(name: str) -> Table:
    return Table(name, np.array(list("abcd"), dtype=object), pd.DataFrame({"title": list("wxyz")}, dtype="str"))


def pairs(left: Table, right: Table, rows: list[tuple[int, int]]) -> Pairs:
    lefts, rights = (np.array(side, dtype=np.int64) for side in zip(*rows, strict=True))
    return Pairs(left, right, lefts, rights, left.ids[lefts] + ":" + right.ids[rights])


@pytest.fixture
def model() -> AnswerModel:
    """A stacker of one input, which it passes on, and competitors that count, each side otherwise."""
    ranking = RankingModel(0.0, (1.0,), (0.1, 1.0, -0.3, -0.5), 0.0, 1.0, None)
    nothing: Any = None
    return AnswerModel(nothing, {}, {}, True, True, nothing, ranking, STACKED, RunConfig())


def answered(model: AnswerModel, some: Pairs, known: Pairs | None) -> np.ndarray:
    probability = STACKED_PROBABILITY[: len(some)]
    gathered = Gathered(probability, np.log(probability / (1 - probability))[:, None])
    before = None if known is None else KnownPairs(known, STACKED_PROBABILITY)
    return model.answer(some, gathered, before).probability


ROWS = [(0, 1), (2, 1), (0, 3)]


@pytest.mark.parametrize("one_table", [True, False])
def test_a_pair_of_the_run_does_not_compete_with_itself(model: AnswerModel, one_table: bool) -> None:
    left = table("left")
    run = pairs(left, left if one_table else table("right"), ROWS)
    own = answered(model, run, None)
    np.testing.assert_allclose(answered(model, run, run), own)
    other_order = dataclasses.replace(run, left_rows=run.right_rows, right_rows=run.left_rows)
    found = answered(model, other_order, run)
    if one_table:
        np.testing.assert_allclose(found, own)
    else:  # other records
        assert not np.isclose(found, own).all()
