"""Further columns of a file of scores are there for every pair of the result, whatever part it is of."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from riskcore.config import MatcherConfig
from riskcore.data.reading import open_data
from riskcore.runs.extra_columns import read_extra
from riskcore.runs.folder import RunFolder
from riskcore.runs.worker.execute import execute
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import fake_engine


@pytest.mark.parametrize(("has_source", "part"), [(False, "training"), (True, "unseen")])
def test_every_part_keeps_them(store, tmp_path, has_source, part):
    target = small_data(tmp_path / "target", words="x ")
    ids = [one for pairs in open_data(target).splits.values() for one in pairs.ids]
    frame = pd.DataFrame({"id": ids, "probability": 0.5, "weight": [f"w {one}" for one in ids]})
    frame.to_csv(tmp_path / "scores.csv", index=False)
    source = str(small_data(tmp_path / "source")) if has_source else ""
    matcher = MatcherConfig(kind="external", scores=str(tmp_path / "scores.csv"))
    config = dataclasses.replace(small_config(source, target=str(target)), matcher=matcher)
    run = store.create(config, "scored")
    execute(store, run.id, engine=fake_engine)
    folder = RunFolder(run.folder)
    others = pd.read_parquet(folder.other_pairs_file)
    assert set(others["part"]) == {part, "validation"}
    extra = read_extra(folder)
    assert extra is not None
    assert extra.index.is_unique
    assert extra["weight"].to_dict() == {one: f"w {one}" for one in ids}
